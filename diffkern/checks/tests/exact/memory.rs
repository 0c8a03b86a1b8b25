//! Launches that follow each other: what is overwritten, accumulated, copied, seen through views.

use diffkern::prelude::*;
use diffkern::reduce;

use crate::case::{Case, Point, Program, Real, Run, case, dot, each, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        summed_over_launches(),
        overwritten_by_a_launch(),
        overwritten_by_a_fill(),
        overwritten_by_a_copy(),
        overwritten_in_part_from_the_host(),
        multiplied_through_a_second_array(),
        buffers_in_turn(),
        accumulated_by_all_threads(),
        accumulated_by_index(),
        stored_then_accumulated_by_launches(),
        accumulated_then_stored_by_launches(),
        stored_twice_by_one_thread(),
        stored_twice_at_an_index(),
        stored_under_a_condition(),
        the_same_array_read_twice(),
        overlapping_views_read(),
        one_part_read_another_written(),
        a_view_of_a_view(),
        a_view_accumulated_into(),
        copied_within_one_array(),
        an_element_read_many_times(),
        a_domain_smaller_than_the_array(),
        a_domain_of_two_dimensions(),
        a_domain_of_three_dimensions(),
        previous_contents_under_an_accumulation(),
        reduced(),
        overwritten_in_a_rollout(),
        a_parameter_accumulated_into(),
        a_state_changed_in_place(),
        an_output_that_is_also_read(),
        swapped_handles(),
    ]
}

#[diff_kernel]
fn add_square<F: Float>(v: &Array<F>, x: &Array<F>, next: &mut Array<F>) {
    next[ABSOLUTE_POS] = v[ABSOLUTE_POS] + x[ABSOLUTE_POS] * v[ABSOLUTE_POS];
}

case! {
    /// `v = v + x v` over three launches, each from one array to the next: `v0 (1 + x)^3`.
    summed_over_launches<S>(run; v: S = reals(4, 0.6, 1.7), x: S = reals(4, 0.3, 0.9)) {
        let (a, b) = (run.zeros::<S>(4)?, run.zeros::<S>(4)?);
        add_square(4, &v, &x, &a)?;
        add_square(4, &a, &x, &b)?;
        add_square(4, &b, &x, &a)?;
        run.output(&a);
    }
    by_hand(w) {
        let y = list(4, |i| v[i] * (1.0 + x[i]).powi(3));
        (dot(w, &y), vec![
            list(4, |i| w[i] * (1.0 + x[i]).powi(3)),
            list(4, |i| w[i] * v[i] * 3.0 * (1.0 + x[i]).powi(2)),
        ])
    }
}

#[diff_kernel]
fn square<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
}

#[diff_kernel]
fn sine<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].sin();
}

#[diff_kernel]
fn product<F: Float>(a: &Array<F>, b: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = a[ABSOLUTE_POS] * b[ABSOLUTE_POS];
}

case! {
    /// `t = x^2` is read, then `t = sin x` takes its place and is read as well.
    overwritten_by_a_launch<S>(run; x: S = reals(5, 0.4, 1.3)) {
        let (t, y, z) = (run.zeros::<S>(5)?, run.zeros::<S>(5)?, run.zeros::<S>(5)?);
        square(5, &x, &t)?;
        product(5, &t, &x, &y)?;
        sine(5, &x, &t)?;
        product(5, &t, &y, &z)?;
        run.output(&z);
    }
    by_hand(w) {
        each(x, w, |x| (x.sin() * x.powi(3), x.cos() * x.powi(3) + x.sin() * 3.0 * x * x))
    }
}

case! {
    /// What a `fill` wipes out was read before, and is a constant after.
    overwritten_by_a_fill<S>(run; x: S = signed(4, 0.4, 1.3)) {
        let (t, y, z) = (run.zeros::<S>(4)?, run.zeros::<S>(4)?, run.zeros::<S>(4)?);
        square(4, &x, &t)?;
        product(4, &t, &x, &y)?;
        t.fill(S::from_f64(2.5))?;
        product(4, &t, &x, &z)?;
        run.output(&y);
        run.output(&z);
    }
    by_hand(w) {
        let y: Vec<f64> = x.iter().map(|x| x.powi(3)).chain(x.iter().map(|x| 2.5 * x)).collect();
        (dot(w, &y), vec![list(4, |i| w[i] * 3.0 * x[i] * x[i] + w[4 + i] * 2.5)])
    }
}

