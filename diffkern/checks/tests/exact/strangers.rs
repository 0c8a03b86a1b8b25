//! Kernels of other fields, as their authors write them.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, fixed, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        log_sum_exp(),
        cross_entropy(),
        a_linear_system_with_pivots(),
        a_tridiagonal_system(),
        the_price_of_an_option(),
        rotary_embedding(),
        nearest_neighbours(),
        the_largest_of_each_window(),
        a_texture(),
        a_ray_and_a_sphere(),
        power_of_a_spectrum(),
    ]
}

#[diff_kernel]
fn lse<F: Float>(x: &Array<F>, y: &mut Array<F>, columns: usize) {
    let row = ABSOLUTE_POS * columns;
    let mut most = F::new(-1e30);
    for j in 0..columns {
        if x[row + j] > most {
            most = x[row + j];
        }
    }
    let mut sum = F::new(0.0);
    for j in 0..columns {
        sum += F::exp(x[row + j] - most);
    }
    y[ABSOLUTE_POS] = most + sum.ln();
}

case! {
    /// Its derivative is the softmax: the maximum cancels.
    log_sum_exp<S>(run; x: S = signed(8, 0.2, 2.0)) {
        let y = run.zeros::<S>(2)?;
        lse(2, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        let sum = |r: usize| x[4 * r..4 * r + 4].iter().map(|x| x.exp()).sum::<f64>();
        (dot(w, &list(2, |r| sum(r).ln())), vec![list(8, |k| w[k / 4] * x[k].exp() / sum(k / 4))])
    }
}

#[diff_kernel]
fn entropy<F: Float>(logits: &Array<F>, label: &Array<u32>, loss: &mut Array<F>, classes: usize) {
    let base = ABSOLUTE_POS * classes;
    let mut top = logits[base];
    for c in 1..classes {
        top = top.max(logits[base + c]);
    }
    let mut total = F::new(0.0);
    for c in 0..classes {
        total += F::exp(logits[base + c] - top);
    }
    let target = label[ABSOLUTE_POS] as usize;
    loss[0] += F::ln(total) - (logits[base + target] - top);
}

case! {
    /// Softmax less one where the label is.
    cross_entropy<S>(run; x: S = signed(9, 0.2, 2.0)) {
        let loss = run.zeros::<S>(1)?;
        entropy(3, &x, &run.dev.array(&[1u32, 0, 2])?, &loss, 3)?;
        run.output(&loss);
    }
    by_hand(w) {
        let label = [1, 0, 2];
        let sum = |r: usize| x[3 * r..3 * r + 3].iter().map(|x| x.exp()).sum::<f64>();
        let loss = (0..3).map(|r| sum(r).ln() - x[3 * r + label[r]]).sum::<f64>();
        (w[0] * loss, vec![list(9, |k| {
            w[0] * (x[k].exp() / sum(k / 3) - if label[k / 3] == k % 3 { 1.0 } else { 0.0 })
        })])
    }
}

#[diff_kernel]
fn solve<F: Float>(m: &Array<F>, b: &Array<F>, x: &mut Array<F>) {
    let mut a = Array::<F>::new(9);
    for k in 0..9 {
        a[k] = m[k];
    }
    let mut r = [b[0], b[1], b[2]];
    for c in 0..3 {
        let mut p = c;
        for q in c + 1..3 {
            if a[q * 3 + c].abs() > a[p * 3 + c].abs() {
                p = q;
            }
        }
        if p != c {
            for k in 0..3 {
                (a[c * 3 + k], a[p * 3 + k]) = (a[p * 3 + k], a[c * 3 + k]);
            }
            (r[c], r[p]) = (r[p], r[c]);
        }
        for q in c + 1..3 {
            let f = a[q * 3 + c] / a[c * 3 + c];
            for k in c..3 {
                a[q * 3 + k] -= f * a[c * 3 + k];
            }
            r[q] -= f * r[c];
        }
    }
    for i in (0..3).rev() {
        let mut s = r[i];
        for j in i + 1..3 {
            s -= a[i * 3 + j] * r[j];
        }
        r[i] = s / a[i * 3 + i];
    }
    for k in 0..3 {
        x[k] = r[k];
    }
}

fn cofactor(m: &[f64], k: usize) -> f64 {
    let at = |i: usize, j: usize| m[(k / 3 + i) % 3 * 3 + (k % 3 + j) % 3];
    at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)
}

