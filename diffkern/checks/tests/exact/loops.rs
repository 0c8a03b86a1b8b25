//! Loops: values carried from turn to turn, bounds of every kind, nesting.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, each, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        carried_product(),
        carried_product_of_a_known_length(),
        power_iteration(),
        newton_iteration(),
        newton_of_a_known_length(),
        used_after_the_loop_and_before(),
        assigned_before_and_in_the_loop(),
        two_values_that_change_places(),
        inner_bound_from_the_outer_index(),
        inner_bound_from_data().refused_on_gpu("bound the loop by a scalar"),
        inner_bound_carried(),
        a_bound_changed_in_the_body(),
        a_loop_that_never_runs(),
        a_range_that_runs_backwards(),
        a_range_near_the_largest_integer(),
        a_range_below_zero(),
        a_shadowed_loop_variable(),
        a_counter_as_an_index(),
        a_counter_in_the_value(),
        a_branch_that_carries(),
        a_loop_in_a_branch(),
        a_store_in_each_turn(),
        an_accumulation_in_each_turn(),
        unrolled_over_components(),
        a_vector_carried_by_component(),
        a_matrix_carried(),
        three_levels(),
        a_sum_used_non_linearly(),
        the_largest_so_far(),
        an_integer_carried_beside_a_real(),
        a_loop_of_the_array_length(),
    ]
}

#[diff_kernel]
fn product<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut p = F::new(1.0);
    for k in 0..n {
        p = p * x[i] + 0.1 * F::cast_from(k);
    }
    y[i] = p;
}

/// `p = p x + k / 10`: `dp' = p + x dp`.
fn product_by_hand(x: f64, n: usize) -> (f64, f64) {
    (0..n).fold((1.0, 0.0), |(p, dp), k| (p * x + 0.1 * k as f64, p + x * dp))
}

case! {
    /// 200 turns, a number known at launch.
    carried_product<S>(run; x: S = reals(3, 0.75, 0.97)) {
        let y = run.zeros::<S>(3)?;
        product(3, &x, &y, 200)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| product_by_hand(x, 200))
    }
}

#[diff_kernel]
fn product_of_all<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut p = F::new(1.0);
    for k in 0..5usize {
        p *= x[k] * x[k];
    }
    y[ABSOLUTE_POS] = p;
}

case! {
    /// Different factors, a number of turns known at expansion.
    carried_product_of_a_known_length<S>(run; x: S = signed(5, 0.6, 1.4)) {
        let y = run.zeros::<S>(1)?;
        product_of_all(1, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let p: f64 = x.iter().map(|x| x * x).product();
        (w[0] * p, vec![x.iter().map(|x| w[0] * 2.0 * p / x).collect()])
    }
}

#[diff_kernel]
fn power<F: Float>(a: &Array<Mat3<F>>, v: &Array<Vec3<F>>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let m = a[i];
    let mut u = v[i];
    for _ in 0..n {
        let next = m * u;
        u = next / next.norm();
    }
    y[i] = u.dot(m * u);
}

case! {
    /// 200 turns of `u = M u / |M u|`, then `u M u`: the largest eigenvalue of a symmetric matrix, whose derivative is
    /// `u u^T`; the start does not matter.
    power_iteration<S>(run; a: S = reals(3, 0.3, 0.7)) {
        let v = run.constants::<S>(&[0.6, 1.4, 0.9])?;
        let (m, u, y) = (run.zeros::<Mat3<S>>(1)?, run.zeros::<Vec3<S>>(1)?, run.zeros::<S>(1)?);
        symmetric(1, &a, &v, &m, &u)?;
        power(1, &m, &u, &y, 200)?;
        run.output(&y);
    }
    by_hand(w) {
        let m = [[2.0, a[0], a[1]], [a[0], 1.0, a[2]], [a[1], a[2], 0.5]];
        let mut u = [1.0, 1.0, 1.0];
        for _ in 0..400 {
            let next: Vec<f64> = m.iter().map(|row| dot(row, &u)).collect();
            let norm = dot(&next, &next).sqrt();
            (0..3).for_each(|k| u[k] = next[k] / norm);
        }
        let lambda: f64 = (0..3).map(|r| u[r] * dot(&m[r], &u)).sum();
        let pairs = [u[0] * u[1], u[0] * u[2], u[1] * u[2]];
        (w[0] * lambda, vec![pairs.map(|uu| 2.0 * w[0] * uu).to_vec()])
    }
}

#[diff_kernel]
fn symmetric<F: Float>(a: &Array<F>, v: &Array<F>, m: &mut Array<Mat3<F>>, u: &mut Array<Vec3<F>>) {
    let (b, c, d) = (a[0], a[1], a[2]);
    m[ABSOLUTE_POS] = Mat3::new(2.0, b, c, b, 1.0, d, c, d, 0.5);
    u[ABSOLUTE_POS] = Vec3::new(v[0], v[1], v[2]);
}

#[diff_kernel]
fn root<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
    let i = ABSOLUTE_POS;
    let mut r = x[i];
    for _ in 0..n {
        r = r - (r * r * r - x[i]) / (3.0 * r * r);
    }
    y[i] = r;
}

