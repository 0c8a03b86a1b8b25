//! The derivative of every operation, one row each; the adjoint and the tangent read the same rows.
//!
//! At a kink the derivative is that of the side taken: `abs` has 0 at 0, a tie of `min` or `max` goes to the first
//! operand, a `select` to the side its condition names. `floor`, `ceil`, `round`, `sign` have derivative 0.
//! Where the derivative does not exist, `hypot`, `norm` and `atan2` have 0 at the origin; `sqrt`, `ln`, `asin`, `acos` and
//! `powf` with an exponent below 1 have the infinity of the limit. `x^p` has derivative 0 in `x` for `p = 0`, and 0 in `p`
//! for `x = 0`.

use diffkern_ir::{BinaryOp, Id, Ty, UnaryOp};

use crate::builder::Builder;

/// `t` times the derivative at `x`, whose value is `y`.
pub type UnaryRow = fn(b: &mut Builder, t: Id, x: Id, y: Id) -> Id;

pub enum UnaryRule {
    /// Piecewise constant, not real, or cut on purpose.
    Cut,
    /// Linear and its own adjoint.
    Linear,
    Scalar(UnaryRow),
}

/// `t` times the derivative at `a`, `c`, whose value is `y`.
pub type BinaryRow = fn(b: &mut Builder, t: Id, a: Id, c: Id, y: Id) -> Id;

pub enum BinaryRule {
    Cut,
    /// In the first and the second operand. The rows hold for adjoints and for tangents.
    Linear(BinaryRow, BinaryRow),
    Scalar(BinaryRow, BinaryRow),
    /// Passes `t` to one operand only.
    Choice(BinaryRow, BinaryRow),
    /// The rows are the adjoints; the tangent is the operation itself on one tangent and one value at a time.
    Bilinear(BinaryRow, BinaryRow),
}

#[rustfmt::skip]
pub fn unary(op: UnaryOp) -> UnaryRule {
    use UnaryOp::*;
    use UnaryRule::{Cut, Linear, Scalar};
    match op {
        Not | Floor | Ceil | Round | Sign | IsNan | Detach | Nonzero => Cut,
        Neg | Transpose => Linear,
        Abs => Scalar(|b, t, x, _| { let s = b.unary(Sign, x); b.mul(t, s) }),
        Exp => Scalar(|b, t, _, y| b.mul(t, y)),
        Ln => Scalar(|b, t, x, _| b.div(t, x)),
        Log1p => Scalar(|b, t, x, _| { let one = b.real(1.0); let d = b.add(x, one); b.div(t, d) }),
        Sqrt => Scalar(|b, t, _, y| { let half = b.real(0.5); let h = b.mul(t, half); b.div(h, y) }),
        Length => Scalar(|b, t, _, y| { let half = b.real(0.5); let h = b.mul(t, half); over_radius(b, h, y) }),
        Sin => Scalar(|b, t, x, _| { let d = b.unary(Cos, x); b.mul(t, d) }),
        Cos => Scalar(|b, t, x, _| { let d = b.unary(Sin, x); let m = b.mul(t, d); b.neg(m) }),
        Tan => Scalar(|b, t, _, y| { let one = b.real(1.0); let s = b.mul(y, y); let d = b.add(s, one); b.mul(t, d) }),
        Asin => Scalar(|b, t, x, _| { let d = cathetus(b, x); b.div(t, d) }),
        Acos => Scalar(|b, t, x, _| { let d = cathetus(b, x); let q = b.div(t, d); b.neg(q) }),
        Atan => Scalar(|b, t, x, _| { let one = b.real(1.0); let s = b.mul(x, x); let d = b.add(s, one); b.div(t, d) }),
        Tanh => Scalar(|b, t, _, y| { let one = b.real(1.0); let s = b.mul(y, y); let d = b.sub(one, s); b.mul(t, d) }),
        Sinh => Scalar(|b, t, x, _| { let d = b.unary(Cosh, x); b.mul(t, d) }),
        Cosh => Scalar(|b, t, x, _| { let d = b.unary(Sinh, x); b.mul(t, d) }),
        Erf => Scalar(|b, t, x, _| {
            let s = b.mul(x, x);
            let s = b.neg(s);
            let e = b.unary(Exp, s);
            let k = b.real(std::f64::consts::FRAC_2_SQRT_PI);
            let d = b.mul(k, e);
            b.mul(t, d)
        }),
    }
}

