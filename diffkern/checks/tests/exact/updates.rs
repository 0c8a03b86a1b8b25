//! Arrays that one kernel reads and overwrites, and arrays of integers that are counted up.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, each, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        multiplied_in_place(),
        multiplied_in_place_many_times(),
        overwritten_by_a_function_of_itself(),
        read_twice_then_overwritten(),
        overwritten_on_one_side(),
        overwritten_at_an_index_from_data(),
        two_arrays_overwritten_together(),
        a_vector_updated_by_component(),
        updated_then_read_by_others(),
        updated_in_a_rollout(),
        updated_in_part_of_an_array(),
        the_old_value_used_after_the_store(),
        counted_into_integers(),
        counted_then_used_as_an_index(),
    ]
}

#[diff_kernel]
fn scale<F: Float>(y: &mut Array<F>, e: &Array<F>) {
    y[ABSOLUTE_POS] *= e[ABSOLUTE_POS];
}

case! {
    /// `y *= e`.
    multiplied_in_place<S>(run; x: S = signed(5, 0.4, 1.4), e: S = signed(5, 0.4, 1.4)) {
        let y = run.zeros::<S>(5)?;
        y.copy_from(&x)?;
        scale(5, &y, &e)?;
        run.output(&y);
    }
    by_hand(w) {
        (dot(w, &list(5, |i| x[i] * e[i])), vec![list(5, |i| w[i] * e[i]), list(5, |i| w[i] * x[i])])
    }
}

case! {
    /// Six times: `x e^6`; every launch needs what the one before left.
    multiplied_in_place_many_times<S>(run; x: S = signed(3, 0.6, 1.2), e: S = signed(3, 0.6, 1.2)) {
        let y = run.zeros::<S>(3)?;
        y.copy_from(&x)?;
        for _ in 0..6 {
            scale(3, &y, &e)?;
        }
        run.output(&y);
    }
    by_hand(w) {
        (dot(w, &list(3, |i| x[i] * e[i].powi(6))), vec![
            list(3, |i| w[i] * e[i].powi(6)), list(3, |i| w[i] * x[i] * 6.0 * e[i].powi(5)),
        ])
    }
}

#[diff_kernel]
fn relax<F: Float>(y: &mut Array<F>, x: &Array<F>) {
    let i = ABSOLUTE_POS;
    let old = y[i];
    y[i] = old.sin() * x[i] + y[i] * y[i];
}

case! {
    /// `y = sin(y) x + y^2`.
    overwritten_by_a_function_of_itself<S>(run; y0: S = signed(4, 0.4, 1.2), x: S = signed(4, 0.4, 1.2)) {
        let y = run.zeros::<S>(4)?;
        y.copy_from(&y0)?;
        relax(4, &y, &x)?;
        run.output(&y);
    }
    by_hand(w) {
        (dot(w, &list(4, |i| y0[i].sin() * x[i] + y0[i] * y0[i])), vec![
            list(4, |i| w[i] * (y0[i].cos() * x[i] + 2.0 * y0[i])), list(4, |i| w[i] * y0[i].sin()),
        ])
    }
}

#[diff_kernel]
fn swap_halves<F: Float>(y: &mut Array<F>, z: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let (a, b) = (y[i], z[i]);
    y[i] = a * b;
    z[i] = a - b * b;
}

case! {
    /// Two arrays, each overwritten by what both held.
    two_arrays_overwritten_together<S>(run; a: S = signed(3, 0.4, 1.1), b: S = signed(3, 0.4, 1.1)) {
        let (y, z) = (run.zeros::<S>(3)?, run.zeros::<S>(3)?);
        y.copy_from(&a)?;
        z.copy_from(&b)?;
        swap_halves(3, &y, &z)?;
        swap_halves(3, &z, &y)?;
        run.output(&y);
        run.output(&z);
    }
    by_hand(w) {
        // First (p, q) = (a b, a - b^2); then z' = q p, y' = q - p^2.
        let (mut out, mut da, mut db) = (vec![0.0; 6], vec![], vec![]);
        for i in 0..3 {
            let (p, q) = (a[i] * b[i], a[i] - b[i] * b[i]);
            (out[i], out[3 + i]) = (q - p * p, q * p);
            let (by_p, by_q) = (-2.0 * p * w[i] + q * w[3 + i], w[i] + p * w[3 + i]);
            da.push(by_p * b[i] + by_q);
            db.push(by_p * a[i] - by_q * 2.0 * b[i]);
        }
        (dot(w, &out), vec![da, db])
    }
}

