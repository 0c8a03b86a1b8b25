//! A rod with round ends.

use super::Shape;
use diffkern::prelude::*;

/// All points within `size.x` of the segment from `(0, 0, -size.z)` to `(0, 0, size.z)`. On the segment the normal is zero.
#[derive(Clone, Copy, Debug)]
pub struct Capsule;

#[diff_impl]
impl Shape for Capsule {
    fn distance<F: Float>(x: Vec3<F>, size: Vec3<F>) -> Vec4<F> {
        let d = Vec3::new(x.x, x.y, x.z - x.z.max(-size.z).min(size.z));
        let square = d.dot(d);
        let mut result = Vec4::new(F::new(0.0), F::new(0.0), F::new(0.0), -size.x);
        if square > 0.0 {
            let r = square.sqrt();
            result = Vec4::new(d.x / r, d.y / r, d.z / r, r - size.x);
        }
        result
    }
}
