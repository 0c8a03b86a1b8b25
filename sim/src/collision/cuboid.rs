//! A box.

use super::Shape;
use diffkern::prelude::*;

/// The box with half sides `size`. Inside, the nearest face counts: distance and normal have a kink where two are as near.
#[derive(Clone, Copy, Debug)]
pub struct Cuboid;

#[diff_impl]
impl Shape for Cuboid {
    fn distance<F: Float>(x: Vec3<F>, size: Vec3<F>) -> Vec4<F> {
        let side = Vec3::new(
            select(x.x < 0.0, F::new(-1.0), F::new(1.0)),
            select(x.y < 0.0, F::new(-1.0), F::new(1.0)),
            select(x.z < 0.0, F::new(-1.0), F::new(1.0)),
        );
        let q = Vec3::new(x.x * side.x - size.x, x.y * side.y - size.y, x.z * side.z - size.z);
        let out = Vec3::new(q.x.max(0.0), q.y.max(0.0), q.z.max(0.0));
        let square = out.dot(out);
        let mut normal = Vec3::new(F::new(0.0), F::new(0.0), side.z);
        let mut distance = q.z;
        if square > 0.0 {
            distance = square.sqrt();
            normal = Vec3::new(out.x * side.x, out.y * side.y, out.z * side.z) / distance;
        } else {
            if q.x >= q.y && q.x >= q.z {
                normal = Vec3::new(side.x, F::new(0.0), F::new(0.0));
                distance = q.x;
            } else {
                if q.y >= q.z {
                    normal = Vec3::new(F::new(0.0), side.y, F::new(0.0));
                    distance = q.y;
                }
            }
        }
        Vec4::new(normal.x, normal.y, normal.z, distance)
    }
}
