//! Contact of grid nodes with half-spaces: what a node inside the solid may still do.

use diffkern::prelude::*;

/// Velocity after contact. `kind`: 0 sticky, 1 slip (stays on the surface), 2 separating (may leave it).
///
/// Coulomb: the tangential speed loses `friction` times the normal speed taken away, down to zero. Kinks, with the
/// derivative of the branch taken: separation, and the change from sliding to sticking.
#[diff_fn]
pub fn contact_velocity_2d<F: Float>(u: Vec2<F>, plane: Vec4<F>, kind: u32, friction: F) -> Vec2<F> {
    let n = Vec2::new(plane.x, plane.y);
    let normal = u.dot(n);
    let mut result = u;
    if kind == 0 {
        result = Vec2::zero();
    } else {
        if kind == 1 || normal < 0.0 {
            let slide = u - n * normal;
            let square = slide.dot(slide);
            let mut keep = F::new(1.0);
            if square > 0.0 {
                keep = (1.0 - friction * normal.abs() / square.sqrt()).max(0.0);
            }
            result = slide * keep;
        }
    }
    result
}

/// As [`contact_velocity_2d()`] in space.
#[diff_fn]
pub fn contact_velocity_3d<F: Float>(u: Vec3<F>, plane: Vec4<F>, kind: u32, friction: F) -> Vec3<F> {
    let n = Vec3::new(plane.x, plane.y, plane.z);
    let normal = u.dot(n);
    let mut result = u;
    if kind == 0 {
        result = Vec3::zero();
    } else {
        if kind == 1 || normal < 0.0 {
            let slide = u - n * normal;
            let square = slide.dot(slide);
            let mut keep = F::new(1.0);
            if square > 0.0 {
                keep = (1.0 - friction * normal.abs() / square.sqrt()).max(0.0);
            }
            result = slide * keep;
        }
    }
    result
}
