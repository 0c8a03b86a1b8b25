//! Type rules of the pure operations.

use super::{Checked, Verify, ensure};
use crate::{FuncKind, Id, Lit, Op, Ty};

impl Verify<'_> {
    /// That `op` gives a `result`.
    pub(super) fn op(&self, op: &Op, result: Ty) -> Checked {
        let ty = |id: &Id| self.ty(*id);
        let legal = match op {
            Op::Const(Lit::Real(_)) => result == Ty::Real,
            Op::Const(Lit::Int(_)) => result.is_int(),
            Op::Const(Lit::Bool(_)) => result == Ty::Bool,
            Op::Builtin(_) => result.same(Ty::Usize) && self.func.kind == FuncKind::Kernel,
            Op::Len(slot) => {
                self.is_array(*slot)?;
                result.same(Ty::Usize)
            }
            Op::Unary(op, x) => op.result(ty(x)?).is_some_and(|found| found.same(result)),
            Op::Binary(op, a, b) => op.result(ty(a)?, ty(b)?).is_some_and(|found| found.same(result)),
            Op::Select(c, a, b) => ty(c)? == Ty::Bool && ty(a)?.same(result) && ty(b)?.same(result),
            Op::Cast(x) => {
                let from = ty(x)?;
                result.is_number() && (from.is_number() || from == Ty::Bool)
            }
            Op::Compose(parts) => {
                for part in parts {
                    self.expect(*part, Ty::Real)?;
                }
                result.is_compound() && parts.len() == result.components()
            }
            Op::Extract(x, k) => self.has_part(*x, *k)? && result == Ty::Real,
            Op::Insert(x, k, part) => {
                self.expect(*part, Ty::Real)?;
                self.has_part(*x, *k)? && ty(x)? == result
            }
        };
        ensure(legal, || format!("operands of the wrong type for a {result}: {op:?}"))
    }

    fn has_part(&self, x: Id, k: u8) -> Result<bool, String> {
        let ty = self.ty(x)?;
        Ok(ty.is_compound() && (k as usize) < ty.components())
    }
}
