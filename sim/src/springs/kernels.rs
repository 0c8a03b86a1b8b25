//! Forces of springs.

use diffkern::prelude::*;

/// Adds `k (l - l0 (1 + a)) + c l'` along each spring to the forces on its ends, `l` its length; arrays of one element stand for all
/// springs. A spring of no length has no direction: its force is not a number.
#[diff_kernel]
pub fn spring_forces<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    ends: &Array<u32>,
    stiffness: &Array<F>,
    damping: &Array<F>,
    rest: &Array<F>,
    actuation: &Array<F>,
    force: &mut Array<Vec3<F>>,
) {
    let s = ABSOLUTE_POS;
    let a = ends[2 * s] as usize;
    let b = ends[2 * s + 1] as usize;
    let d = x[b] - x[a];
    let length = d.norm();
    let along = d / length;
    let relaxed = rest[s.min(rest.len() - 1)] * (1.0 + actuation[s.min(actuation.len() - 1)]);
    let rate = (v[b] - v[a]).dot(along);
    let k = stiffness[s.min(stiffness.len() - 1)];
    let pull = along * (k * (length - relaxed) + damping[s.min(damping.len() - 1)] * rate);
    force[a] += pull;
    force[b] += -pull;
}
