//! Coulomb friction, regularised.

use diffkern::prelude::*;

/// Friction \[N\] against the sliding velocity `slide`: `G v_t / sqrt(v_t^2 + q^2 + slip^2)`, `grip` `G = mu N` and `q = G dt / m`,
/// so that one step at most stops the sliding and never turns it round. `slip` \[m/s\] is the speed below which it fades.
#[diff_fn(dims(2, 3))]
pub fn coulomb<F: Float, const D: usize>(slide: Vector<F, D>, grip: F, slip: F, dt_over_m: F) -> Vector<F, D> {
    let stop = grip * dt_over_m;
    let speed = (slide.dot(slide) + stop * stop + slip * slip).sqrt();
    slide * (grip / speed)
}

/// The same nearer to Coulomb's law, for short steps: friction \[N\] against the sliding velocity `slide`: `G v_t / ((v_t^2 + slip^2)^2 + q^4)^(1/4)`, `grip` `G = mu N` and `q = G dt / m`,
/// so that one step at most stops the sliding and never turns it round, and what slides at twice that speed meets 98 % of `G`. `slip` \[m/s\] is the speed
/// below which it fades.
#[diff_fn(dims(2, 3))]
pub fn sharp_coulomb<F: Float, const D: usize>(slide: Vector<F, D>, grip: F, slip: F, dt_over_m: F) -> Vector<F, D> {
    let friction: Vector<F, D> = stopping_coulomb::<D>(slide, grip, slip, grip * dt_over_m);
    friction
}

/// The same by the speed `stop` \[m/s\] that one step of the friction `grip` \[N\] stops, of whatever moves.
#[diff_fn(dims(2, 3))]
pub fn stopping_coulomb<F: Float, const D: usize>(slide: Vector<F, D>, grip: F, slip: F, stop: F) -> Vector<F, D> {
    let slid = slide.dot(slide) + slip * slip;
    let stopped = stop * stop;
    slide * (grip / (slid * slid + stopped * stopped).sqrt().sqrt())
}
