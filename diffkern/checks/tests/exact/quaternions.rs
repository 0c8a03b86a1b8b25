//! Quaternions, `w + x i + y j + z k`.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![a_product_of_quaternions(), a_unit_quaternion(), the_inverse_of_a_quaternion(), a_turn_about_an_axis()]
}

fn times(a: &[f64], b: &[f64]) -> Vec<f64> {
    vec![
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

fn conjugate(q: &[f64]) -> Vec<f64> {
    vec![q[0], -q[1], -q[2], -q[3]]
}

#[diff_kernel]
fn product<F: Float>(a: &Array<Quat<F>>, b: &Array<Quat<F>>, y: &mut Array<Quat<F>>) {
    y[ABSOLUTE_POS] = a[ABSOLUTE_POS] * b[ABSOLUTE_POS];
}

case! {
    /// `<w, a b>` has the derivatives `w conj(b)` and `conj(a) w`.
    a_product_of_quaternions<S>(run; a: Quat<S> = signed(4, 0.4, 1.4), b: Quat<S> = signed(4, 0.4, 1.4)) {
        let y = run.zeros::<Quat<S>>(1)?;
        product(1, &a, &b, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        (dot(w, &times(a, b)), vec![times(w, &conjugate(b)), times(&conjugate(a), w)])
    }
}

#[diff_kernel]
fn unit<F: Float>(q: &Array<Quat<F>>, y: &mut Array<Quat<F>>) {
    y[ABSOLUTE_POS] = q[ABSOLUTE_POS].normalize();
}

case! {
    /// `n = q / |q|`: `(w - n <n, w>) / |q|`.
    a_unit_quaternion<S>(run; q: Quat<S> = signed(4, 0.4, 1.4)) {
        let y = run.zeros::<Quat<S>>(1)?;
        unit(1, &q, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let size = dot(q, q).sqrt();
        let n: Vec<f64> = q.iter().map(|q| q / size).collect();
        (dot(w, &n), vec![list(4, |k| (w[k] - n[k] * dot(&n, w)) / size)])
    }
}

#[diff_kernel]
fn inverted<F: Float>(q: &Array<Quat<F>>, y: &mut Array<Quat<F>>) {
    y[ABSOLUTE_POS] = q[ABSOLUTE_POS].inverse();
}

case! {
    /// `conj(q) / |q|^2`.
    the_inverse_of_a_quaternion<S>(run; q: Quat<S> = signed(4, 0.4, 1.4)) {
        let y = run.zeros::<Quat<S>>(1)?;
        inverted(1, &q, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let square = dot(q, q);
        let inverse: Vec<f64> = conjugate(q).iter().map(|q| q / square).collect();
        let along = dot(w, &inverse);
        (along, vec![list(4, |k| (conjugate(w)[k] - 2.0 * q[k] * along) / square)])
    }
}

#[diff_kernel]
fn turn<F: Float>(angle: &Array<F>, v: &Array<Vec3<F>>, y: &mut Array<Vec3<F>>) {
    let q = Quat::from_axis_angle(Vec3::new(0.0, 0.6, 0.8), angle[ABSOLUTE_POS]);
    let half = Quat::from_rotation_vector(Vec3::new(0.0, 0.3, 0.4) * angle[ABSOLUTE_POS]);
    // Half a turn more, and half a turn back.
    y[ABSOLUTE_POS] = (half * q).rotate(half.conjugate().rotate(v[ABSOLUTE_POS]));
}

case! {
    /// Rodrigues: `v cos a + (k x v) sin a + k (k v) (1 - cos a)`.
    a_turn_about_an_axis<S>(run; angle: S = reals(1, 0.4, 1.4), v: Vec3<S> = signed(3, 0.4, 1.4)) {
        let y = run.zeros::<Vec3<S>>(1)?;
        turn(1, &angle, &v, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let k = [0.0, 0.6, 0.8];
        let (s, c) = angle[0].sin_cos();
        let cross = |a: &[f64], b: &[f64]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let (kv, along) = (cross(&k, v), dot(&k, v));
        let (wk, wa) = (cross(w, &k), dot(w, &k));
        let value = list(3, |i| v[i] * c + kv[i] * s + k[i] * along * (1.0 - c));
        let slope = list(3, |i| -v[i] * s + kv[i] * c + k[i] * along * s);
        (dot(w, &value), vec![
            vec![dot(w, &slope)],
            list(3, |i| w[i] * c + wk[i] * s + k[i] * wa * (1.0 - c)),
        ])
    }
}