case! {
    /// 200 turns of Newton's iteration for the cube root: `x^(1/3)`, derivative `x^(-2/3) / 3`.
    newton_iteration<S>(run; x: S = reals(3, 0.4, 1.9)) {
        let y = run.zeros::<S>(3)?;
        root(3, &x, &y, 200)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x.cbrt(), 1.0 / (3.0 * x.cbrt().powi(2))))
    }
}

#[diff_kernel]
fn few_turns<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut r = F::new(1.0);
    for _ in 0..3u32 {
        r = 0.5 * (r + x[i] / r);
    }
    y[i] = r;
}

case! {
    /// Three turns of Heron's iteration, not converged.
    newton_of_a_known_length<S>(run; x: S = reals(3, 2.4, 5.9)) {
        let y = run.zeros::<S>(3)?;
        few_turns(3, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (0..3).fold((1.0, 0.0), |(r, dr), _| (0.5 * (r + x / r), 0.5 * (dr + 1.0 / r - x * dr / (r * r)))))
    }
}

#[diff_kernel]
fn before_and_after<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut s = x[i].exp();
    let before = s * s;
    for _ in 0..n {
        s = s.sin() * x[i];
    }
    y[i] = s * s * before + x[i];
}

case! {
    /// The value before the loop and the value after it, multiplied.
    used_after_the_loop_and_before<S>(run; x: S = reals(3, 0.7, 1.3)) {
        let y = run.zeros::<S>(3)?;
        before_and_after(3, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let start = x.exp();
            let (s, ds) = (0..4).fold((start, start), |(s, ds), _| (s.sin() * x, s.cos() * ds * x + s.sin()));
            let (b, db) = (start * start, 2.0 * start * start);
            (s * s * b + x, 2.0 * s * ds * b + s * s * db + 1.0)
        })
    }
}

#[diff_kernel]
fn assigned<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut last = x[i];
    let mut s = F::new(0.0);
    for k in 0..n {
        s = s + last * last;
        last = x[k] * s;
    }
    y[i] = last * s;
}

