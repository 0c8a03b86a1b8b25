//! What lies below a plane.

use super::Shape;
use diffkern::prelude::*;

/// The half-space `z <= 0` of its frame, without size.
#[derive(Clone, Copy, Debug)]
pub struct HalfSpace;

#[diff_impl]
impl Shape for HalfSpace {
    fn distance<F: Float>(x: Vec3<F>, _size: Vec3<F>) -> Vec4<F> {
        Vec4::new(F::new(0.0), F::new(0.0), F::new(1.0), x.z)
    }
}
