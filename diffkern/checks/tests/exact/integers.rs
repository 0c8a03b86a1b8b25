//! Integers beside reals: as indices, as counts, in the path of a derivative, at the ends of their range.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, each, fixed, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        gathered(),
        a_cast_in_the_path(),
        a_cast_that_saturates(),
        an_index_from_a_real(),
        interpolated_in_two_dimensions(),
        wrapped_around(),
        divided_by_zero(),
        the_smallest_integer(),
        shifted_and_masked(),
        shifted_too_far(),
        packed_bits_as_weights(),
        an_index_written_by_an_earlier_launch(),
        scalars_by_value(),
        booleans_as_numbers(),
        rounded_half_to_even(),
        permuted_stores(),
        a_search_by_bisection(),
        an_index_clamped(),
        signed_arithmetic(),
        a_row_per_thread(),
    ]
}

#[diff_kernel]
fn gather<F: Float>(x: &Array<F>, at: &Array<u32>, sign: &Array<i32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a = at[2 * i] as usize;
    let b = at[2 * i + 1];
    y[i] = x[a] * x[b].sin() * F::cast_from(sign[i]);
}

case! {
    /// Arrays of `u32` and `i32`: which elements, and a factor.
    gathered<S>(run; x: S = signed(5, 0.3, 1.4)) {
        let at = run.dev.array(&[0u32, 3, 3, 3, 4, 1])?;
        let sign = run.dev.array(&[2i32, -1, -3])?;
        let y = run.zeros::<S>(3)?;
        gather(3, &x, &at, &sign, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let rows = [(0, 3, 2.0), (3, 3, -1.0), (4, 1, -3.0)];
        let (mut y, mut dx) = (vec![], vec![0.0; 5]);
        for (i, (a, b, s)) in rows.into_iter().enumerate() {
            y.push(x[a] * x[b].sin() * s);
            dx[a] += w[i] * s * x[b].sin();
            dx[b] += w[i] * s * x[a] * x[b].cos();
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn through_integers<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let whole = F::cast_from(i32::cast_from(v * 4.0));
    let count = u32::cast_from(v.abs() * 3.0) + 1;
    y[ABSOLUTE_POS] = whole * v + v * v / F::cast_from(count);
}

case! {
    /// What passes through an integer is a constant; the rest is not.
    a_cast_in_the_path<S>(run; x: S = fixed(&[-1.3, -0.4, 0.2, 0.9, 2.1])) {
        let y = run.zeros::<S>(5)?;
        through_integers(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (whole, count) = ((x * 4.0).trunc(), (x.abs() * 3.0).trunc() + 1.0);
            (whole * x + x * x / count, whole + 2.0 * x / count)
        })
    }
}

#[diff_kernel]
fn saturated<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let big = u32::cast_from(v * 1e12);
    let low = i32::cast_from(v * -1e12);
    let none = u32::cast_from((v - 100.0).sqrt());
    let mut n = 0u32;
    if big == 4294967295 {
        n += 1;
    }
    if low == -2147483648 {
        n += 2;
    }
    if u32::cast_from(-v) == 0 {
        n += 4;
    }
    y[ABSOLUTE_POS] = v * F::cast_from(n + none);
}

case! {
    /// Too large, too small, below zero, and NaN, which gives 0.
    a_cast_that_saturates<S>(run; x: S = reals(3, 0.5, 1.4)) {
        let y = run.zeros::<S>(3)?;
        saturated(3, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (7.0 * x, 7.0))
    }
}

#[diff_kernel]
fn lookup<F: Float>(table: &Array<F>, x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let at = (x[i] * 4.0).clamp(0.0, F::cast_from(table.len() - 2));
    let k = usize::cast_from(at.floor());
    let t = at - F::cast_from(k);
    y[i] = table[k] * (1.0 - t) + table[k + 1] * t;
}

case! {
    /// A table read at a real place, between two entries; beyond the ends it is flat.
    an_index_from_a_real<S>(run; table: S = signed(6, 0.4, 1.4), x: S = fixed(&[0.1, 0.4, 0.9, -0.3, 1.7])) {
        let y = run.zeros::<S>(5)?;
        lookup(5, &table, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dt, mut dx) = (vec![], vec![0.0; 6], vec![]);
        for (i, &x) in x.iter().enumerate() {
            let at = (x * 4.0).clamp(0.0, 4.0);
            let (k, t) = (at as usize, at.fract());
            y.push(table[k] * (1.0 - t) + table[k + 1] * t);
            dt[k] += w[i] * (1.0 - t);
            dt[k + 1] += w[i] * t;
            dx.push(if (0.0..=4.0).contains(&(x * 4.0)) { w[i] * 4.0 * (table[k + 1] - table[k]) } else { 0.0 });
        }
        (dot(w, &y), vec![dt, dx])
    }
}

#[diff_kernel]
fn bilinear<F: Float>(image: &Array<F>, p: &Array<Vec2<F>>, y: &mut Array<F>, nx: u32) {
    let i = ABSOLUTE_POS;
    let q = p[i];
    let (fx, fy) = (q.x.floor(), q.y.floor());
    let (tx, ty) = (q.x - fx, q.y - fy);
    let at = u32::cast_from(fx) + nx * u32::cast_from(fy);
    let top = image[at] * (1.0 - tx) + image[at + 1] * tx;
    let bottom = image[at + nx] * (1.0 - tx) + image[at + nx + 1] * tx;
    y[i] = top * (1.0 - ty) + bottom * ty;
}

case! {
    /// Four pixels around a point that moves.
    interpolated_in_two_dimensions<S>(run; image: S = signed(9, 0.4, 1.4), p: Vec2<S> = reals(6, 0.1, 0.9)) {
        let y = run.zeros::<S>(3)?;
        bilinear(3, &image, &p, &y, 3)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut di, mut dp) = (vec![], vec![0.0; 9], vec![]);
        for (i, q) in p.chunks(2).enumerate() {
            let (tx, ty) = (q[0], q[1]);
            let corners = [(0, (1.0 - tx) * (1.0 - ty)), (1, tx * (1.0 - ty)), (3, (1.0 - tx) * ty), (4, tx * ty)];
            y.push(corners.iter().map(|&(k, c)| image[k] * c).sum());
            corners.iter().for_each(|&(k, c)| di[k] += w[i] * c);
            dp.push(w[i] * ((image[1] - image[0]) * (1.0 - ty) + (image[4] - image[3]) * ty));
            dp.push(w[i] * ((image[3] - image[0]) * (1.0 - tx) + (image[4] - image[1]) * tx));
        }
        (dot(w, &y), vec![di, dp])
    }
}

