//! Contact of particles with half-spaces by a stiff spring: nothing about it depends on the grid, so an object neither
//! stops a cell early nor sticks to a node.

use diffkern::prelude::*;

/// Force \[N\] on a particle: `stiffness area max(0, offset - n.x)` along `n`, and Coulomb friction against sliding.
///
/// `plane = (n_x, n_y, 0, offset)`, the offset including half a particle spacing; `law = (stiffness * area, slip speed,
/// 0, 0)`; `dt_over_m` \[s/kg\]. Friction is `mu N v_t / sqrt(v_t^2 + q^2 + slip^2)` with `q = mu N dt / m`, so that one
/// step at most stops the sliding and never turns it round. The gradient is one-sided where contact begins.
#[diff_fn]
pub fn penalty_force_2d<F: Float>(
    x: Vec2<F>,
    v: Vec2<F>,
    plane: Vec4<F>,
    law: Vec4<F>,
    friction: F,
    dt_over_m: F,
) -> Vec2<F> {
    let n = Vec2::new(plane.x, plane.y);
    let push = law.x * (plane.w - n.dot(x)).max(0.0);
    let slide = v - n * v.dot(n);
    let grip = friction * push;
    let stop = grip * dt_over_m;
    let speed = (slide.dot(slide) + stop * stop + law.y * law.y).sqrt();
    n * push - slide * (grip / speed)
}

/// As [`penalty_force_2d()`], with `plane = (n_x, n_y, n_z, offset)`.
#[diff_fn]
pub fn penalty_force_3d<F: Float>(
    x: Vec3<F>,
    v: Vec3<F>,
    plane: Vec4<F>,
    law: Vec4<F>,
    friction: F,
    dt_over_m: F,
) -> Vec3<F> {
    let n = Vec3::new(plane.x, plane.y, plane.z);
    let push = law.x * (plane.w - n.dot(x)).max(0.0);
    let slide = v - n * v.dot(n);
    let grip = friction * push;
    let stop = grip * dt_over_m;
    let speed = (slide.dot(slide) + stop * stop + law.y * law.y).sqrt();
    n * push - slide * (grip / speed)
}
