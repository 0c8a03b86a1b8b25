//! Atomic additions that give the old value, as CubeCL writes them: `count[i].fetch_add(1)`.
//!
//! An old value carries no derivative, and depends on the order of threads; so neither the adjoint nor the tangent may need
//! it, which [`crate::expand`] sees in what is left of them. Where nobody uses it the addition is `+=`.

use diffkern_ir::{BinaryOp, FuncKind, Id, Lit, Op, Slot, StmtKind, Ty, UnaryOp};
use syn::spanned::Spanned;
use syn::{Expr, ExprIndex, ExprMethodCall};

use super::Lower;

impl Lower<'_> {
    /// The array and the index of an element of an array of atomics.
    pub(super) fn atomic_named<'e>(&self, e: &'e Expr) -> Option<(Slot, &'e ExprIndex)> {
        match e {
            Expr::Paren(p) => self.atomic_named(&p.expr),
            Expr::Index(i) => {
                let slot = self.array_named(&i.expr)?;
                self.arrays[slot].atomic.then_some((slot, i))
            }
            _ => None,
        }
    }

    /// Whether the author means an atomic, whatever the array is.
    pub(super) fn fetches(&self, m: &ExprMethodCall) -> bool {
        let element = matches!(&*m.receiver, Expr::Index(i) if self.array_named(&i.expr).is_some());
        self.atomic_named(&m.receiver).is_some() || (element && m.method.to_string().starts_with("fetch_"))
    }

    /// `used`: the old value is.
    pub(super) fn fetch(&mut self, m: &ExprMethodCall, used: bool) -> Option<Id> {
        let Some((array, e)) = self.atomic_named(&m.receiver) else {
            self.errors.at(&m.method, "this is for atomics: declare the array as `&mut Array<Atomic<u32>>`");
            return None;
        };
        let elem = self.array_elem(array)?;
        let negative = match m.method.to_string().as_str() {
            "fetch_add" => false,
            "fetch_sub" => true,
            other => {
                self.errors.at(
                    &m.method,
                    format!(
                        "`{other}` of an atomic is not supported; there are `fetch_add` and `fetch_sub`, and a later \
                         kernel may read the array as `&Array<{}>`",
                        self.type_name(elem)
                    ),
                );
                return None;
            }
        };
        if used && elem == Ty::Real {
            self.errors.at(
                &m.method,
                "the old value of a sum of reals depends on the order of threads; use `fetch_add` as a statement",
            );
            return None;
        }
        let index = self.element_index(array, &e.index)?;
        let [mut value] = self.values(m, &m.args.iter().collect::<Vec<_>>(), [Some(elem)])?;
        self.expect_type(value, Some(elem), m.args.span());
        let span = m.span();
        if negative {
            value = match elem {
                Ty::Real => self.op(elem, Op::Unary(UnaryOp::Neg, value), span),
                _ => {
                    let zero = self.constant(elem, Lit::Int(0), span);
                    self.op(elem, Op::Binary(BinaryOp::Sub, zero, value), span)
                }
            };
        }
        let id = self.func.fresh(elem);
        self.arrays[array].fetch = true;
        self.arrays[array].fetched |= used;
        self.emit(StmtKind::Fetch { id, array, index, value, again: false }, m.method.span());
        Some(id)
    }

    /// Makes additions of the fetches of an array whose old values nobody uses: those may come in any order.
    pub(super) fn additions(&mut self, slot: Slot) {
        let usage = &mut self.arrays[slot];
        if usage.fetch && !usage.fetched && self.func.kind == FuncKind::Kernel {
            usage.fetch = false;
            usage.add = Some(self.source.params[slot]);
            self.func.body.each_mut(&mut |stmt| match stmt.kind {
                StmtKind::Fetch { array, index, value, .. } if array == slot => {
                    stmt.kind = StmtKind::Add { array, index, value };
                }
                _ => {}
            });
        }
    }
}