case! {
    /// `last` comes from before the loop in the first turn and from the turn before in the others.
    assigned_before_and_in_the_loop<S>(run; x: S = reals(4, 0.4, 0.9)) {
        let y = run.zeros::<S>(4)?;
        assigned(4, &x, &y, 3)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 4]);
        for i in 0..4 {
            let (mut last, mut s) = (x[i], 0.0);
            let (mut dlast, mut ds) = ([0.0; 4], [0.0; 4]);
            dlast[i] = 1.0;
            for k in 0..3 {
                for (ds, dlast) in ds.iter_mut().zip(&dlast) {
                    *ds += 2.0 * last * dlast;
                }
                s += last * last;
                last = x[k] * s;
                dlast = std::array::from_fn(|j| x[k] * ds[j] + if j == k { s } else { 0.0 });
            }
            y.push(last * s);
            (0..4).for_each(|j| dx[j] += w[i] * (dlast[j] * s + last * ds[j]));
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn fibonacci<F: Float>(x: &Array<F>, u: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    let mut b = u[i];
    for _ in 0..n {
        let c = a * b;
        a = b;
        b = c;
    }
    y[i] = b;
}

case! {
    /// `(a, b) = (b, a b)`, six times: `x^8 u^13`.
    two_values_that_change_places<S>(run; x: S = signed(3, 0.8, 1.2), u: S = signed(3, 0.8, 1.2)) {
        let y = run.zeros::<S>(3)?;
        fibonacci(3, &x, &u, &y, 6)?;
        run.output(&y);
    }
    by_hand(w) {
        (dot(w, &list(3, |i| x[i].powi(8) * u[i].powi(13))), vec![
            list(3, |i| w[i] * 8.0 * x[i].powi(7) * u[i].powi(13)),
            list(3, |i| w[i] * 13.0 * x[i].powi(8) * u[i].powi(12)),
        ])
    }
}

#[diff_kernel]
fn triangle<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for k in 0..n {
        for j in k..n {
            a = (a * x[j]).sin() + 0.3 * a;
        }
    }
    y[i] = a;
}

