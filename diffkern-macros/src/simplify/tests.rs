//! What becomes of expressions of the language, and of values computed twice, branches and loops.

mod effects;

use diffkern_ir::{Func, Id, Lit, Op, ParamKind, StmtKind, verify};

use super::simplify;
use crate::gradient_tests::support::text;
use crate::gradient_tests::support::{function, kernel};

const PARAMS: &str = "x: F, y: F, i: i32, j: i32, u: u32, p: bool, q: bool, v: Vec3<F>, m: Mat2<F>, s: usize";

/// The result of a function without control flow as one expression.
fn shown(func: &Func, id: Id) -> String {
    for param in &func.params {
        if matches!(param.kind, ParamKind::Scalar { id: of, .. } if of == id) {
            return param.name.clone();
        }
    }
    let of = |stmt: &diffkern_ir::Stmt| match &stmt.kind {
        StmtKind::Let { id: of, op } if *of == id => Some(op.clone()),
        _ => None,
    };
    let list = |ids: &[Id]| ids.iter().map(|id| shown(func, *id)).collect::<Vec<_>>().join(", ");
    match func.body.stmts.iter().find_map(of).expect("the value is computed") {
        Op::Const(Lit::Real(value)) => format!("{value:?}"),
        Op::Const(Lit::Int(value)) => value.to_string(),
        Op::Const(Lit::Bool(value)) => value.to_string(),
        Op::Unary(op, a) => format!("{}({})", op.name(), list(&[a])),
        Op::Binary(op, a, b) => format!("{}({})", op.name(), list(&[a, b])),
        Op::Select(c, a, b) => format!("select({})", list(&[c, a, b])),
        Op::Cast(a) => format!("cast({})", list(&[a])),
        Op::Compose(parts) => format!("compose({})", list(&parts)),
        Op::Extract(a, k) => format!("{}[{k}]", list(&[a])),
        Op::Insert(a, k, b) => format!("insert({}, {k}, {})", list(&[a]), list(&[b])),
        other => format!("{other:?}"),
    }
}

