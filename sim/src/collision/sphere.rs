//! A ball.

use super::Shape;
use diffkern::prelude::*;

/// The ball of radius `size.x`. At its centre the normal is zero.
#[derive(Clone, Copy, Debug)]
pub struct Sphere;

#[diff_impl]
impl Shape for Sphere {
    fn distance<F: Float>(x: Vec3<F>, size: Vec3<F>) -> Vec4<F> {
        let square = x.dot(x);
        let mut result = Vec4::new(F::new(0.0), F::new(0.0), F::new(0.0), -size.x);
        if square > 0.0 {
            let r = square.sqrt();
            result = Vec4::new(x.x / r, x.y / r, x.z / r, r - size.x);
        }
        result
    }
}
