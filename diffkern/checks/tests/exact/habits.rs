//! Habits of authors of CubeCL and Rust, of control and of numbers: a `return` with a value, `u32` beside `usize`, a
//! closed range, the least number to start from, counters, assignments whose right side has an effect.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, each, fixed, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        returns_before_the_end(),
        two_results_returned_early(),
        positions_beside_sizes(),
        a_closed_range_and_a_counter(),
        the_least_number_to_start_from(),
        the_right_side_comes_first(),
        added_to_a_component(),
        inverse_hyperbolic_functions(),
        inverse_hyperbolic_functions_at_zero(),
        computed_at_compile_time(),
    ]
}

#[diff_fn]
fn kernel_of_support<F: Float>(r: F, kind: u32) -> F {
    let q = r.abs();
    if q >= 2.0 {
        return 0.0;
    }
    match kind {
        0 => return 1.0 - 0.5 * q,
        1 if q < 0.5 => {
            let square = q * q;
            return 1.0 - square;
        }
        _ => {}
    }
    let left = if q < 1.0 {
        let q = 2.0 - q;
        q * q
    } else {
        let half = 2.0 - q;
        half * half * half
    };
    if left > 3.0 {
        return left * 0.25;
    } else if kind == 3 {
        left + q
    } else {
        let twice = 2.0 * left;
        return twice * q;
    }
}

#[diff_kernel]
fn supports<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    for kind in 0..4u32 {
        let value: F = kernel_of_support(x[i], kind);
        y[i] += value * F::cast_from(kind + 1);
    }
}

fn support(r: f64, kind: usize) -> (f64, f64) {
    let (q, sign) = (r.abs(), r.signum());
    let (value, slope) = match kind {
        _ if q >= 2.0 => (0.0, 0.0),
        0 => (1.0 - 0.5 * q, -0.5),
        1 if q < 0.5 => (1.0 - q * q, -2.0 * q),
        _ => {
            let t = 2.0 - q;
            let (left, dleft) = if q < 1.0 { (t * t, -2.0 * t) } else { (t * t * t, -3.0 * t * t) };
            match kind {
                _ if left > 3.0 => (0.25 * left, 0.25 * dleft),
                3 => (left + q, dleft + 1.0),
                _ => (2.0 * left * q, 2.0 * (dleft * q + left)),
            }
        }
    };
    (value, slope * sign)
}

case! {
    /// Out of branches, out of a `match`, at the end of both sides.
    returns_before_the_end<S>(run; x: S = fixed(&[0.1, -0.4, 0.7, -1.3, 1.9, 2.4])) {
        let y = run.zeros::<S>(6)?;
        supports(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            (0..4).fold((0.0, 0.0), |(value, slope), kind| {
                let (v, s) = support(x, kind);
                (value + v * (kind + 1) as f64, slope + s * (kind + 1) as f64)
            })
        })
    }
}

#[diff_fn]
fn nearest_root<F: Float>(b: F, c: F) -> (u32, F) {
    let d = b * b - c;
    if d < 0.0 {
        return (0, b);
    }
    let root = d.sqrt();
    if b > root { (1, b - root) } else { (2, b + root) }
}

#[diff_kernel]
fn roots<F: Float>(b: &Array<F>, c: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let (kind, t): (u32, F) = nearest_root(b[i], c[i]);
    y[i] = t * F::cast_from(kind + 1);
}