#[diff_kernel]
fn ring<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
    let i = ABSOLUTE_POS as u32;
    let left = (i - 1).min(n - 1);
    let far = i * 2654435769;
    y[i] = x[left] * x[(i + 1) % n] + x[far % n];
}

case! {
    /// `0 - 1` and a product beyond 32 bits wrap.
    wrapped_around<S>(run; x: S = signed(5, 0.4, 1.4)) {
        let y = run.zeros::<S>(5)?;
        ring(5, &x, &y, 5)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 5]);
        for i in 0..5usize {
            let (l, r, f) = ((i + 4) % 5, (i + 1) % 5, (i as u32).wrapping_mul(2654435769) as usize % 5);
            y.push(x[l] * x[r] + x[f]);
            dx[l] += w[i] * x[r];
            dx[r] += w[i] * x[l];
            dx[f] += w[i];
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn quotients<F: Float>(x: &Array<F>, n: &Array<u32>, m: &Array<i32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] * F::cast_from(7 / n[i] + 10 * (7 % n[i])) + x[i] * x[i] * F::cast_from(-7 / m[i] + 10 * (-7 % m[i]));
}

case! {
    /// `x / 0` and `x % 0` are 0; else towards zero, the remainder with the sign of the dividend.
    divided_by_zero<S>(run; x: S = signed(4, 0.4, 1.4)) {
        let (n, m) = (run.dev.array(&[0u32, 2, 5, 9])?, run.dev.array(&[0i32, 2, -2, -9])?);
        let y = run.zeros::<S>(4)?;
        quotients(4, &x, &n, &m, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (a, b) = ([0.0, 13.0, 21.0, 70.0], [0.0, -13.0, -7.0, -70.0]);
        (dot(w, &list(4, |i| x[i] * a[i] + x[i] * x[i] * b[i])), vec![list(4, |i| w[i] * (a[i] + 2.0 * x[i] * b[i]))])
    }
}

#[diff_kernel]
fn extremes<F: Float>(x: &Array<F>, n: &Array<i32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let v = n[i];
    let mut score = 0u32;
    if v / -1 == v {
        score += 1;
    }
    if v.abs() == v {
        score += 2;
    }
    if -v == v {
        score += 4;
    }
    if v - 1 > v {
        score += 8;
    }
    if v % -1 == 0 {
        score += 16;
    }
    y[i] = x[i] * F::cast_from(score);
}

case! {
    /// `-2^31` divided by -1, its magnitude, its negative, one less: all wrap.
    the_smallest_integer<S>(run; x: S = signed(3, 0.4, 1.4)) {
        let n = run.dev.array(&[i32::MIN, -5, 0])?;
        let y = run.zeros::<S>(3)?;
        extremes(3, &x, &n, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let score = [31.0, 16.0, 23.0];
        (dot(w, &list(3, |i| x[i] * score[i])), vec![list(3, |i| w[i] * score[i])])
    }
}

#[diff_kernel]
fn bits<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS as u32;
    let a = (i << 3) | 5;
    let b = (a ^ 12) & 30;
    let c = (0 - (i as i32)) >> 1;
    y[i] = x[i] * F::cast_from(a) + x[i].sin() * F::cast_from(b >> 1) + F::cast_from(c) * x[0];
}

case! {
    /// Shifts to both sides, of negative numbers too, and masks.
    shifted_and_masked<S>(run; x: S = signed(4, 0.4, 1.4)) {
        let y = run.zeros::<S>(4)?;
        bits(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 4]);
        for i in 0..4u32 {
            let a = (i << 3) | 5;
            let (k, a, b, c) = (i as usize, f64::from(a), f64::from(((a ^ 12) & 30) >> 1), f64::from(-(i as i32) >> 1));
            y.push(x[k] * a + x[k].sin() * b + c * x[0]);
            dx[k] += w[k] * (a + x[k].cos() * b);
            dx[0] += w[k] * c;
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn far_shifts<F: Float>(x: &Array<F>, by: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] * F::cast_from(3u32 << by[i]) + F::cast_from(-96i32 >> by[i] as i32) * x[i] * x[i];
}

case! {
    /// Shifts by 32 and more take the amount modulo 32.
    shifted_too_far<S>(run; x: S = signed(4, 0.4, 1.4)) {
        let by = run.dev.array(&[0u32, 4, 32, 37])?;
        let y = run.zeros::<S>(4)?;
        far_shifts(4, &x, &by, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (a, b) = ([3.0, 48.0, 3.0, 96.0], [-96.0, -6.0, -96.0, -3.0]);
        (dot(w, &list(4, |i| x[i] * a[i] + x[i] * x[i] * b[i])), vec![list(4, |i| w[i] * (a[i] + 2.0 * x[i] * b[i]))])
    }
}

#[diff_kernel]
fn packed<F: Float>(x: &Array<F>, codes: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut code = codes[i];
    let mut sum = x[i];
    for _ in 0..8 {
        if code & 1 == 1 {
            sum = sum * x[code % 4];
        }
        code >>= 2;
        code ^= 1;
    }
    y[i] = sum * F::cast_from(code);
}

case! {
    /// A word of bits, consumed in a loop, says which factors are taken.
    packed_bits_as_weights<S>(run; x: S = signed(4, 0.7, 1.3)) {
        let codes = run.dev.array(&[0xdead_beefu32, 17, 0x1234_5678, u32::MAX])?;
        let y = run.zeros::<S>(4)?;
        packed(4, &x, &codes, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 4]);
        for (i, mut code) in [0xdead_beefu32, 17, 0x1234_5678, u32::MAX].into_iter().enumerate() {
            let mut factors = vec![i];
            for _ in 0..8 {
                if code & 1 == 1 {
                    factors.push(code as usize % 4);
                }
                code = (code >> 2) ^ 1;
            }
            let value = factors.iter().map(|&k| x[k]).product::<f64>() * f64::from(code);
            y.push(value);
            factors.iter().for_each(|&k| dx[k] += w[i] * value / x[k]);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn cells<F: Float>(x: &Array<F>, cell: &mut Array<u32>) {
    cell[ABSOLUTE_POS] = u32::cast_from(x[ABSOLUTE_POS].abs() * 2.0);
}

#[diff_kernel]
fn into_cells<F: Float>(x: &Array<F>, cell: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[cell[i]] += x[i] * x[i];
}

case! {
    /// Integers that one launch makes of reals are the indices of the next.
    an_index_written_by_an_earlier_launch<S>(run; x: S = fixed(&[-1.3, -0.4, 0.2, 0.9, 1.1, 0.6])) {
        let cell = run.zeros::<u32>(6)?;
        let y = run.zeros::<S>(3)?;
        cells(6, &x, &cell)?;
        into_cells(6, &x, &cell, &y)?;
        cell.fill(1)?;
        into_cells(6, &x, &cell, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![0.0; 3], vec![]);
        for x in x {
            let k = (x.abs() * 2.0) as usize;
            y[k] += x * x;
            y[1] += x * x;
            dx.push((w[k] + w[1]) * 2.0 * x);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn by_value<F: Float>(x: &Array<F>, y: &mut Array<F>, a: F, n: u32, m: i32, k: usize, on: bool) {
    let i = ABSOLUTE_POS;
    let mut s = x[i] * a + x[k];
    if on {
        s = s * F::cast_from(n) + F::cast_from(m) * s * s;
    }
    y[i] = s;
}

case! {
    /// One scalar of each type.
    scalars_by_value<S>(run; x: S = signed(4, 0.4, 1.4)) {
        let y = [run.zeros::<S>(4)?, run.zeros::<S>(4)?];
        by_value(4, &x, &y[0], S::from_f64(0.75), 3, -2, 1, true)?;
        by_value(4, &x, &y[1], S::from_f64(-1.25), 9, 9, 3, false)?;
        y.iter().for_each(|y| run.output(y));
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 4]);
        for k in 0..8 {
            let i = k % 4;
            let (a, at) = if k < 4 { (0.75, 1) } else { (-1.25, 3) };
            let s = x[i] * a + x[at];
            let (v, dv) = if k < 4 { (3.0 * s - 2.0 * s * s, 3.0 - 4.0 * s) } else { (s, 1.0) };
            y.push(v);
            dx[i] += w[k] * dv * a;
            dx[at] += w[k] * dv;
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn indicator<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let positive = v > 0.0;
    let odd = ABSOLUTE_POS % 2 == 1;
    y[ABSOLUTE_POS] = v * F::cast_from(positive) + v * v * F::cast_from(odd as u32 + positive as u32);
}

case! {
    /// A comparison as a factor of 0 or 1.
    booleans_as_numbers<S>(run; x: S = signed(6, 0.4, 1.4)) {
        let y = run.zeros::<S>(6)?;
        indicator(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let f = |i: usize| {
            let (p, o) = (f64::from(u8::from(x[i] > 0.0)), (i % 2) as f64);
            (x[i] * p + x[i] * x[i] * (p + o), p + 2.0 * x[i] * (p + o))
        };
        (dot(w, &list(6, |i| f(i).0)), vec![list(6, |i| w[i] * f(i).1)])
    }
}

#[diff_kernel]
fn rounded<F: Float>(x: &Array<F>, halves: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] * halves[i].round() + x[i] * F::cast_from(i32::cast_from(halves[i])) * 10.0;
}

case! {
    /// Halves go to the even neighbour, casts towards zero.
    rounded_half_to_even<S>(run; x: S = signed(6, 0.4, 1.4)) {
        let halves = run.constants::<S>(&[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])?;
        let y = run.zeros::<S>(6)?;
        rounded(6, &x, &halves, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let factor = [-22.0, -12.0, 0.0, 0.0, 12.0, 22.0];
        (dot(w, &list(6, |i| x[i] * factor[i])), vec![list(6, |i| w[i] * factor[i])])
    }
}

#[diff_kernel]
fn permute<F: Float>(x: &Array<F>, to: &Array<u32>, y: &mut Array<F>) {
    y[to[ABSOLUTE_POS]] = x[ABSOLUTE_POS].exp();
}

case! {
    /// Each element stored by one thread, in another order; one element by none.
    permuted_stores<S>(run; x: S = signed(4, 0.4, 1.4)) {
        let to = run.dev.array(&[3u32, 0, 4, 1])?;
        let y = run.zeros::<S>(5)?;
        permute(4, &x, &to, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let mut y = vec![0.0; 5];
        for (i, to) in [3, 0, 4, 1].into_iter().enumerate() {
            y[to] = x[i].exp();
        }
        (dot(w, &y), vec![[3, 0, 4, 1].iter().zip(x).map(|(&to, x)| w[to] * x.exp()).collect()])
    }
}

#[diff_kernel]
fn search<F: Float>(knots: &Array<F>, x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut lo = 0usize;
    let mut hi = knots.len() - 1;
    for _ in 0..4 {
        if hi - lo > 1 {
            let mid = (lo + hi) / 2;
            if knots[mid] > x[i] {
                hi = mid;
            } else {
                lo = mid;
            }
        }
    }
    let t = (x[i] - knots[lo]) / (knots[hi] - knots[lo]);
    y[i] = F::cast_from(lo) + t * t;
}

case! {
    /// An interval found by comparing reals, then interpolated in: the derivative knows the interval's ends only.
    a_search_by_bisection<S>(run; knots: S = fixed(&[-1.1, -0.6, -0.2, 0.3, 0.5, 1.2]), x: S = fixed(&[-0.9, 0.1, 0.45, 1.0])) {
        let y = run.zeros::<S>(4)?;
        search(4, &knots, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dk, mut dx) = (vec![], vec![0.0; 6], vec![]);
        for (i, &x) in x.iter().enumerate() {
            let lo = (0..5).rfind(|&k| knots[k] <= x).unwrap();
            let (a, b) = (knots[lo], knots[lo + 1]);
            let t = (x - a) / (b - a);
            y.push(lo as f64 + t * t);
            dx.push(w[i] * 2.0 * t / (b - a));
            dk[lo] += w[i] * 2.0 * t * (t - 1.0) / (b - a);
            dk[lo + 1] -= w[i] * 2.0 * t * t / (b - a);
        }
        (dot(w, &y), vec![dk, dx])
    }
}

#[diff_kernel]
fn border<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS as i32;
    let n = x.len() as i32;
    let mut sum = F::new(0.0);
    for k in -2..3 {
        let at = (i + k).clamp(0, n - 1) as usize;
        sum += x[at] * x[at] * F::cast_from(k + 3);
    }
    y[i as usize] = sum;
}

case! {
    /// A filter whose ends repeat the border.
    an_index_clamped<S>(run; x: S = signed(5, 0.4, 1.4)) {
        let y = run.zeros::<S>(5)?;
        border(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![0.0; 5], vec![0.0; 5]);
        for i in 0..5i32 {
            for k in -2..3 {
                let (at, c) = ((i + k).clamp(0, 4) as usize, f64::from(k + 3));
                y[i as usize] += x[at] * x[at] * c;
                dx[at] += w[i as usize] * 2.0 * x[at] * c;
            }
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn below<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS as i32;
    let a = (i - 2) * (i - 3) - 4;
    let b = a.min(-1).max(-3);
    let c = (i - 1).abs();
    y[i as usize] = x[i as usize].powi(c) * F::cast_from(a) + F::cast_from(b) * x[i as usize];
}

case! {
    /// Negative integers in sums, extrema and exponents.
    signed_arithmetic<S>(run; x: S = signed(4, 0.5, 1.4)) {
        let y = run.zeros::<S>(4)?;
        below(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let f = |i: i32| {
            let (x, a) = (x[i as usize], (i - 2) * (i - 3) - 4);
            let (b, c) = (f64::from(a.clamp(-3, -1)), (i - 1).abs());
            (x.powi(c) * f64::from(a) + b * x, f64::from(c) * x.powi(c - 1) * f64::from(a) + b)
        };
        (dot(w, &list(4, |i| f(i as i32).0)), vec![list(4, |i| w[i] * f(i as i32).1)])
    }
}

#[diff_kernel]
fn rows<F: Float>(offsets: &Array<u32>, columns: &Array<u32>, values: &Array<F>, x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut sum = F::new(0.0);
    for k in offsets[i]..offsets[i + 1] {
        sum += values[k] * x[columns[k]];
    }
    y[i] = sum * sum;
}

case! {
    /// A sparse matrix times a vector, squared: row bounds are data, but a sum keeps nothing.
    a_row_per_thread<S>(run; values: S = signed(6, 0.4, 1.4), x: S = signed(4, 0.4, 1.4)) {
        let offsets = run.dev.array(&[0u32, 2, 2, 5, 6])?;
        let columns = run.dev.array(&[0u32, 3, 1, 1, 2, 0])?;
        let y = run.zeros::<S>(4)?;
        rows(4, &offsets, &columns, &values, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (offsets, columns) = ([0, 2, 2, 5, 6], [0, 3, 1, 1, 2, 0]);
        let (mut y, mut dv, mut dx) = (vec![], vec![0.0; 6], vec![0.0; 4]);
        for i in 0..4 {
            let row = offsets[i]..offsets[i + 1];
            let sum: f64 = row.clone().map(|k| values[k] * x[columns[k]]).sum();
            y.push(sum * sum);
            for k in row {
                dv[k] += w[i] * 2.0 * sum * x[columns[k]];
                dx[columns[k]] += w[i] * 2.0 * sum * values[k];
            }
        }
        (dot(w, &y), vec![dv, dx])
    }
}