case! {
    /// The inner loop starts at the outer index.
    inner_bound_from_the_outer_index<S>(run; x: S = reals(4, 0.6, 1.4)) {
        let y = run.zeros::<S>(4)?;
        triangle(4, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 4]);
        for i in 0..4 {
            let (mut a, mut da) = (x[i], [0.0; 4]);
            da[i] = 1.0;
            for k in 0..4 {
                for j in k..4 {
                    let c = (a * x[j]).cos();
                    da = std::array::from_fn(|m| c * (da[m] * x[j] + if m == j { a } else { 0.0 }) + 0.3 * da[m]);
                    a = (a * x[j]).sin() + 0.3 * a;
                }
            }
            y.push(a);
            (0..4).for_each(|m| dx[m] += w[i] * da[m]);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn ragged<F: Float>(x: &Array<F>, start: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut outer = x[i];
    for _ in 0..start[i] {
        let mut inner = outer;
        for k in start[i]..start[i + 1] {
            inner = inner * inner * x[k] + 0.5;
        }
        outer = inner;
    }
    y[i] = outer;
}

case! {
    /// Both bounds of both loops are data.
    inner_bound_from_data<S>(run; x: S = reals(6, 0.3, 0.7)) {
        let start = run.dev.array(&[2u32, 4, 4, 6])?;
        let y = run.zeros::<S>(3)?;
        ragged(3, &x, &start, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let start = [2, 4, 4, 6];
        let (mut y, mut dx) = (vec![], vec![0.0; 6]);
        for i in 0..3 {
            let (mut a, mut da) = (x[i], [0.0; 6]);
            da[i] = 1.0;
            for _ in 0..start[i] {
                for k in start[i]..start[i + 1] {
                    da = std::array::from_fn(|m| 2.0 * a * da[m] * x[k] + if m == k { a * a } else { 0.0 });
                    a = a * a * x[k] + 0.5;
                }
            }
            y.push(a);
            (0..6).for_each(|m| dx[m] += w[i] * da[m]);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn growing<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for k in 0..n {
        let most = (k * k).min(7);
        for _ in 0..most {
            a = a * a * 0.5 + 0.4;
        }
        a = a * x[i];
    }
    y[i] = a;
}

case! {
    /// The inner bound is computed in the outer loop.
    inner_bound_carried<S>(run; x: S = reals(3, 0.6, 1.0)) {
        let y = run.zeros::<S>(3)?;
        growing(3, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (mut a, mut da) = (x, 1.0);
            for k in 0..4usize {
                for _ in 0..(k * k).min(7) {
                    (a, da) = (a * a * 0.5 + 0.4, a * da);
                }
                (a, da) = (a * x, da * x + a);
            }
            (a, da)
        })
    }
}

#[diff_kernel]
fn moving_bound<F: Float>(x: &Array<F>, y: &mut Array<F>, most: u32) {
    let i = ABSOLUTE_POS;
    let mut n = most;
    let mut a = x[i];
    for k in 0..n {
        n = n / 2 + k;
        a = a.sin() * F::cast_from(n);
    }
    y[i] = a * F::cast_from(n);
}

case! {
    /// A range is what it was when the loop began; the variable may change.
    a_bound_changed_in_the_body<S>(run; x: S = reals(3, 0.6, 1.3)) {
        let y = run.zeros::<S>(3)?;
        moving_bound(3, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (mut n, mut a, mut da) = (4u32, x, 1.0);
            for k in 0..4 {
                n = n / 2 + k;
                (a, da) = (a.sin() * f64::from(n), a.cos() * da * f64::from(n));
            }
            (a * f64::from(n), da * f64::from(n))
        })
    }
}

#[diff_kernel]
fn between<F: Float>(x: &Array<F>, y: &mut Array<F>, lo: u32, hi: u32) {
    let i = ABSOLUTE_POS;
    let mut a = x[i] * x[i];
    for k in lo..hi {
        a = a * x[i] + F::cast_from(k - lo);
    }
    y[i] = a * a;
}

fn between_by_hand(x: f64, n: u32) -> (f64, f64) {
    let (a, da) = (0..n).fold((x * x, 2.0 * x), |(a, da), k| (a * x + f64::from(k), da * x + a));
    (a * a, 2.0 * a * da)
}

case! {
    /// `5..5`.
    a_loop_that_never_runs<S>(run; x: S = signed(3, 0.6, 1.3)) {
        let y = run.zeros::<S>(3)?;
        between(3, &x, &y, 5, 5)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x.powi(4), 4.0 * x.powi(3)))
    }
}

#[diff_kernel]
fn down<F: Float>(x: &Array<F>, y: &mut Array<F>, lo: usize, hi: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for k in lo..hi {
        a = a * x[k];
    }
    for k in hi..lo {
        a = a + x[i].sin() * F::cast_from(lo - 1 - k);
    }
    y[i] = a * a;
}

case! {
    /// `lo > hi`: no turn, and no index is touched.
    a_range_that_runs_backwards<S>(run; x: S = signed(3, 0.6, 1.3)) {
        let y = run.zeros::<S>(3)?;
        down(3, &x, &y, 900, 897)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let a = x + 3.0 * x.sin();
            (a * a, 2.0 * a * (1.0 + 3.0 * x.cos()))
        })
    }
}

case! {
    /// The last turns that a `u32` can count.
    a_range_near_the_largest_integer<S>(run; x: S = signed(3, 0.6, 1.3)) {
        let y = run.zeros::<S>(3)?;
        between(3, &x, &y, u32::MAX - 3, u32::MAX)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| between_by_hand(x, 3))
    }
}

#[diff_kernel]
fn below_zero<F: Float>(x: &Array<F>, y: &mut Array<F>, lo: i32) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for k in lo..2 {
        a = a * (1.0 + 0.2 * F::cast_from(k)) + 0.1 * a * a * F::cast_from(k % 2);
    }
    y[i] = a;
}

