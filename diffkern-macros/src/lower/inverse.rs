//! The inverse hyperbolic functions, made of others so that small arguments lose nothing and the derivative at 0 is right.
//!
//! | function | is |
//! |---|---|
//! | `asinh(x)`, `x >= 0` | `log1p(x + x^2 / (1 + sqrt(x^2 + 1)))`, odd |
//! | `acosh(x)` | `log1p(t + sqrt(t) sqrt(t + 2))`, `t = x - 1` |
//! | `atanh(x)` | `log1p(2 x / (1 - x)) / 2` |

use diffkern_ir::{BinaryOp, Id, Lit, Op, Ty, UnaryOp};
use proc_macro2::Span;

use super::Lower;

impl Lower<'_> {
    pub(super) fn inverse_hyperbolic(&mut self, name: &str, x: Id, span: Span) -> Id {
        let mut real = |op| self.op(Ty::Real, op, span);
        let [zero, half, one, two] = [0.0, 0.5, 1.0, 2.0].map(|x| real(Op::Const(Lit::Real(x))));
        let add = |a, b| Op::Binary(BinaryOp::Add, a, b);
        let mul = |a, b| Op::Binary(BinaryOp::Mul, a, b);
        let div = |a, b| Op::Binary(BinaryOp::Div, a, b);
        let sqrt = |a| Op::Unary(UnaryOp::Sqrt, a);
        let log1p = |a| Op::Unary(UnaryOp::Log1p, a);
        match name {
            "asinh" => {
                let minus = real(Op::Unary(UnaryOp::Neg, x));
                let negative = self.op(Ty::Bool, Op::Binary(BinaryOp::Lt, x, zero), span);
                let mut real = |op| self.op(Ty::Real, op, span);
                // Not `abs`, whose derivative at 0 is 0.
                let size = real(Op::Select(negative, minus, x));
                let square = real(mul(size, size));
                let more = real(add(square, one));
                let root = real(sqrt(more));
                let below = real(add(one, root));
                let part = real(div(square, below));
                let sum = real(add(size, part));
                let value = real(log1p(sum));
                let minus = real(Op::Unary(UnaryOp::Neg, value));
                real(Op::Select(negative, minus, value))
            }
            "acosh" => {
                let t = real(Op::Binary(BinaryOp::Sub, x, one));
                let more = real(add(t, two));
                let (a, b) = (real(sqrt(t)), real(sqrt(more)));
                let product = real(mul(a, b));
                let sum = real(add(t, product));
                real(log1p(sum))
            }
            _ => {
                let (twice, left) = (real(add(x, x)), real(Op::Binary(BinaryOp::Sub, one, x)));
                let ratio = real(div(twice, left));
                let log = real(log1p(ratio));
                real(mul(half, log))
            }
        }
    }
}
