//! Methods of matrices, by their rows and columns.

use diffkern_ir::{BinaryOp, Id, Lit, Op, Ty, UnaryOp};
use proc_macro2::Span;
use syn::Expr;

use super::Lower;

impl Lower<'_> {
    pub(super) fn apply_mat(
        &mut self,
        name: &str,
        m: Id,
        args: &[&Expr],
        span: Span,
        at: impl quote::ToTokens,
    ) -> Option<Id> {
        let ty = self.ty(m);
        let Ty::Mat(n) = ty else { return None };
        match name {
            "ddot" => {
                let [y] = self.values(at, args, [Some(ty)])?;
                self.expect_type(y, Some(ty), span);
                return Some(self.op(Ty::Real, Op::Binary(BinaryOp::Dot, m, y), span));
            }
            "col" | "row" => {
                let [k] = args else {
                    self.errors.at(at, format!("write `m.{name}(0)`"));
                    return None;
                };
                let k = self.constant_index(k, n)?;
                return Some(self.line(m, k, name == "col", span));
            }
            _ => {}
        }
        if !matches!(name, "transpose" | "trace" | "determinant" | "inverse") {
            return self.unknown(name, ty, "transpose, determinant, inverse, trace, ddot, col, row", at);
        }
        self.values::<0>(at, args, [])?;
        match name {
            "transpose" => self.unary_op(UnaryOp::Transpose, m, span),
            "trace" => {
                let mut sum = self.op(Ty::Real, Op::Extract(m, 0), span);
                for k in 1..n {
                    let next = self.op(Ty::Real, Op::Extract(m, k * n + k), span);
                    sum = self.op(Ty::Real, Op::Binary(BinaryOp::Add, sum, next), span);
                }
                Some(sum)
            }
            "determinant" => Some(self.determinant(m, span)),
            _ => Some(self.inverse(m, span)),
        }
    }

    /// Row or column `k` of a matrix.
    fn line(&mut self, m: Id, k: u8, column: bool, span: Span) -> Id {
        let Ty::Mat(n) = self.ty(m) else { return m };
        let at = |j: u8| if column { j * n + k } else { k * n + j };
        let parts = (0..n).map(|j| self.op(Ty::Real, Op::Extract(m, at(j)), span)).collect();
        self.op(Ty::Vec(n), Op::Compose(parts), span)
    }

    fn lines(&mut self, m: Id, span: Span) -> (Id, Id, Id) {
        (self.line(m, 0, false, span), self.line(m, 1, false, span), self.line(m, 2, false, span))
    }

    fn cross(&mut self, a: Id, b: Id, span: Span) -> Id {
        self.op(Ty::Vec(3), Op::Binary(BinaryOp::Cross, a, b), span)
    }

    fn determinant(&mut self, m: Id, span: Span) -> Id {
        if self.ty(m) == Ty::Mat(2) {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| self.op(Ty::Real, Op::Extract(m, k), span));
            let ad = self.op(Ty::Real, Op::Binary(BinaryOp::Mul, a, d), span);
            let bc = self.op(Ty::Real, Op::Binary(BinaryOp::Mul, b, c), span);
            return self.op(Ty::Real, Op::Binary(BinaryOp::Sub, ad, bc), span);
        }
        let (r0, r1, r2) = self.lines(m, span);
        let cross = self.cross(r1, r2, span);
        self.op(Ty::Real, Op::Binary(BinaryOp::Dot, r0, cross), span)
    }

    /// Adjugate over determinant.
    fn inverse(&mut self, m: Id, span: Span) -> Id {
        let det = self.determinant(m, span);
        let one = self.constant(Ty::Real, Lit::Real(1.0), span);
        let recip = self.op(Ty::Real, Op::Binary(BinaryOp::Div, one, det), span);
        let adjugate = if self.ty(m) == Ty::Mat(2) {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| self.op(Ty::Real, Op::Extract(m, k), span));
            let [b, c] = [b, c].map(|x| self.op(Ty::Real, Op::Unary(UnaryOp::Neg, x), span));
            self.op(Ty::Mat(2), Op::Compose(vec![d, b, c, a]), span)
        } else {
            let (r0, r1, r2) = self.lines(m, span);
            let columns = [self.cross(r1, r2, span), self.cross(r2, r0, span), self.cross(r0, r1, span)];
            self.matrix_of_lines(&columns, true, span)
        };
        self.op(self.ty(m), Op::Binary(BinaryOp::Scale, adjugate, recip), span)
    }

    pub(super) fn matrix_of_lines(&mut self, lines: &[Id], columns: bool, span: Span) -> Id {
        let n = lines.len() as u8;
        let mut parts = Vec::new();
        for r in 0..n {
            for c in 0..n {
                let (line, k) = if columns { (c, r) } else { (r, c) };
                parts.push(self.op(Ty::Real, Op::Extract(lines[line as usize], k), span));
            }
        }
        self.op(Ty::Mat(n), Op::Compose(parts), span)
    }
}
