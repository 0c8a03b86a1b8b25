//! Every row of the table, by the verifier, the text form and the interpreter.

use diffkern_ir::interpret::{Arg, Array, Library, Val, run};
use diffkern_ir::{Func, Row, Ty, parse, print, rows, verify};

fn text(func: &Func) -> String {
    print(func, &|node| node.0 as usize)
}

/// Values of this type as an array holds them, within what every operation is defined for.
fn operand(ty: Ty, pos: usize) -> Val {
    let real = |k: usize| 0.125 + 0.25 * (pos as f64) + 0.03125 * (k as f64);
    match ty {
        Ty::Bool => Val::Int(pos as i64 % 2),
        Ty::U32 | Ty::I32 | Ty::Usize => Val::Int(pos as i64 + 2),
        Ty::Real | Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => Val::Real((0..ty.components()).map(real).collect()),
    }
}

fn outcome(row: &Row) -> Array {
    let mut arrays: Vec<Array> = row.operands.iter().map(|ty| (0..3).map(|pos| operand(*ty, pos)).collect()).collect();
    let empty =
        if row.result.is_real() { Val::Real(vec![f64::NAN; row.result.components()]) } else { Val::Int(i64::MIN) };
    arrays.push(vec![empty; 3]);
    let args: Vec<Arg> = (0..arrays.len()).map(Arg::Array).collect();
    for pos in 0..3 {
        run(&row.func, &args, &mut arrays, pos, &Library::default());
    }
    arrays.pop().expect("the result")
}

#[test]
fn every_row_is_valid_and_its_text_says_all() {
    for row in rows() {
        verify(&row.func).unwrap_or_else(|e| panic!("{}: {e}", row.name));
        let text = text(&row.func);
        let read = parse(&text).unwrap_or_else(|e| panic!("{}: {e}\n{text}", row.name));
        assert_eq!(print(&read, &|node| node.0 as usize), text, "{}", row.name);
    }
}

#[test]
fn every_row_has_a_value_of_its_type() {
    for row in rows() {
        for value in outcome(&row) {
            match value {
                Val::Real(parts) => {
                    assert_eq!(parts.len(), row.result.components(), "{}", row.name);
                    assert!(parts.iter().all(|x| x.is_finite()), "{}: {parts:?}", row.name);
                }
                Val::Int(value) => assert!(!row.result.is_real() && value > i64::MIN, "{}", row.name),
                Val::Bool(value) => panic!("{}: {value} in an array", row.name),
            }
        }
    }
}
