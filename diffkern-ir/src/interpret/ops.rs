//! Operations on values.

use super::frame::Frame;
use super::{Val, wrap};
use crate::{BinaryOp, Builtin, Lit, Op, Ty, UnaryOp};

impl Frame<'_, '_, '_> {
    pub(super) fn op(&self, op: &Op, ty: Ty) -> Val {
        let point = &self.shared.point;
        let val = match op {
            Op::Const(Lit::Real(value)) => Val::Real(vec![*value]),
            Op::Const(Lit::Int(value)) => Val::Int(*value),
            Op::Const(Lit::Bool(value)) => Val::Bool(*value),
            Op::Builtin(Builtin::Pos) => Val::Int(point.position as i64),
            Op::Builtin(Builtin::PosX) => Val::Int(point.coordinates[0] as i64),
            Op::Builtin(Builtin::PosY) => Val::Int(point.coordinates[1] as i64),
            Op::Builtin(Builtin::PosZ) => Val::Int(point.coordinates[2] as i64),
            Op::Len(slot) => Val::Int(self.shared.memory.len(self.slots[*slot]) as i64),
            Op::Unary(op, x) => unary(*op, self.get(*x)),
            Op::Binary(op, a, b) => binary(*op, ty, self.get(*a), self.get(*b)),
            Op::Select(c, a, b) => self.get(if self.get(*c).bool() { *a } else { *b }).clone(),
            Op::Cast(x) => match (self.get(*x), ty) {
                (Val::Int(value), Ty::Real) => Val::Real(vec![*value as f64]),
                (Val::Int(value), ty) => wrap(ty, *value),
                (Val::Bool(value), Ty::Real) => Val::Real(vec![f64::from(u8::from(*value))]),
                (Val::Bool(value), _) => Val::Int(i64::from(*value)),
                (real @ Val::Real(_), Ty::Real) => real.clone(),
                (Val::Real(value), Ty::I32) => Val::Int(i64::from(value[0] as i32)),
                (Val::Real(value), _) => Val::Int(i64::from(value[0] as u32)),
            },
            Op::Compose(parts) => Val::Real(parts.iter().map(|x| self.get(*x).reals()[0]).collect()),
            Op::Extract(x, k) => Val::Real(vec![self.get(*x).reals()[*k as usize]]),
            Op::Insert(x, k, part) => {
                let mut parts = self.get(*x).reals().to_vec();
                parts[*k as usize] = self.get(*part).reals()[0];
                Val::Real(parts)
            }
        };
        rounded(val, point.round)
    }
}

/// As a smaller type has it.
pub(super) fn rounded(mut val: Val, round: fn(f64) -> f64) -> Val {
    if let Val::Real(parts) = &mut val {
        parts.iter_mut().for_each(|x| *x = round(*x));
    }
    val
}

pub(super) fn zip(a: &Val, b: &Val, f: impl Fn(f64, f64) -> f64) -> Val {
    Val::Real(a.reals().iter().zip(b.reals()).map(|(a, b)| f(*a, *b)).collect())
}

fn unary(op: UnaryOp, x: &Val) -> Val {
    use UnaryOp::*;
    let parts = match (op, x) {
        (_, Val::Real(parts)) => parts,
        (Not, Val::Bool(value)) => return Val::Bool(!value),
        (Neg, Val::Int(value)) => return wrap(Ty::I32, -value),
        (Abs, Val::Int(value)) => return wrap(Ty::I32, value.abs()),
        (op, x) => panic!("{op:?} of {x:?}"),
    };
    let n = if parts.len() == 9 { 3 } else { 2 };
    let f: fn(f64) -> f64 = match op {
        Neg => |x| -x,
        Abs => f64::abs,
        Exp => f64::exp,
        Ln => f64::ln,
        Sqrt | Length => f64::sqrt,
        Sin => f64::sin,
        Cos => f64::cos,
        Tan => f64::tan,
        Asin => f64::asin,
        Acos => f64::acos,
        Atan => f64::atan,
        Tanh => f64::tanh,
        Sinh => f64::sinh,
        Cosh => f64::cosh,
        Erf => erf,
        Log1p => f64::ln_1p,
        Floor => f64::floor,
        Ceil => f64::ceil,
        Round => f64::round_ties_even,
        Sign => |x| if x == 0.0 { 0.0 } else { x.signum() },
        Detach => |x| x,
        Nonzero => return Val::Bool(parts.iter().any(|x| *x != 0.0)),
        IsNan => return Val::Bool(parts[0].is_nan()),
        Transpose => return Val::Real((0..n * n).map(|k| parts[k % n * n + k / n]).collect()),
        Not => panic!("not of a real"),
    };
    Val::Real(parts.iter().map(|x| f(*x)).collect())
}