/// Each body with what is left of its result.
#[track_caller]
fn turns_into(result: &str, rows: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (body, expected) in rows {
        let mut func = function(&format!("fn f<F: Float>({PARAMS}) -> {result} {{ {body} }}"));
        simplify(&mut func);
        verify(&func).expect("simplified IR is valid");
        let found = shown(&func, func.body.yields[0]);
        if found != *expected {
            wrong.push(format!("{body}: {found} in place of {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn real_expressions() {
    turns_into(
        "F",
        &[
            ("x + 0.0", "x"),
            ("0.0 + x", "x"),
            ("x - 0.0", "x"),
            ("0.0 - x", "sub(0.0, x)"),
            ("x * 1.0", "x"),
            ("1.0 * x", "x"),
            ("x / 1.0", "x"),
            ("x.powf(1.0)", "x"),
            ("x.powi(1)", "x"),
            ("x.powi(2)", "powi(x, 2)"),
            ("1.0 / x", "div(1.0, x)"),
            ("x * 0.0", "mul(x, 0.0)"),
            ("0.0 * x", "mul(0.0, x)"),
            ("x * -1.0", "neg(x)"),
            ("-1.0 * x", "neg(x)"),
            ("x / -1.0", "neg(x)"),
            ("-1.0 / x", "div(-1.0, x)"),
            ("-(-x)", "x"),
            ("x + -y", "sub(x, y)"),
            ("-x + y", "sub(y, x)"),
            ("-x + -y", "sub(neg(x), y)"),
            ("x - -y", "add(x, y)"),
            ("-x - y", "sub(neg(x), y)"),
            ("x - x", "sub(x, x)"),
            ("x + (2.0 + 3.0)", "add(x, 5.0)"),
            ("x + (2.0 - 3.0)", "add(x, -1.0)"),
            ("x + -(2.0 + 3.0)", "add(x, -5.0)"),
            ("x + 2.0 * 3.0", "add(x, 6.0)"),
            ("x + 6.0 / 2.0", "add(x, 3.0)"),
            // Not the same in `f32`.
            ("x + 1.0 / 3.0", "add(x, div(1.0, 3.0))"),
            ("x + (0.1 + 0.2)", "add(x, add(0.1, 0.2))"),
            ("x + (16777216.0 + 1.0)", "add(x, add(16777216.0, 1.0))"),
            ("x + 1.0 / (1.0 - 1.0)", "add(x, div(1.0, 0.0))"),
            ("F::cast_from(1u32 + 2)", "3.0"),
            ("F::cast_from(16777216u32 + 1)", "cast(16777217)"),
            ("F::cast_from(i)", "cast(i)"),
            ("select(p, x, x)", "x"),
            ("select(p, x, y)", "select(p, x, y)"),
            ("select(1u32 < 2, x, y)", "x"),
            ("select(1u32 > 2, x, y)", "y"),
            ("select(!p, x, y)", "select(p, y, x)"),
        ],
    );
}

#[test]
fn integer_expressions() {
    turns_into(
        "i32",
        &[
            ("i + 0", "i"),
            ("0 + i", "i"),
            ("i - 0", "i"),
            ("0 - i", "sub(0, i)"),
            ("i << 0", "i"),
            ("i >> 0", "i"),
            ("i * 1", "i"),
            ("1 * i", "i"),
            ("i / 1", "i"),
            ("1 / i", "div(1, i)"),
            ("i * 0", "0"),
            ("0 * i", "0"),
            ("i * j", "mul(i, j)"),
            ("0 / i", "div(0, i)"),
            ("i - i", "0"),
            ("i - j", "sub(i, j)"),
            ("i + i", "add(i, i)"),
            ("-(-i)", "i"),
            ("i + (2 + 3)", "add(i, 5)"),
            ("i + (2 - 3)", "add(i, -1)"),
            ("i + 2 * 3", "add(i, 6)"),
            ("i + -3", "add(i, -3)"),
            ("2147483647 + 1", "-2147483648"),
            ("65536 * 65536 + i", "i"),
            ("select(p, 2, 2).min(3)", "2"),
            ("select(p, 2, 2).max(3)", "3"),
            ("-select(p, 2, 2)", "-2"),
            ("(2).min(3)", "2"),
            ("(2).max(3)", "3"),
            ("i as i32", "i"),
            ("3u32 as i32", "3"),
            ("4294967295u32 as i32", "-1"),
            ("u as i32", "cast(u)"),
        ],
    );
    turns_into(
        "u32",
        &[
            ("0u32 - 1u32", "4294967295"),
            ("(-1i32) as u32", "4294967295"),
            ("4294967295 + u - u", "sub(add(4294967295, u), u)"),
        ],
    );
}

#[test]
fn conditions() {
    turns_into(
        "bool",
        &[
            ("i == i", "true"),
            ("i <= i", "true"),
            ("i >= i", "true"),
            ("i != i", "false"),
            ("i < i", "false"),
            ("i > i", "false"),
            ("i == j", "eq(i, j)"),
            // A NaN differs from itself.
            ("x == x", "eq(x, x)"),
            ("2u32 == 3", "false"),
            ("2u32 == 2", "true"),
            ("2u32 != 3", "true"),
            ("2u32 != 2", "false"),
            ("2u32 < 3", "true"),
            ("2u32 < 2", "false"),
            ("2u32 <= 2", "true"),
            ("3u32 <= 2", "false"),
            ("3u32 > 2", "true"),
            ("2u32 > 2", "false"),
            ("2u32 >= 2", "true"),
            ("2u32 >= 3", "false"),
            ("2.0 == 3.0", "false"),
            ("2.0 == 2.0", "true"),
            ("2.0 != 3.0", "true"),
            ("2.0 != 2.0", "false"),
            ("2.0 < 3.0", "true"),
            ("2.0 < 2.0", "false"),
            ("2.0 <= 2.0", "true"),
            ("3.0 <= 2.0", "false"),
            ("3.0 > 2.0", "true"),
            ("2.0 > 2.0", "false"),
            ("2.0 >= 2.0", "true"),
            ("2.0 >= 3.0", "false"),
            ("p && 1u32 < 2", "p"),
            ("1u32 < 2 && p", "p"),
            ("p && 1u32 > 2", "false"),
            ("1u32 > 2 && p", "false"),
            ("p || 1u32 > 2", "p"),
            ("1u32 > 2 || p", "p"),
            ("p || 1u32 < 2", "true"),
            ("1u32 < 2 || p", "true"),
            ("!!p", "p"),
            ("!(1u32 < 2)", "false"),
            ("p && q", "and(p, q)"),
        ],
    );
}

#[test]
fn components() {
    turns_into(
        "Vec3<F>",
        &[
            ("v + Vec3::zero()", "v"),
            ("Vec3::zero() + v", "v"),
            ("v - Vec3::zero()", "v"),
            ("v - (-Vec3::zero())", "v"),
            ("v * 1.0", "v"),
            ("v * -1.0", "neg(v)"),
            ("v * 2.0", "scale(v, 2.0)"),
            ("v + Vec3::new(0.0, 0.0, 1.0)", "add(v, compose(0.0, 0.0, 1.0))"),
            ("Vec3::new(v.x, v.y, v.z)", "v"),
            ("Vec3::new(v.y, v.x, v.z)", "compose(v[1], v[0], v[2])"),
            ("Vec3::new(v.x, v.y, x)", "compose(v[0], v[1], x)"),
            ("let w = v + v; Vec3::new(v.x, w.y, v.z)", "compose(v[0], add(v, v)[1], v[2])"),
            ("let mut a = Vec3::new(x, y, x); a.y = x; a", "compose(x, x, x)"),
            ("let mut a = v; a.x = x; a.x = y; a", "insert(v, 0, y)"),
            ("let mut a = v; a.x = x; a.y = y; a", "insert(insert(v, 0, x), 1, y)"),
        ],
    );
    turns_into(
        "F",
        &[
            ("Vec3::new(x, y, x).y", "y"),
            ("let mut a = v; a.x = x; a.x", "x"),
            ("let mut a = v; a.x = x; a.y", "v[1]"),
            ("m.transpose()[(0, 1)]", "m[2]"),
            ("m.transpose()[(1, 0)]", "m[1]"),
            ("m.transpose()[(1, 1)]", "m[3]"),
            ("(-v).x", "neg(v)[0]"),
        ],
    );
    turns_into("Mat2<F>", &[("m.transpose().transpose()", "m"), ("m + Mat2::zero().transpose()", "m")]);
    // A vector of the components of a matrix is no matrix.
    turns_into(
        "Vec4<F>",
        &[("Vec4::new(m[(0, 0)], m[(0, 1)], m[(1, 0)], m[(1, 1)])", "compose(m[0], m[1], m[2], m[3])")],
    );
}

fn count(func: &Func, word: &str) -> usize {
    let body = text(func).split_once("\nbody\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
    body.lines().filter(|line| line.split(' ').any(|w| w == word)).count()
}

/// A kernel with `body`, simplified; how often it says `word`.
#[track_caller]
fn says(body: &str, word: &str, times: usize) {
    let source = format!(
        "fn k<F: Float>(x: &Array<F>, n: &Array<u32>, y: &mut Array<F>, z: &mut Array<F>, a: F, b: F, t: u32, p: bool) {{ {body} }}"
    );
    let mut func = kernel(&source);
    simplify(&mut func);
    verify(&func).expect("simplified IR is valid");
    assert_eq!(count(&func, word), times, "{word} in {body}\n{}", text(&func));
}

#[test]
fn equal_values_are_computed_once() {
    says("y[0] = a * b + b * a;", "mul", 1);
    says("y[0] = (a + b) * (b + a);", "add", 1);
    says("y[0] = (a - b) * (b - a);", "sub", 2);
    says("y[0] = (a / b) + (b / a);", "div", 2);
    says("y[0] = a.sin() + a.sin();", "sin", 1);
    says("y[0] = a.sin() + b.sin();", "sin", 2);
    says("y[0] = a.powf(b) + a.powf(b) + b.powf(a);", "powf", 2);
    says("y[0] = select(p, a, b) * select(p, a, b);", "select", 1);
    says("y[0] = select(p, a, b) * select(p, b, a);", "select", 2);
    says("y[0] = F::cast_from(t) * F::cast_from(t);", "cast", 1);
    says("y[0] = F::cast_from(ABSOLUTE_POS_X) * F::cast_from(ABSOLUTE_POS_X);", "posx", 1);
    says("y[0] = F::cast_from(ABSOLUTE_POS_X) * F::cast_from(ABSOLUTE_POS_Y);", "posy", 1);
    says("y[0] = F::cast_from(ABSOLUTE_POS_Z) * F::cast_from(ABSOLUTE_POS_Y);", "posz", 1);
    says("y[0] = F::cast_from(x.len()) * F::cast_from(x.len());", "len", 1);
    says("y[0] = F::cast_from(x.len()) * F::cast_from(n.len());", "len", 2);
    says("y[0] = 2.5 * a; z[0] = 2.5 * b;", "2.5", 1);
    says("y[0] = Vec3::new(a, b, a).dot(Vec3::new(a, b, a));", "compose", 1);
    // What nothing writes is read once.
    says("y[0] = x[0] * x[0] + x[1];", "load", 2);
    says("y[0] = y[0] * a + y[0];", "load", 2);
    // What is computed on one side is not there on the other, nor afterwards.
    says("if p { y[0] = a * b; } else { z[0] = a * b; } z[1] = a * b;", "mul", 3);
    says("let c = a * b; if p { y[0] = a * b; } else { z[0] = c; }", "mul", 1);
    says("for k in 0..t { y[k as usize] = a * b; } z[0] = a * b;", "mul", 2);
}

#[test]
fn branches_that_are_known_or_say_nothing_go() {
    says("if 1u32 < 2 { y[0] = a; } else { z[0] = b; }", "if", 0);
    says("if 1u32 < 2 { y[0] = a; } else { z[0] = b; }", "store", 1);
    says("let mut r = a; if 1u32 > 2 { r = b; } y[0] = r * 3.0;", "%0", 1);
    says("let mut r = a; if p { r = a; } y[0] = r;", "if", 0);
    says("let mut r = a; if p { r = b; } y[0] = a;", "if", 0);
    says("let mut r = a; if p { r = b; } y[0] = r;", "if", 1);
    says("let mut r = a; let mut s = b; if p { r = b; s = b; } y[0] = r * s;", "yield", 2);
    says("if p { let r = a * b; } y[0] = a;", "if", 0);
    says("if p { y[1] = a; } else { y[2] = a; }", "if", 1);
}

#[test]
fn loops_that_do_nothing_go() {
    says("for k in 0..0 { y[k] = a; } z[0] = a;", "for", 0);
    says("for k in 3..2 { y[k] = a; } z[0] = a;", "store", 1);
    says("for k in 0..t { y[k as usize] = a; }", "for", 1);
    says("let mut r = a; for k in 0..t { r = r * b; } y[0] = a;", "for", 0);
    says("let mut r = a; for k in 0..t { r = r * b; } y[0] = r;", "mul", 1);
    // Carried, but never changed; or read by itself alone.
    says("let mut r = a; let mut s = b; for k in 0..t { s = s * r; r = r + 0.0; } y[0] = s;", "add", 0);
    says("let mut r = a; let mut s = b; for k in 0..t { s = s * b; r = r + s; } y[0] = s;", "add", 0);
    says("let mut r = a; for k in 0..0 { r = r * b; } y[0] = r;", "mul", 0);
}
