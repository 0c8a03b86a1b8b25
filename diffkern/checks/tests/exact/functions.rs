//! Device functions: arrays among their arguments, several results, calls in loops and branches.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, each, fixed, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        called(),
        called_twice_alike(),
        two_results(),
        one_of_two_results_used(),
        an_array_argument(),
        an_array_argument_and_the_element(),
        functions_of_functions(),
        called_in_a_loop(),
        a_loop_inside(),
        called_in_a_branch(),
        a_branch_inside(),
        vectors_in_and_out(),
        an_integer_result(),
        an_argument_not_used(),
        nan_in_a_call_not_selected(),
        nan_in_one_of_two_results(),
        a_function_of_another_module(),
        the_result_shadowing_the_argument(),
        a_condition_from_a_call(),
    ]
}

#[diff_fn]
fn spring<F: Float>(length: F, rest: F, stiffness: F) -> F {
    stiffness * (length - rest) / length
}

#[diff_kernel]
fn force<F: Float>(x: &Array<F>, k: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let pull: F = spring(x[i], 0.8, k[i]);
    y[i] = pull * x[i];
}

case! {
    /// `k (x - 0.8) / x`, times `x`.
    called<S>(run; x: S = reals(4, 0.5, 1.6), k: S = signed(4, 0.5, 1.5)) {
        let y = run.zeros::<S>(4)?;
        force(4, &x, &k, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        (dot(w, &list(4, |i| k[i] * (x[i] - 0.8))), vec![list(4, |i| w[i] * k[i]), list(4, |i| w[i] * (x[i] - 0.8))])
    }
}

#[diff_kernel]
fn twice<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a: F = spring(x[i], 0.8, 2.0);
    let b: F = spring(x[i], 0.8, 2.0);
    let c: F = spring(a, b + 1.0, x[i]);
    y[i] = a * b + c;
}

