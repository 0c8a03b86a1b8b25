//! Functions of a real.

use diffkern_ir::{BinaryOp, Id, Lit, Op, Ty, UnaryOp};
use proc_macro2::Span;
use syn::Expr;

use super::Lower;

impl Lower<'_> {
    /// The named function of the real `x` and `args`.
    pub(super) fn apply_real(
        &mut self,
        name: &str,
        x: Id,
        args: &[&Expr],
        span: Span,
        at: impl quote::ToTokens,
    ) -> Option<Id> {
        let real = Some(Ty::Real);
        if let Some(op) = real_unary(name) {
            self.values::<0>(at, args, [])?;
            return self.unary_op(op, x, span);
        }
        if let Some(op) = real_binary(name) {
            let [y] = self.values(at, args, [real])?;
            self.expect_type(y, real, span);
            return Some(self.op(Ty::Real, Op::Binary(op, x, y), span));
        }
        match name {
            "powi" => {
                let [n] = self.values(at, args, [Some(Ty::I32)])?;
                self.expect_type(n, Some(Ty::I32), span);
                Some(self.op(Ty::Real, Op::Binary(BinaryOp::Powi, x, n), span))
            }
            "clamp" => {
                let [lo, hi] = self.values(at, args, [real, real])?;
                self.expect_type(lo, real, span);
                self.expect_type(hi, real, span);
                let x = self.op(Ty::Real, Op::Binary(BinaryOp::Max, x, lo), span);
                Some(self.op(Ty::Real, Op::Binary(BinaryOp::Min, x, hi), span))
            }
            "fma" | "mul_add" => {
                let [y, z] = self.values(at, args, [real, real])?;
                self.expect_type(y, real, span);
                self.expect_type(z, real, span);
                let xy = self.op(Ty::Real, Op::Binary(BinaryOp::Mul, x, y), span);
                Some(self.op(Ty::Real, Op::Binary(BinaryOp::Add, xy, z), span))
            }
            "asinh" | "acosh" | "atanh" => {
                self.values::<0>(at, args, [])?;
                Some(self.inverse_hyperbolic(name, x, span))
            }
            "recip" => {
                self.values::<0>(at, args, [])?;
                Some(self.reciprocal(x, span))
            }
            "inverse_sqrt" => {
                self.values::<0>(at, args, [])?;
                let root = self.op(Ty::Real, Op::Unary(UnaryOp::Sqrt, x), span);
                Some(self.reciprocal(root, span))
            }
            "rhypot" => {
                let [y] = self.values(at, args, [real])?;
                self.expect_type(y, real, span);
                let length = self.op(Ty::Real, Op::Binary(BinaryOp::Hypot, x, y), span);
                Some(self.reciprocal(length, span))
            }
            "trunc" => {
                self.values::<0>(at, args, [])?;
                let zero = self.constant(Ty::Real, Lit::Real(0.0), span);
                let below = self.op(Ty::Bool, Op::Binary(BinaryOp::Lt, x, zero), span);
                let up = self.op(Ty::Real, Op::Unary(UnaryOp::Ceil, x), span);
                let down = self.op(Ty::Real, Op::Unary(UnaryOp::Floor, x), span);
                Some(self.op(Ty::Real, Op::Select(below, up, down), span))
            }
            "size" => {
                self.values::<0>(at, args, [])?;
                Some(self.constant(Ty::Usize, Lit::Int(1), span))
            }
            "to_degrees" | "to_radians" => {
                self.values::<0>(at, args, [])?;
                let unit = if name == "to_degrees" { 1f64.to_degrees() } else { 1f64.to_radians() };
                let unit = self.constant(Ty::Real, Lit::Real(unit), span);
                Some(self.op(Ty::Real, Op::Binary(BinaryOp::Mul, x, unit), span))
            }
            _ if other_name(name).is_some() => {
                let way = other_name(name).unwrap_or_default();
                self.errors.at(at, format!("`{name}` is not part of the kernel language; {way}"));
                None
            }
            _ => self.unknown(
                name,
                Ty::Real,
                "exp, ln, sqrt, powf, powi, sin, cos, tan, asin, acos, atan, atan2, tanh, sinh, cosh, asinh, acosh, atanh, erf, log1p, abs, \
                 min, max, clamp, floor, ceil, round, trunc, hypot, rhypot, fma, recip, inverse_sqrt, to_degrees, to_radians, \
                 sign, is_nan",
                at,
            ),
        }
    }

    fn reciprocal(&mut self, x: Id, span: Span) -> Id {
        let one = self.constant(Ty::Real, Lit::Real(1.0), span);
        self.op(Ty::Real, Op::Binary(BinaryOp::Div, one, x), span)
    }
}

/// What to write for a function of Rust's, or of CubeCL's.
fn other_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "pow" => "write `x.powi(n)`, or `x.powf(y)` with a real exponent",
        "log" => "write `x.ln()`",
        "log2" => "write `x.ln() * std::f64::consts::LOG2_E`",
        "log10" => "write `x.ln() * std::f64::consts::LOG10_E`",
        "exp2" => "write `(x * std::f64::consts::LN_2).exp()`",
        "exp_m1" => "write `(0.5 * x).tanh() * (x.exp() + 1.0)`, which is as exact near 0",
        "normalize" | "magnitude" | "dot" | "vector_sum" => "it is of components: write `Vec2/3/4<F>` for the value",
        "fill" | "extract" | "insert" => "components that belong together are a `Vec2/3/4<F>`, `v.x` or `v[0]`",
        "signum" => "write `x.sign()`, which is 0 at 0",
        "is_inf" | "is_infinite" => "compare with a number: `x.abs() > 1e30`",
        "is_finite" => "compare with a number: `x.abs() < 1e30`",
        _ => return None,
    })
}

fn real_unary(name: &str) -> Option<UnaryOp> {
    Some(match name {
        "abs" => UnaryOp::Abs,
        "exp" => UnaryOp::Exp,
        "ln" => UnaryOp::Ln,
        "sqrt" => UnaryOp::Sqrt,
        "sin" => UnaryOp::Sin,
        "cos" => UnaryOp::Cos,
        "tan" => UnaryOp::Tan,
        "asin" => UnaryOp::Asin,
        "acos" => UnaryOp::Acos,
        "atan" => UnaryOp::Atan,
        "tanh" => UnaryOp::Tanh,
        "sinh" => UnaryOp::Sinh,
        "cosh" => UnaryOp::Cosh,
        "erf" => UnaryOp::Erf,
        "log1p" | "ln_1p" => UnaryOp::Log1p,
        "floor" => UnaryOp::Floor,
        "ceil" => UnaryOp::Ceil,
        "round" => UnaryOp::Round,
        "sign" => UnaryOp::Sign,
        "is_nan" => UnaryOp::IsNan,
        _ => return None,
    })
}

fn real_binary(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "min" => BinaryOp::Min,
        "max" => BinaryOp::Max,
        "powf" => BinaryOp::Powf,
        "atan2" => BinaryOp::Atan2,
        "hypot" => BinaryOp::Hypot,
        _ => return None,
    })
}
