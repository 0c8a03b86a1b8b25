//! What authors of CubeCL and Rust write without thinking: `match`, constants in the body, numbers without a suffix,
//! ranges from the end, assignments of tuples, functions of integers.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, each, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        a_match_with_a_value(),
        a_match_that_assigns_and_leaves(),
        constants_in_the_body(),
        numbers_without_a_suffix(),
        a_range_from_the_end(),
        assigned_as_a_tuple(),
        functions_of_integers(),
        functions_of_reals_from_cubecl(),
        through_macro_rules(),
        an_index_that_the_right_side_changes(),
    ]
}

#[diff_kernel]
fn choose<F: Float>(x: &Array<F>, kind: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let v = x[i];
    y[i] = match kind[i] {
        0 => v.sin(),
        1 | 2 => {
            let square = v * v;
            square * v
        }
        3..=5 if v > 10.0 => -v,
        3.. => F::exp(v),
        _ => v,
    };
}

case! {
    /// Numbers, alternatives, a range, a guard that fails.
    a_match_with_a_value<S>(run; x: S = reals(5, 0.3, 1.3)) {
        let y = run.zeros::<S>(5)?;
        choose(5, &x, &run.dev.array(&[0u32, 1, 2, 4, 9])?, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let both = |i: usize| match i {
            0 => (x[i].sin(), x[i].cos()),
            1 | 2 => (x[i].powi(3), 3.0 * x[i] * x[i]),
            _ => (x[i].exp(), x[i].exp()),
        };
        (dot(w, &list(5, |i| both(i).0)), vec![list(5, |i| w[i] * both(i).1)])
    }
}

#[diff_kernel]
fn script<F: Float>(x: &Array<F>, code: &Array<i32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for k in 0..code.len() {
        match code[k] {
            -1 => break,
            0 => continue,
            1 => a *= x[i],
            _ => a += x[i] * x[i],
        }
        a *= 0.5;
    }
    match a > 0.0 {
        true => y[i] = a,
        false => y[i] = -a,
    }
}

case! {
    /// `((x x / 2 + x^2) / 2) x / 2 = 3 x^3 / 8`; the code ends at -1.
    a_match_that_assigns_and_leaves<S>(run; x: S = signed(4, 0.4, 1.4)) {
        let y = run.zeros::<S>(4)?;
        script(4, &x, &run.dev.array(&[1i32, 0, 2, 0, 1, -1, 1])?, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (0.375 * x.abs().powi(3), 1.125 * x * x.abs()))
    }
}

#[diff_kernel]
fn smooth<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    const RADIUS: i32 = 1;
    const WEIGHTS: [f64; 3] = [0.25, 0.5, 0.25];
    let n = x.len() as i32;
    let mut sum = F::new(0.0);
    for k in -RADIUS..RADIUS + 1 {
        let j = ABSOLUTE_POS as i32 + k;
        if j >= 0 && j < n {
            let v = x[j as usize];
            sum += WEIGHTS[(k + RADIUS) as usize] * v * v;
        }
    }
    y[ABSOLUTE_POS] = sum * std::f64::consts::FRAC_1_PI;
}