case! {
    /// Indices of an `i32` from -3, with their remainders.
    a_range_below_zero<S>(run; x: S = signed(3, 0.6, 1.3)) {
        let y = run.zeros::<S>(3)?;
        below_zero(3, &x, &y, -3)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (-3..2).fold((x, 1.0), |(a, da), k| {
            let (f, g) = (1.0 + 0.2 * f64::from(k), 0.1 * f64::from(k % 2));
            (a * f + g * a * a, da * (f + 2.0 * g * a))
        }))
    }
}

#[diff_kernel]
fn shadowed<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let k = x[i];
    let mut a = k;
    for k in 0..n {
        let a2 = a * a;
        let a = a2 + 1.0;
        for k in k..n {
            let a = a * F::cast_from(k + 1);
            y[i] += a * 0.01;
        }
        y[i] += a;
    }
    a *= k;
    y[i] += a;
}

case! {
    /// The loop variable hides a real, an inner one hides it, and `a` is shadowed but not assigned within.
    a_shadowed_loop_variable<S>(run; x: S = signed(3, 0.6, 1.3)) {
        let y = run.zeros::<S>(3)?;
        shadowed(3, &x, &y, 3)?;
        run.output(&y);
    }
    by_hand(w) {
        // The inner loops: 1 + 2 + 3, 2 + 3, 3.
        each(x, w, |x| ((x * x + 1.0) * (3.0 + 0.14) + x * x, 2.0 * x * (3.0 + 0.14) + 2.0 * x))
    }
}

#[diff_kernel]
fn counted<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let mut count = 0usize;
    let mut a = F::new(1.0);
    for k in 0..n {
        if x[k] > 0.0 {
            count += 1;
            a = a * x[count] + x[k];
        }
    }
    y[count] += a;
    y[0] += x[count] * a;
}

case! {
    /// A counter of what was positive so far is the index that is read, and at the end the one written.
    a_counter_as_an_index<S>(run; x: S = signed(7, 0.6, 1.3)) {
        let y = run.zeros::<S>(7)?;
        counted(1, &x, &y, 6)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut count, mut a, mut da) = (0, 1.0, [0.0; 7]);
        for k in 0..6 {
            if x[k] > 0.0 {
                count += 1;
                da.iter_mut().for_each(|d| *d *= x[count]);
                da[count] += a;
                da[k] += 1.0;
                a = a * x[count] + x[k];
            }
        }
        let (mut y, mut dx) = (vec![0.0; 7], vec![0.0; 7]);
        y[count] += a;
        y[0] += x[count] * a;
        (0..7).for_each(|j| dx[j] = (w[count] + w[0] * x[count]) * da[j]);
        dx[count] += w[0] * a;
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn weighted<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for k in 1..n + 1 {
        a = a + x[i].powi(k as i32) / F::cast_from(k);
    }
    y[i] = a;
}

case! {
    /// The index as exponent and divisor: `x + sum x^k / k`.
    a_counter_in_the_value<S>(run; x: S = signed(3, 0.5, 1.2)) {
        let y = run.zeros::<S>(3)?;
        weighted(3, &x, &y, 6)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (
            x + (1..=6).map(|k| x.powi(k) / f64::from(k)).sum::<f64>(),
            1.0 + (1..=6).map(|k| x.powi(k - 1)).sum::<f64>(),
        ))
    }
}

#[diff_kernel]
fn either<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    let mut b = F::new(1.0);
    for k in 0..n {
        if a < b {
            a = a * 1.5 + x[i] * b;
        } else if k % 2 == 0 {
            b = b + a * a * 0.2;
        } else {
            let c = a;
            a = b;
            b = c;
        }
    }
    y[i] = a * b;
}

case! {
    /// Which of two values changes in a turn depends on both.
    a_branch_that_carries<S>(run; x: S = reals(5, 0.4, 1.4)) {
        let y = run.zeros::<S>(5)?;
        either(5, &x, &y, 8)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (mut a, mut da, mut b, mut db) = (x, 1.0, 1.0, 0.0);
            for k in 0..8 {
                if a < b {
                    (a, da) = (a * 1.5 + x * b, da * 1.5 + b + x * db);
                } else if k % 2 == 0 {
                    (b, db) = (b + a * a * 0.2, db + a * da * 0.4);
                } else {
                    (a, da, b, db) = (b, db, a, da);
                }
            }
            (a * b, da * b + a * db)
        })
    }
}

