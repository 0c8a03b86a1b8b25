//! A smooth barrier that nothing passes.

use super::ContactModel;
use diffkern::prelude::*;

/// `N = -b'(gap)` of `b = -k/w (gap - w)^2 ln(gap / w)` for `0 < gap < w`, zero beyond the width `w`: twice continuously
/// differentiable, infinite at touch. A step that jumps through the surface gives a force that is not a number, which the check
/// of the state reports: it needs a shorter step. Implicit steps bound their way instead.
///
/// Source: Li, Ferguson, Schneider, Langlois, Zorin, Panozzo, Jiang, Kaufman: Incremental potential contact, 2020, equation 6,
/// scaled so that `k` is a force per length.
#[derive(Clone, Copy, Debug)]
pub struct Barrier;

#[diff_impl]
impl ContactModel for Barrier {
    fn force<F: Float>(gap: F, _rate: F, q: Vec4<F>) -> F {
        let mut force = F::new(0.0);
        if gap < q.z {
            let short = gap - q.z;
            force = q.x / q.z * short * (2.0 * (gap / q.z).ln() + short / gap);
        }
        force
    }
}

/// The energy `b` \[J\] of a [`Barrier`], without a value at and below touch.
#[diff_fn]
pub fn barrier_energy<F: Float>(gap: F, q: Vec4<F>) -> F {
    let mut energy = F::new(0.0);
    if gap < q.z {
        let short = gap - q.z;
        energy = -q.x / q.z * short * short * (gap / q.z).ln();
    }
    energy
}

/// `b''` \[N/m\] of a [`Barrier`], never negative.
#[diff_fn]
pub fn barrier_stiffness<F: Float>(gap: F, q: Vec4<F>) -> F {
    let mut stiffness = F::new(0.0);
    if gap < q.z {
        let short = (gap - q.z) / gap;
        stiffness = q.x / q.z * (short * short - 4.0 * short - 2.0 * (gap / q.z).ln());
    }
    stiffness
}