#[diff_kernel]
fn twice<F: Float>(y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut sum = F::new(0.0);
    for k in 0..n {
        sum += y[i].powi(k as i32 + 1);
    }
    y[i] = sum * y[i];
}

case! {
    /// Read in every turn of a loop and once after it, then overwritten: `y (y + y^2 + y^3)`.
    read_twice_then_overwritten<S>(run; x: S = signed(4, 0.4, 1.2)) {
        let y = run.zeros::<S>(4)?;
        y.copy_from(&x)?;
        twice(4, &y, 3)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x * x + x.powi(3) + x.powi(4), 2.0 * x + 3.0 * x * x + 4.0 * x.powi(3)))
    }
}

#[diff_kernel]
fn clip<F: Float>(y: &mut Array<F>, limit: &Array<F>) {
    let i = ABSOLUTE_POS;
    if y[i] > limit[0] {
        y[i] = limit[0] + (y[i] - limit[0]) * 0.1;
    }
}

case! {
    /// Where nothing is stored the element passes its derivative on.
    overwritten_on_one_side<S>(run; x: S = signed(6, 0.5, 1.4), limit: S = reals(1, 0.1, 0.3)) {
        let y = run.zeros::<S>(6)?;
        y.copy_from(&x)?;
        clip(6, &y, &limit)?;
        run.output(&y);
    }
    by_hand(w) {
        let l = limit[0];
        let over = |i: usize| x[i] > l;
        (dot(w, &list(6, |i| if over(i) { 0.9 * l + 0.1 * x[i] } else { x[i] })), vec![
            list(6, |i| w[i] * if over(i) { 0.1 } else { 1.0 }),
            vec![(0..6).map(|i| if over(i) { 0.9 * w[i] } else { 0.0 }).sum()],
        ])
    }
}

#[diff_kernel]
fn at_index<F: Float>(y: &mut Array<F>, at: &Array<u32>, x: &Array<F>) {
    let i = ABSOLUTE_POS;
    let j = at[i];
    let old = y[j];
    y[j] = if x[i] > 0.0 { old * x[i] } else { old * old };
}

case! {
    /// Each element by one thread, at an index that is data; on either side something is stored.
    overwritten_at_an_index_from_data<S>(run; y0: S = signed(5, 0.4, 1.4), x: S = signed(4, 0.4, 1.4)) {
        let at = run.dev.array(&[3u32, 0, 4, 1])?;
        let y = run.zeros::<S>(5)?;
        y.copy_from(&y0)?;
        at_index(4, &y, &at, &x)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dy, mut dx) = (y0.clone(), w.to_vec(), vec![0.0; 4]);
        for (i, j) in [3, 0, 4, 1].into_iter().enumerate() {
            let old = y0[j];
            if x[i] > 0.0 {
                y[j] = old * x[i];
                (dy[j], dx[i]) = (w[j] * x[i], w[j] * old);
            } else {
                y[j] = old * old;
                dy[j] = w[j] * 2.0 * old;
            }
        }
        (dot(w, &y), vec![dy, dx])
    }
}

#[diff_kernel]
fn by_component<F: Float>(v: &mut Array<Vec3<F>>, g: &Array<F>) {
    let i = ABSOLUTE_POS;
    let mut u = v[i];
    u.y -= g[0];
    if u.y < 0.0 {
        u.y = u.y * -0.5;
        u.x *= u.y;
    }
    v[i] = u;
}

case! {
    /// A velocity that falls and bounces, in its place, three times.
    a_vector_updated_by_component<S>(run; v0: Vec3<S> = signed(6, 0.4, 1.4), g: S = reals(1, 0.3, 0.6)) {
        let v = run.zeros::<Vec3<S>>(2)?;
        v.copy_from(&v0)?;
        for _ in 0..3 {
            by_component(2, &v, &g)?;
        }
        run.output(&v);
    }
    by_hand(w) {
        // Rows: value, by x, by y, by g.
        let (mut out, mut dv, mut dg) = (vec![], vec![], 0.0);
        for (v, w) in v0.chunks(3).zip(w.chunks(3)) {
            let (mut x, mut y) = ([v[0], 1.0, 0.0, 0.0], [v[1], 0.0, 1.0, 0.0]);
            for _ in 0..3 {
                y = [y[0] - g[0], y[1], y[2], y[3] - 1.0];
                if y[0] < 0.0 {
                    y = y.map(|y| -0.5 * y);
                    x = std::array::from_fn(|k| if k == 0 { x[0] * y[0] } else { x[k] * y[0] + x[0] * y[k] });
                }
            }
            out.extend([x[0], y[0], v[2]]);
            dv.extend([w[0] * x[1] + w[1] * y[1], w[0] * x[2] + w[1] * y[2], w[2]]);
            dg += w[0] * x[3] + w[1] * y[3];
        }
        (dot(w, &out), vec![dv, vec![dg]])
    }
}