/// By its power series: exact enough for |x| < 3, and near one beyond 6.
fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

fn binary(op: BinaryOp, ty: Ty, a: &Val, b: &Val) -> Val {
    match (a, b) {
        (Val::Real(x), Val::Real(y)) => real_binary(op, x, y),
        (Val::Real(x), Val::Int(n)) => Val::Real(vec![x[0].powi(*n as i32)]),
        (Val::Int(x), Val::Int(y)) => int_binary(op, ty, *x, *y),
        (Val::Bool(x), Val::Bool(y)) => Val::Bool(match op {
            BinaryOp::And => *x && *y,
            BinaryOp::Or => *x || *y,
            BinaryOp::Eq => x == y,
            BinaryOp::Ne => x != y,
            other => panic!("{other:?} of bools"),
        }),
        other => panic!("{op:?} of {other:?}"),
    }
}

fn int_binary(op: BinaryOp, ty: Ty, x: i64, y: i64) -> Val {
    use BinaryOp::*;
    match op {
        Add => wrap(ty, x + y),
        Sub => wrap(ty, x - y),
        Mul => wrap(ty, x.wrapping_mul(y)),
        Div => wrap(ty, x.checked_div(y).unwrap_or(0)),
        Rem => wrap(ty, x.checked_rem(y).unwrap_or(0)),
        Min => Val::Int(x.min(y)),
        Max => Val::Int(x.max(y)),
        BitAnd => wrap(ty, x & y),
        BitOr => wrap(ty, x | y),
        BitXor => wrap(ty, x ^ y),
        Shl => wrap(ty, x << (y & 31)),
        Shr => wrap(ty, x >> (y & 31)),
        Eq => Val::Bool(x == y),
        Ne => Val::Bool(x != y),
        Lt => Val::Bool(x < y),
        Le => Val::Bool(x <= y),
        Gt => Val::Bool(x > y),
        Ge => Val::Bool(x >= y),
        other => panic!("{other:?} of integers"),
    }
}

fn real_binary(op: BinaryOp, x: &[f64], y: &[f64]) -> Val {
    use BinaryOp::*;
    let each = |f: fn(f64, f64) -> f64| Val::Real(x.iter().zip(y).map(|(a, b)| f(*a, *b)).collect());
    let test = |holds: bool| Val::Bool(holds);
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    let side = |len: usize| if len == 9 { 3 } else { 2 };
    match op {
        Add => each(|a, b| a + b),
        Sub => each(|a, b| a - b),
        Mul | MulElem => each(|a, b| a * b),
        Div => each(|a, b| a / b),
        Min => each(f64::min),
        Max => each(f64::max),
        Powf => each(f64::powf),
        Atan2 => each(f64::atan2),
        Hypot => each(f64::hypot),
        Scale => Val::Real(x.iter().map(|a| a * y[0]).collect()),
        Dot => Val::Real(vec![dot(x, y)]),
        Cross => {
            Val::Real((0..3).map(|k| [(k + 1) % 3, (k + 2) % 3]).map(|[i, j]| x[i] * y[j] - x[j] * y[i]).collect())
        }
        MatVec => Val::Real(x.chunks(y.len()).map(|row| dot(row, y)).collect()),
        MatMul => {
            let n = side(x.len());
            Val::Real((0..n * n).map(|k| (0..n).map(|j| x[k / n * n + j] * y[j * n + k % n]).sum()).collect())
        }
        Outer => Val::Real(x.iter().flat_map(|a| y.iter().map(move |b| a * b)).collect()),
        Eq => test(x == y),
        Ne => test(x != y),
        Lt => test(x[0] < y[0]),
        Le => test(x[0] <= y[0]),
        Gt => test(x[0] > y[0]),
        Ge => test(x[0] >= y[0]),
        other => panic!("{other:?} of reals"),
    }
}