case! {
    /// `A x = b`: `A^T l = w`, then `db = l` and `dA = -l x^T`, whatever the pivots.
    a_linear_system_with_pivots<S>(
        run; m: S = fixed(&[0.2, 1.1, -0.4, 1.5, 0.3, 0.6, -0.7, 0.4, 0.9]), b: S = signed(3, 0.4, 1.4)
    ) {
        let x = run.zeros::<S>(3)?;
        solve(1, &m, &b, &x)?;
        run.output(&x);
    }
    by_hand(w) {
        let determinant = (0..3).map(|c| m[c] * cofactor(m, c)).sum::<f64>();
        // The inverse is the transposed matrix of cofactors.
        let x = list(3, |i| (0..3).map(|j| cofactor(m, j * 3 + i) * b[j]).sum::<f64>() / determinant);
        let l = list(3, |i| (0..3).map(|j| cofactor(m, i * 3 + j) * w[j]).sum::<f64>() / determinant);
        (dot(w, &x), vec![list(9, |k| -l[k / 3] * x[k % 3]), l])
    }
}

#[diff_kernel]
fn thomas<F: Float>(off: &Array<F>, diagonal: &Array<F>, d: &Array<F>, x: &mut Array<F>) {
    let mut c = [F::new(0.0); 4];
    let mut e = [F::new(0.0); 4];
    c[0] = off[0] / diagonal[0];
    e[0] = d[0] / diagonal[0];
    for i in 1..4 {
        let m = F::recip(diagonal[i] - off[i - 1] * c[i - 1]);
        if i < 3 {
            c[i] = off[i] * m;
        }
        e[i] = (d[i] - off[i - 1] * e[i - 1]) * m;
    }
    let mut last = F::new(0.0);
    for i in (0..4).rev() {
        last = e[i] - c[i] * last;
        x[i] = last;
    }
}

case! {
    /// A symmetric one: `A l = w`, `dd = l`, `dA = -l x^T`.
    a_tridiagonal_system<S>(
        run; off: S = signed(3, 0.2, 0.6), diagonal: S = reals(4, 1.8, 2.6), d: S = signed(4, 0.4, 1.4)
    ) {
        let x = run.zeros::<S>(4)?;
        thomas(1, &off, &diagonal, &d, &x)?;
        run.output(&x);
    }
    by_hand(w) {
        let a = nalgebra::DMatrix::from_fn(4, 4, |i, j| match i.abs_diff(j) {
            0 => diagonal[i],
            1 => off[i.min(j)],
            _ => 0.0,
        });
        let solved = |b: &[f64]| a.clone().lu().solve(&nalgebra::DVector::from_row_slice(b)).unwrap();
        let (x, l) = (solved(d), solved(w));
        (dot(w, x.as_slice()), vec![
            list(3, |i| -l[i] * x[i + 1] - l[i + 1] * x[i]),
            list(4, |i| -l[i] * x[i]),
            l.as_slice().to_vec(),
        ])
    }
}

#[diff_fn]
fn normal_below<F: Float>(x: F) -> F {
    0.5 * (1.0 + F::erf(x / F::sqrt(F::new(2.0))))
}