case! {
    /// The same call twice, and one on its results.
    called_twice_alike<S>(run; x: S = reals(4, 0.9, 1.6)) {
        let y = run.zeros::<S>(4)?;
        twice(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        // a = 2 - 1.6 / x, c = x (a - (a + 1)) / a = -x / a
        each(x, w, |x| {
            let (a, da) = (2.0 - 1.6 / x, 1.6 / (x * x));
            (a * a - x / a, 2.0 * a * da - 1.0 / a + x * da / (a * a))
        })
    }
}

#[diff_fn]
fn polar<F: Float>(x: F, u: F) -> (F, F) {
    let r = x.hypot(u);
    (r, u.atan2(x))
}

#[diff_kernel]
fn spiral<F: Float>(x: &Array<F>, u: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let (r, angle): (F, F) = polar(x[i], u[i]);
    y[i] = r * (angle * 2.0).sin() + angle * angle;
}

case! {
    /// Radius and angle, both used, and the angle twice.
    two_results<S>(run; x: S = signed(4, 0.5, 1.5), u: S = signed(4, 0.5, 1.5)) {
        let y = run.zeros::<S>(4)?;
        spiral(4, &x, &u, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let f = |x: f64, u: f64| {
            let (r, a) = (x.hypot(u), u.atan2(x));
            let (by_r, by_a) = ((2.0 * a).sin(), 2.0 * r * (2.0 * a).cos() + 2.0 * a);
            [r * (2.0 * a).sin() + a * a, by_r * x / r - by_a * u / (r * r), by_r * u / r + by_a * x / (r * r)]
        };
        let all: Vec<_> = (0..4).map(|i| f(x[i], u[i])).collect();
        (dot(w, &list(4, |i| all[i][0])), vec![list(4, |i| w[i] * all[i][1]), list(4, |i| w[i] * all[i][2])])
    }
}

#[diff_kernel]
fn only_angle<F: Float>(x: &Array<F>, u: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let (_, angle): (F, F) = polar(x[i], u[i]);
    y[i] = angle * x[i];
}

case! {
    /// The other is dropped.
    one_of_two_results_used<S>(run; x: S = signed(4, 0.5, 1.5), u: S = signed(4, 0.5, 1.5)) {
        let y = run.zeros::<S>(4)?;
        only_angle(4, &x, &u, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let q = |i: usize| x[i] * x[i] + u[i] * u[i];
        let a = |i: usize| u[i].atan2(x[i]);
        (dot(w, &list(4, |i| a(i) * x[i])), vec![
            list(4, |i| w[i] * (a(i) - u[i] * x[i] / q(i))), list(4, |i| w[i] * x[i] * x[i] / q(i)),
        ])
    }
}

#[diff_fn]
fn average<F: Float>(table: &Array<F>, from: usize, n: usize) -> F {
    let mut sum = F::new(0.0);
    for k in 0..n {
        sum += table[(from + k) % table.len()];
    }
    sum / F::cast_from(n)
}

#[diff_kernel]
fn smooth<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a: F = average(x, i, 3usize);
    let b: F = average(&x, i + 1, 2usize);
    y[i] = a * b;
}

case! {
    /// Sums over a window of an array that is passed on.
    an_array_argument<S>(run; x: S = signed(5, 0.5, 1.5)) {
        let y = run.zeros::<S>(5)?;
        smooth(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 5]);
        for i in 0..5 {
            let a = (0..3).map(|k| x[(i + k) % 5]).sum::<f64>() / 3.0;
            let b = (0..2).map(|k| x[(i + 1 + k) % 5]).sum::<f64>() / 2.0;
            y.push(a * b);
            (0..3).for_each(|k| dx[(i + k) % 5] += w[i] * b / 3.0);
            (0..2).for_each(|k| dx[(i + 1 + k) % 5] += w[i] * a / 2.0);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_fn]
fn weighted<F: Float>(table: &Array<F>, other: &Array<F>, weight: F) -> F {
    table[0] * weight + other[1] * weight * weight
}

#[diff_kernel]
fn same_array<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a: F = weighted(x, x, x[i]);
    y[i] = a * x[0];
}

case! {
    /// One array as both arguments of a call, its elements used beside.
    an_array_argument_and_the_element<S>(run; x: S = signed(4, 0.5, 1.5)) {
        let y = run.zeros::<S>(4)?;
        same_array(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 4]);
        for i in 0..4 {
            let a = x[0] * x[i] + x[1] * x[i] * x[i];
            y.push(a * x[0]);
            dx[0] += w[i] * (x[i] * x[0] + a);
            dx[1] += w[i] * x[i] * x[i] * x[0];
            dx[i] += w[i] * (x[0] + 2.0 * x[1] * x[i]) * x[0];
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_fn]
fn inner<F: Float>(x: F, n: u32) -> F {
    x.sin() * F::cast_from(n)
}

#[diff_fn]
fn outer<F: Float>(x: F, n: u32) -> F {
    let a: F = inner(x, n + 1);
    let b: F = inner(a * x, n);
    a * b
}

#[diff_kernel]
fn deep<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a: F = outer(x[i], 2u32);
    let b: F = outer(a, 1u32);
    y[i] = b + a;
}

case! {
    /// Three levels of calls.
    functions_of_functions<S>(run; x: S = signed(4, 0.3, 0.8)) {
        let y = run.zeros::<S>(4)?;
        deep(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        fn outer(x: f64, n: f64) -> (f64, f64) {
            let (a, da) = (x.sin() * (n + 1.0), x.cos() * (n + 1.0));
            let (b, db) = ((a * x).sin() * n, (a * x).cos() * n * (da * x + a));
            (a * b, da * b + a * db)
        }
        each(x, w, |x| {
            let (a, da) = outer(x, 2.0);
            let (b, db) = outer(a, 1.0);
            (b + a, db * da + da)
        })
    }
}

#[diff_kernel]
fn iterated<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for k in 0..n {
        let step: F = spring(a, 0.5, 0.3 * F::cast_from(k + 1));
        let mean: F = average(x, k, 2usize);
        a = a - step * mean;
    }
    y[i] = a;
}

case! {
    /// Calls with what a loop carries, one reading the array.
    called_in_a_loop<S>(run; x: S = reals(4, 0.8, 1.4)) {
        let y = run.zeros::<S>(4)?;
        iterated(4, &x, &y, 3)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 4]);
        for i in 0..4 {
            let (mut a, mut da) = (x[i], [0.0; 4]);
            da[i] = 1.0;
            for k in 0..3usize {
                let c = 0.3 * (k + 1) as f64;
                let (step, slope) = (c * (a - 0.5) / a, c * 0.5 / (a * a));
                let mean = 0.5 * (x[k] + x[k + 1]);
                da = std::array::from_fn(|j| {
                    da[j] * (1.0 - slope * mean) - step * if j == k || j == k + 1 { 0.5 } else { 0.0 }
                });
                a -= step * mean;
            }
            y.push(a);
            (0..4).for_each(|j| dx[j] += w[i] * da[j]);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_fn]
fn newton<F: Float>(a: F, n: usize) -> F {
    let mut r = a;
    for _ in 0..n {
        r = 0.5 * (r + a / r);
    }
    r
}

#[diff_kernel]
fn roots<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let first: F = newton(x[i], n);
    let second: F = newton(first + x[i], 2 * n);
    y[i] = second;
}

case! {
    /// A loop within the function, of two lengths: `sqrt(sqrt x + x)` when converged.
    a_loop_inside<S>(run; x: S = reals(4, 0.8, 2.4)) {
        let y = run.zeros::<S>(4)?;
        roots(4, &x, &y, 30)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let inside = x.sqrt() + x;
            (inside.sqrt(), 0.5 / inside.sqrt() * (0.5 / x.sqrt() + 1.0))
        })
    }
}