#[diff_kernel]
fn gather<F: Float>(y: &Array<F>, z: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    z[i] += y[i] * y[(i + 1) % y.len()];
}

case! {
    /// Updated, read by neighbours, updated again, read again.
    updated_then_read_by_others<S>(run; x: S = signed(4, 0.5, 1.2), e: S = signed(4, 0.5, 1.2)) {
        let (y, z) = (run.zeros::<S>(4)?, run.zeros::<S>(4)?);
        y.copy_from(&x)?;
        for _ in 0..2 {
            scale(4, &y, &e)?;
            gather(4, &y, &z)?;
        }
        run.output(&z);
    }
    by_hand(w) {
        let (mut z, mut dx, mut de) = (vec![0.0; 4], vec![0.0; 4], vec![0.0; 4]);
        for i in 0..4 {
            let j = (i + 1) % 4;
            for n in [1, 2] {
                let (a, b) = (x[i] * e[i].powi(n), x[j] * e[j].powi(n));
                z[i] += a * b;
                for (k, mine, other) in [(i, a, b), (j, b, a)] {
                    dx[k] += w[i] * other * mine / x[k];
                    de[k] += w[i] * other * f64::from(n) * mine / e[k];
                }
            }
        }
        (dot(w, &z), vec![dx, de])
    }
}

case! {
    /// The step updates the array that it was given.
    updated_in_a_rollout<S>(run; x: S = signed(3, 0.6, 1.2), e: S = signed(3, 0.6, 1.2)) {
        let (start, e) = (run.zeros::<S>(3)?, e.clone());
        start.copy_from(&x)?;
        let end = diffkern::rollout(6, Schedule::Checkpoints(2), start, move |y: &Array<S>, _| {
            relax(3, y, &e)?;
            let next = y.device().zeros(3)?;
            halve(3, y, &next)?;
            Ok(next)
        })?;
        run.output(&end);
    }
    by_hand(w) {
        let end = |i: usize| (0..6).fold([x[i], 1.0, 0.0], |[y, dy, de], _| {
            let slope = y.cos() * e[i] + 2.0 * y;
            [0.5 * (y.sin() * e[i] + y * y), 0.5 * slope * dy, 0.5 * (slope * de + y.sin())]
        });
        let ends: Vec<_> = (0..3).map(end).collect();
        (dot(w, &list(3, |i| ends[i][0])), vec![list(3, |i| w[i] * ends[i][1]), list(3, |i| w[i] * ends[i][2])])
    }
}

#[diff_kernel]
fn halve<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * 0.5;
}

case! {
    /// A view of the middle of an array is updated by another view of it that does not overlap.
    updated_in_part_of_an_array<S>(run; x: S = signed(6, 0.5, 1.3)) {
        let y = run.zeros::<S>(6)?;
        y.copy_from(&x)?;
        scale(2, &y.slice(2..4)?, &y.slice(0..2)?)?;
        scale(2, &y.slice(1..3)?, &y.slice(4..6)?)?;
        run.output(&y);
    }
    by_hand(w) {
        let y = [x[0], x[1] * x[4], x[2] * x[0] * x[5], x[3] * x[1], x[4], x[5]];
        (dot(w, &y), vec![vec![
            w[0] + w[2] * x[2] * x[5], w[1] * x[4] + w[3] * x[3], w[2] * x[0] * x[5], w[3] * x[1],
            w[4] + w[1] * x[1], w[5] + w[2] * x[2] * x[0],
        ]])
    }
}

#[diff_kernel]
fn both<F: Float>(y: &mut Array<F>, z: &mut Array<F>, x: &Array<F>) {
    let i = ABSOLUTE_POS;
    let old = y[i];
    let new = old * x[i];
    y[i] = new;
    z[i] = old * new;
    z[i] = old * new + x[i];
}

