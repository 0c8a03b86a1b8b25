//! Loops that end early, and local arrays.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, each, fixed, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        a_while_until_converged(),
        a_while_that_never_runs(),
        a_while_in_a_loop(),
        a_break_in_a_branch(),
        a_continue_before_the_rest(),
        a_return_from_two_loops(),
        a_break_from_the_inner_loop_only(),
        a_flag_in_place_of_a_break(),
        nothing_after_a_break(),
        a_value_after_an_unused_break(),
        a_local_array(),
        a_local_array_at_an_index_from_data(),
        a_local_array_carried_by_loops(),
        a_local_array_shifted(),
        a_local_array_of_vectors(),
        a_local_array_in_branches(),
        a_local_array_in_memory(),
        a_local_array_of_integers_as_indices().refused_on_gpu("bound the loop by a scalar"),
        nan_in_a_local_array_not_read(),
        a_name_of_the_condition_taken_in_the_body(),
    ]
}

#[diff_kernel]
fn heron<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut s = x[i];
    #[bound(60)]
    while (s * s - x[i]).abs() > 1e-5 * x[i] {
        s = 0.5 * (s + x[i] / s);
    }
    y[i] = s;
}

case! {
    /// Heron's iteration stops when it is near; its derivative is that of the turns taken.
    a_while_until_converged<S>(run; x: S = fixed(&[0.3, 2.4, 30.0, 5.5])) {
        let y = run.zeros::<S>(4)?;
        heron(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (mut s, mut ds) = (x, 1.0);
            while (s * s - x).abs() > 1e-5 * x {
                (s, ds) = (0.5 * (s + x / s), 0.5 * (ds + 1.0 / s - x * ds / (s * s)));
            }
            (s, ds)
        })
    }
}

#[diff_kernel]
fn never<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
    let i = ABSOLUTE_POS;
    let mut s = x[i] * x[i];
    #[bound(n)]
    while s < 0.0 {
        s = s * x[i];
    }
    y[i] = s * x[i];
}

case! {
    /// A condition that does not hold at the start, with a bound of 0.
    a_while_that_never_runs<S>(run; x: S = signed(3, 0.4, 1.4)) {
        let y = run.zeros::<S>(3)?;
        never(3, &x, &y, 0)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x.powi(3), 3.0 * x * x))
    }
}

#[diff_kernel]
fn digits<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for k in 0..n {
        let mut left = k as u32 * 5;
        #[bound(32)]
        while left > 0 {
            if left % 2 == 1 {
                a = a * x[i] + 0.1;
            }
            left /= 2;
        }
        a = a * 0.8;
    }
    y[i] = a;
}

case! {
    /// The bits of an integer, one by one, in each turn of a loop.
    a_while_in_a_loop<S>(run; x: S = signed(3, 0.5, 1.1)) {
        let y = run.zeros::<S>(3)?;
        digits(3, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (mut a, mut da) = (x, 1.0);
            for k in 0..4u32 {
                let mut left = 5 * k;
                while left > 0 {
                    if left % 2 == 1 {
                        (a, da) = (a * x + 0.1, da * x + a);
                    }
                    left /= 2;
                }
                (a, da) = (a * 0.8, da * 0.8);
            }
            (a, da)
        })
    }
}

#[diff_kernel]
fn until_large<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    let mut turns = 0u32;
    for k in 0..n {
        if k > 1 {
            a = a + 0.1;
            if a > 2.0 {
                break;
            }
            a = a * 1.3;
        }
        a = a * a * 0.5 + x[i];
        turns += 1;
    }
    y[i] = a * F::cast_from(turns);
}

/// Value and derivative of `until_large`.
fn until_large_by_hand(x: f64, n: usize) -> (f64, f64) {
    let (mut a, mut da, mut turns) = (x, 1.0, 0.0);
    for k in 0..n {
        if k > 1 {
            a += 0.1;
            if a > 2.0 {
                break;
            }
            (a, da) = (a * 1.3, da * 1.3);
        }
        (a, da) = (a * a * 0.5 + x, a * da + 1.0);
        turns += 1.0;
    }
    (a * turns, da * turns)
}

case! {
    /// What was assigned before the `break` counts, what follows it does not.
    a_break_in_a_branch<S>(run; x: S = fixed(&[0.3, 0.6, 0.9, 1.3])) {
        let y = run.zeros::<S>(4)?;
        until_large(4, &x, &y, 7)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| until_large_by_hand(x, 7))
    }
}