#[diff_kernel]
fn in_branch<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    if a > 0.0 {
        a = newton(a, 20usize);
    } else {
        let (r, _): (F, F) = polar(a, 0.5);
        a = r * a;
    }
    y[i] = a * a * a;
}

case! {
    /// One function on one side, another on the other; `newton` of a negative number is never run.
    called_in_a_branch<S>(run; x: S = signed(6, 0.8, 1.6)) {
        let y = run.zeros::<S>(6)?;
        in_branch(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let r = x.hypot(0.5);
            let (a, da) = if x > 0.0 { (x.sqrt(), 0.5 / x.sqrt()) } else { (r * x, r + x * x / r) };
            (a.powi(3), 3.0 * a * a * da)
        })
    }
}

#[diff_fn]
fn huber<F: Float>(x: F, limit: F) -> F {
    if x.abs() < limit {
        0.5 * x * x
    } else {
        let over = x.abs() - 0.5 * limit;
        limit * over
    }
}

#[diff_kernel]
fn robust<F: Float>(x: &Array<F>, limit: &Array<F>, y: &mut Array<F>) {
    let loss: F = huber(x[ABSOLUTE_POS], limit[0]);
    y[ABSOLUTE_POS] = loss;
}

case! {
    /// A function that ends in an `if`; its bound has a derivative, too.
    a_branch_inside<S>(run; x: S = fixed(&[-1.4, -0.4, 0.3, 0.8, 1.1]), limit: S = fixed(&[0.6])) {
        let y = run.zeros::<S>(5)?;
        robust(5, &x, &limit, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let l = limit[0];
        let near = |x: f64| x.abs() < l;
        let y = list(5, |i| if near(x[i]) { 0.5 * x[i] * x[i] } else { l * (x[i].abs() - 0.5 * l) });
        (dot(w, &y), vec![
            list(5, |i| w[i] * if near(x[i]) { x[i] } else { l * x[i].signum() }),
            vec![(0..5).map(|i| if near(x[i]) { 0.0 } else { w[i] * (x[i].abs() - l) }).sum()],
        ])
    }
}

#[diff_fn]
fn turned<F: Float>(v: Vec2<F>, angle: F) -> (Vec2<F>, Mat2<F>) {
    let (s, c) = (angle.sin(), angle.cos());
    let r = Mat2::new(c, -s, s, c);
    (r * v, r)
}

#[diff_kernel]
fn turns<F: Float>(v: &Array<Vec2<F>>, angle: &Array<F>, y: &mut Array<Vec2<F>>, z: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let (u, r): (Vec2<F>, Mat2<F>) = turned(v[i], angle[i]);
    y[i] = u * u.x;
    z[i] = r[(1, 0)] * r[(1, 0)];
}

case! {
    /// A vector and a matrix as results.
    vectors_in_and_out<S>(run; v: Vec2<S> = signed(4, 0.4, 1.3), angle: S = signed(2, 0.3, 1.3)) {
        let (y, z) = (run.zeros::<Vec2<S>>(2)?, run.zeros::<S>(2)?);
        turns(2, &v, &angle, &y, &z)?;
        run.output(&y);
        run.output(&z);
    }
    by_hand(w) {
        let (mut y, mut dv, mut da) = (vec![0.0; 6], vec![], vec![]);
        for i in 0..2 {
            let (s, c) = angle[i].sin_cos();
            let u = [c * v[2 * i] - s * v[2 * i + 1], s * v[2 * i] + c * v[2 * i + 1]];
            let wi = &w[2 * i..2 * i + 2];
            (y[2 * i], y[2 * i + 1], y[4 + i]) = (u[0] * u[0], u[1] * u[0], s * s);
            let bar = [2.0 * wi[0] * u[0] + wi[1] * u[1], wi[1] * u[0]];
            dv.extend([c * bar[0] + s * bar[1], -s * bar[0] + c * bar[1]]);
            // du/dangle = (-u_y, u_x)
            da.push(-bar[0] * u[1] + bar[1] * u[0] + w[4 + i] * 2.0 * s * c);
        }
        (dot(w, &y), vec![dv, da])
    }
}

#[diff_fn]
fn cell<F: Float>(x: F) -> (u32, F) {
    let k = x.floor();
    (u32::cast_from(k), x - k)
}

#[diff_kernel]
fn deposit<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let (k, t): (u32, F) = cell(x[ABSOLUTE_POS]);
    y[k] += 1.0 - t * t;
    y[k + 1] += t * t;
}

