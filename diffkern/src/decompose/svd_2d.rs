//! 2x2: one rotation makes the columns orthogonal.

use super::pair::{gap, pair, rotation};
use crate::float::Float;
use crate::macros::diff_fn;
use crate::math::{Mat2, Vec2};

/// Singular value decomposition `A = U diag(s) Vᵀ` of a 2x2 matrix: `(U, s, V)` with rotations `U`, `V` and
/// `s₁ ≥ |s₂|`, `s₂` with the sign of `det A`.
///
/// Its gradient is finite everywhere and exact for what does not depend on the choice of the axes, repeated singular
/// values included; see the chapter on decompositions in the kernel language.
#[diff_fn(vjp = svd2_vjp, jvp = svd2_jvp, replay = svd2_apart)]
pub fn svd2<F: Float>(a: Mat2<F>) -> (Mat2<F>, Vec2<F>, Mat2<F>) {
    let largest = a[(0, 0)].abs().max(a[(0, 1)].abs()).max(a[(1, 0)].abs().max(a[(1, 1)].abs()));
    let scale = select(largest == 0.0, 1.0, largest);
    let m = a / scale;
    let (x, y) = (m.col(0), m.col(1));
    let (c, s): (F, F) = rotation(x.norm_squared(), y.norm_squared(), x.dot(y));
    let mut p = x * c - y * s;
    let mut q = x * s + y * c;
    let mut v = Mat2::new(c, s, -s, c);
    if q.norm_squared() > p.norm_squared() {
        let first = p;
        p = q;
        q = -first;
        v = Mat2::from_cols(v.col(1), -v.col(0));
    }
    let n = p.norm();
    let axis = select(n == 0.0, Vec2::new(1.0, 0.0), p / select(n == 0.0, 1.0, n));
    let other = Vec2::new(-axis.y, axis.x);
    (Mat2::from_cols(axis, other), Vec2::new(n, other.dot(q)) * scale, v)
}

/// The decomposition of a matrix so near that its singular values differ.
#[diff_fn(vjp = svd2_vjp, jvp = svd2_jvp, replay = svd2_apart)]
fn svd2_apart<F: Float>(a: Mat2<F>) -> (Mat2<F>, Vec2<F>, Mat2<F>) {
    let (u, s, v): (Mat2<F>, Vec2<F>, Mat2<F>) = svd2(a);
    let d: F = gap(s.x);
    (u, Vec2::new(s.x.max(s.y.abs() + d), s.y), v)
}

#[diff_fn]
fn svd2_vjp<F: Float>(a: Mat2<F>, u_bar: Mat2<F>, s_bar: Vec2<F>, v_bar: Mat2<F>) -> Mat2<F> {
    let (u, s, v): (Mat2<F>, Vec2<F>, Mat2<F>) = svd2_apart(a);
    let m = u.transpose() * u_bar;
    let n = v.transpose() * v_bar;
    let (p, q): (F, F) = pair(s.x, s.y, m[(0, 1)] - m[(1, 0)], n[(0, 1)] - n[(1, 0)]);
    once(s, u * Mat2::new(s_bar.x, p, q, s_bar.y) * v.transpose())
}

#[diff_fn]
fn svd2_jvp<F: Float>(a: Mat2<F>, da: Mat2<F>) -> (Mat2<F>, Vec2<F>, Mat2<F>, Mat2<F>, Vec2<F>, Mat2<F>) {
    let (u, s, v): (Mat2<F>, Vec2<F>, Mat2<F>) = svd2_apart(a);
    let p = u.transpose() * da * v;
    let (x, y): (F, F) = pair(s.x, s.y, p[(0, 1)], p[(1, 0)]);
    let du = u * Mat2::new(0.0, x, -x, 0.0);
    let dv = v * Mat2::new(0.0, y, -y, 0.0);
    (u, s, v, du, Vec2::new(p[(0, 0)], p[(1, 1)]), dv)
}

/// An adjoint that has no tangent between equal singular values: that needs `f'` of what was made of them, of which the
/// adjoint's seeds hold nothing, so a number would be wrong. NaN is not.
#[diff_fn(jvp = once_jvp)]
fn once<F: Float>(_s: Vec2<F>, a_bar: Mat2<F>) -> Mat2<F> {
    a_bar
}

#[diff_fn]
fn once_jvp<F: Float>(s: Vec2<F>, a_bar: Mat2<F>, _ds: Vec2<F>, da_bar: Mat2<F>) -> (Mat2<F>, Mat2<F>) {
    let d: F = gap(s.x);
    let none = s.x * 0.0;
    (a_bar, da_bar * select(s.x - s.y.abs() < 1.5 * d, none / none, 1.0))
}

/// Singular values of a 2x2 matrix, `s₁ ≥ |s₂|`, `s₂` with the sign of the determinant. The gradient of what does not
/// depend on their order is exact everywhere.
#[diff_fn(vjp = values_vjp, jvp = values_jvp, replay = singular_values2)]
pub fn singular_values2<F: Float>(a: Mat2<F>) -> Vec2<F> {
    let (_u, s, _v): (Mat2<F>, Vec2<F>, Mat2<F>) = svd2(a);
    s
}

#[diff_fn]
fn values_vjp<F: Float>(a: Mat2<F>, s_bar: Vec2<F>) -> Mat2<F> {
    let (u, s, v): (Mat2<F>, Vec2<F>, Mat2<F>) = svd2(a);
    once(s, u * Mat2::from_diagonal(s_bar) * v.transpose())
}

#[diff_fn]
fn values_jvp<F: Float>(a: Mat2<F>, da: Mat2<F>) -> (Vec2<F>, Vec2<F>) {
    let (u, s, v): (Mat2<F>, Vec2<F>, Mat2<F>) = svd2(a);
    let p = u.transpose() * da * v;
    (s, Vec2::new(p[(0, 0)], p[(1, 1)]))
}
