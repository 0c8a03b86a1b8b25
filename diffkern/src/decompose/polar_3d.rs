//! Polar factors of 3x3 matrices.

use super::pair::twist;
use super::svd_3d::svd3;
use crate::float::Float;
use crate::macros::diff_fn;
use crate::math::{Mat3, Vec3};

/// `A = R S` with the rotation `R` nearest to `A` and a symmetric `S` (positive definite if `det A > 0`): `(R, S)`.
///
/// The gradient is exact, repeated singular values included; where `sᵢ + sⱼ = 0` for a pair no rotation is nearest, and the
/// part of that pair is zero.
#[diff_fn(vjp = polar3_vjp, jvp = polar3_jvp, replay = polar3)]
pub fn polar3<F: Float>(a: Mat3<F>) -> (Mat3<F>, Mat3<F>) {
    let (u, _s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(a);
    let r = u * v.transpose();
    let s = r.transpose() * a;
    (r, (s + s.transpose()) * 0.5)
}

/// `H` of `Uᵀ dA V` or `Uᵀ R̄ V`: its differences, each over the sum of its pair of singular values.
#[diff_fn]
fn twisted<F: Float>(s: Vec3<F>, h: Mat3<F>) -> Mat3<F> {
    let x: F = twist(s.x, s.y, h[(0, 1)] - h[(1, 0)]);
    let y: F = twist(s.x, s.z, h[(0, 2)] - h[(2, 0)]);
    let z: F = twist(s.y, s.z, h[(1, 2)] - h[(2, 1)]);
    Mat3::new(0.0, x, y, -x, 0.0, z, -y, -z, 0.0)
}

#[diff_fn]
fn polar3_vjp<F: Float>(a: Mat3<F>, r_bar: Mat3<F>, s_bar: Mat3<F>) -> Mat3<F> {
    let (u, s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(a);
    let r = u * v.transpose();
    let stretch_bar = (s_bar + s_bar.transpose()) * 0.5;
    let w: Mat3<F> = twisted(s, u.transpose() * (r_bar + a * stretch_bar) * v);
    u * w * v.transpose() + r * stretch_bar
}

#[diff_fn]
fn polar3_jvp<F: Float>(a: Mat3<F>, da: Mat3<F>) -> (Mat3<F>, Mat3<F>, Mat3<F>, Mat3<F>) {
    let (u, s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(a);
    let (r, stretch): (Mat3<F>, Mat3<F>) = polar3(a);
    let w: Mat3<F> = twisted(s, u.transpose() * da * v);
    let dr = u * w * v.transpose();
    let ds = dr.transpose() * a + r.transpose() * da;
    (r, stretch, dr, (ds + ds.transpose()) * 0.5)
}