case! {
    /// An index and a fraction.
    an_integer_result<S>(run; x: S = fixed(&[0.3, 1.7, 1.2, 2.6])) {
        let y = run.zeros::<S>(4)?;
        deposit(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![0.0; 4], vec![]);
        for x in x {
            let (k, t) = (*x as usize, x.fract());
            y[k] += 1.0 - t * t;
            y[k + 1] += t * t;
            dx.push((w[k + 1] - w[k]) * 2.0 * t);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_fn]
fn first_of<F: Float>(a: F, _b: F, _table: &Array<F>, on: bool) -> F {
    if on { a * a } else { a }
}

#[diff_kernel]
fn unused<F: Float>(x: &Array<F>, u: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a: F = first_of(x[i], u[i].sqrt(), u, i % 2 == 0);
    y[i] = a;
}

case! {
    /// Two arguments without influence: their derivative is 0.
    an_argument_not_used<S>(run; x: S = signed(4, 0.5, 1.5), u: S = reals(4, 0.5, 1.5)) {
        let y = run.zeros::<S>(4)?;
        unused(4, &x, &u, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let even = |i: usize| i.is_multiple_of(2);
        (dot(w, &list(4, |i| if even(i) { x[i] * x[i] } else { x[i] })), vec![
            list(4, |i| w[i] * if even(i) { 2.0 * x[i] } else { 1.0 }), vec![0.0; 4],
        ])
    }
}

#[diff_fn]
fn entropy<F: Float>(x: F) -> F {
    x * x.ln()
}

#[diff_kernel]
fn selected<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let e: F = entropy(v);
    y[ABSOLUTE_POS] = select(v > 0.0, e, v * v);
}

case! {
    /// The call gives NaN where it is not selected.
    nan_in_a_call_not_selected<S>(run; x: S = signed(6, 0.5, 1.5)) {
        let y = run.zeros::<S>(6)?;
        selected(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| if x > 0.0 { (x * x.ln(), x.ln() + 1.0) } else { (x * x, 2.0 * x) })
    }
}

#[diff_fn]
fn root_and_square<F: Float>(x: F, s: F) -> (F, F) {
    (x.sqrt() * s, x * x * s)
}

#[diff_kernel]
fn one_of_both<F: Float>(x: &Array<F>, s: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let (root, square): (F, F) = root_and_square(v, s[0]);
    let mut a = square;
    if v > 0.0 {
        a = a + root;
    }
    y[ABSOLUTE_POS] = a;
}

case! {
    /// One result is always used, the other is NaN where it is not.
    nan_in_one_of_two_results<S>(run; x: S = signed(6, 0.5, 1.5), s: S = signed(1, 0.5, 1.5)) {
        let y = run.zeros::<S>(6)?;
        one_of_both(6, &x, &s, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let root = |x: f64| if x > 0.0 { x.sqrt() } else { 0.0 };
        let slope = |x: f64| 2.0 * x + if x > 0.0 { 0.5 / x.sqrt() } else { 0.0 };
        (dot(w, &list(6, |i| s[0] * (x[i] * x[i] + root(x[i])))), vec![
            list(6, |i| w[i] * s[0] * slope(x[i])), vec![(0..6).map(|i| w[i] * (x[i] * x[i] + root(x[i]))).sum()],
        ])
    }
}

mod material {
    use diffkern::prelude::*;

    pub mod laws {
        use super::*;

        /// First Piola-Kirchhoff stress of `mu/2 |F|^2 - mu ln J + lambda/2 ln^2 J`.
        #[diff_fn]
        pub fn stress<F: Float>(f: Mat2<F>, mu: F, lambda: F) -> Mat2<F> {
            let inverse = f.inverse().transpose();
            let log: F = super::log_volume(f);
            (f - inverse) * mu + inverse * (lambda * log)
        }
    }

    #[diff_fn]
    pub fn log_volume<F: Float>(f: Mat2<F>) -> F {
        f.determinant().ln()
    }
}

#[diff_kernel]
fn stretched<F: Float>(stretch: &Array<F>, mu: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let f = Mat2::new(stretch[i], 0.0, 0.0, 1.0);
    let p: Mat2<F> = material::laws::stress::<F>(f, mu[0], 2.0 * mu[0]);
    y[i] = p[(0, 0)] + p[(1, 1)] * p[(1, 1)];
}

case! {
    /// A stress by its path, which calls on: `mu (s - 1/s) + 2 mu ln s / s`, and `(2 mu ln s)^2`.
    a_function_of_another_module<S>(run; stretch: S = reals(3, 0.6, 1.6), mu: S = reals(1, 0.6, 1.4)) {
        let y = run.zeros::<S>(3)?;
        stretched(3, &stretch, &mu, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let m = mu[0];
        let unit = |s: f64| (s - 1.0 / s) + 2.0 * s.ln() / s;
        let slope = |s: f64| 1.0 + 1.0 / (s * s) + 2.0 * (1.0 - s.ln()) / (s * s);
        let side = |s: f64| 2.0 * s.ln();
        (dot(w, &list(3, |i| m * unit(stretch[i]) + (m * side(stretch[i])).powi(2))), vec![
            list(3, |i| w[i] * (m * slope(stretch[i]) + 2.0 * m * m * side(stretch[i]) * 2.0 / stretch[i])),
            vec![(0..3).map(|i| w[i] * (unit(stretch[i]) + 2.0 * m * side(stretch[i]).powi(2))).sum()],
        ])
    }
}

#[diff_kernel]
fn renamed<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let x = x[i];
    let x: F = entropy(x);
    let mut x: F = spring(x + 2.0, x, 1.5);
    x *= x;
    y[i] = x;
}

case! {
    /// One name for an array, its element, and what functions make of it.
    the_result_shadowing_the_argument<S>(run; x: S = reals(4, 0.5, 1.5)) {
        let y = run.zeros::<S>(4)?;
        renamed(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        // 1.5 * 2 / (e + 2), squared
        each(x, w, |x| {
            let e = x * x.ln();
            let a = 3.0 / (e + 2.0);
            (a * a, -2.0 * a * a / (e + 2.0) * (x.ln() + 1.0))
        })
    }
}

#[diff_fn]
fn inside<F: Float>(p: Vec2<F>, radius: F) -> (bool, F) {
    let d = p.norm_squared() - radius * radius;
    (d < 0.0, d)
}

#[diff_kernel]
fn penalty<F: Float>(p: &Array<Vec2<F>>, radius: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let (hit, depth): (bool, F) = inside(p[i], radius[0]);
    if hit && depth < -0.1 {
        y[i] = depth * depth;
    }
}

case! {
    /// A function that says whether, and how far.
    a_condition_from_a_call<S>(run; p: Vec2<S> = signed(12, 0.2, 1.1), radius: S = fixed(&[0.9])) {
        let y = run.zeros::<S>(6)?;
        penalty(6, &p, &radius, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dp, mut dr) = (vec![], vec![], 0.0);
        for (i, p) in p.chunks(2).enumerate() {
            let d = dot(p, p) - radius[0] * radius[0];
            let bar = if d < -0.1 { w[i] * 2.0 * d } else { 0.0 };
            y.push(if d < -0.1 { d * d } else { 0.0 });
            dp.extend(p.iter().map(|p| bar * 2.0 * p));
            dr -= bar * 2.0 * radius[0];
        }
        (dot(w, &y), vec![dp, vec![dr]])
    }
}
