//! Products of vectors and matrices of which only some components are used.
//!
//! `select(x > 0, w.x, w.y)` with `w = (sqrt(x), x) * s` passes an adjoint to one component of `w` only. The adjoint of
//! `s` is a sum over the components, in which zero times the NaN of the other must not show. So where a product is not
//! always used (see [`crate::reach`]) its adjoint is written component by component, each behind a test.

use diffkern_ir::{BinaryOp, Id, Lit, Op, Ty};

use super::Adjoint;
use super::bars::Bar;
use crate::terms::product_terms;

impl Adjoint<'_> {
    /// The adjoints of both factors of `id = a op c`, from the adjoint of `id`, component by component.
    pub fn reverse_product(&mut self, id: Id, op: BinaryOp, (a, c): (Id, Id), bar: &Bar) {
        for (k, terms) in product_terms(op, self.primal.ty(a)).into_iter().enumerate() {
            let Some(t) = self.part_of(bar, k) else { continue };
            let used = if self.reached.part(id, k) {
                self.b.op(Ty::Bool, Op::Const(Lit::Bool(true)))
            } else {
                self.b.nonzero(t)
            };
            for (i, j, minus) in terms {
                for (to, at, other, with) in [(a, i, c, j), (c, j, a, i)] {
                    if self.is_varied(to) {
                        self.add_product(used, t, (to, at), (other, with), minus);
                    }
                }
            }
        }
    }

    /// Adds `t` times component `with` of `other` to the adjoint of component `at` of `to`, where `used`.
    fn add_product(&mut self, used: Id, t: Id, (to, at): (Id, usize), (other, with): (Id, usize), minus: bool) {
        let mut factor = self.val(other);
        if self.primal.ty(other) != Ty::Real {
            factor = self.b.extract(factor, with);
        }
        let mut product = self.b.mul(t, factor);
        if minus {
            product = self.b.neg(product);
        }
        let zero = self.b.real(0.0);
        let term = self.b.select(used, product, zero);
        match self.primal.ty(to) {
            Ty::Real => self.add_bar(to, term),
            _ => self.add_part(to, at, term),
        }
    }
}
