//! A spring that begins smoothly.

use super::ContactModel;
use diffkern::prelude::*;

/// `N = k d^2 / (2 w)` up to the width `w`, `k (d - w / 2)` beyond, `d = max(0, -gap)`: the force has a continuous slope, at most `k`. So what
/// a bounce does to its parameters is smooth but for a second derivative that jumps, where a [`Penalty`](super::Penalty) has a kink
/// for each point at each touch.
#[derive(Clone, Copy, Debug)]
pub struct SmoothPenalty;

#[diff_impl]
impl ContactModel for SmoothPenalty {
    fn force<F: Float>(gap: F, _rate: F, q: Vec4<F>) -> F {
        q.x * softened((-gap).max(0.0), q.z)
    }
}

/// `d^2 / (2 w)` up to the width `w`, `d - w / 2` beyond.
#[diff_fn]
pub(super) fn softened<F: Float>(depth: F, width: F) -> F {
    // As far as the slope grows.
    let soft = depth.min(width);
    depth - soft + 0.5 * soft * soft / width
}
