//! Operations on values.

use super::Val;
use crate::ast::{Binary, Ty, Unary};
use crate::dual::Dual;

/// Scalars before a field of a struct.
pub(super) fn offset(ty: Ty, path: &str) -> usize {
    match (ty, path) {
        (Ty::Body, "mass") | (Ty::Held, "size") => 0,
        (Ty::Body, "at" | "at.x") | (Ty::Held, "size.y") => 1,
        (Ty::Held, "body" | "body.mass") => 2,
        (Ty::Body, "at.z") | (Ty::Held, "body.at") => 3,
        (Ty::Held, "body.at.y") => 4,
        (Ty::Held, "gain") => 6,
        other => panic!("no field {other:?}"),
    }
}

/// Scalars of a field.
fn size(ty: Ty, path: &str) -> usize {
    let field = ty.fields().iter().find(|(name, _)| *name == path);
    field.map_or_else(|| panic!("no field `{path}`"), |(_, ty)| ty.components())
}

/// Whether rounding may decide a comparison or a choice.
pub(super) fn is_close_call(op: Binary, a: &Val, b: &Val) -> bool {
    let (Val::Real(x), Val::Real(y)) = (a, b) else { return false };
    let (x, y) = (x[0].v, y[0].v);
    let close = (x - y).abs() <= 1e-9 * (1.0 + x.abs() + y.abs());
    match op {
        Binary::Infix("<" | ">" | "<=" | ">=") => close,
        Binary::Method("min" | "max") => close && x != y,
        _ => false,
    }
}

/// Whether rounding may decide on which side of a jump the operand lies.
pub(super) fn is_near_jump(op: Unary, x: &Val) -> bool {
    let Val::Real(x) = x else { return false };
    let near = |jump: f64| (x[0].v - jump).abs() < 1e-9 * (1.0 + jump.abs());
    match op {
        Unary::Method("floor" | "ceil") => near(x[0].v.round()) && x[0].v != x[0].v.round(),
        Unary::Method("round") => near(x[0].v.floor() + 0.5),
        Unary::Method("abs" | "sign") => near(0.0) && x[0].v != 0.0,
        _ => false,
    }
}

fn dot(a: &[Dual], b: &[Dual]) -> Dual {
    a.iter().zip(b).fold(Dual::default(), |sum, (a, b)| sum + *a * *b)
}

pub(super) fn method(name: &str, x: Dual) -> Dual {
    let v = x.v;
    match name {
        "exp" => x.map(v.exp(), v.exp()),
        "ln" => x.map(v.ln(), 1.0 / v),
        // Near 0 rounding decides: no number to compare with.
        "sqrt" if v < 1e-8 => Dual::new(f64::NAN, f64::NAN),
        "sqrt" => x.map(v.sqrt(), 0.5 / v.sqrt()),
        "sin" => x.map(v.sin(), v.cos()),
        "cos" => x.map(v.cos(), -v.sin()),
        "tan" => x.map(v.tan(), 1.0 + v.tan() * v.tan()),
        "asin" => x.map(v.asin(), 1.0 / ((1.0 - v) * (1.0 + v)).sqrt()),
        "acos" => x.map(v.acos(), -1.0 / ((1.0 - v) * (1.0 + v)).sqrt()),
        "atan" => x.map(v.atan(), 1.0 / (1.0 + v * v)),
        "tanh" => x.map(v.tanh(), 1.0 - v.tanh() * v.tanh()),
        "sinh" => x.map(v.sinh(), v.cosh()),
        "cosh" => x.map(v.cosh(), v.sinh()),
        "log1p" => x.map(v.ln_1p(), 1.0 / (1.0 + v)),
        "abs" => x.map(v.abs(), if v == 0.0 { 0.0 } else { v.signum() }),
        "floor" => x.map(v.floor(), 0.0),
        "ceil" => x.map(v.ceil(), 0.0),
        "round" => x.map(v.round_ties_even(), 0.0),
        "sign" => x.map(if v == 0.0 { 0.0 } else { v.signum() }, 0.0),
        "recip" => x.map(1.0 / v, -1.0 / (v * v)),
        other => panic!("no function `{other}`"),
    }
}

/// The device function of that name.
pub(super) fn split(v: &[Dual], w: Dual) -> (Dual, Vec<Dual>) {
    let length = dot(v, v) + Dual::constant(0.5);
    let scale = w / length;
    (method("ln", length) * w, v.iter().map(|x| *x * scale).collect())
}

pub(super) fn unary(op: Unary, ty: Ty, x: Val) -> Val {
    let parts = match (op, x) {
        (_, Val::Real(parts)) => parts,
        (Unary::ToReal, Val::Int(x)) => return Val::Real(vec![Dual::constant(f64::from(x))]),
        (Unary::Not, Val::Bool(x)) => return Val::Bool(!x),
        (op, x) => panic!("{op:?} of {x:?}"),
    };
    let n = ty.rows();
    Val::Real(match op {
        Unary::Neg => parts.into_iter().map(|x| -x).collect(),
        Unary::Detach => parts.into_iter().map(|x| Dual::constant(x.v)).collect(),
        Unary::Component(k) | Unary::Entry(k) => vec![parts[k as usize]],
        Unary::Field(path) => {
            let first = offset(ty, path);
            parts[first..first + size(ty, path)].to_vec()
        }
        Unary::Method("transpose") => (0..n * n).map(|k| parts[k % n * n + k / n]).collect(),
        Unary::Method("trace") => vec![(0..n).fold(Dual::default(), |sum, k| sum + parts[k * n + k])],
        Unary::Method("determinant") => vec![determinant(&parts)],
        Unary::Method("norm") => vec![method("sqrt", dot(&parts, &parts))],
        Unary::Method("norm_squared") => vec![dot(&parts, &parts)],
        Unary::Method("normalize") => {
            let length = method("sqrt", dot(&parts, &parts));
            parts.into_iter().map(|x| x / length).collect()
        }
        Unary::Method(name) => vec![method(name, parts[0])],
        other => panic!("{other:?} of reals"),
    })
}