#[diff_kernel]
fn skipping<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = F::new(1.0);
    for k in 0..x.len() {
        if k == i {
            continue;
        }
        a = a * (1.0 + 0.3 * x[k]);
        if x[k] < 0.0 {
            a = a + x[i];
            continue;
        }
        a = a * x[k];
    }
    y[i] = a;
}

case! {
    /// Two ways to go on with the next turn.
    a_continue_before_the_rest<S>(run; x: S = signed(4, 0.5, 1.3)) {
        let y = run.zeros::<S>(4)?;
        skipping(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 4]);
        for i in 0..4 {
            let (mut a, mut da) = (1.0, [0.0; 4]);
            for k in (0..4).filter(|&k| k != i) {
                let f = 1.0 + 0.3 * x[k];
                da = da.map(|d| d * f);
                da[k] += 0.3 * a;
                a *= f;
                if x[k] < 0.0 {
                    a += x[i];
                    da[i] += 1.0;
                } else {
                    da = da.map(|d| d * x[k]);
                    da[k] += a;
                    a *= x[k];
                }
            }
            y.push(a);
            (0..4).for_each(|j| dx[j] += w[i] * da[j]);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn found<F: Float>(x: &Array<F>, y: &mut Array<F>, limit: F) {
    let i = ABSOLUTE_POS;
    let mut sum = F::new(0.0);
    for j in 0..x.len() {
        for k in 0..j + 1 {
            sum += x[j] * x[k];
            if sum > limit {
                y[i] = sum * x[j];
                return;
            }
        }
        sum = sum * 0.5 + x[i];
    }
    y[i] = -sum;
}

case! {
    /// Out of both loops, with a store; threads that find nothing store something else.
    a_return_from_two_loops<S>(run; x: S = fixed(&[0.4, -0.9, 0.8, 0.6])) {
        let y = run.zeros::<S>(8)?;
        found(4, &x, &y.slice(..4)?, S::from_f64(0.7))?;
        found(4, &x, &y.slice(4..)?, S::from_f64(9.0))?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![0.0; 8], vec![0.0; 4]);
        for at in 0..8 {
            let (i, limit) = (at % 4, if at < 4 { 0.7 } else { 9.0 });
            let (mut sum, mut d, mut done) = (0.0, [0.0; 4], false);
            'all: for j in 0..4 {
                for k in 0..=j {
                    sum += x[j] * x[k];
                    d[j] += x[k];
                    d[k] += x[j];
                    if sum > limit {
                        y[at] = sum * x[j];
                        dx[j] += w[at] * sum;
                        (0..4).for_each(|m| dx[m] += w[at] * x[j] * d[m]);
                        done = true;
                        break 'all;
                    }
                }
                sum = sum * 0.5 + x[i];
                d = d.map(|d| 0.5 * d);
                d[i] += 1.0;
            }
            if !done {
                y[at] = -sum;
                (0..4).for_each(|m| dx[m] -= w[at] * d[m]);
            }
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn rows_until<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut total = x[i];
    for j in 0..n {
        let mut p = total;
        for k in 0..n {
            p = p * x[(j + k) % n];
            if p < 0.3 {
                break;
            }
        }
        total = total + p * p;
    }
    y[i] = total;
}

case! {
    /// The outer loop goes on, and the inner ends elsewhere each time.
    a_break_from_the_inner_loop_only<S>(run; x: S = reals(4, 0.5, 1.2)) {
        let y = run.zeros::<S>(4)?;
        rows_until(4, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 4]);
        for i in 0..4 {
            let (mut total, mut d) = (x[i], [0.0; 4]);
            d[i] = 1.0;
            for j in 0..4 {
                let (mut p, mut dp) = (total, d);
                for k in 0..4 {
                    let f = (j + k) % 4;
                    dp = dp.map(|d| d * x[f]);
                    dp[f] += p;
                    p *= x[f];
                    if p < 0.3 {
                        break;
                    }
                }
                total += p * p;
                d = std::array::from_fn(|m| d[m] + 2.0 * p * dp[m]);
            }
            y.push(total);
            (0..4).for_each(|m| dx[m] += w[i] * d[m]);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn flagged<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut done = false;
    let mut a = x[i];
    for _ in 0..n {
        if !done {
            a = a * a * 0.7 + x[i];
            done = a > 1.5;
        }
    }
    y[i] = a;
}

case! {
    /// A boolean that is carried.
    a_flag_in_place_of_a_break<S>(run; x: S = fixed(&[0.2, 0.5, 0.8, 1.3])) {
        let y = run.zeros::<S>(4)?;
        flagged(4, &x, &y, 9)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (mut a, mut da) = (x, 1.0);
            for _ in 0..9 {
                if a > 1.5 {
                    break;
                }
                (a, da) = (a * a * 0.7 + x, 1.4 * a * da + 1.0);
            }
            (a, da)
        })
    }
}

#[diff_kernel]
fn first_only<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for _ in 0..n {
        a = a * a;
        break;
    }
    y[i] = a + x[i];
}

