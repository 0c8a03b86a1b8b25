//! Polar factors of 2x2 matrices.

use super::pair::twist;
use super::svd_2d::svd2;
use crate::float::Float;
use crate::macros::diff_fn;
use crate::math::{Mat2, Vec2};

/// `A = R S` with the rotation `R` nearest to `A` and a symmetric `S` (positive definite if `det A > 0`): `(R, S)`.
///
/// The gradient is exact, repeated singular values included; where `s₁ + s₂ = 0` no rotation is nearest, and it is zero.
#[diff_fn(vjp = polar2_vjp, jvp = polar2_jvp, replay = polar2)]
pub fn polar2<F: Float>(a: Mat2<F>) -> (Mat2<F>, Mat2<F>) {
    let (u, _s, v): (Mat2<F>, Vec2<F>, Mat2<F>) = svd2(a);
    let r = u * v.transpose();
    let s = r.transpose() * a;
    (r, (s + s.transpose()) * 0.5)
}

#[diff_fn]
fn polar2_vjp<F: Float>(a: Mat2<F>, r_bar: Mat2<F>, s_bar: Mat2<F>) -> Mat2<F> {
    let (u, s, v): (Mat2<F>, Vec2<F>, Mat2<F>) = svd2(a);
    let r = u * v.transpose();
    let stretch_bar = (s_bar + s_bar.transpose()) * 0.5;
    let h = u.transpose() * (r_bar + a * stretch_bar) * v;
    let x: F = twist(s.x, s.y, h[(0, 1)] - h[(1, 0)]);
    u * Mat2::new(0.0, x, -x, 0.0) * v.transpose() + r * stretch_bar
}

#[diff_fn]
fn polar2_jvp<F: Float>(a: Mat2<F>, da: Mat2<F>) -> (Mat2<F>, Mat2<F>, Mat2<F>, Mat2<F>) {
    let (u, s, v): (Mat2<F>, Vec2<F>, Mat2<F>) = svd2(a);
    let (r, stretch): (Mat2<F>, Mat2<F>) = polar2(a);
    let p = u.transpose() * da * v;
    let x: F = twist(s.x, s.y, p[(0, 1)] - p[(1, 0)]);
    let dr = u * Mat2::new(0.0, x, -x, 0.0) * v.transpose();
    let ds = dr.transpose() * a + r.transpose() * da;
    (r, stretch, dr, (ds + ds.transpose()) * 0.5)
}