case! {
    /// Old and new value, both kept in variables.
    the_old_value_used_after_the_store<S>(run; y0: S = signed(4, 0.5, 1.3), x: S = signed(4, 0.5, 1.3)) {
        let (y, z) = (run.zeros::<S>(4)?, run.zeros::<S>(4)?);
        y.copy_from(&y0)?;
        both(4, &y, &z, &x)?;
        run.output(&y);
        run.output(&z);
    }
    by_hand(w) {
        let out: Vec<f64> = (0..4).map(|i| y0[i] * x[i]).chain((0..4).map(|i| y0[i] * y0[i] * x[i] + x[i])).collect();
        (dot(w, &out), vec![
            list(4, |i| w[i] * x[i] + w[4 + i] * 2.0 * y0[i] * x[i]),
            list(4, |i| w[i] * y0[i] + w[4 + i] * (y0[i] * y0[i] + 1.0)),
        ])
    }
}

#[diff_kernel]
fn count<F: Float>(x: &Array<F>, n: &mut Array<u32>, below: &mut Array<i32>) {
    let v = x[ABSOLUTE_POS];
    n[u32::cast_from(v.abs() * 2.0)] += 1u32;
    if v < 0.0 {
        below[0] -= 2i32;
    }
}

#[diff_kernel]
fn mean<F: Float>(x: &Array<F>, n: &Array<u32>, below: &Array<i32>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let cell = u32::cast_from(v.abs() * 2.0);
    y[cell] += v * v / F::cast_from(n[cell]) + v * F::cast_from(below[0]);
}

case! {
    /// Threads count in arrays of integers; a later launch divides by the counts, which are constants.
    counted_into_integers<S>(run; x: S = crate::case::fixed(&[-1.3, -0.4, 0.2, 0.9, 1.1, 0.6, -0.7])) {
        let (n, below, y) = (run.zeros::<u32>(3)?, run.zeros::<i32>(1)?, run.zeros::<S>(3)?);
        count(7, &x, &n, &below)?;
        mean(7, &x, &n, &below, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let cell = |x: f64| (x.abs() * 2.0) as usize;
        let mut n = [0.0; 3];
        x.iter().for_each(|&x| n[cell(x)] += 1.0);
        let below = -2.0 * x.iter().filter(|x| **x < 0.0).count() as f64;
        let mut y = vec![0.0; 3];
        x.iter().for_each(|&x| y[cell(x)] += x * x / n[cell(x)] + x * below);
        (dot(w, &y), vec![x.iter().map(|&x| w[cell(x)] * (2.0 * x / n[cell(x)] + below)).collect()])
    }
}

#[diff_kernel]
fn offsets(n: &Array<u32>, start: &mut Array<u32>) {
    let mut sum = 0u32;
    for k in 0..n.len() {
        start[k] = sum;
        sum += n[k];
    }
    start[n.len()] = sum;
}

#[diff_kernel]
fn ranges<F: Float>(start: &Array<u32>, x: &Array<F>, y: &mut Array<F>) {
    let c = ABSOLUTE_POS;
    let mut sum = F::new(0.0);
    for k in start[c]..start[c + 1] {
        sum += x[k] * x[k];
    }
    y[c] = sum.sqrt();
}

case! {
    /// Counts become offsets, offsets bound the loops of a third launch.
    counted_then_used_as_an_index<S>(run; x: S = crate::case::fixed(&[-1.3, -0.4, 0.2, 0.9, 1.1, 0.6, -0.7])) {
        let (n, below, start, y) = (run.zeros(3)?, run.zeros(1)?, run.zeros(4)?, run.zeros::<S>(3)?);
        count(7, &x, &n, &below)?;
        offsets(1, &n, &start)?;
        ranges(3, &start, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let mut start = [0usize; 4];
        x.iter().for_each(|x| start[(x.abs() * 2.0) as usize + 1] += 1);
        (0..3).for_each(|k| start[k + 1] += start[k]);
        let (mut y, mut dx) = (vec![], vec![0.0; 7]);
        for c in 0..3 {
            let row = start[c]..start[c + 1];
            let root = x[row.clone()].iter().map(|x| x * x).sum::<f64>().sqrt();
            y.push(root);
            row.for_each(|k| dx[k] += w[c] * x[k] / root);
        }
        (dot(w, &y), vec![dx])
    }
}