fn determinant(m: &[Dual]) -> Dual {
    if m.len() == 4 {
        return m[0] * m[3] - m[1] * m[2];
    }
    let minor = |a: usize, b: usize, c: usize, d: usize| m[a] * m[d] - m[b] * m[c];
    m[0] * minor(4, 5, 7, 8) - m[1] * minor(3, 5, 6, 8) + m[2] * minor(3, 4, 6, 7)
}

/// A matrix times a matrix, a vector or a real.
pub(super) fn product(a_ty: Ty, b_ty: Ty, a: &Val, b: &Val) -> Val {
    let (Val::Real(x), Val::Real(y)) = (a, b) else { panic!("a matrix is real") };
    let n = a_ty.rows();
    let entry =
        |r: usize, c: usize, cols: usize| (0..n).fold(Dual::default(), |sum, j| sum + x[r * n + j] * y[j * cols + c]);
    match b_ty {
        Ty::Real => Val::Real(x.iter().map(|x| *x * y[0]).collect()),
        ty if ty.is_matrix() => Val::Real((0..n * n).map(|k| entry(k / n, k % n, n)).collect()),
        _ => Val::Real((0..n).map(|r| entry(r, 0, 1)).collect()),
    }
}

pub(super) fn infix(op: &str, a: &Val, b: &Val) -> Val {
    match (a, b) {
        (Val::Int(x), Val::Int(y)) => match op {
            "+" => Val::Int(x.wrapping_add(*y)),
            "-" => Val::Int(x.wrapping_sub(*y)),
            "*" => Val::Int(x.wrapping_mul(*y)),
            "/" => Val::Int(x.checked_div(*y).unwrap_or(0)),
            "%" => Val::Int(x.checked_rem(*y).unwrap_or(0)),
            "&" => Val::Int(x & y),
            "^" => Val::Int(x ^ y),
            op => Val::Bool(compare(op, x.partial_cmp(y))),
        },
        (Val::Bool(x), Val::Bool(y)) => Val::Bool(compare(op, x.partial_cmp(y))),
        (Val::Real(x), Val::Real(y)) => {
            let each = |f: fn(Dual, Dual) -> Dual| {
                let right = |k: usize| if y.len() == 1 { y[0] } else { y[k] };
                Val::Real(x.iter().enumerate().map(|(k, x)| f(*x, right(k))).collect())
            };
            match op {
                "+" => each(|a, b| a + b),
                "-" => each(|a, b| a - b),
                "*" => each(|a, b| a * b),
                "/" => each(|a, b| a / b),
                op => Val::Bool(compare(op, x[0].v.partial_cmp(&y[0].v))),
            }
        }
        other => panic!("`{op}` of {other:?}"),
    }
}

fn compare(op: &str, order: Option<std::cmp::Ordering>) -> bool {
    match op {
        "==" => order.is_some_and(|o| o.is_eq()),
        "!=" => order.is_none_or(|o| o.is_ne()),
        "<" => order.is_some_and(|o| o.is_lt()),
        "<=" => order.is_some_and(|o| o.is_le()),
        ">" => order.is_some_and(|o| o.is_gt()),
        ">=" => order.is_some_and(|o| o.is_ge()),
        other => panic!("no comparison `{other}`"),
    }
}

pub(super) fn binary_method(name: &str, a: &Val, b: &Val) -> Val {
    let (Val::Real(x), Val::Real(y)) = (a, b) else { panic!("`{name}` is of reals") };
    let (p, q) = (x[0], y[0]);
    Val::Real(match name {
        "dot" | "ddot" => vec![dot(x, y)],
        "cross" => (0..3).map(|k| [(k + 1) % 3, (k + 2) % 3]).map(|[i, j]| x[i] * y[j] - x[j] * y[i]).collect(),
        "mul_elem" => x.iter().zip(y).map(|(a, b)| *a * *b).collect(),
        "outer" => x.iter().flat_map(|a| y.iter().map(move |b| *a * *b)).collect(),
        // A tie goes to the first.
        "min" => vec![if q.v < p.v { q } else { p }],
        "max" => vec![if q.v > p.v { q } else { p }],
        "hypot" => {
            let r = p.v.hypot(q.v);
            vec![Dual::new(r, (p.v * p.d + q.v * q.d) / r)]
        }
        "atan2" => {
            let r2 = p.v * p.v + q.v * q.v;
            vec![Dual::new(p.v.atan2(q.v), (q.v * p.d - p.v * q.d) / r2)]
        }
        "powf" => {
            let value = p.v.powf(q.v);
            let by_base = if p.d == 0.0 { 0.0 } else { q.v * p.v.powf(q.v - 1.0) * p.d };
            let by_exponent = if q.d == 0.0 { 0.0 } else { value * p.v.ln() * q.d };
            vec![Dual::new(value, by_base + by_exponent)]
        }
        other => panic!("no function `{other}`"),
    })
}
