//! Functions of integers. All wrap.

use diffkern_ir::{BinaryOp, Id, Lit, Op, Ty, UnaryOp};
use proc_macro2::Span;
use syn::Expr;
use syn::spanned::Spanned;

use super::Lower;

impl Lower<'_> {
    pub(super) fn apply_integer(
        &mut self,
        name: &str,
        x: Id,
        args: &[&Expr],
        span: Span,
        at: impl quote::ToTokens,
    ) -> Option<Id> {
        let ty = self.ty(x);
        let unsigned = ty != Ty::I32;
        let binary = |s: &mut Self, op, a, b| s.op(ty, Op::Binary(op, a, b), span);
        let op = match name {
            "min" => BinaryOp::Min,
            "max" => BinaryOp::Max,
            "wrapping_add" => BinaryOp::Add,
            "wrapping_sub" => BinaryOp::Sub,
            "wrapping_mul" => BinaryOp::Mul,
            "abs" if ty == Ty::I32 => {
                self.values::<0>(at, args, [])?;
                return self.unary_op(UnaryOp::Abs, x, span);
            }
            "clamp" => {
                let [lo, hi] = self.integers(ty, args, at)?;
                let x = binary(self, BinaryOp::Max, x, lo);
                return Some(binary(self, BinaryOp::Min, x, hi));
            }
            "saturating_sub" if unsigned => {
                let [y] = self.integers(ty, args, at)?;
                let larger = binary(self, BinaryOp::Max, x, y);
                return Some(binary(self, BinaryOp::Sub, larger, y));
            }
            "abs_diff" if unsigned => {
                let [y] = self.integers(ty, args, at)?;
                let (larger, smaller) = (binary(self, BinaryOp::Max, x, y), binary(self, BinaryOp::Min, x, y));
                return Some(binary(self, BinaryOp::Sub, larger, smaller));
            }
            "div_ceil" if unsigned => {
                let [y] = self.integers(ty, args, at)?;
                let (whole, rest) = (binary(self, BinaryOp::Div, x, y), binary(self, BinaryOp::Rem, x, y));
                let one = self.constant(ty, Lit::Int(1), span);
                let up = binary(self, BinaryOp::Min, rest, one);
                return Some(binary(self, BinaryOp::Add, whole, up));
            }
            _ => {
                let known = match unsigned {
                    true => {
                        "min, max, clamp, abs_diff, div_ceil, saturating_sub, wrapping_add, wrapping_sub, wrapping_mul"
                    }
                    false => "min, max, clamp, abs, wrapping_add, wrapping_sub, wrapping_mul",
                };
                return self.unknown(name, ty, known, at);
            }
        };
        let [y] = self.integers(ty, args, at)?;
        Some(binary(self, op, x, y))
    }

    /// Exactly `N` arguments of one type.
    fn integers<const N: usize>(&mut self, ty: Ty, args: &[&Expr], at: impl quote::ToTokens) -> Option<[Id; N]> {
        let ids = self.values(at, args, [Some(ty); N])?;
        for (id, arg) in ids.iter().zip(args) {
            self.expect_type(*id, Some(ty), arg.span());
        }
        Some(ids)
    }
}
