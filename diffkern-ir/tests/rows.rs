//! Every row of the table, by the verifier, the text form and the interpreter.

use diffkern_ir::interpret::Val;
use diffkern_ir::{Func, parse, print, rows, verify};

/// Positions.
const N: usize = 4;

fn text(func: &Func) -> String {
    print(func, &|node| node.0 as usize)
}

#[test]
fn every_row_is_valid_and_its_text_says_all() {
    for row in rows() {
        verify(&row.func).unwrap_or_else(|e| panic!("{}: {e}", row.name));
        let written = text(&row.func);
        let read = parse(&written).unwrap_or_else(|e| panic!("{}: {e}\n{written}", row.name));
        assert_eq!(text(&read), written, "{}", row.name);
    }
}

#[test]
fn every_row_has_a_value_of_its_type() {
    for row in rows() {
        for value in row.outcome(N) {
            match value {
                Val::Real(parts) => {
                    assert_eq!(parts.len(), row.result.components(), "{}", row.name);
                    assert!(parts.iter().all(|x| x.is_finite()), "{}: {parts:?}", row.name);
                }
                Val::Int(_) => assert!(!row.result.is_real(), "{}", row.name),
                Val::Bool(value) => panic!("{}: {value} in an array", row.name),
            }
        }
    }
}
