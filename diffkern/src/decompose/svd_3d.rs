//! 3x3: one-sided Jacobi iteration.

use super::pair::{gap, pair, rotation};
use crate::float::Float;
use crate::macros::diff_fn;
use crate::math::{Mat3, Vec3};

/// Makes two columns orthogonal; their images in `V` turn along.
#[diff_fn]
fn orthogonal<F: Float>(x: Vec3<F>, y: Vec3<F>, v: Vec3<F>, w: Vec3<F>) -> (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) {
    let (c, s): (F, F) = rotation(x.norm_squared(), y.norm_squared(), x.dot(y));
    (x * c - y * s, x * s + y * c, v * c - w * s, v * s + w * c)
}

/// The longer column first; a rotation, so the determinant stays.
#[diff_fn]
fn ordered<F: Float>(x: Vec3<F>, y: Vec3<F>, v: Vec3<F>, w: Vec3<F>) -> (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) {
    let swap = y.norm_squared() > x.norm_squared();
    (select(swap, y, x), select(swap, -x, y), select(swap, w, v), select(swap, -v, w))
}

/// A unit vector orthogonal to the unit vector `a`: along `b` where that says which, else any.
#[diff_fn]
fn beside<F: Float>(a: Vec3<F>, b: Vec3<F>) -> Vec3<F> {
    // Twice: where `b` is nearly parallel to `a`, the first difference is mostly rounding.
    let once = b - a * a.dot(b);
    let r = once - a * a.dot(once);
    let n = r.norm();
    let along_x = a.x.abs() <= a.y.abs() && a.x.abs() <= a.z.abs();
    let along_y = a.y.abs() <= a.z.abs();
    let axis =
        select(along_x, Vec3::new(1.0, 0.0, 0.0), select(along_y, Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)));
    let any = a.cross(axis);
    let known = n > 1e-18;
    select(known, r / select(known, n, 1.0), any / any.norm())
}

/// Singular value decomposition `A = U diag(s) Vᵀ` of a 3x3 matrix: `(U, s, V)` with rotations `U`, `V` and
/// `s₁ ≥ s₂ ≥ |s₃|`, `s₃` with the sign of `det A`.
///
/// Its gradient is finite everywhere and exact for what does not depend on the choice of the axes, repeated singular
/// values included; see the chapter on decompositions in the kernel language.
#[diff_fn(vjp = svd3_vjp, jvp = svd3_jvp, replay = svd3_apart)]
pub fn svd3<F: Float>(a: Mat3<F>) -> (Mat3<F>, Vec3<F>, Mat3<F>) {
    let mut largest = F::new(0.0);
    #[unroll]
    for r in 0..3 {
        #[unroll]
        for c in 0..3 {
            largest = largest.max(a[(r, c)].abs());
        }
    }
    let scale = select(largest == 0.0, 1.0, largest);
    let m = a / scale;
    let mut x = m.col(0);
    let mut y = m.col(1);
    let mut z = m.col(2);
    let mut u = Vec3::new(1.0, 0.0, 0.0);
    let mut v = Vec3::new(0.0, 1.0, 0.0);
    let mut w = Vec3::new(0.0, 0.0, 1.0);
    for _sweep in 0..7 {
        let (x1, y1, u1, v1): (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) = orthogonal(x, y, u, v);
        let (x2, z1, u2, w1): (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) = orthogonal(x1, z, u1, w);
        let (y2, z2, v2, w2): (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) = orthogonal(y1, z1, v1, w1);
        x = x2;
        y = y2;
        z = z2;
        u = u2;
        v = v2;
        w = w2;
    }
    let (xa, ya, ua, va): (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) = ordered(x, y, u, v);
    let (yb, zb, vb, wb): (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) = ordered(ya, z, va, w);
    let (xc, yc, uc, vc): (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) = ordered(xa, yb, ua, vb);
    let n = xc.norm();
    let first = select(n == 0.0, Vec3::new(1.0, 0.0, 0.0), xc / select(n == 0.0, 1.0, n));
    let second: Vec3<F> = beside(first, yc);
    let third = first.cross(second);
    let s = Vec3::new(n, second.dot(yc), third.dot(zb)) * scale;
    (Mat3::from_cols(first, second, third), s, Mat3::from_cols(uc, vc, wb))
}