case! {
    /// A loop of one turn.
    nothing_after_a_break<S>(run; x: S = signed(3, 0.5, 1.2)) {
        let y = run.zeros::<S>(3)?;
        first_only(3, &x, &y, 5)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x * x + x, 2.0 * x + 1.0))
    }
}

#[diff_kernel]
fn no_break<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    let mut kept = F::new(0.0);
    for k in 0..n {
        if k > 100 {
            kept = a.sqrt();
            break;
        }
        a = a * 0.9 + a * a * 0.1;
    }
    y[i] = a + kept;
}

case! {
    /// The `break` is never met.
    a_value_after_an_unused_break<S>(run; x: S = signed(3, 0.5, 1.2)) {
        let y = run.zeros::<S>(3)?;
        no_break(3, &x, &y, 6)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (0..6).fold((x, 1.0), |(a, da), _| (a * 0.9 + a * a * 0.1, (0.9 + 0.2 * a) * da)))
    }
}

#[diff_kernel]
fn stencil<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = Array::<F>::new(3);
    for k in 0..3usize {
        a[k] = x[(i + k) % x.len()];
    }
    a[1] *= a[0];
    a[2] += a[1] * a[1];
    y[i] = a[0] * a[1] + a[2];
}

case! {
    /// Three elements of a row, changed one from the other.
    a_local_array<S>(run; x: S = signed(4, 0.5, 1.3)) {
        let y = run.zeros::<S>(4)?;
        stencil(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        // p^2 q + r + p^2 q^2
        let (mut y, mut dx) = (vec![], vec![0.0; 4]);
        for i in 0..4 {
            let (p, q, r) = (x[i], x[(i + 1) % 4], x[(i + 2) % 4]);
            y.push(p * p * q + r + p * p * q * q);
            dx[i] += w[i] * 2.0 * p * (q + q * q);
            dx[(i + 1) % 4] += w[i] * p * p * (1.0 + 2.0 * q);
            dx[(i + 2) % 4] += w[i];
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn histogram<F: Float>(x: &Array<F>, bins: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = [F::new(1.0); 4];
    for k in 0..x.len() {
        a[bins[k]] = a[bins[k]] * x[k] + x[i];
    }
    y[i] = a[0] * a[1] - a[2] * a[3];
}

case! {
    /// Read and written at an index that is data.
    a_local_array_at_an_index_from_data<S>(run; x: S = signed(6, 0.5, 1.3)) {
        let bins = run.dev.array(&[0u32, 2, 2, 1, 3, 0])?;
        let y = run.zeros::<S>(6)?;
        histogram(6, &x, &bins, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 6]);
        for i in 0..6 {
            let (mut a, mut d) = ([1.0; 4], [[0.0; 6]; 4]);
            for (k, b) in [0, 2, 2, 1, 3, 0].into_iter().enumerate() {
                d[b] = d[b].map(|d| d * x[k]);
                d[b][k] += a[b];
                d[b][i] += 1.0;
                a[b] = a[b] * x[k] + x[i];
            }
            y.push(a[0] * a[1] - a[2] * a[3]);
            for j in 0..6 {
                dx[j] += w[i] * (d[0][j] * a[1] + a[0] * d[1][j] - d[2][j] * a[3] - a[2] * d[3][j]);
            }
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn pascal<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut row = Array::<F>::new(5);
    row[0] = x[i];
    for _ in 0..n {
        for k in 0..4usize {
            let at = 4 - k;
            row[at] = row[at] + row[at - 1] * row[at - 1];
        }
    }
    y[i] = row[n];
}

case! {
    /// A triangle of squares: every entry from its neighbour of the turn before.
    a_local_array_carried_by_loops<S>(run; x: S = signed(3, 0.5, 1.1)) {
        let y = run.zeros::<S>(3)?;
        pascal(3, &x, &y, 3)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (mut row, mut d) = ([x, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0]);
            for _ in 0..3 {
                for at in (1..5).rev() {
                    d[at] += 2.0 * row[at - 1] * d[at - 1];
                    row[at] += row[at - 1] * row[at - 1];
                }
            }
            (row[3], d[3])
        })
    }
}

#[diff_kernel]
fn delay<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut line = [F::new(0.5), F::new(-0.25), F::new(0.0)];
    for k in 0..x.len() {
        let out = line[2] * x[k] + line[0];
        line[2] = line[1];
        line[1] = line[0];
        line[0] = out;
        y[k] = out;
    }
}

case! {
    /// A delay line with feedback.
    a_local_array_shifted<S>(run; x: S = signed(6, 0.5, 1.1)) {
        let y = run.zeros::<S>(6)?;
        delay(1, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut line, mut d) = ([0.5, -0.25, 0.0], [[0.0; 6]; 3]);
        let (mut y, mut dx) = (vec![], vec![0.0; 6]);
        for k in 0..6 {
            let mut dout: [f64; 6] = std::array::from_fn(|j| d[2][j] * x[k] + d[0][j]);
            dout[k] += line[2];
            let out = line[2] * x[k] + line[0];
            (line, d) = ([out, line[0], line[1]], [dout, d[0], d[1]]);
            y.push(out);
            (0..6).for_each(|j| dx[j] += w[k] * dout[j]);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn corners<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<F>, pick: u32) {
    let mut p = Array::<Vec2<F>>::new(3);
    for k in 0..3usize {
        p[k] = x[k] * 2.0;
    }
    p[pick] = p[0] + p[1];
    let (a, b) = (p[1] - p[0], p[2] - p[0]);
    y[ABSOLUTE_POS] = a.x * b.y - a.y * b.x;
}

case! {
    /// The area of a triangle whose second corner is replaced.
    a_local_array_of_vectors<S>(run; x: Vec2<S> = signed(6, 0.5, 1.3)) {
        let y = run.zeros::<S>(1)?;
        corners(1, &x, &y, 1)?;
        run.output(&y);
    }
    by_hand(w) {
        // a = 2 x1, b = 2 (x2 - x0)
        let (a, b) = ([x[2], x[3]], [x[4] - x[0], x[5] - x[1]]);
        let f = 4.0 * w[0];
        (f * (a[0] * b[1] - a[1] * b[0]), vec![vec![
            f * a[1], -f * a[0], f * b[1], -f * b[0], -f * a[1], f * a[0],
        ]])
    }
}

#[diff_kernel]
fn sorted<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut a = [x[0], x[1], x[2], x[3]];
    for n in 0..3usize {
        for k in 0..3 - n {
            if a[k] > a[k + 1] {
                let t = a[k];
                a[k] = a[k + 1];
                a[k + 1] = t;
            }
        }
    }
    for k in 0..4usize {
        y[k] = a[k] * F::cast_from(k + 1) + a[0] * a[k];
    }
}

case! {
    /// Bubble sort: the derivative goes where the elements went.
    a_local_array_in_branches<S>(run; x: S = signed(4, 0.3, 1.4)) {
        let y = run.zeros::<S>(4)?;
        sorted(1, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let mut order = [0, 1, 2, 3];
        order.sort_by(|&p: &usize, &q| x[p].total_cmp(&x[q]));
        let least = x[order[0]];
        let mut dx = vec![0.0; 4];
        for k in 0..4 {
            dx[order[k]] += w[k] * ((k + 1) as f64 + least);
            dx[order[0]] += w[k] * x[order[k]];
        }
        (dot(w, &list(4, |k| x[order[k]] * (k + 1) as f64 + least * x[order[k]])), vec![dx])
    }
}

#[diff_kernel]
fn sorted_apart<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut a = Array::<F>::new(80usize);
    for k in 0..6usize {
        a[13 * k] = x[k] * x[k];
    }
    for n in 0..5usize {
        for k in 0..5 - n {
            if a[13 * k] > a[13 * k + 13] {
                let t = a[13 * k];
                a[13 * k] = a[13 * k + 13];
                a[13 * k + 13] = t;
            }
        }
    }
    for k in 0..6usize {
        y[k] = a[13 * k] * F::cast_from(k + 1) + a[0] * a[13 * k];
    }
}

case! {
    /// The same of squares, in an array that is too large for registers.
    a_local_array_in_memory<S>(run; x: S = signed(6, 0.3, 1.4)) {
        let y = run.zeros::<S>(6)?;
        sorted_apart(1, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let v = list(6, |k| x[k] * x[k]);
        let mut order = [0, 1, 2, 3, 4, 5];
        order.sort_by(|&p: &usize, &q| v[p].total_cmp(&v[q]));
        let least = v[order[0]];
        let mut dv = [0.0; 6];
        for k in 0..6 {
            dv[order[k]] += w[k] * ((k + 1) as f64 + least);
            dv[order[0]] += w[k] * v[order[k]];
        }
        let dx = list(6, |k| 2.0 * x[k] * dv[k]);
        (dot(w, &list(6, |k| v[order[k]] * (k + 1) as f64 + least * v[order[k]])), vec![dx])
    }
}

#[diff_kernel]
fn worklist<F: Float>(x: &Array<F>, next: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS as u32;
    let mut seen = Array::<u32>::new(4);
    let mut n = 0usize;
    let mut at = i;
    #[bound(4)]
    while n < 4 && at < 100 {
        seen[n] = at;
        n += 1;
        at = next[at];
    }
    let mut a = F::new(1.0);
    for k in 0..n {
        a = a * x[seen[n - 1 - k]] + F::cast_from(k);
    }
    y[i] = a;
}

case! {
    /// A list of indices is gathered along a chain, and walked back.
    a_local_array_of_integers_as_indices<S>(run; x: S = signed(5, 0.5, 1.3)) {
        let next = run.dev.array(&[2u32, 200, 1, 4, 3])?;
        let y = run.zeros::<S>(5)?;
        worklist(5, &x, &next, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let next = [2usize, 200, 1, 4, 3];
        let (mut y, mut dx) = (vec![], vec![0.0; 5]);
        for i in 0..5 {
            let (mut seen, mut at) = (vec![], i);
            while seen.len() < 4 && at < 100 {
                seen.push(at);
                at = next[at];
            }
            let (mut a, mut da) = (1.0, [0.0; 5]);
            for (k, &j) in seen.iter().rev().enumerate() {
                da = da.map(|d| d * x[j]);
                da[j] += a;
                a = a * x[j] + k as f64;
            }
            y.push(a);
            (0..5).for_each(|j| dx[j] += w[i] * da[j]);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn unread<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let v = x[i];
    let a = [v.sqrt(), v * v, v.ln()];
    y[i] = a[select(v > 0.0, 0usize, 1usize)] * v;
}

case! {
    /// Of three functions of a number one is read; two may be NaN.
    nan_in_a_local_array_not_read<S>(run; x: S = signed(6, 0.4, 1.3)) {
        let y = run.zeros::<S>(6)?;
        unread(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| if x > 0.0 { (x.powf(1.5), 1.5 * x.sqrt()) } else { (x.powi(3), 3.0 * x * x) })
    }
}

#[diff_kernel]
fn hidden<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut a = x[ABSOLUTE_POS];
    let mut turns = 0;
    #[bound(9)]
    while a > 0.5 && turns < 9u32 {
        turns += 1;
        a = a * a * 0.9;
        let a = 0.1 * a;
        let turns = 100u32;
        y[ABSOLUTE_POS] = a * F::cast_from(turns);
    }
    y[ABSOLUTE_POS] = a;
}

case! {
    /// The condition means the variables before the loop: squared, times 0.9, until it is below a half.
    a_name_of_the_condition_taken_in_the_body<S>(run; x: S = reals(3, 0.82, 0.95)) {
        let y = run.zeros::<S>(3)?;
        hidden(3, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (mut a, mut da) = (x, 1.0);
            while a > 0.5 {
                (a, da) = (0.9 * a * a, 1.8 * a * da);
            }
            (a, da)
        })
    }
}