#[diff_kernel]
fn call_price<F: Float>(s: &Array<F>, k: &Array<F>, vol: &Array<F>, price: &mut Array<F>, rate: F, time: F) {
    let i = ABSOLUTE_POS;
    let width = vol[i] * time.sqrt();
    let d1 = (F::ln(s[i] / k[i]) + (rate + vol[i].powi(2) / 2.0) * time) / width;
    let d2 = d1 - width;
    let n1: F = normal_below(d1);
    let n2: F = normal_below(d2);
    price[i] = s[i] * n1 - k[i] * F::exp(-rate * time) * n2;
}

case! {
    /// Black and Scholes: delta is `N(d1)`, vega `s phi(d1) sqrt t`.
    the_price_of_an_option<S>(
        run; s: S = reals(3, 0.9, 1.2), k: S = reals(3, 0.9, 1.2), vol: S = reals(3, 0.2, 0.5)
    ) {
        let price = run.zeros::<S>(3)?;
        // Numbers that f32 holds exactly.
        call_price(3, &s, &k, &vol, &price, S::from_f64(0.03125), S::from_f64(1.5))?;
        run.output(&price);
    }
    by_hand(w) {
        let (rate, time) = (0.03125, 1.5f64);
        let below = |x: f64| 0.5 * (1.0 + Float::erf(x / 2f64.sqrt()));
        let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        let d1 = |i: usize| ((s[i] / k[i]).ln() + (rate + vol[i] * vol[i] / 2.0) * time) / (vol[i] * time.sqrt());
        let d2 = |i: usize| d1(i) - vol[i] * time.sqrt();
        let discount = (-rate * time).exp();
        (dot(w, &list(3, |i| s[i] * below(d1(i)) - k[i] * discount * below(d2(i)))), vec![
            list(3, |i| w[i] * below(d1(i))),
            list(3, |i| -w[i] * discount * below(d2(i))),
            list(3, |i| w[i] * s[i] * density(d1(i)) * time.sqrt()),
        ])
    }
}

#[diff_kernel]
fn rope<F: Float>(x: &Array<F>, y: &mut Array<F>, width: u32) {
    let i = ABSOLUTE_POS as u32;
    let (pair, place) = (i % (width / 2), i / (width / 2));
    let angle = F::cast_from(place) * F::powf(F::new(100.0), -2.0 * F::cast_from(pair) / F::cast_from(width));
    let (s, c) = (angle.sin(), angle.cos());
    y[2 * i] = x[2 * i] * c - x[2 * i + 1] * s;
    y[2 * i + 1] = x[2 * i] * s + x[2 * i + 1] * c;
}

case! {
    /// Pairs turned by angles that depend on their place: the gradient is turned back.
    rotary_embedding<S>(run; x: S = signed(8, 0.4, 1.4)) {
        let y = run.zeros::<S>(8)?;
        rope(4, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        let turned = |v: &[f64], sign: f64| list(8, |k| {
            let i = k / 2;
            let (s, c) = (sign * (i / 2) as f64 * 100f64.powf(-0.5 * (i % 2) as f64)).sin_cos();
            if k % 2 == 0 { v[k] * c - v[k + 1] * s } else { v[k - 1] * s + v[k] * c }
        });
        (dot(w, &turned(x, 1.0)), vec![turned(w, -1.0)])
    }
}

#[diff_kernel]
fn nearest<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut best = [F::new(1e9); 2];
    for j in 0..x.len() {
        if j == i {
            continue;
        }
        let d = (x[i] - x[j]) * (x[i] - x[j]);
        if d < best[1] {
            best[1] = d;
            if best[1] < best[0] {
                (best[0], best[1]) = (best[1], best[0]);
            }
        }
    }
    y[i] = best[0] + 2.0 * best[1];
}

