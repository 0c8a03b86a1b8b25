//! Contact of grid nodes with half-spaces: what a node inside the solid may still do.

use diffkern::prelude::*;

/// Velocity after contact. `kind`: 0 sticky, 1 slip (stays on the surface), 2 separating (may leave it).
///
/// Coulomb: the tangential speed loses `friction` times the normal speed taken away, down to zero. Kinks, with the
/// derivative of the branch taken: separation, and the change from sliding to sticking.
#[diff_fn(dims(2, 3))]
pub fn contact_velocity<F: Float, const D: usize>(
    u: Vector<F, D>,
    plane: Vec4<F>,
    kind: u32,
    friction: F,
) -> Vector<F, D> {
    let n = Vector::<F, D>::from_fn(|a| plane[a]);
    let normal = u.dot(n);
    let mut result = u;
    if kind == 0 {
        result = Vector::<F, D>::zero();
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