case! {
    /// A stencil by a table of weights, over pi.
    constants_in_the_body<S>(run; x: S = signed(5, 0.4, 1.4)) {
        let y = run.zeros::<S>(5)?;
        smooth(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let pi = std::f64::consts::PI;
        let weight = |i: usize, j: usize| [0.5, 0.25].get(i.abs_diff(j)).copied().unwrap_or(0.0) / pi;
        (dot(w, &list(5, |i| (0..5).map(|j| weight(i, j) * x[j] * x[j]).sum())), vec![
            list(5, |j| (0..5).map(|i| w[i] * weight(i, j) * 2.0 * x[j]).sum()),
        ])
    }
}

#[diff_kernel]
fn counted<F: Float>(x: &Array<F>, y: &mut Array<F>, z: &mut Array<u32>) {
    let mut at = 0;
    let mut seen = 0;
    let mut steps = [0; 2];
    #[bound(40)]
    while at < x.len() {
        if x[at] > 0.0 {
            y[seen] = x[at] * F::cast_from(seen + 1);
            seen += 1u32;
        }
        steps[at % 2] += seen;
        at += 1;
    }
    let left = if at == 0 { 0 } else { at - 1 };
    y[left] = x[left].sin();
    z[0] = steps[0] + min(2, steps[1]);
}

case! {
    /// Packed to the front, each times its place; the last place is stored after.
    numbers_without_a_suffix<S>(run; x: S = signed(5, 0.4, 1.4)) {
        let y = run.zeros::<S>(5)?;
        counted(1, &x, &y, &run.zeros::<u32>(1)?)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx, mut seen) = (vec![0.0; 5], vec![0.0; 5], 0);
        for i in 0..5 {
            if x[i] > 0.0 {
                let by = (seen + 1) as f64;
                if seen < 4 {
                    (y[seen], dx[i]) = (x[i] * by, w[seen] * by);
                }
                seen += 1;
            }
        }
        y[4] = x[4].sin();
        dx[4] += w[4] * x[4].cos();
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn backward<F: Float>(c: &Array<F>, x: &Array<F>, y: &mut Array<F>) {
    let mut p = F::new(0.0);
    for k in (0..c.len()).rev() {
        p = p * x[0] + c[k];
    }
    let mut q = F::new(0.0);
    #[unroll]
    for k in (1..4).rev() {
        q = (q + F::cast_from(k)) * x[0];
    }
    y[0] = p;
    y[1] = q;
}

case! {
    /// Horner's rule, and `x + 2 x^2 + 3 x^3`.
    a_range_from_the_end<S>(run; c: S = signed(5, 0.4, 1.4), x: S = signed(1, 0.4, 1.4)) {
        let y = run.zeros::<S>(2)?;
        backward(1, &c, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let t = x[0];
        let p = (0..5).map(|k| c[k] * t.powi(k as i32)).sum::<f64>();
        let dp = (1..5).map(|k| c[k] * k as f64 * t.powi(k as i32 - 1)).sum::<f64>();
        (w[0] * p + w[1] * (t + 2.0 * t * t + 3.0 * t * t * t), vec![
            list(5, |k| w[0] * t.powi(k as i32)),
            vec![w[0] * dp + w[1] * (1.0 + 4.0 * t + 9.0 * t * t)],
        ])
    }
}

#[diff_kernel]
fn recurrence<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
    let (mut a, mut b) = (x[0], x[1]);
    for _ in 0..n {
        (a, b) = (b, a * b);
    }
    let mut pair = [a, b];
    (pair[0], pair[1]) = (pair[1], pair[0]);
    y[0] = pair[0];
    y[1] = pair[1];
}

case! {
    /// `a b`, `a b^2`, `a^2 b^3`, `a^3 b^5`: exponents by Fibonacci.
    assigned_as_a_tuple<S>(run; x: S = reals(2, 0.6, 1.4)) {
        let y = run.zeros::<S>(2)?;
        recurrence(1, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        let (a, b) = (x[0], x[1]);
        let (last, before) = (a.powi(3) * b.powi(5), a.powi(2) * b.powi(3));
        (dot(w, &[last, before]), vec![vec![
            (w[0] * 3.0 * last + w[1] * 2.0 * before) / a,
            (w[0] * 5.0 * last + w[1] * 3.0 * before) / b,
        ]])
    }
}

#[diff_kernel]
fn mixed<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS as u32;
    let hash = (i ^ 2747636419).wrapping_mul(2654435769) >> 24;
    let near = u32::min(i, 2) + i.abs_diff(3) + i.saturating_sub(2) + i.div_ceil(2) + (!i & 3);
    let turned = (-(i as i32) - 2).abs().clamp(0, 4);
    y[i] = x[i] * F::cast_from(near) + F::cast_from(hash % 8) * x[i] * x[i] + F::cast_from(turned) * F::cast_from(2);
}

case! {
    /// Their results are constants of the derivative.
    functions_of_integers<S>(run; x: S = signed(6, 0.4, 1.4)) {
        let y = run.zeros::<S>(6)?;
        mixed(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let parts = |i: usize| {
            let k = i as u32;
            let hash = (k ^ 2_747_636_419).wrapping_mul(2_654_435_769) >> 24;
            let near = k.min(2) + k.abs_diff(3) + k.saturating_sub(2) + k.div_ceil(2) + (!k & 3);
            (f64::from(near), f64::from(hash % 8), f64::from((k as i32 + 2).min(4)))
        };
        let value = |i: usize| { let (a, b, c) = parts(i); x[i] * a + b * x[i] * x[i] + 2.0 * c };
        (dot(w, &list(6, value)), vec![list(6, |i| w[i] * (parts(i).0 + 2.0 * parts(i).1 * x[i]))])
    }
}

#[diff_kernel]
fn functions<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let a = F::inverse_sqrt(v) + F::rhypot(v, 2.0) + fma(v, v, F::new(1.0f32));
    let b = F::to_degrees(v) / 100.0 + F::to_radians(v) + F::trunc(4.0 * v) * v + max(v, 0.5) * min(v, F::from(0.8));
    y[ABSOLUTE_POS] = a + b;
}

case! {
    /// `1/sqrt x + 1/hypot(x, 2) + x^2 + 1`, and factors.
    functions_of_reals_from_cubecl<S>(run; x: S = reals(6, 0.3, 1.2)) {
        let y = run.zeros::<S>(6)?;
        functions(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let degrees = 1f64.to_degrees() / 100.0 + 1f64.to_radians();
        each(x, w, |x| {
            let h = x.hypot(2.0);
            let (hi, lo) = (x.max(0.5), x.min(0.8));
            let product = if x > 0.5 { lo } else { 0.0 } + if x < 0.8 { hi } else { 0.0 };
            (
                1.0 / x.sqrt() + 1.0 / h + x * x + 1.0 + degrees * x + (4.0 * x).trunc() * x + hi * lo,
                -0.5 * x.powf(-1.5) - x / h.powi(3) + 2.0 * x + degrees + (4.0 * x).trunc() + product,
            )
        })
    }
}

/// What a macro inserts comes in invisible parentheses.
macro_rules! elementwise {
    ($name:ident, $array:ty, $out:ty, $x:ident => $value:expr) => {
        #[diff_kernel]
        fn $name<F: Float>(x: &$array, y: $out) {
            let $x = x[ABSOLUTE_POS];
            y[ABSOLUTE_POS] = 2.0 * $value;
        }
    };
}

elementwise!(cubic, Array<F>, &mut Array<F>, v => v * v * v + 1.0);

case! {
    /// `2 (x^3 + 1)`: the sum is a whole.
    through_macro_rules<S>(run; x: S = signed(4, 0.4, 1.4)) {
        let y = run.zeros::<S>(4)?;
        cubic(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (2.0 * (x * x * x + 1.0), 6.0 * x * x))
    }
}

#[diff_kernel]
fn fill_backwards<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut k = 0usize;
    y[k] = {
        k += 1;
        x[k] * x[k]
    };
    let mut z = [F::new(0.0), F::new(0.0)];
    z[k] = {
        k -= 1;
        x[k] * x[1]
    };
    y[0] = z[0];
}

case! {
    /// The right side comes first: `(x_0 x_1, x_1^2)`.
    an_index_that_the_right_side_changes<S>(run; x: S = reals(2, 0.3, 1.3)) {
        let y = run.zeros::<S>(2)?;
        fill_backwards(1, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        (dot(w, &[x[0] * x[1], x[1] * x[1]]), vec![vec![w[0] * x[1], w[0] * x[0] + w[1] * 2.0 * x[1]]])
    }
}