case! {
    /// Squared distances to the two nearest, by insertion.
    nearest_neighbours<S>(run; x: S = fixed(&[0.1, 0.75, -0.5, 1.6, 0.4])) {
        let y = run.zeros::<S>(5)?;
        nearest(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 5]);
        for i in 0..5 {
            let mut others: Vec<usize> = (0..5).filter(|j| *j != i).collect();
            others.sort_by(|a, b| (x[i] - x[*a]).abs().total_cmp(&(x[i] - x[*b]).abs()));
            let mut sum = 0.0;
            for (j, by) in [(others[0], 1.0), (others[1], 2.0)] {
                sum += by * (x[i] - x[j]).powi(2);
                dx[i] += w[i] * by * 2.0 * (x[i] - x[j]);
                dx[j] -= w[i] * by * 2.0 * (x[i] - x[j]);
            }
            y.push(sum);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn pool<F: Float>(image: &Array<F>, out: &mut Array<F>, width: usize) {
    let half = width / 2;
    let (column, row) = (ABSOLUTE_POS % half, ABSOLUTE_POS / half);
    let first = 2 * row * width + 2 * column;
    let mut most = image[first];
    let mut at = first;
    for k in 1..4 {
        let index = first + k / 2 * width + k % 2;
        if image[index] > most {
            most = image[index];
            at = index;
        }
    }
    out[ABSOLUTE_POS] = most * image[at];
}

case! {
    /// The square of the largest, read by its place and by its value.
    the_largest_of_each_window<S>(run; x: S = reals(8, 0.4, 1.4)) {
        let y = run.zeros::<S>(2)?;
        pool(2, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 8]);
        for o in 0..2 {
            let window = [0, 1, 4, 5].map(|k| k + 2 * o);
            let at = window.into_iter().max_by(|a, b| x[*a].total_cmp(&x[*b])).unwrap_or(0);
            y.push(x[at] * x[at]);
            dx[at] += w[o] * 2.0 * x[at];
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn look_up<F: Float>(texture: &Array<F>, uv: &Array<Vec2<F>>, out: &mut Array<F>, width: u32, height: u32) {
    let p = uv[ABSOLUTE_POS];
    let x = p.x * F::cast_from(width - 1);
    let y = p.y * F::cast_from(height - 1);
    let (x0, y0) = (x.floor() as u32, y.floor() as u32);
    let (x1, y1) = (min(x0 + 1, width - 1), u32::min(y0 + 1, height - 1));
    let (s, t) = (x - F::cast_from(x0), y - F::cast_from(y0));
    let top = texture[y0 * width + x0] * (1.0 - s) + texture[y0 * width + x1] * s;
    let bottom = texture[y1 * width + x0] * (1.0 - s) + texture[y1 * width + x1] * s;
    out[ABSOLUTE_POS] = top * (1.0 - t) + bottom * t;
}

case! {
    /// Bilinear, by the texture and by the place: 3 by 2 texels.
    a_texture<S>(run; texture: S = signed(6, 0.4, 1.4), uv: Vec2<S> = fixed(&[0.3, 0.4, 0.8, 0.7])) {
        let out = run.zeros::<S>(2)?;
        look_up(2, &texture, &uv, &out, 3, 2)?;
        run.output(&out);
    }
    by_hand(w) {
        let (mut y, mut dt, mut duv) = (vec![], vec![0.0; 6], vec![]);
        for (i, p) in uv.chunks(2).enumerate() {
            let (k, s, t) = ((2.0 * p[0]) as usize, (2.0 * p[0]).fract(), p[1]);
            let weights = [(k, (1.0 - s) * (1.0 - t)), (k + 1, s * (1.0 - t)), (3 + k, (1.0 - s) * t), (4 + k, s * t)];
            y.push(weights.iter().map(|(k, by)| by * texture[*k]).sum());
            weights.iter().for_each(|(k, by)| dt[*k] += w[i] * by);
            let (a, b, c, d) = (texture[k], texture[k + 1], texture[3 + k], texture[4 + k]);
            duv.extend([w[i] * 2.0 * ((b - a) * (1.0 - t) + (d - c) * t), w[i] * ((c - a) * (1.0 - s) + (d - b) * s)]);
        }
        (dot(w, &y), vec![dt, duv])
    }
}

#[diff_kernel]
fn trace<F: Float>(direction: &Array<Vec3<F>>, radius: &Array<F>, depth: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let d = direction[i];
    let center = Vec3::new(0.0, 0.0, 3.0);
    let along = d.dot(center) / d.norm();
    let miss = center.norm_squared() - along * along - radius[0] * radius[0];
    if miss > 0.0 {
        depth[i] = -1.0;
        return;
    }
    let enter = along - F::sqrt(-miss);
    if enter < 0.0 {
        return;
    }
    depth[i] = enter;
}

case! {
    /// `a - sqrt(r^2 - 9 + a^2)`, `a = 3 z / |d|`; the last ray misses.
    a_ray_and_a_sphere<S>(
        run; d: Vec3<S> = fixed(&[0.1, 0.05, 1.0, -0.2, 0.1, 0.9, 1.0, 1.0, 0.5]), radius: S = fixed(&[1.25])
    ) {
        let depth = run.zeros::<S>(3)?;
        trace(3, &d, &radius, &depth)?;
        run.output(&depth);
    }
    by_hand(w) {
        let (mut y, mut dd, mut dr) = (vec![], vec![], 0.0);
        for (i, d) in d.chunks(3).enumerate() {
            let size = dot(d, d).sqrt();
            let a = 3.0 * d[2] / size;
            let inside = radius[0] * radius[0] - 9.0 + a * a;
            if inside < 0.0 {
                y.push(-1.0);
                dd.extend([0.0; 3]);
                continue;
            }
            y.push(a - inside.sqrt());
            let da = w[i] * (1.0 - a / inside.sqrt());
            dr -= w[i] * radius[0] / inside.sqrt();
            dd.extend((0..3).map(|k| da * (if k == 2 { 3.0 / size } else { 0.0 } - a * d[k] / (size * size))));
        }
        (dot(w, &y), vec![dd, vec![dr]])
    }
}

#[diff_kernel]
fn spectrum<F: Float>(x: &Array<F>, power: &mut Array<F>) {
    let mut re = [F::new(0.0); 8];
    let mut im = [F::new(0.0); 8];
    for i in 0..8u32 {
        let reversed = ((i & 1) << 2) | (i & 2) | ((i & 4) >> 2);
        re[reversed] = x[i];
    }
    for stage in 0..3u32 {
        let half = 1u32 << stage;
        for b in 0..4u32 {
            let k = b % half;
            let low = b / half * 2 * half + k;
            let high = low + half;
            let angle = -std::f32::consts::PI * F::cast_from(k) / F::cast_from(half);
            let (c, s) = (angle.cos(), angle.sin());
            let (r, i) = (re[high] * c - im[high] * s, re[high] * s + im[high] * c);
            re[high] = re[low] - r;
            im[high] = im[low] - i;
            re[low] += r;
            im[low] += i;
        }
    }
    for k in 0..8u32 {
        power[k] = re[k] * re[k] + im[k] * im[k];
    }
}

case! {
    /// A Fourier transform of eight by butterflies in local arrays: `|X_k|^2` has `2 Re(conj(X_k) e^(-2 pi i j k / 8))`.
    power_of_a_spectrum<S>(run; x: S = signed(8, 0.4, 1.4)) {
        let power = run.zeros::<S>(8)?;
        spectrum(1, &x, &power)?;
        run.output(&power);
    }
    by_hand(w) {
        let angle = |j: usize, k: usize| std::f64::consts::TAU * (j * k % 8) as f64 / 8.0;
        let re = |k: usize| (0..8).map(|j| x[j] * angle(j, k).cos()).sum::<f64>();
        let im = |k: usize| (0..8).map(|j| -x[j] * angle(j, k).sin()).sum::<f64>();
        (dot(w, &list(8, |k| re(k).powi(2) + im(k).powi(2))), vec![list(8, |j| {
            (0..8).map(|k| w[k] * 2.0 * (re(k) * angle(j, k).cos() - im(k) * angle(j, k).sin())).sum()
        })])
    }
}
