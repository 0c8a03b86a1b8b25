//! A spring that stiffens as a layer of matter does.

use super::ContactModel;
use super::smooth_penalty::softened;
use diffkern::prelude::*;

/// `N = k (d + d (e + e^2 + e^3 + e^4))`, `e = d / s` of the depth `d = max(0, -gap)` by the thickness `s`: what a layer of that thickness does when it is squeezed sideways held, `k s e / (1 - e)`
/// to second order in `e` where its Lamé parameters are as `2 mu = lambda` (neo-Hookean), and finite where it is squeezed to nothing. Up to the depth `w = s / 10` it begins smoothly, with `d^2 / (2 w)` in place of
/// the first `d` and `d - w / 2` beyond, as a [`SmoothPenalty`](super::SmoothPenalty).
///
/// A penalty that gives way for such a layer is as stiff as the layer under small pressures alone: where a body is squeezed to half, next to an edge that rubs, it is much softer.
#[derive(Clone, Copy, Debug)]
pub struct Layer;

#[diff_impl]
impl ContactModel for Layer {
    fn force<F: Float>(gap: F, _rate: F, q: Vec4<F>) -> F {
        let depth = (-gap).max(0.0);
        let e = depth / q.z;
        q.x * (softened(depth, 0.1 * q.z) + depth * e * (1.0 + e * (1.0 + e * (1.0 + e))))
    }
}
