//! Adjoints in the memory of others: the adjoint of an array that ends at a launch is read there for the last time, and an
//! array that the launch reads at the same indices may have its first adjoint in the same place. A step of a program then
//! touches one array, not two.

use super::bars::Bars;
use super::node::{KeptArray, LaunchNode};

/// The array whose adjoint ends, and the one that has its memory now.
pub(super) type HandedOver = (u64, u64);

impl LaunchNode {
    /// Hands memory over where the kernel allows it (see [`KernelDef::places`](crate::kernel::KernelDef::places)), from
    /// arrays that end here to arrays of the same shape whose adjoint begins here. The pairs, by identity.
    ///
    /// The caller runs the adjoint with both bound to the memory that is now that of the second.
    pub(super) fn hand_over(&self, bars: &mut Bars) -> Vec<HandedOver> {
        let mut pairs = Vec::new();
        // Whoever looks for what is not finite looks at both.
        if !self.native.in_place || bars.ledger.options.check_finite {
            return pairs;
        }
        for &(from, to) in self.def.places {
            let (Some(from), Some(to)) = (self.alone(from), self.alone(to)) else { continue };
            let (a, b) = (&from.shape, &to.shape);
            let alike = (a.elem, a.scalar, a.len) == (b.elem, b.scalar, b.len);
            if alike && from.retire && !to.retire && bars.hand_over(a.id, b) {
                pairs.push((a.id, b.id));
            }
        }
        pairs
    }

    /// The array whose bar is this parameter of the adjoint, if it has one, is whole, and is no other argument as well.
    fn alone(&self, param: usize) -> Option<&KeptArray> {
        let array =
            self.arrays().filter(|array| array.shape.elem.is_real()).nth(param.checked_sub(self.args.len())?)?;
        let same = self.arrays().filter(|other| other.shape.id == array.shape.id).count();
        (array.tracked && array.shape.is_whole() && same == 1).then_some(array)
    }
}
