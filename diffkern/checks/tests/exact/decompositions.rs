//! Singular values and polar factors, at repeated singular values too.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, fixed, list, signed};

pub fn cases() -> Vec<Case> {
    vec![
        the_nearest_turn(),
        the_nearest_turn_of_a_multiple_of_one(),
        symmetric_functions_of_singular_values(),
        // Second derivatives at equal singular values are NaN; `tests/second` asks for that.
        symmetric_functions_of_equal_singular_values().without_hessian(),
        three_singular_values(),
        three_equal_singular_values().without_hessian(),
        polar_factors_of_a_multiple_of_one(),
        what_svd_takes_apart(),
    ]
}

#[diff_kernel]
fn nearest<F: Float>(m: &Array<Mat2<F>>, y: &mut Array<Mat2<F>>) {
    let (r, _s): (Mat2<F>, Mat2<F>) = polar2(m[ABSOLUTE_POS]);
    y[ABSOLUTE_POS] = r;
}

/// The rotation by `atan2(m10 - m01, m00 + m11)`.
fn nearest_by_hand(m: &[f64], w: &[f64]) -> (f64, Vec<Vec<f64>>) {
    let (s, c) = (m[2] - m[1], m[0] + m[3]);
    let r = s.hypot(c);
    let (sin, cos) = (s / r, c / r);
    let slope = -w[0] * sin - w[1] * cos + w[2] * cos - w[3] * sin;
    let (ds, dc) = (slope * cos / r, -slope * sin / r);
    (dot(w, &[cos, -sin, sin, cos]), vec![vec![dc, -ds, ds, dc]])
}