case! {
    /// A copy passes its source's derivative on and cuts that of what it overwrites.
    overwritten_by_a_copy<S>(run; x: S = signed(4, 0.4, 1.3), u: S = reals(4, 0.2, 0.8)) {
        let (t, s, y) = (run.zeros::<S>(4)?, run.zeros::<S>(4)?, run.zeros::<S>(4)?);
        square(4, &x, &t)?;
        sine(4, &u, &s)?;
        product(4, &t, &s, &y)?;
        t.copy_from(&s)?;
        s.fill(S::from_f64(0.5))?;
        let z = run.zeros::<S>(4)?;
        product(4, &t, &t, &z)?;
        run.output(&y);
        run.output(&z);
    }
    by_hand(w) {
        let y: Vec<f64> = (0..8).map(|k| {
            let (x, s) = (x[k % 4], u[k % 4].sin());
            if k < 4 { x * x * s } else { s * s }
        }).collect();
        (dot(w, &y), vec![
            list(4, |i| w[i] * 2.0 * x[i] * u[i].sin()),
            list(4, |i| w[i] * x[i] * x[i] * u[i].cos() + w[4 + i] * 2.0 * u[i].sin() * u[i].cos()),
        ])
    }
}

case! {
    /// A write from the host replaces two of five elements.
    overwritten_in_part_from_the_host<S>(run; x: S = signed(5, 0.4, 1.3)) {
        let (t, y) = (run.zeros::<S>(5)?, run.zeros::<S>(5)?);
        square(5, &x, &t)?;
        t.slice(1..3)?.write(&[S::from_f64(3.0), S::from_f64(-1.5)])?;
        product(5, &t, &x, &y)?;
        run.output(&y);
        run.output(&t);
    }
    by_hand(w) {
        let t = [x[0] * x[0], 3.0, -1.5, x[3] * x[3], x[4] * x[4]];
        let y: Vec<f64> = (0..5).map(|i| t[i] * x[i]).chain(t).collect();
        let dx = list(5, |i| match i {
            1 | 2 => w[i] * t[i],
            _ => w[i] * 3.0 * x[i] * x[i] + w[5 + i] * 2.0 * x[i],
        });
        (dot(w, &y), vec![dx])
    }
}

case! {
    /// `y *= e`, twice: from one array to a second, and back.
    multiplied_through_a_second_array<S>(run; y: S = signed(4, 0.5, 1.5), e: S = signed(4, 0.5, 1.5)) {
        let (a, b) = (run.zeros::<S>(4)?, run.zeros::<S>(4)?);
        product(4, &y, &e, &a)?;
        product(4, &a, &e, &b)?;
        a.copy_from(&b)?;
        run.output(&a);
    }
    by_hand(w) {
        (dot(w, &list(4, |i| y[i] * e[i] * e[i])), vec![
            list(4, |i| w[i] * e[i] * e[i]),
            list(4, |i| w[i] * 2.0 * y[i] * e[i]),
        ])
    }
}

#[diff_kernel]
fn logistic<F: Float>(x: &Array<F>, r: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = r[0] * x[i] * (1.0 - x[i]);
}

case! {
    /// Two buffers in turn, eleven launches, each overwriting what the one before last has read.
    buffers_in_turn<S>(run; x: S = reals(3, 0.15, 0.4), r: S = reals(1, 2.6, 2.9)) {
        let (a, b) = (run.zeros::<S>(3)?, run.zeros::<S>(3)?);
        logistic(3, &x, &r, &a)?;
        for _ in 0..5 {
            logistic(3, &a, &r, &b)?;
            logistic(3, &b, &r, &a)?;
        }
        run.output(&a);
    }
    by_hand(w) {
        logistic_by_hand(x, r[0], 11, w)
    }
}