case! {
    /// None, the first and the second root of `t^2 - 2 b t + c`.
    two_results_returned_early<S>(run; b: S = fixed(&[0.6, 1.4, 0.7]), c: S = fixed(&[1.2, 0.8, -0.5])) {
        let y = run.zeros::<S>(3)?;
        roots(3, &b, &c, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let root = |i: usize| (b[i] * b[i] - c[i]).sqrt();
        let y = [b[0], 2.0 * (b[1] - root(1)), 3.0 * (b[2] + root(2))];
        (dot(w, &y), vec![
            vec![w[0], 2.0 * w[1] * (1.0 - b[1] / root(1)), 3.0 * w[2] * (1.0 + b[2] / root(2))],
            vec![0.0, w[1] / root(1), -1.5 * w[2] / root(2)],
        ])
    }
}

#[diff_kernel]
fn product<F: Float>(a: &Array<F>, b: &Array<F>, c: &mut Array<F>, last: &mut Array<u32>, n: u32, m: usize) {
    let (row, column) = (ABSOLUTE_POS_Y, ABSOLUTE_POS_X);
    if row >= n || column as u32 >= n {
        terminate!();
    }
    let mut sum = F::new(0.0);
    for k in 0..m {
        sum += a[row * m + k] * b[k as u32 * n + column];
    }
    let at: u32 = row * n + column;
    c[at] = sum * F::cast_from(1u32 << (row & 1u32));
    last[at] = ABSOLUTE_POS % n;
}

case! {
    /// Two rows of a product, the second doubled.
    positions_beside_sizes<S>(run; a: S = signed(6, 0.4, 1.4), b: S = signed(6, 0.4, 1.4)) {
        let c = run.zeros::<S>(4)?;
        product((2, 2, 1), &a, &b, &c, &run.zeros::<u32>(4)?, 2, 3)?;
        run.output(&c);
    }
    by_hand(w) {
        let by = |row: usize| [1.0, 2.0][row];
        let c = |i: usize| by(i / 2) * (0..3).map(|k| a[i / 2 * 3 + k] * b[k * 2 + i % 2]).sum::<f64>();
        (dot(w, &list(4, c)), vec![
            list(6, |j| by(j / 3) * (0..2).map(|l| w[j / 3 * 2 + l] * b[j % 3 * 2 + l]).sum::<f64>()),
            list(6, |j| (0..2).map(|r| by(r) * w[r * 2 + j % 2] * a[r * 3 + j / 2]).sum()),
        ])
    }
}

#[diff_kernel]
fn box_mean<F: Float>(x: &Array<F>, y: &mut Array<F>, radius: i32) {
    let i = ABSOLUTE_POS as i32;
    let n = 5;
    let mut sum = F::new(0.0);
    let mut count = 0;
    for d in -radius..=radius {
        let j = i + d;
        if j >= 0 && j < n {
            sum += x[j as usize] * x[j as usize];
            count += 1;
        }
    }
    y[i as usize] = sum / F::cast_from(count);
}

case! {
    /// The mean square of up to three neighbours.
    a_closed_range_and_a_counter<S>(run; x: S = signed(5, 0.4, 1.4)) {
        let y = run.zeros::<S>(5)?;
        box_mean(5, &x, &y, 1)?;
        run.output(&y);
    }
    by_hand(w) {
        let around = |i: usize| i.saturating_sub(1)..=(i + 1).min(4);
        let count = |i: usize| around(i).count() as f64;
        let y = list(5, |i| around(i).map(|j| x[j] * x[j]).sum::<f64>() / count(i));
        (dot(w, &y), vec![list(5, |j| around(j).map(|i| 2.0 * x[j] * w[i] / count(i)).sum())])
    }
}

#[diff_kernel]
fn online<F: Float>(x: &Array<F>, y: &mut Array<F>, columns: u32) {
    let from = ABSOLUTE_POS * columns;
    let mut most = F::min_value();
    let mut least = F::max_value();
    let mut sum = F::new(0.0);
    for k in 0..columns {
        let v = x[from + k];
        let new = F::max(most, v);
        sum = sum * F::exp(most - new) + F::exp(v - new);
        least = least.min(v);
        most = new;
    }
    let worst = if sum > 0.0 { u32::MAX } else { u32::MIN };
    y[ABSOLUTE_POS] = most + sum.ln() + least * F::cast_from(worst >> 31);
}

case! {
    /// The logarithm of a sum of exponentials in one pass, and the least element.
    the_least_number_to_start_from<S>(run; x: S = fixed(&[0.3, -0.8, 1.1, -0.2, 0.9, 0.4])) {
        let y = run.zeros::<S>(2)?;
        online(2, &x, &y, 3)?;
        run.output(&y);
    }
    by_hand(w) {
        let total = |i: usize| (0..3).map(|k| x[3 * i + k].exp()).sum::<f64>();
        let least = [1, 3];
        (dot(w, &list(2, |i| total(i).ln() + x[least[i]])), vec![
            list(6, |j| w[j / 3] * (x[j].exp() / total(j / 3) + f64::from(u8::from(least[j / 3] == j)))),
        ])
    }
}

#[diff_kernel]
fn ordered<F: Float>(x: &Array<F>, y: &mut Array<F>, z: &mut Array<F>) {
    let mut k = ABSOLUTE_POS;
    let mut a = [x[k], x[k], x[k], x[k]];
    a[k] = {
        k += 1;
        a[k] * a[k]
    };
    a[k] *= {
        k += 1;
        x[0]
    };
    y[k] = {
        k -= 1;
        a[0] + 2.0 * a[1] + 3.0 * a[2] + 4.0 * a[3]
    };
    z[k] += {
        k += 1;
        a[k]
    };
}

case! {
    /// An index is what the right side leaves: `a[i + 1] = x^2`, `a[i + 2] *= x0`, `y[i + 1]`, `z[i + 2]`.
    the_right_side_comes_first<S>(run; x: S = signed(2, 0.4, 1.4)) {
        let (y, z) = (run.zeros::<S>(3)?, run.zeros::<S>(4)?);
        ordered(2, &x, &y, &z)?;
        run.output(&y);
        run.output(&z);
    }
    by_hand(w) {
        let (p, q) = (x[0], x[1]);
        let y = [0.0, p + 2.0 * p * p + 3.0 * p * p + 4.0 * p, q + 2.0 * q + 3.0 * q * q + 4.0 * q * p];
        let z = [0.0, 0.0, p * p, q * p];
        let (dy, dz) = w.split_at(3);
        let value = dot(dy, &y) + dot(dz, &z);
        (value, vec![vec![
            dy[1] * (5.0 + 10.0 * p) + dy[2] * 4.0 * q + dz[2] * 2.0 * p + dz[3] * q,
            dy[2] * (3.0 + 6.0 * q + 4.0 * p) + dz[3] * p,
        ]])
    }
}

#[diff_kernel]
fn gravity<F: Float>(mass: &Array<F>, edge: &Array<u32>, f: &mut Array<Vec3<F>>) {
    let i = ABSOLUTE_POS;
    f[edge[i]].y -= 9.8 * mass[i];
    f[0].z += mass[i] * mass[i];
}

case! {
    /// The other components stay.
    added_to_a_component<S>(run; mass: S = reals(3, 0.4, 1.4)) {
        let f = run.zeros::<Vec3<S>>(2)?;
        gravity(3, &mass, &run.dev.array(&[1u32, 0, 1])?, &f)?;
        run.output(&f);
    }
    by_hand(w) {
        let m = mass;
        let f = [0.0, -9.8 * m[1], dot(m, m), 0.0, -9.8 * (m[0] + m[2]), 0.0];
        (dot(w, &f), vec![list(3, |i| 2.0 * m[i] * w[2] - 9.8 * w[if i == 1 { 1 } else { 4 }])])
    }
}

#[diff_kernel]
fn inverses<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[3 * ABSOLUTE_POS] = v.asinh();
    y[3 * ABSOLUTE_POS + 1] = F::acosh(1.2 + v * v);
    y[3 * ABSOLUTE_POS + 2] = F::atanh(v * 0.5);
}

