//! A spring whose damping grows with the penetration.

use super::ContactModel;
use diffkern::prelude::*;

/// `N = k d (1 + c d')`, `d = max(0, -gap)`, never negative: damping fades where contact begins and ends, so the force does not
/// jump there. The gradient is one-sided at touch and where a fast separation would pull.
///
/// Source: Hunt, Crossley: Coefficient of restitution interpreted as damping in vibroimpact, 1975, with exponent 1.
#[derive(Clone, Copy, Debug)]
pub struct HuntCrossley;

#[diff_impl]
impl ContactModel for HuntCrossley {
    fn force<F: Float>(gap: F, rate: F, q: Vec4<F>) -> F {
        q.x * (-gap).max(0.0) * (1.0 - q.y * rate).max(0.0)
    }
}