/// `s = r s (1 - s)`, `n` times: `ds' = r (1 - 2 s) ds`, `dr' = s (1 - s) + r (1 - 2 s) dr`.
fn logistic_by_hand(x: &[f64], r: f64, n: usize, w: &[f64]) -> (f64, Vec<Vec<f64>>) {
    let ends: Vec<[f64; 3]> = x
        .iter()
        .map(|&x| {
            (0..n).fold([x, 1.0, 0.0], |[s, ds, dr], _| {
                let slope = r * (1.0 - 2.0 * s);
                [r * s * (1.0 - s), slope * ds, s * (1.0 - s) + slope * dr]
            })
        })
        .collect();
    let column = |k: usize| list(x.len(), |i| ends[i][k]);
    (dot(w, &column(0)), vec![list(x.len(), |i| w[i] * ends[i][1]), vec![dot(w, &column(2))]])
}

#[diff_kernel]
fn into_one<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[0] += x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
    y[1] -= x[ABSOLUTE_POS].exp();
}

case! {
    /// Seventy threads add to one element and subtract from another.
    accumulated_by_all_threads<S>(run; x: S = signed(70, 0.2, 0.9)) {
        let y = run.zeros::<S>(2)?;
        into_one(70, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let sums = [x.iter().map(|x| x * x).sum(), -x.iter().map(|x| x.exp()).sum::<f64>()];
        (dot(w, &sums), vec![x.iter().map(|x| w[0] * 2.0 * x - w[1] * x.exp()).collect()])
    }
}

#[diff_kernel]
fn by_index<F: Float>(x: &Array<F>, to: &Array<u32>, y: &mut Array<F>, z: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[to[i]] += x[i] * x[i];
    z[to[i] + 1] += x[i] * x[to[i]];
}

case! {
    /// Threads that meet in an element whose index is data.
    accumulated_by_index<S>(run; x: S = signed(6, 0.3, 1.2)) {
        let to = run.dev.array(&[2u32, 0, 2, 1, 2, 0])?;
        let (y, z) = (run.zeros::<S>(3)?, run.zeros::<S>(4)?);
        by_index(6, &x, &to, &y, &z)?;
        run.output(&y);
        run.output(&z);
    }
    by_hand(w) {
        let to = [2, 0, 2, 1, 2, 0];
        let (mut y, mut dx) = (vec![0.0; 7], vec![0.0; 6]);
        for (i, &t) in to.iter().enumerate() {
            y[t] += x[i] * x[i];
            y[3 + t + 1] += x[i] * x[t];
            dx[i] += w[t] * 2.0 * x[i] + w[3 + t + 1] * x[t];
            dx[t] += w[3 + t + 1] * x[i];
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn add_to<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] += x[ABSOLUTE_POS].exp();
}

case! {
    /// `y = x^2`, then `y += exp x`, then `z = y sin x`.
    stored_then_accumulated_by_launches<S>(run; x: S = signed(4, 0.3, 1.2)) {
        let (y, s, z) = (run.zeros::<S>(4)?, run.zeros::<S>(4)?, run.zeros::<S>(4)?);
        square(4, &x, &y)?;
        add_to(4, &x, &y)?;
        sine(4, &x, &s)?;
        product(4, &y, &s, &z)?;
        run.output(&z);
    }
    by_hand(w) {
        each(x, w, |x| {
            let y = x * x + x.exp();
            (y * x.sin(), (2.0 * x + x.exp()) * x.sin() + y * x.cos())
        })
    }
}

case! {
    /// `y += exp x`, read, then `y = x^2`: the sum before the store reaches only what was read before it.
    accumulated_then_stored_by_launches<S>(run; x: S = signed(4, 0.3, 1.2)) {
        let (y, z) = (run.zeros::<S>(4)?, run.zeros::<S>(4)?);
        add_to(4, &x, &y)?;
        product(4, &y, &y, &z)?;
        square(4, &x, &y)?;
        add_to(4, &y, &z)?;
        run.output(&z);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (e, q) = (x.exp(), (x * x).exp());
            (e * e + q, 2.0 * e * e + 2.0 * x * q)
        })
    }
}

#[diff_kernel]
fn twice<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].exp();
    if x[i] > 0.0 {
        y[i] = x[i] * x[i];
    }
}