#[rustfmt::skip]
pub fn binary(op: BinaryOp) -> BinaryRule {
    use BinaryOp::*;
    use BinaryRule::{Bilinear, Choice, Cut, Linear, Scalar};
    match op {
        Rem | BitAnd | BitOr | BitXor | Shl | Shr | Eq | Ne | Lt | Le | Gt | Ge | And | Or => Cut,
        Add => Linear(|_, t, _, _, _| t, |_, t, _, _, _| t),
        Sub => Linear(|_, t, _, _, _| t, |b, t, _, _, _| b.neg(t)),
        Mul => Scalar(|b, t, _, c, _| b.mul(t, c), |b, t, a, _, _| b.mul(t, a)),
        Div => Scalar(
            |b, t, _, c, _| b.div(t, c),
            |b, t, _, c, y| { let q = b.div(t, c); let m = b.mul(q, y); b.neg(m) },
        ),
        Min | Max => Choice(
            |b, t, a, _, y| { let zero = b.real(0.0); let first = b.binary(Eq, y, a); b.select(first, t, zero) },
            |b, t, a, _, y| { let zero = b.real(0.0); let first = b.binary(Eq, y, a); b.select(first, zero, t) },
        ),
        Powf => Scalar(
            |b, t, x, p, _| {
                let (zero, one) = (b.real(0.0), b.real(1.0));
                let less = b.sub(p, one);
                let power = b.binary(Powf, x, less);
                let d = b.mul(p, power);
                let flat = b.binary(Eq, p, zero);
                let d = b.select(flat, zero, d);
                b.mul(t, d)
            },
            |b, t, x, _, y| {
                let zero = b.real(0.0);
                let log = b.unary(UnaryOp::Ln, x);
                let d = b.mul(y, log);
                let m = b.mul(t, d);
                let at_zero = b.binary(Eq, x, zero);
                b.select(at_zero, zero, m)
            },
        ),
        Powi => Scalar(
            |b, t, x, n, _| {
                let (zero, one) = (b.int(Ty::I32, 0), b.int(Ty::I32, 1));
                let less = b.binary(Sub, n, one);
                let power = b.binary(Powi, x, less);
                let factor = b.cast(n, Ty::Real);
                let d = b.mul(factor, power);
                let flat = b.binary(Eq, n, zero);
                let none = b.real(0.0);
                let d = b.select(flat, none, d);
                b.mul(t, d)
            },
            |b, _, _, _, _| b.real(0.0),
        ),
        Atan2 => Scalar(
            |b, t, y, x, _| { let r = b.binary(Hypot, y, x); over_radius_twice(b, t, x, r) },
            |b, t, y, x, _| { let r = b.binary(Hypot, y, x); let d = over_radius_twice(b, t, y, r); b.neg(d) },
        ),
        Hypot => Scalar(
            |b, t, a, _, y| { let unit = over_radius(b, a, y); b.mul(t, unit) },
            |b, t, _, c, y| { let unit = over_radius(b, c, y); b.mul(t, unit) },
        ),
        Scale => Bilinear(|b, t, _, s, _| b.binary(Scale, t, s), |b, t, v, _, _| b.binary(Dot, t, v)),
        MulElem => Bilinear(|b, t, _, c, _| b.binary(MulElem, t, c), |b, t, a, _, _| b.binary(MulElem, t, a)),
        Dot => Bilinear(|b, t, _, c, _| b.binary(Scale, c, t), |b, t, a, _, _| b.binary(Scale, a, t)),
        Cross => Bilinear(|b, t, _, c, _| b.binary(Cross, c, t), |b, t, a, _, _| b.binary(Cross, t, a)),
        MatVec => Bilinear(
            |b, t, _, v, _| b.binary(Outer, t, v),
            |b, t, m, _, _| { let m = b.transpose(m); b.binary(MatVec, m, t) },
        ),
        MatMul => Bilinear(
            |b, t, _, c, _| { let c = b.transpose(c); b.binary(MatMul, t, c) },
            |b, t, a, _, _| { let a = b.transpose(a); b.binary(MatMul, a, t) },
        ),
        Outer => Bilinear(
            |b, t, _, c, _| b.binary(MatVec, t, c),
            |b, t, a, _, _| { let t = b.transpose(t); b.binary(MatVec, t, a) },
        ),
    }
}

/// `sqrt(1 - x^2)` without the cancellation near 1.
fn cathetus(b: &mut Builder, x: Id) -> Id {
    let one = b.real(1.0);
    let (low, high) = (b.sub(one, x), b.add(x, one));
    let product = b.mul(low, high);
    b.unary(UnaryOp::Sqrt, product)
}

/// `m / r`, and 0 for `r = 0`.
fn over_radius(b: &mut Builder, m: Id, r: Id) -> Id {
    let zero = b.real(0.0);
    let origin = b.binary(BinaryOp::Eq, r, zero);
    let quotient = b.div(m, r);
    b.select(origin, zero, quotient)
}

/// `t x / r^2` without overflow of the square, and 0 for `r = 0`.
fn over_radius_twice(b: &mut Builder, t: Id, x: Id, r: Id) -> Id {
    let zero = b.real(0.0);
    let origin = b.binary(BinaryOp::Eq, r, zero);
    let unit = b.div(x, r);
    let scaled = b.div(t, r);
    let quotient = b.mul(scaled, unit);
    b.select(origin, zero, quotient)
}
