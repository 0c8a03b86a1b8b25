//! Contact of particles with half-spaces by a stiff spring: nothing about it depends on the grid, so an object neither
//! stops a cell early nor sticks to a node.

use crate::contact::coulomb;
use diffkern::prelude::*;

/// Force \[N\] on a particle: `stiffness area max(0, offset - n.x)` along `n`, and Coulomb friction against sliding.
///
/// `plane = (normal, offset)`, the offset including half a particle spacing; `law = (stiffness * area, slip speed,
/// friction, 0)`; `dt_over_m` \[s/kg\]. Friction is that of [`coulomb`]. The gradient is one-sided where contact begins.
#[diff_fn(dims(2, 3))]
pub fn penalty_force<F: Float, const D: usize>(
    x: Vector<F, D>,
    v: Vector<F, D>,
    plane: Vec4<F>,
    law: Vec4<F>,
    dt_over_m: F,
) -> Vector<F, D> {
    let n = Vector::<F, D>::from_fn(|a| plane[a]);
    let push = law.x * (plane.w - n.dot(x)).max(0.0);
    let slide = v - n * v.dot(n);
    let friction: Vector<F, D> = coulomb::<F, D>(slide, law.z * push, law.y, dt_over_m);
    n * push - friction
}