case! {
    /// `1 / sqrt(x^2 + 1)`, `2 x / sqrt((1.2 + x^2)^2 - 1)`, `0.5 / (1 - x^2 / 4)`.
    inverse_hyperbolic_functions<S>(run; x: S = fixed(&[-1.7, -0.4, 0.02, 0.8, 1.9])) {
        let y = run.zeros::<S>(15)?;
        inverses(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let value = |j: usize| match (j % 3, x[j / 3]) {
            (0, x) => (x.asinh(), 1.0 / (x * x + 1.0).sqrt()),
            (1, x) => {
                let root = ((1.2 + x * x).powi(2) - 1.0).sqrt();
                ((1.2 + x * x + root).ln(), 2.0 * x / root)
            }
            (_, x) => ((x * 0.5).atanh(), 0.5 / (1.0 - x * x / 4.0)),
        };
        (dot(w, &list(15, |j| value(j).0)), vec![list(5, |i| (0..3).map(|k| w[3 * i + k] * value(3 * i + k).1).sum())])
    }
}

#[diff_kernel]
fn odd_inverses<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = v.asinh() + 3.0 * v.atanh();
}

case! {
    /// Slope 4, from either side.
    inverse_hyperbolic_functions_at_zero<S>(run; x: S = fixed(&[0.0, -0.0])) {
        let y = run.zeros::<S>(2)?;
        odd_inverses(2, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (4.0 * x, 4.0))
    }
}

#[diff_kernel]
fn gelu<F: Float>(x: &Array<F>, y: &mut Array<diffkern::Vec2<F>>, #[comptime] bits: u32) {
    let levels = comptime!((1u32 << bits) - 1);
    let root = F::new(comptime!(2.0f32.sqrt()));
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = diffkern::Vec2::new(v * (F::erf(v / root) + 1.0) / 2.0, v / F::cast_from(levels));
}

case! {
    /// `x Phi(x)`, as in CubeCL's example, and `x / 15`.
    computed_at_compile_time<S>(run; x: S = signed(4, 0.3, 1.4)) {
        let y = run.zeros::<Vec2<S>>(4)?;
        gelu(4, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        let phi = |x: f64| 0.5 * (1.0 + libm::erf(x / 2f64.sqrt()));
        let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let y = list(8, |j| if j % 2 == 0 { x[j / 2] * phi(x[j / 2]) } else { x[j / 2] / 15.0 });
        let slope = |x: f64| phi(x) + x * density(x);
        (dot(w, &y), vec![list(4, |i| w[2 * i] * slope(x[i]) + w[2 * i + 1] / 15.0)])
    }
}