case! {
    /// A thread stores to its element, and under a condition once more.
    stored_twice_by_one_thread<S>(run; x: S = signed(6, 0.3, 1.2)) {
        let y = run.zeros::<S>(6)?;
        twice(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| if x > 0.0 { (x * x, 2.0 * x) } else { (x.exp(), x.exp()) })
    }
}

#[diff_kernel]
fn twice_at_index<F: Float>(x: &Array<F>, to: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[to[i]] = x[i].exp();
    for k in 0..3usize {
        y[to[i]] = x[i] * x[i] * F::cast_from(k + 1);
    }
}

case! {
    /// One thread, one element, four stores through an index: the last counts.
    stored_twice_at_an_index<S>(run; x: S = signed(4, 0.3, 1.2)) {
        let to = run.dev.array(&[3u32, 1, 0, 2])?;
        let y = run.zeros::<S>(4)?;
        twice_at_index(4, &x, &to, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let from = [2, 1, 3, 0];
        let y = list(4, |k| 3.0 * x[from[k]] * x[from[k]]);
        let mut dx = vec![0.0; 4];
        (0..4).for_each(|k| dx[from[k]] = w[k] * 6.0 * x[from[k]]);
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn store_if<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if x[i] > 0.0 {
        y[i] = x[i].sin();
    }
}

case! {
    /// Where nothing is stored, the element keeps its value and its derivative.
    stored_under_a_condition<S>(run; x: S = signed(6, 0.3, 1.2), u: S = signed(6, 0.3, 1.2)) {
        let y = run.zeros::<S>(6)?;
        square(6, &u, &y)?;
        store_if(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let on = |i: usize| x[i] > 0.0;
        (dot(w, &list(6, |i| if on(i) { x[i].sin() } else { u[i] * u[i] })), vec![
            list(6, |i| if on(i) { w[i] * x[i].cos() } else { 0.0 }),
            list(6, |i| if on(i) { 0.0 } else { w[i] * 2.0 * u[i] }),
        ])
    }
}

case! {
    /// One array bound to two parameters that are read.
    the_same_array_read_twice<S>(run; x: S = signed(5, 0.3, 1.2)) {
        let y = run.zeros::<S>(5)?;
        product(5, &x, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x * x, 2.0 * x))
    }
}

case! {
    /// Two views of one array that share elements, both read.
    overlapping_views_read<S>(run; x: S = signed(6, 0.3, 1.2)) {
        let y = run.zeros::<S>(4)?;
        product(4, &x.slice(0..4)?, &x.slice(2..6)?, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let mut dx = vec![0.0; 6];
        for i in 0..4 {
            dx[i] += w[i] * x[i + 2];
            dx[i + 2] += w[i] * x[i];
        }
        (dot(w, &list(4, |i| x[i] * x[i + 2])), vec![dx])
    }
}

case! {
    /// A launch reads the first half of an array and writes the second, a later one the other way.
    one_part_read_another_written<S>(run; x: S = signed(3, 0.3, 1.2)) {
        let t = run.zeros::<S>(6)?;
        sine(3, &x, &t.slice(..3)?)?;
        square(3, &t.slice(..3)?, &t.slice(3..)?)?;
        square(3, &t.slice(3..)?, &t.slice(..3)?)?;
        run.output(&t);
    }
    by_hand(w) {
        let y: Vec<f64> = (0..6).map(|k| x[k % 3].sin().powi(if k < 3 { 4 } else { 2 })).collect();
        (dot(w, &y), vec![list(3, |i| {
            let (s, c) = (x[i].sin(), x[i].cos());
            w[i] * 4.0 * s.powi(3) * c + w[3 + i] * 2.0 * s * c
        })])
    }
}

case! {
    /// Offsets add up: elements 3 to 5 of the array.
    a_view_of_a_view<S>(run; x: S = signed(8, 0.3, 1.2)) {
        let y = run.zeros::<S>(4)?;
        sine(2, &x.slice(1..7)?.slice(2..=3)?, &y.slice(1..)?.slice(..2)?)?;
        run.output(&y);
    }
    by_hand(w) {
        let mut dx = vec![0.0; 8];
        (0..2).for_each(|i| dx[3 + i] = w[1 + i] * x[3 + i].cos());
        (dot(w, &[0.0, x[3].sin(), x[4].sin(), 0.0]), vec![dx])
    }
}

case! {
    /// Two overlapping views of a sum, each added to.
    a_view_accumulated_into<S>(run; x: S = signed(3, 0.3, 0.9), u: S = signed(3, 0.3, 0.9)) {
        let y = run.zeros::<S>(5)?;
        add_to(3, &x, &y.slice(0..3)?)?;
        add_to(3, &u, &y.slice(1..4)?)?;
        let z = run.zeros::<S>(5)?;
        square(5, &y, &z)?;
        run.output(&z);
    }
    by_hand(w) {
        let mut y = [0.0; 5];
        for i in 0..3 {
            y[i] += x[i].exp();
            y[i + 1] += u[i].exp();
        }
        (dot(w, &list(5, |k| y[k] * y[k])), vec![
            list(3, |i| w[i] * 2.0 * y[i] * x[i].exp()),
            list(3, |i| w[i + 1] * 2.0 * y[i + 1] * u[i].exp()),
        ])
    }
}

case! {
    /// A copy from one part of an array to another part of it.
    copied_within_one_array<S>(run; x: S = signed(6, 0.3, 1.2)) {
        let (t, y) = (run.zeros::<S>(6)?, run.zeros::<S>(6)?);
        sine(6, &x, &t)?;
        t.slice(4..6)?.copy_from(&t.slice(1..3)?)?;
        square(6, &t, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let from = [0, 1, 2, 3, 1, 2];
        let mut dx = vec![0.0; 6];
        (0..6).for_each(|k| dx[from[k]] += w[k] * 2.0 * x[from[k]].sin() * x[from[k]].cos());
        (dot(w, &list(6, |k| x[from[k]].sin().powi(2))), vec![dx])
    }
}

#[diff_kernel]
fn read_again<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = x[i] * x[i] + x[0].sin();
    if x[i] > x[0] {
        a = a * x[i];
    }
    for k in 0..x.len() {
        a = a + x[i] * x[k] / x[0];
    }
    y[i] = a;
}

case! {
    /// One element read by every thread, in a condition, in a branch and in each turn of a loop.
    an_element_read_many_times<S>(run; x: S = reals(5, 0.4, 1.4)) {
        let y = run.zeros::<S>(5)?;
        read_again(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let sum: f64 = x.iter().sum();
        let (mut y, mut dx) = (vec![], vec![0.0; 5]);
        for i in 0..5 {
            let a = x[i] * x[i] + x[0].sin();
            let (factor, on) = if x[i] > x[0] { (x[i], 1.0) } else { (1.0, 0.0) };
            y.push(a * factor + x[i] * sum / x[0]);
            dx[i] += w[i] * (2.0 * x[i] * factor + a * on + sum / x[0]);
            dx[0] += w[i] * (x[0].cos() * factor - x[i] * sum / (x[0] * x[0]));
            (0..5).for_each(|k| dx[k] += w[i] * x[i] / x[0]);
        }
        (dot(w, &y), vec![dx])
    }
}

case! {
    /// Three threads over arrays of six: the rest keeps value and derivative.
    a_domain_smaller_than_the_array<S>(run; x: S = signed(6, 0.3, 1.2)) {
        let y = run.zeros::<S>(6)?;
        square(6, &x, &y)?;
        sine(3, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        (dot(w, &list(6, |i| if i < 3 { x[i].sin() } else { x[i] * x[i] })), vec![
            list(6, |i| w[i] * if i < 3 { x[i].cos() } else { 2.0 * x[i] }),
        ])
    }
}

#[diff_kernel]
fn rows_and_columns<F: Float>(a: &Array<F>, b: &Array<F>, y: &mut Array<F>, z: &mut Array<F>) {
    let (i, j) = (ABSOLUTE_POS_X, ABSOLUTE_POS_Y);
    y[i + 3 * j] = a[i] * b[j].sin();
    z[j] += a[i] * b[j];
}

case! {
    /// Three columns, four rows.
    a_domain_of_two_dimensions<S>(run; a: S = signed(3, 0.3, 1.2), b: S = signed(4, 0.3, 1.2)) {
        let (y, z) = (run.zeros::<S>(12)?, run.zeros::<S>(4)?);
        rows_and_columns((3, 4), &a, &b, &y, &z)?;
        run.output(&y);
        run.output(&z);
    }
    by_hand(w) {
        let (mut y, mut da, mut db) = (vec![0.0; 16], vec![0.0; 3], vec![0.0; 4]);
        for j in 0..4 {
            for i in 0..3 {
                let (u, v) = (w[i + 3 * j], w[12 + j]);
                y[i + 3 * j] = a[i] * b[j].sin();
                y[12 + j] += a[i] * b[j];
                da[i] += u * b[j].sin() + v * b[j];
                db[j] += u * a[i] * b[j].cos() + v * a[i];
            }
        }
        (dot(w, &y), vec![da, db])
    }
}

#[diff_kernel]
fn differences<F: Float>(x: &Array<F>, y: &mut Array<F>, nx: usize, ny: usize) {
    let (i, j, k) = (ABSOLUTE_POS_X, ABSOLUTE_POS_Y, ABSOLUTE_POS_Z);
    let at = i + nx * (j + ny * k);
    if i + 1 < nx {
        y[ABSOLUTE_POS] = x[at] * x[at + 1];
    } else {
        y[ABSOLUTE_POS] = x[at] * F::cast_from(i + 2 * j + 4 * k);
    }
}

case! {
    /// Two by three by two, with an edge.
    a_domain_of_three_dimensions<S>(run; x: S = signed(12, 0.3, 1.2)) {
        let y = run.zeros::<S>(12)?;
        differences((2, 3, 2), &x, &y, 2, 3)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![0.0; 12], vec![0.0; 12]);
        for at in 0..12 {
            let (i, j, k) = (at % 2, at / 2 % 3, at / 6);
            if i == 0 {
                y[at] = x[at] * x[at + 1];
                dx[at] += w[at] * x[at + 1];
                dx[at + 1] += w[at] * x[at];
            } else {
                let factor = (i + 2 * j + 4 * k) as f64;
                y[at] = x[at] * factor;
                dx[at] += w[at] * factor;
            }
        }
        (dot(w, &y), vec![dx])
    }
}

case! {
    /// An accumulation starts from what the array holds, here numbers from the host.
    previous_contents_under_an_accumulation<S>(run; x: S = signed(4, 0.3, 1.2)) {
        let y = run.constants::<S>(&[0.5, -1.5, 2.0, 0.25])?;
        add_to(4, &x, &y)?;
        let z = run.zeros::<S>(4)?;
        square(4, &y, &z)?;
        run.output(&z);
    }
    by_hand(w) {
        let y = |i: usize| [0.5, -1.5, 2.0, 0.25][i] + x[i].exp();
        (dot(w, &list(4, |i| y(i) * y(i))), vec![list(4, |i| w[i] * 2.0 * y(i) * x[i].exp())])
    }
}

case! {
    /// Library reductions between kernels.
    reduced<S>(run; x: S = signed(9, 0.3, 1.2)) {
        let t = run.zeros::<S>(9)?;
        sine(9, &x, &t)?;
        let total = reduce::dot(&t, &x)?;
        reduce::sum_into(&t, S::from_f64(2.0), &total)?;
        let y = run.zeros::<S>(1)?;
        square(1, &total, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let total: f64 = x.iter().map(|x| x.sin() * x + 2.0 * x.sin()).sum();
        let slope = |x: f64| x.cos() * x + x.sin() + 2.0 * x.cos();
        (w[0] * total * total, vec![x.iter().map(|&x| w[0] * 2.0 * total * slope(x)).collect()])
    }
}

case! {
    /// Steps that overwrite within a step what they wrote, replayed from two checkpoints.
    overwritten_in_a_rollout<S>(run; x: S = reals(3, 0.15, 0.4), r: S = reals(1, 2.6, 2.9)) {
        let (r, dev) = (r.clone(), run.dev.clone());
        let end = diffkern::rollout(7, Schedule::Checkpoints(2), x.clone(), move |x: &Array<S>, _| {
            let next = dev.zeros(3)?;
            sine(3, x, &next)?;
            logistic(3, x, &r, &next)?;
            Ok(next)
        })?;
        run.output(&end);
    }
    by_hand(w) {
        logistic_by_hand(x, r[0], 7, w)
    }
}

case! {
    /// A parameter that launches add to: its gradient is by what it held at the start.
    a_parameter_accumulated_into<S>(run; x: S = signed(4, 0.3, 0.9), u: S = signed(4, 0.3, 0.9)) {
        let y = run.zeros::<S>(4)?;
        add_to(4, &u, &x)?;
        square(4, &x, &y)?;
        add_to(4, &y, &x)?;
        run.output(&y);
        run.output(&x);
    }
    by_hand(w) {
        let a = |i: usize| x[i] + u[i].exp();
        let y: Vec<f64> = (0..8).map(|k| match k {
            0..4 => a(k) * a(k),
            _ => a(k - 4) + (a(k - 4) * a(k - 4)).exp(),
        }).collect();
        let slope = |i: usize| w[i] * 2.0 * a(i) + w[4 + i] * (1.0 + 2.0 * a(i) * (a(i) * a(i)).exp());
        (dot(w, &y), vec![list(4, slope), list(4, |i| slope(i) * u[i].exp())])
    }
}

case! {
    /// Each step adds to the state that it was given and hands the same array on.
    a_state_changed_in_place<S>(run; x: S = signed(3, 0.3, 0.9)) {
        let (start, dev) = (run.zeros::<S>(3)?, run.dev.clone());
        sine(3, &x, &start)?;
        let end = diffkern::rollout(5, Schedule::Checkpoints(2), start, move |s: &Array<S>, _| {
            let t = dev.zeros(3)?;
            sine(3, s, &t)?;
            add_square_of(3, &t, s)?;
            Ok(s.clone())
        })?;
        run.output(&end);
    }
    by_hand(w) {
        each(x, w, |x| (0..5).fold((x.sin(), x.cos()), |(s, ds), _| {
            (s + s.sin() * s.sin(), ds + 2.0 * s.sin() * s.cos() * ds)
        }))
    }
}

#[diff_kernel]
fn add_square_of<F: Float>(t: &Array<F>, s: &mut Array<F>) {
    s[ABSOLUTE_POS] += t[ABSOLUTE_POS] * t[ABSOLUTE_POS];
}

case! {
    /// The loss takes an array at its end, after it was read for another.
    an_output_that_is_also_read<S>(run; x: S = signed(4, 0.3, 1.2)) {
        let (t, y) = (run.zeros::<S>(4)?, run.zeros::<S>(4)?);
        square(4, &x, &t)?;
        product(4, &t, &x, &y)?;
        run.output(&t);
        run.output(&y);
    }
    by_hand(w) {
        let y: Vec<f64> = x.iter().map(|x| x * x).chain(x.iter().map(|x| x.powi(3))).collect();
        (dot(w, &y), vec![list(4, |i| w[i] * 2.0 * x[i] + w[4 + i] * 3.0 * x[i] * x[i])])
    }
}

case! {
    /// Handles that change places between launches.
    swapped_handles<S>(run; x: S = signed(4, 0.3, 1.2)) {
        let (mut a, mut b) = (run.zeros::<S>(4)?, run.zeros::<S>(4)?);
        sine(4, &x, &a)?;
        for _ in 0..3 {
            square(4, &a, &b)?;
            std::mem::swap(&mut a, &mut b);
        }
        product(4, &a, &b, &run.zeros(4)?)?;
        run.output(&a);
        run.output(&b);
    }
    by_hand(w) {
        let y: Vec<f64> = (0..8).map(|k| x[k % 4].sin().powi(if k < 4 { 8 } else { 4 })).collect();
        (dot(w, &y), vec![list(4, |i| {
            let (s, c) = (x[i].sin(), x[i].cos());
            w[i] * 8.0 * s.powi(7) * c + w[4 + i] * 4.0 * s.powi(3) * c
        })])
    }
}
