//! Quaternions `w + x i + y j + z k`, by vectors and scalars: no derivative rule is theirs.

use diffkern_ir::{BinaryOp, Id, Lit, Op, Ty, UnaryOp};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall};

use super::Lower;

/// Where the sine and cosine of a small angle are taken from their series: its square, below which the series are exact
/// to rounding.
const SMALL: f64 = 1e-4;

impl Lower<'_> {
    pub(super) fn quat_constructor(&mut self, c: &ExprCall, name: &str, args: &[&Expr]) -> Option<Id> {
        let span = c.span();
        match name {
            "identity" => {
                self.values::<0>(c, args, [])?;
                let (zero, one) = (self.number(0.0, span), self.number(1.0, span));
                Some(self.op(Ty::Quat, Op::Compose(vec![one, zero, zero, zero]), span))
            }
            "from_axis_angle" => {
                let [axis, angle] = self.values(c, args, [None, Some(Ty::Real)])?;
                self.need(axis, Ty::Vec(3), span)?;
                self.need(angle, Ty::Real, span)?;
                let half = self.number(0.5, span);
                let half = self.op(Ty::Real, Op::Binary(BinaryOp::Mul, angle, half), span);
                let [cos, sin] = [UnaryOp::Cos, UnaryOp::Sin].map(|op| self.op(Ty::Real, Op::Unary(op, half), span));
                let vector = self.op(Ty::Vec(3), Op::Binary(BinaryOp::Scale, axis, sin), span);
                Some(self.quat(cos, vector, span))
            }
            _ => {
                let [v] = self.values(c, args, [None])?;
                self.need(v, Ty::Vec(3), span)?;
                Some(self.exponential(v, span))
            }
        }
    }

    pub(super) fn apply_quat(
        &mut self,
        name: &str,
        q: Id,
        args: &[&Expr],
        span: Span,
        at: impl quote::ToTokens,
    ) -> Option<Id> {
        match name {
            "dot" => {
                let [p] = self.values(at, args, [Some(Ty::Quat)])?;
                self.need(p, Ty::Quat, span)?;
                Some(self.op(Ty::Real, Op::Binary(BinaryOp::Dot, q, p), span))
            }
            "rotate" => {
                let [v] = self.values(at, args, [None])?;
                self.need(v, Ty::Vec(3), span)?;
                Some(self.rotate(q, v, span))
            }
            "conjugate" | "norm" | "norm_squared" | "normalize" | "inverse" | "to_mat3" | "vector" => {
                self.values::<0>(at, args, [])?;
                Some(self.of_quat(name, q, span))
            }
            _ => self.unknown(
                name,
                Ty::Quat,
                "conjugate, norm, norm_squared, normalize, inverse, dot, rotate, to_mat3, vector, and `p * q`",
                at,
            ),
        }
    }

    fn of_quat(&mut self, name: &str, q: Id, span: Span) -> Id {
        let square = |s: &mut Self| s.op(Ty::Real, Op::Binary(BinaryOp::Dot, q, q), span);
        match name {
            "conjugate" => self.conjugate(q, span),
            "norm_squared" => square(self),
            "norm" => {
                let square = square(self);
                self.op(Ty::Real, Op::Unary(UnaryOp::Sqrt, square), span)
            }
            "normalize" => {
                let norm = self.of_quat("norm", q, span);
                self.over(q, norm, span)
            }
            "inverse" => {
                let (conjugate, square) = (self.conjugate(q, span), square(self));
                self.over(conjugate, square, span)
            }
            "vector" => self.vector(q, span),
            _ => {
                let columns: Vec<Id> = (0..3)
                    .map(|k| {
                        let parts = (0..3).map(|j| self.number(f64::from(u8::from(j == k)), span)).collect();
                        let axis = self.op(Ty::Vec(3), Op::Compose(parts), span);
                        self.rotate(q, axis, span)
                    })
                    .collect();
                self.matrix_of_lines(&columns, true, span)
            }
        }
    }

    /// `(w, a)(v, b) = (w v - a·b, w b + v a + a x b)`
    pub(super) fn quat_product(&mut self, p: Id, q: Id, span: Span) -> Id {
        let ([w, v], [a, b]) = ([p, q].map(|q| self.part(q, 0, span)), [p, q].map(|q| self.vector(q, span)));
        let wv = self.op(Ty::Real, Op::Binary(BinaryOp::Mul, w, v), span);
        let ab = self.op(Ty::Real, Op::Binary(BinaryOp::Dot, a, b), span);
        let real = self.op(Ty::Real, Op::Binary(BinaryOp::Sub, wv, ab), span);
        let wb = self.op(Ty::Vec(3), Op::Binary(BinaryOp::Scale, b, w), span);
        let va = self.op(Ty::Vec(3), Op::Binary(BinaryOp::Scale, a, v), span);
        let cross = self.op(Ty::Vec(3), Op::Binary(BinaryOp::Cross, a, b), span);
        let sum = self.op(Ty::Vec(3), Op::Binary(BinaryOp::Add, wb, va), span);
        let vector = self.op(Ty::Vec(3), Op::Binary(BinaryOp::Add, sum, cross), span);
        self.quat(real, vector, span)
    }

    /// `v + w t + a x t` with `t = 2 a x v`: a rotation when `q` is a unit quaternion.
    fn rotate(&mut self, q: Id, v: Id, span: Span) -> Id {
        let (w, a) = (self.part(q, 0, span), self.vector(q, span));
        let cross = self.op(Ty::Vec(3), Op::Binary(BinaryOp::Cross, a, v), span);
        let t = self.op(Ty::Vec(3), Op::Binary(BinaryOp::Add, cross, cross), span);
        let wt = self.op(Ty::Vec(3), Op::Binary(BinaryOp::Scale, t, w), span);
        let at = self.op(Ty::Vec(3), Op::Binary(BinaryOp::Cross, a, t), span);
        let sum = self.op(Ty::Vec(3), Op::Binary(BinaryOp::Add, v, wt), span);
        self.op(Ty::Vec(3), Op::Binary(BinaryOp::Add, sum, at), span)
    }

    /// `(cos(|v|/2), sin(|v|/2) v/|v|)`, through the square of the angle where that is small: smooth at zero.
    fn exponential(&mut self, v: Id, span: Span) -> Id {
        let square = self.op(Ty::Real, Op::Binary(BinaryOp::Dot, v, v), span);
        let (small, one) = (self.number(SMALL, span), self.number(1.0, span));
        let near = self.op(Ty::Bool, Op::Binary(BinaryOp::Lt, square, small), span);
        let safe = self.op(Ty::Real, Op::Select(near, one, square), span);
        let angle = self.op(Ty::Real, Op::Unary(UnaryOp::Sqrt, safe), span);
        let half = self.number(0.5, span);
        let half = self.op(Ty::Real, Op::Binary(BinaryOp::Mul, angle, half), span);
        let [cos, sin] = [UnaryOp::Cos, UnaryOp::Sin].map(|op| self.op(Ty::Real, Op::Unary(op, half), span));
        let sinc = self.op(Ty::Real, Op::Binary(BinaryOp::Div, sin, angle), span);
        let near_cos = self.series(square, [1.0, -1.0 / 8.0, 1.0 / 384.0], span);
        let near_sinc = self.series(square, [0.5, -1.0 / 48.0, 1.0 / 3840.0], span);
        let cos = self.op(Ty::Real, Op::Select(near, near_cos, cos), span);
        let sinc = self.op(Ty::Real, Op::Select(near, near_sinc, sinc), span);
        let vector = self.op(Ty::Vec(3), Op::Binary(BinaryOp::Scale, v, sinc), span);
        self.quat(cos, vector, span)
    }

    fn series(&mut self, x: Id, [a, b, c]: [f64; 3], span: Span) -> Id {
        let [a, b, c] = [a, b, c].map(|k| self.number(k, span));
        let cx = self.op(Ty::Real, Op::Binary(BinaryOp::Mul, c, x), span);
        let inner = self.op(Ty::Real, Op::Binary(BinaryOp::Add, b, cx), span);
        let outer = self.op(Ty::Real, Op::Binary(BinaryOp::Mul, inner, x), span);
        self.op(Ty::Real, Op::Binary(BinaryOp::Add, a, outer), span)
    }

    fn conjugate(&mut self, q: Id, span: Span) -> Id {
        let (w, a) = (self.part(q, 0, span), self.vector(q, span));
        let a = self.op(Ty::Vec(3), Op::Unary(UnaryOp::Neg, a), span);
        self.quat(w, a, span)
    }

    fn over(&mut self, q: Id, by: Id, span: Span) -> Id {
        let one = self.number(1.0, span);
        let recip = self.op(Ty::Real, Op::Binary(BinaryOp::Div, one, by), span);
        self.op(Ty::Quat, Op::Binary(BinaryOp::Scale, q, recip), span)
    }

    fn quat(&mut self, w: Id, vector: Id, span: Span) -> Id {
        let mut parts = vec![w];
        parts.extend((0..3).map(|k| self.part(vector, k, span)));
        self.op(Ty::Quat, Op::Compose(parts), span)
    }

    fn vector(&mut self, q: Id, span: Span) -> Id {
        let parts = (1..4).map(|k| self.part(q, k, span)).collect();
        self.op(Ty::Vec(3), Op::Compose(parts), span)
    }

    fn part(&mut self, x: Id, k: u8, span: Span) -> Id {
        self.op(Ty::Real, Op::Extract(x, k), span)
    }

    fn number(&mut self, x: f64, span: Span) -> Id {
        self.constant(Ty::Real, Lit::Real(x), span)
    }

    fn need(&self, id: Id, ty: Ty, span: Span) -> Option<()> {
        self.expect_type(id, Some(ty), span);
        (self.ty(id) == ty).then_some(())
    }
}