#[diff_kernel]
fn in_a_branch<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    if x[i] > 0.0 {
        for _ in 0..n {
            a = a * a * 0.7 + 0.2;
        }
    } else {
        a = a * a * a;
        for k in 0..n {
            a = a * 0.9 + x[i] * F::cast_from(k);
        }
        a = a * a;
    }
    y[i] = a * x[i];
}

case! {
    /// A loop on either side of a branch.
    a_loop_in_a_branch<S>(run; x: S = signed(5, 0.4, 1.2)) {
        let y = run.zeros::<S>(5)?;
        in_a_branch(5, &x, &y, 5)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (a, da) = if x > 0.0 {
                (0..5).fold((x, 1.0), |(a, da), _| (a * a * 0.7 + 0.2, 1.4 * a * da))
            } else {
                let start = (x * x * x, 3.0 * x * x);
                let (a, da) = (0..5).fold(start, |(a, da), k| (a * 0.9 + x * f64::from(k), da * 0.9 + f64::from(k)));
                (a * a, 2.0 * a * da)
            };
            (a * x, da * x + a)
        })
    }
}

#[diff_kernel]
fn history<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for k in 0..n {
        a = a * a * 0.8 + 0.1;
        y[i * n + k] = a;
    }
}

case! {
    /// Every state of a recurrence is an output.
    a_store_in_each_turn<S>(run; x: S = reals(2, 0.4, 1.2)) {
        let y = run.zeros::<S>(8)?;
        history(2, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 2]);
        for i in 0..2 {
            let (mut a, mut da) = (x[i], 1.0);
            for k in 0..4 {
                (a, da) = (a * a * 0.8 + 0.1, 1.6 * a * da);
                y.push(a);
                dx[i] += w[4 * i + k] * da;
            }
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn neighbours<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for k in 0..n {
        a = a * x[(i + k) % x.len()];
        y[(i + 2 * k) % y.len()] += a;
    }
}

case! {
    /// Every thread adds its running product here and there.
    an_accumulation_in_each_turn<S>(run; x: S = signed(4, 0.6, 1.3)) {
        let y = run.zeros::<S>(3)?;
        neighbours(4, &x, &y, 3)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![0.0; 3], vec![0.0; 4]);
        for i in 0..4 {
            let mut factors = vec![i];
            for k in 0..3 {
                factors.push((i + k) % 4);
                let a: f64 = factors.iter().map(|&j| x[j]).product();
                y[(i + 2 * k) % 3] += a;
                factors.iter().for_each(|&j| dx[j] += w[(i + 2 * k) % 3] * a / x[j]);
            }
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn components<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let mut p = F::new(1.0);
    #[unroll]
    for k in 0..3 {
        p = p * v[k] + v[(k + 1) % 3] * v[2 - k];
    }
    y[ABSOLUTE_POS] = p;
}

case! {
    /// `p = p v[k] + v[k+1] v[2-k]` written out by the compiler.
    unrolled_over_components<S>(run; x: Vec3<S> = signed(6, 0.6, 1.3)) {
        let y = run.zeros::<S>(2)?;
        components(2, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![]);
        for (i, v) in x.chunks(3).enumerate() {
            let (a, b, c) = (v[0], v[1], v[2]);
            // ((a + bc) b + bc) c + a^2
            y.push(((a + b * c) * b + b * c) * c + a * a);
            dx.extend([
                w[i] * (b * c + 2.0 * a),
                w[i] * ((a + 2.0 * b * c) * c + c * c),
                w[i] * ((a + b * c) * b + b * c + (b * b + b) * c),
            ]);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn by_component<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>, n: usize) {
    let mut v = x[ABSOLUTE_POS];
    for _ in 0..n {
        v.x = v.x * 0.8 + v.y * v.y * 0.1;
        v.y = v.y - v.x * v.x * 0.2;
        v.x += v.y;
    }
    y[ABSOLUTE_POS] = v;
}

case! {
    /// Components assigned three times in a turn, each from the newest of the other.
    a_vector_carried_by_component<S>(run; x: Vec2<S> = signed(4, 0.4, 1.1)) {
        let y = run.zeros::<Vec2<S>>(2)?;
        by_component(2, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![]);
        for (i, v) in x.chunks(2).enumerate() {
            let (mut a, mut b, mut da, mut db) = (v[0], v[1], [1.0, 0.0], [0.0, 1.0]);
            for _ in 0..4 {
                (a, da) = (a * 0.8 + b * b * 0.1, std::array::from_fn(|j| 0.8 * da[j] + 0.2 * b * db[j]));
                (b, db) = (b - a * a * 0.2, std::array::from_fn(|j| db[j] - 0.4 * a * da[j]));
                (a, da) = (a + b, std::array::from_fn(|j| da[j] + db[j]));
            }
            y.extend([a, b]);
            dx.extend([0, 1].map(|j: usize| w[2 * i] * da[j] + w[2 * i + 1] * db[j]));
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn matrix_power<F: Float>(m: &Array<Mat2<F>>, y: &mut Array<F>, n: usize) {
    let mut p = Mat2::identity();
    for _ in 0..n {
        p = p * m[ABSOLUTE_POS];
    }
    y[ABSOLUTE_POS] = p.trace();
}

case! {
    /// The trace of `M^n`, whose derivative is `n (M^(n-1))^T`.
    a_matrix_carried<S>(run; m: Mat2<S> = signed(4, 0.4, 1.1)) {
        let y = run.zeros::<S>(1)?;
        matrix_power(1, &m, &y, 5)?;
        run.output(&y);
    }
    by_hand(w) {
        let times = |p: [f64; 4]| [
            p[0] * m[0] + p[1] * m[2], p[0] * m[1] + p[1] * m[3],
            p[2] * m[0] + p[3] * m[2], p[2] * m[1] + p[3] * m[3],
        ];
        let p = (0..4).fold([1.0, 0.0, 0.0, 1.0], |p, _| times(p));
        let all = times(p);
        (w[0] * (all[0] + all[3]), vec![[0, 2, 1, 3].map(|k: usize| 5.0 * w[0] * p[k]).to_vec()])
    }
}

#[diff_kernel]
fn cube<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for p in 0..n {
        let mut b = a;
        for q in 0..p + 1 {
            let mut c = b * 0.5;
            for _ in 0..q + 1 {
                c = c * c + 0.3 * a;
            }
            b = b * c;
        }
        a = a * 0.5 + b;
    }
    y[i] = a;
}

case! {
    /// Three loops in each other, a value carried by each.
    three_levels<S>(run; x: S = reals(3, 0.5, 1.1)) {
        let y = run.zeros::<S>(3)?;
        cube(3, &x, &y, 3)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (mut a, mut da) = (x, 1.0);
            for p in 0..3 {
                let (mut b, mut db) = (a, da);
                for q in 0..p + 1 {
                    let (mut c, mut dc) = (b * 0.5, db * 0.5);
                    for _ in 0..q + 1 {
                        (c, dc) = (c * c + 0.3 * a, 2.0 * c * dc + 0.3 * da);
                    }
                    (b, db) = (b * c, db * c + b * dc);
                }
                (a, da) = (a * 0.5 + b, da * 0.5 + db);
            }
            (a, da)
        })
    }
}

#[diff_kernel]
fn softmax<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut sum = F::new(0.0);
    for k in 0..x.len() {
        sum += x[k].exp();
    }
    y[i] = x[i].exp() / sum * sum.ln();
}

case! {
    /// A sum that no turn reads, divided by and put into a logarithm after the loop.
    a_sum_used_non_linearly<S>(run; x: S = signed(4, 0.2, 1.1)) {
        let y = run.zeros::<S>(4)?;
        softmax(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let sum: f64 = x.iter().map(|x| x.exp()).sum();
        let y = |i: usize| x[i].exp() / sum * sum.ln();
        // d/dsum (ln sum / sum) = (1 - ln sum) / sum^2
        let slope: f64 = (0..4).map(|i| w[i] * x[i].exp()).sum::<f64>() * (1.0 - sum.ln()) / (sum * sum);
        (dot(w, &list(4, y)), vec![list(4, |k| w[k] * y(k) + slope * x[k].exp())])
    }
}

#[diff_kernel]
fn greatest<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut most = x[0];
    let mut at = 0usize;
    for k in 1..x.len() {
        if x[k] > most {
            most = x[k];
            at = k;
        }
    }
    y[0] += most * most;
    y[at] += x[at].exp();
}

case! {
    /// The largest element and where it is: the derivative is that of the one found.
    the_largest_so_far<S>(run; x: S = signed(6, 0.2, 1.1)) {
        let y = run.zeros::<S>(6)?;
        greatest(1, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let at = (0..6).fold(0, |at, k| if x[k] > x[at] { k } else { at });
        let (mut y, mut dx) = (vec![0.0; 6], vec![0.0; 6]);
        y[0] += x[at] * x[at];
        y[at] += x[at].exp();
        dx[at] = w[0] * 2.0 * x[at] + w[at] * x[at].exp();
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn collatz<F: Float>(x: &Array<F>, y: &mut Array<F>, start: u32) {
    let i = ABSOLUTE_POS;
    let mut n = start;
    let mut a = x[i];
    for _ in 0..12 {
        if n % 2 == 0 {
            n /= 2;
            a = a.sin() + x[i];
        } else {
            n = 3 * n + 1;
            a = a * x[i];
        }
    }
    y[i] = a * F::cast_from(n);
}

case! {
    /// Which function is applied next is decided by integers that run beside.
    an_integer_carried_beside_a_real<S>(run; x: S = reals(3, 0.5, 1.1)) {
        let y = run.zeros::<S>(3)?;
        collatz(3, &x, &y, 7)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (mut n, mut a, mut da) = (7u32, x, 1.0);
            for _ in 0..12 {
                if n % 2 == 0 {
                    n /= 2;
                    (a, da) = (a.sin() + x, a.cos() * da + 1.0);
                } else {
                    n = 3 * n + 1;
                    (a, da) = (a * x, da * x + a);
                }
            }
            (a * f64::from(n), da * f64::from(n))
        })
    }
}

#[diff_kernel]
fn horner<F: Float>(c: &Array<F>, x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut p = F::new(0.0);
    for k in 0..c.len() {
        p = p * x[i] + c[c.len() - 1 - k];
    }
    y[i] = p;
}

case! {
    /// A polynomial by Horner's rule, its degree that of the array.
    a_loop_of_the_array_length<S>(run; c: S = signed(5, 0.3, 1.3), x: S = signed(3, 0.5, 1.2)) {
        let y = run.zeros::<S>(3)?;
        horner(3, &c, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let p = |x: f64| (0..5).map(|k| c[k] * x.powi(k as i32)).sum::<f64>();
        let dp = |x: f64| (1..5).map(|k| c[k] * k as f64 * x.powi(k as i32 - 1)).sum::<f64>();
        (dot(w, &list(3, |i| p(x[i]))), vec![
            list(5, |k| (0..3).map(|i| w[i] * x[i].powi(k as i32)).sum()),
            list(3, |i| w[i] * dp(x[i])),
        ])
    }
}