/// The decomposition of a matrix so near that its singular values differ.
#[diff_fn(vjp = svd3_vjp, jvp = svd3_jvp, replay = svd3_apart)]
fn svd3_apart<F: Float>(a: Mat3<F>) -> (Mat3<F>, Vec3<F>, Mat3<F>) {
    let (u, s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(a);
    let d: F = gap(s.x);
    let second = s.y.max(s.z.abs() + d);
    (u, Vec3::new(s.x.max(second + d), second, s.z), v)
}

#[diff_fn]
fn svd3_vjp<F: Float>(a: Mat3<F>, u_bar: Mat3<F>, s_bar: Vec3<F>, v_bar: Mat3<F>) -> Mat3<F> {
    let (u, s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3_apart(a);
    let m = u.transpose() * u_bar;
    let n = v.transpose() * v_bar;
    let (p01, p10): (F, F) = pair(s.x, s.y, m[(0, 1)] - m[(1, 0)], n[(0, 1)] - n[(1, 0)]);
    let (p02, p20): (F, F) = pair(s.x, s.z, m[(0, 2)] - m[(2, 0)], n[(0, 2)] - n[(2, 0)]);
    let (p12, p21): (F, F) = pair(s.y, s.z, m[(1, 2)] - m[(2, 1)], n[(1, 2)] - n[(2, 1)]);
    once(s, u * Mat3::new(s_bar.x, p01, p02, p10, s_bar.y, p12, p20, p21, s_bar.z) * v.transpose())
}

#[diff_fn]
fn svd3_jvp<F: Float>(a: Mat3<F>, da: Mat3<F>) -> (Mat3<F>, Vec3<F>, Mat3<F>, Mat3<F>, Vec3<F>, Mat3<F>) {
    let (u, s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3_apart(a);
    let p = u.transpose() * da * v;
    let (x01, y01): (F, F) = pair(s.x, s.y, p[(0, 1)], p[(1, 0)]);
    let (x02, y02): (F, F) = pair(s.x, s.z, p[(0, 2)], p[(2, 0)]);
    let (x12, y12): (F, F) = pair(s.y, s.z, p[(1, 2)], p[(2, 1)]);
    let du = u * Mat3::new(0.0, x01, x02, -x01, 0.0, x12, -x02, -x12, 0.0);
    let dv = v * Mat3::new(0.0, y01, y02, -y01, 0.0, y12, -y02, -y12, 0.0);
    (u, s, v, du, Vec3::new(p[(0, 0)], p[(1, 1)], p[(2, 2)]), dv)
}

/// An adjoint that has no tangent between equal singular values: that needs `f'` of what was made of them, of which the
/// adjoint's seeds hold nothing, so a number would be wrong. NaN is not.
#[diff_fn(jvp = once_jvp)]
fn once<F: Float>(_s: Vec3<F>, a_bar: Mat3<F>) -> Mat3<F> {
    a_bar
}

#[diff_fn]
fn once_jvp<F: Float>(s: Vec3<F>, a_bar: Mat3<F>, _ds: Vec3<F>, da_bar: Mat3<F>) -> (Mat3<F>, Mat3<F>) {
    let d: F = gap(s.x);
    let none = s.x * 0.0;
    (a_bar, da_bar * select((s.x - s.y).min(s.y - s.z.abs()) < 1.5 * d, none / none, 1.0))
}

/// Singular values of a 3x3 matrix, `s₁ ≥ s₂ ≥ |s₃|`, `s₃` with the sign of the determinant. The gradient of what does not
/// depend on their order is exact everywhere.
#[diff_fn(vjp = values_vjp, jvp = values_jvp, replay = singular_values3)]
pub fn singular_values3<F: Float>(a: Mat3<F>) -> Vec3<F> {
    let (_u, s, _v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(a);
    s
}

#[diff_fn]
fn values_vjp<F: Float>(a: Mat3<F>, s_bar: Vec3<F>) -> Mat3<F> {
    let (u, s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(a);
    once(s, u * Mat3::from_diagonal(s_bar) * v.transpose())
}

#[diff_fn]
fn values_jvp<F: Float>(a: Mat3<F>, da: Mat3<F>) -> (Vec3<F>, Vec3<F>) {
    let (u, s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(a);
    let p = u.transpose() * da * v;
    (s, Vec3::new(p[(0, 0)], p[(1, 1)], p[(2, 2)]))
}