case! {
    /// Of any matrix.
    the_nearest_turn<S>(run; m: Mat2<S> = signed(4, 0.4, 1.4)) {
        let y = run.zeros::<Mat2<S>>(1)?;
        nearest(1, &m, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        nearest_by_hand(m, w)
    }
}

case! {
    /// Both singular values are 1.25.
    the_nearest_turn_of_a_multiple_of_one<S>(run; m: Mat2<S> = fixed(&[1.25, 0.0, 0.0, 1.25])) {
        let y = run.zeros::<Mat2<S>>(1)?;
        nearest(1, &m, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        nearest_by_hand(m, w)
    }
}

#[diff_kernel]
fn sum_and_product<F: Float>(m: &Array<Mat2<F>>, y: &mut Array<F>) {
    let s: Vec2<F> = singular_values2(m[0]);
    y[0] = s.x + s.y;
    y[1] = s.x * s.y;
}

/// `hypot(m00 + m11, m10 - m01)` and the determinant.
fn sum_and_product_by_hand(m: &[f64], w: &[f64]) -> (f64, Vec<Vec<f64>>) {
    let (c, s) = (m[0] + m[3], m[2] - m[1]);
    let sum = c.hypot(s);
    (
        w[0] * sum + w[1] * (m[0] * m[3] - m[1] * m[2]),
        vec![vec![
            w[0] * c / sum + w[1] * m[3],
            -w[0] * s / sum - w[1] * m[2],
            w[0] * s / sum - w[1] * m[1],
            w[0] * c / sum + w[1] * m[0],
        ]],
    )
}

case! {
    /// Of any matrix; the second singular value has the sign of the determinant.
    symmetric_functions_of_singular_values<S>(run; m: Mat2<S> = signed(4, 0.4, 1.4)) {
        let y = run.zeros::<S>(2)?;
        sum_and_product(1, &m, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        sum_and_product_by_hand(m, w)
    }
}

case! {
    /// Where each alone has no derivative.
    symmetric_functions_of_equal_singular_values<S>(run; m: Mat2<S> = fixed(&[0.75, 0.0, 0.0, 0.75])) {
        let y = run.zeros::<S>(2)?;
        sum_and_product(1, &m, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        sum_and_product_by_hand(m, w)
    }
}

#[diff_kernel]
fn square_and_product<F: Float>(m: &Array<Mat3<F>>, y: &mut Array<F>) {
    let s: Vec3<F> = singular_values3(m[0]);
    y[0] = s.norm_squared();
    y[1] = s.x * s.y * s.z;
}

/// `|m|^2` and the determinant.
fn square_and_product_by_hand(m: &[f64], w: &[f64]) -> (f64, Vec<Vec<f64>>) {
    let cofactor = |k: usize| {
        let (r, c) = (k / 3, k % 3);
        let at = |i: usize, j: usize| m[(r + i) % 3 * 3 + (c + j) % 3];
        at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)
    };
    let determinant = (0..3).map(|c| m[c] * cofactor(c)).sum::<f64>();
    (w[0] * dot(m, m) + w[1] * determinant, vec![list(9, |k| 2.0 * w[0] * m[k] + w[1] * cofactor(k))])
}

case! {
    /// Of any matrix.
    three_singular_values<S>(run; m: Mat3<S> = signed(9, 0.3, 1.3)) {
        let y = run.zeros::<S>(2)?;
        square_and_product(1, &m, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        square_and_product_by_hand(m, w)
    }
}

case! {
    /// All three equal.
    three_equal_singular_values<S>(run; m: Mat3<S> = fixed(&[0.75, 0.0, 0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 0.75])) {
        let y = run.zeros::<S>(2)?;
        square_and_product(1, &m, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        square_and_product_by_hand(m, w)
    }
}

#[diff_kernel]
fn both_factors<F: Float>(m: &Array<Mat3<F>>, turn: &mut Array<Mat3<F>>, stretch: &mut Array<Mat3<F>>) {
    let (r, s): (Mat3<F>, Mat3<F>) = polar3(m[ABSOLUTE_POS]);
    turn[ABSOLUTE_POS] = r;
    stretch[ABSOLUTE_POS] = s;
}

case! {
    /// At `m = s 1` the turn takes the antisymmetric part of a change, over `s`, and the stretch the symmetric one.
    polar_factors_of_a_multiple_of_one<S>(run; m: Mat3<S> = fixed(&[1.5, 0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 1.5])) {
        let (turn, stretch) = (run.zeros::<Mat3<S>>(1)?, run.zeros::<Mat3<S>>(1)?);
        both_factors(1, &m, &turn, &stretch)?;
        run.output(&turn);
        run.output(&stretch);
    }
    by_hand(w) {
        let across = |k: usize| k % 3 * 3 + k / 3;
        let value = [0, 4, 8].iter().map(|&k| w[k] + w[9 + k] * m[0]).sum::<f64>();
        (value, vec![list(9, |k| {
            (w[k] - w[across(k)]) / (2.0 * m[0]) + (w[9 + k] + w[9 + across(k)]) / 2.0
        })])
    }
}

#[diff_kernel]
fn together<F: Float>(m: &Array<Mat3<F>>, y: &mut Array<Mat3<F>>) {
    let (u, s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(m[ABSOLUTE_POS]);
    y[ABSOLUTE_POS] =
        u * Mat3::from_diagonal(Vec3::new(s.x * s.x * s.x, s.y * s.y * s.y, s.z * s.z * s.z)) * v.transpose();
}

case! {
    /// `u s^3 v^T = m m^T m`, singular values 2, 1 and 1/2 turned by fixed axes.
    what_svd_takes_apart<S>(run; m: Mat3<S> = fixed(&[0.2, 1.0, 0.125, 1.75, 0.1, -0.25, 0.3, 0.2, 0.6])) {
        let y = run.zeros::<Mat3<S>>(1)?;
        together(1, &m, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let product = |a: &[f64], b: &[f64]| list(9, |k| (0..3).map(|j| a[k / 3 * 3 + j] * b[j * 3 + k % 3]).sum());
        let across = |a: &[f64]| list(9, |k| a[k % 3 * 3 + k / 3]);
        let value = product(&product(m, &across(m)), m);
        // w m^T m + m w^T m + m m^T w
        let parts = [
            product(&product(w, &across(m)), m),
            product(&product(m, &across(w)), m),
            product(&product(m, &across(m)), w),
        ];
        (dot(w, &value), vec![list(9, |k| parts.iter().map(|p| p[k]).sum())])
    }
}
