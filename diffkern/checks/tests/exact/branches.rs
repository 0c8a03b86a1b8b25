//! Branches: what is not taken, early ends, shadowing, conditions of every kind.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, each, fixed, list, signed};

pub fn cases() -> Vec<Case> {
    vec![
        nan_on_the_side_not_selected(),
        nan_on_the_branch_not_taken(),
        nan_before_the_branch(),
        nan_in_a_product_not_selected(),
        nan_in_one_component(),
        nan_in_one_row(),
        nan_in_a_loop_not_selected(),
        infinity_not_selected(),
        a_missing_element_not_taken(),
        an_early_end(),
        an_early_end_after_an_accumulation(),
        early_ends_in_each_other(),
        terminated(),
        both_values_used(),
        shadowed_in_a_branch(),
        assigned_on_one_side(),
        assigned_on_both_sides(),
        an_if_with_two_values(),
        a_chain_of_ifs(),
        a_condition_of_three_parts(),
        a_condition_kept_in_a_variable(),
        a_condition_on_an_integer(),
        a_condition_known_at_expansion(),
        a_block_with_a_value(),
        selects_in_each_other(),
        a_vector_selected(),
        a_branch_without_effect(),
        accumulated_on_one_side_only(),
        a_value_cut_on_one_side(),
    ]
}

#[diff_kernel]
fn guarded<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = select(v > 0.0, v.sqrt() + v.ln(), v * 2.0);
}

case! {
    /// Root and logarithm of a negative number are computed and thrown away.
    nan_on_the_side_not_selected<S>(run; x: S = signed(6, 0.4, 1.5)) {
        let y = run.zeros::<S>(6)?;
        guarded(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| if x > 0.0 { (x.sqrt() + x.ln(), 0.5 / x.sqrt() + 1.0 / x) } else { (2.0 * x, 2.0) })
    }
}

#[diff_kernel]
fn taken<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let mut a = v * v;
    if v > 0.0 {
        a = v.powf(1.5) * v.ln();
    }
    y[ABSOLUTE_POS] = a;
}

case! {
    /// The functions stand inside the branch.
    nan_on_the_branch_not_taken<S>(run; x: S = signed(6, 0.4, 1.5)) {
        let y = run.zeros::<S>(6)?;
        taken(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| match x > 0.0 {
            true => (x.powf(1.5) * x.ln(), 1.5 * x.sqrt() * x.ln() + x.sqrt()),
            false => (x * x, 2.0 * x),
        })
    }
}

#[diff_kernel]
fn before<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let root = v.sqrt();
    let angle = (v * 0.9).acos() * root;
    let mut a = v;
    if v > 0.0 {
        a = root * angle + root;
    }
    y[ABSOLUTE_POS] = a;
}

case! {
    /// The NaN is computed ahead of the branch that would use it.
    nan_before_the_branch<S>(run; x: S = signed(6, 0.3, 0.9)) {
        let y = run.zeros::<S>(6)?;
        before(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        // x acos(0.9 x) + sqrt x
        each(x, w, |x| match x > 0.0 {
            true => (
                x * (0.9 * x).acos() + x.sqrt(),
                (0.9 * x).acos() - 0.9 * x / (1.0 - 0.81 * x * x).sqrt() + 0.5 / x.sqrt(),
            ),
            false => (x, 1.0),
        })
    }
}

#[diff_kernel]
fn of_vectors<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let a = Vec3::new(v.ln(), v, 1.0);
    let m = a.outer(a) * v.sqrt();
    let b = m * a;
    y[ABSOLUTE_POS] = select(v > 0.0, b.dot(a), v * v * v);
}

case! {
    /// The NaN goes through vectors and matrices.
    nan_in_a_product_not_selected<S>(run; x: S = signed(6, 0.3, 1.4)) {
        let y = run.zeros::<S>(6)?;
        of_vectors(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        // sqrt(x) (ln^2 x + x^2 + 1)^2
        each(x, w, |x| match x > 0.0 {
            true => {
                let q = x.ln().powi(2) + x * x + 1.0;
                let dq = 2.0 * x.ln() / x + 2.0 * x;
                (x.sqrt() * q * q, 0.5 / x.sqrt() * q * q + x.sqrt() * 2.0 * q * dq)
            }
            false => (x.powi(3), 3.0 * x * x),
        })
    }
}

#[diff_kernel]
fn one_component<F: Float>(x: &Array<F>, s: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let w = Vec3::new(v.sqrt(), v, 1.0) * s[0];
    let u = w.mul_elem(Vec3::new(s[1], v, s[1]));
    y[ABSOLUTE_POS] = u.y + select(v > 0.0, u.x, u.z);
}

case! {
    /// One component is always used, one is NaN where it is not selected; their factors are parameters.
    nan_in_one_component<S>(run; x: S = signed(6, 0.3, 1.4), s: S = signed(2, 0.5, 1.5)) {
        let y = run.zeros::<S>(6)?;
        one_component(6, &x, &s, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let f = |x: f64| if x > 0.0 { x.sqrt() } else { 1.0 };
        let slope = |x: f64| if x > 0.0 { 0.5 / x.sqrt() } else { 0.0 };
        (dot(w, &list(6, |i| s[0] * (x[i] * x[i] + s[1] * f(x[i])))), vec![
            list(6, |i| w[i] * s[0] * (2.0 * x[i] + s[1] * slope(x[i]))),
            vec![
                (0..6).map(|i| w[i] * (x[i] * x[i] + s[1] * f(x[i]))).sum(),
                (0..6).map(|i| w[i] * s[0] * f(x[i])).sum(),
            ],
        ])
    }
}

#[diff_kernel]
fn one_row<F: Float>(x: &Array<F>, s: &Array<Vec2<F>>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let m = Mat2::new(v.ln(), 1.0, v, 2.0);
    let w = m * s[0];
    let n = m.transpose() * m;
    let mut a = w.y;
    if v > 0.0 {
        a = w.x + n[(0, 0)];
    } else {
        a = a * m[(1, 0)];
    }
    y[ABSOLUTE_POS] = a;
}

case! {
    /// A row of a matrix with a NaN, not used on one side.
    nan_in_one_row<S>(run; x: S = signed(6, 0.3, 1.4), s: Vec2<S> = signed(2, 0.5, 1.5)) {
        let y = run.zeros::<S>(6)?;
        one_row(6, &x, &s, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        // Value, by x, by s.
        let f = |x: f64| match x > 0.0 {
            true => [
                x.ln() * s[0] + s[1] + x.ln().powi(2) + x * x, s[0] / x + 2.0 * x.ln() / x + 2.0 * x, x.ln(), 1.0,
            ],
            false => [(x * s[0] + 2.0 * s[1]) * x, 2.0 * x * s[0] + 2.0 * s[1], x * x, 2.0 * x],
        };
        let sum = |k: usize| (0..6).map(|i| w[i] * f(x[i])[k]).sum();
        (dot(w, &list(6, |i| f(x[i])[0])), vec![list(6, |i| w[i] * f(x[i])[1]), vec![sum(2), sum(3)]])
    }
}

#[diff_kernel]
fn of_a_loop<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let v = x[ABSOLUTE_POS];
    let mut a = v;
    for _ in 0..n {
        a = a.sqrt() * v;
    }
    y[ABSOLUTE_POS] = select(v > 0.0, a, 0.5 * v);
}

case! {
    /// NaN from the first turn on, in what a loop carries: `v^(7/4 + ..)`.
    nan_in_a_loop_not_selected<S>(run; x: S = signed(6, 0.4, 1.4)) {
        let y = run.zeros::<S>(6)?;
        of_a_loop(6, &x, &y, 3)?;
        run.output(&y);
    }
    by_hand(w) {
        // Exponents: 1, 3/2, 7/4, 15/8.
        each(x, w, |x| if x > 0.0 { (x.powf(1.875), 1.875 * x.powf(0.875)) } else { (0.5 * x, 0.5) })
    }
}

#[diff_kernel]
fn quotient<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let floor = v.max(0.0);
    let ratio = 1.0 / floor;
    y[ABSOLUTE_POS] = select(floor > 0.0, ratio * ratio, v);
}

case! {
    /// A division by zero on the side not selected.
    infinity_not_selected<S>(run; x: S = signed(6, 0.5, 1.4)) {
        let y = run.zeros::<S>(6)?;
        quotient(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| if x > 0.0 { (1.0 / (x * x), -2.0 / x.powi(3)) } else { (x, 1.0) })
    }
}

#[diff_kernel]
fn in_range<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut right = F::new(0.0);
    if i + 1 < x.len() && x[i + 1] > 0.0 {
        right = x[i + 1];
    }
    y[i] = x[i] * right + x[i];
}

case! {
    /// An element that is not there is read on neither side of `&&`.
    a_missing_element_not_taken<S>(run; x: S = signed(5, 0.5, 1.4)) {
        let y = run.zeros::<S>(5)?;
        in_range(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let right = |i: usize| x.get(i + 1).copied().filter(|&r| r > 0.0);
        let mut dx = vec![0.0; 5];
        for i in 0..5 {
            dx[i] += w[i] * (right(i).unwrap_or(0.0) + 1.0);
            if right(i).is_some() {
                dx[i + 1] += w[i] * x[i];
            }
        }
        (dot(w, &list(5, |i| x[i] * right(i).unwrap_or(0.0) + x[i])), vec![dx])
    }
}

#[diff_kernel]
fn early<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    if v < 0.0 {
        y[ABSOLUTE_POS] = v.exp();
        return;
    }
    let a = v * v;
    y[ABSOLUTE_POS] = a.sin() * a;
}

case! {
    /// A thread that ends after its store.
    an_early_end<S>(run; x: S = signed(6, 0.3, 1.4)) {
        let y = run.zeros::<S>(6)?;
        early(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| match x < 0.0 {
            true => (x.exp(), x.exp()),
            false => ((x * x).sin() * x * x, 2.0 * x * ((x * x).cos() * x * x + (x * x).sin())),
        })
    }
}

#[diff_kernel]
fn counted<F: Float>(x: &Array<F>, y: &mut Array<F>, z: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    a += x[i] * x[i];
    z[0] += a;
    if a < 1.0 {
        z[1] += a * a;
        if x[i] < 0.0 {
            z[2] += a * x[i];
            return;
        }
        y[i] = a * a * a;
        return;
    }
    a = a * x[i];
    y[i] = a;
    z[1] -= a;
}

case! {
    /// Ends within an `if` within an `if`, after something was added already.
    an_early_end_after_an_accumulation<S>(run; x: S = signed(8, 0.2, 1.4)) {
        let (y, z) = (run.zeros::<S>(8)?, run.zeros::<S>(3)?);
        counted(8, &x, &y, &z)?;
        run.output(&y);
        run.output(&z);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![0.0; 11], vec![0.0; 8]);
        for i in 0..8 {
            let (x, a, da) = (x[i], x[i] + x[i] * x[i], 1.0 + 2.0 * x[i]);
            y[8] += a;
            dx[i] += w[8] * da;
            if a < 1.0 {
                y[9] += a * a;
                dx[i] += w[9] * 2.0 * a * da;
                if x < 0.0 {
                    y[10] += a * x;
                    dx[i] += w[10] * (da * x + a);
                } else {
                    y[i] = a.powi(3);
                    dx[i] += w[i] * 3.0 * a * a * da;
                }
            } else {
                y[i] = a * x;
                y[9] -= a * x;
                dx[i] += (w[i] - w[9]) * (da * x + a);
            }
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn several<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    if i >= n {
        return;
    }
    let v = x[i];
    if v > 1.0 {
        y[i] = 1.0 / v;
        return;
    }
    let mut s = v;
    for _ in 0..3 {
        s = s * s + v;
    }
    if s > 0.5 {
        return;
    }
    y[i] = s;
}

case! {
    /// A guard on the position, one on a real, one on what a loop gave.
    early_ends_in_each_other<S>(run; x: S = signed(8, 0.2, 1.4)) {
        let y = run.zeros::<S>(8)?;
        several(8, &x, &y, 7)?;
        run.output(&y);
    }
    by_hand(w) {
        let f = |i: usize| {
            let x = x[i];
            let (s, ds) = (0..3).fold((x, 1.0), |(s, ds), _| (s * s + x, 2.0 * s * ds + 1.0));
            match (i < 7, x > 1.0, s > 0.5) {
                (false, ..) => (0.0, 0.0),
                (_, true, _) => (1.0 / x, -1.0 / (x * x)),
                (.., true) => (0.0, 0.0),
                _ => (s, ds),
            }
        };
        (dot(w, &list(8, |i| f(i).0)), vec![list(8, |i| w[i] * f(i).1)])
    }
}

#[diff_kernel]
fn ended<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    if ABSOLUTE_POS >= x.len() {
        terminate!();
    }
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].tanh();
}

case! {
    /// CubeCL's `terminate!()`; the domain is larger than the arrays.
    terminated<S>(run; x: S = signed(5, 0.2, 1.4)) {
        let y = run.zeros::<S>(5)?;
        ended(64, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x.tanh(), 1.0 / x.cosh().powi(2)))
    }
}

#[diff_kernel]
fn mixed<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let a = v.sin();
    let mut b = v * v;
    if v > 0.0 {
        b = a * b;
    } else {
        b = b - a * a;
    }
    y[ABSOLUTE_POS] = a * b + b * b * v;
}

case! {
    /// Both sides use what was before, and the result is multiplied with itself and with that.
    both_values_used<S>(run; x: S = signed(6, 0.3, 1.4)) {
        let y = run.zeros::<S>(6)?;
        mixed(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (a, da) = (x.sin(), x.cos());
            let (b, db) = match x > 0.0 {
                true => (a * x * x, da * x * x + a * 2.0 * x),
                false => (x * x - a * a, 2.0 * x - 2.0 * a * da),
            };
            (a * b + b * b * x, da * b + a * db + 2.0 * b * db * x + b * b)
        })
    }
}

#[diff_kernel]
fn hidden<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let mut a = v;
    let b = if v > 0.0 {
        let mut a = a * 2.0;
        a = a * a;
        a + v
    } else {
        a = a * v;
        let v = v + 1.0;
        v * v
    };
    y[ABSOLUTE_POS] = a * b;
}

case! {
    /// `a` is another variable on one side, `v` on the other.
    shadowed_in_a_branch<S>(run; x: S = signed(6, 0.3, 1.4)) {
        let y = run.zeros::<S>(6)?;
        hidden(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| match x > 0.0 {
            true => (x * (4.0 * x * x + x), 12.0 * x * x + 2.0 * x),
            false => (x * x * (x + 1.0).powi(2), 2.0 * x * (x + 1.0).powi(2) + 2.0 * x * x * (x + 1.0)),
        })
    }
}

#[diff_kernel]
fn one_side<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let mut a = v.exp();
    let kept = a;
    if v > 0.0 {
        a *= a;
        a -= v;
    }
    y[ABSOLUTE_POS] = a * kept;
}

case! {
    /// The other side keeps the value, which is used besides.
    assigned_on_one_side<S>(run; x: S = signed(6, 0.2, 0.9)) {
        let y = run.zeros::<S>(6)?;
        one_side(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| match x > 0.0 {
            true => ((3.0 * x).exp() - x * x.exp(), 3.0 * (3.0 * x).exp() - x.exp() - x * x.exp()),
            false => ((2.0 * x).exp(), 2.0 * (2.0 * x).exp()),
        })
    }
}

#[diff_kernel]
fn two_sides<F: Float>(x: &Array<F>, u: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    let mut b = u[i];
    if a * b > 0.0 {
        a = a * b;
        b = a + b;
    } else {
        b = b * b;
        a = a - b;
    }
    y[i] = a.sin() * b;
}

case! {
    /// Two variables, each assigned on both sides from the other.
    assigned_on_both_sides<S>(run; x: S = signed(6, 0.3, 1.3), u: S = signed(6, 0.3, 1.3)) {
        let y = run.zeros::<S>(6)?;
        two_sides(6, &x, &u, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        // Value, by x, by u.
        let f = |x: f64, u: f64| {
            let ([a, ax, au], [b, bx, bu]) = match x * u > 0.0 {
                true => ([x * u, u, x], [x * u + u, u, x + 1.0]),
                false => ([x - u * u, 1.0, -2.0 * u], [u * u, 0.0, 2.0 * u]),
            };
            [a.sin() * b, a.cos() * ax * b + a.sin() * bx, a.cos() * au * b + a.sin() * bu]
        };
        let all: Vec<_> = (0..6).map(|i| f(x[i], u[i])).collect();
        (dot(w, &list(6, |i| all[i][0])), vec![list(6, |i| w[i] * all[i][1]), list(6, |i| w[i] * all[i][2])])
    }
}

#[diff_kernel]
fn pairs<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let (a, n) = if v > 0.0 { (v.sqrt(), 2usize) } else { (v * v, 1usize) };
    y[ABSOLUTE_POS] = a * F::cast_from(n) * v;
}

case! {
    /// A real and an integer from one `if`.
    an_if_with_two_values<S>(run; x: S = signed(6, 0.3, 1.3)) {
        let y = run.zeros::<S>(6)?;
        pairs(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| if x > 0.0 { (2.0 * x.powf(1.5), 3.0 * x.sqrt()) } else { (x.powi(3), 3.0 * x * x) })
    }
}

#[diff_kernel]
fn chain<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let mut a = v;
    if v < -0.7 {
        a = v.exp();
    } else if v < 0.0 {
        a = a.sin();
    } else if v < 0.7 {
        a = a.cos() * a;
    } else {
        a = v / (1.0 + v);
    }
    y[ABSOLUTE_POS] = a * a;
}

case! {
    /// Four ways.
    a_chain_of_ifs<S>(run; x: S = signed(9, 0.2, 1.3)) {
        let y = run.zeros::<S>(9)?;
        chain(9, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (a, da) = match x {
                _ if x < -0.7 => (x.exp(), x.exp()),
                _ if x < 0.0 => (x.sin(), x.cos()),
                _ if x < 0.7 => (x.cos() * x, x.cos() - x.sin() * x),
                _ => (x / (1.0 + x), 1.0 / (1.0 + x).powi(2)),
            };
            (a * a, 2.0 * a * da)
        })
    }
}

#[diff_kernel]
fn logic<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let v = x[i];
    if (v > 0.3 && i % 2 == 0) || !(v > -0.5 || x[0] < 0.0) {
        y[i] = v * v * v;
    } else {
        y[i] = v.sin();
    }
}

case! {
    /// `&&`, `||` and `!`, with an element read in the last.
    a_condition_of_three_parts<S>(run; x: S = signed(8, 0.1, 1.3)) {
        let y = run.zeros::<S>(8)?;
        logic(8, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let f = |i: usize| {
            let v = x[i];
            let cubed = (v > 0.3 && i.is_multiple_of(2)) || (v <= -0.5 && x[0] >= 0.0);
            if cubed { (v.powi(3), 3.0 * v * v) } else { (v.sin(), v.cos()) }
        };
        (dot(w, &list(8, |i| f(i).0)), vec![list(8, |i| w[i] * f(i).1)])
    }
}

#[diff_kernel]
fn kept<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut v = x[ABSOLUTE_POS];
    let mut positive = v > 0.0;
    v = v * 0.5 - 0.3;
    if positive {
        v = v * v;
        positive = v > 0.05;
    }
    y[ABSOLUTE_POS] = select(positive, v.exp(), v * 3.0);
}

case! {
    /// A boolean that outlives what it was made from, and changes.
    a_condition_kept_in_a_variable<S>(run; x: S = signed(8, 0.2, 1.6)) {
        let y = run.zeros::<S>(8)?;
        kept(8, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (mut v, mut dv, mut positive) = (x * 0.5 - 0.3, 0.5, x > 0.0);
            if positive {
                (v, dv) = (v * v, 2.0 * v * dv);
                positive = v > 0.05;
            }
            if positive { (v.exp(), v.exp() * dv) } else { (v * 3.0, dv * 3.0) }
        })
    }
}

#[diff_kernel]
fn by_kind<F: Float>(x: &Array<F>, kind: &Array<i32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = if kind[i] == 0 {
        x[i].exp()
    } else if kind[i] < 0 {
        x[i].powi(kind[i])
    } else {
        x[i] * F::cast_from(kind[i])
    };
}

case! {
    /// What is computed is chosen by an array of integers.
    a_condition_on_an_integer<S>(run; x: S = signed(4, 0.5, 1.3)) {
        let kind = run.dev.array(&[0i32, -2, 3, -1])?;
        let y = run.zeros::<S>(4)?;
        by_kind(4, &x, &kind, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let y = [x[0].exp(), x[1].powi(-2), 3.0 * x[2], 1.0 / x[3]];
        (dot(w, &y), vec![vec![
            w[0] * x[0].exp(), -2.0 * w[1] * x[1].powi(-3), w[2] * 3.0, -w[3] / (x[3] * x[3]),
        ]])
    }
}

#[diff_kernel]
fn special<F: Float>(x: &Array<F>, y: &mut Array<F>, #[comptime] power: u32, #[comptime] shifted: bool) {
    let v = x[ABSOLUTE_POS];
    let mut a = v;
    if shifted {
        a = a + 1.0;
    }
    if power == 2 {
        a = a * a;
    } else if power == 3 && !shifted {
        a = a * a * a;
    }
    for _ in 0..power {
        a = a * v;
    }
    y[ABSOLUTE_POS] = a;
}

case! {
    /// One kernel, three specialisations.
    a_condition_known_at_expansion<S>(run; x: S = signed(4, 0.5, 1.3)) {
        let y = [run.zeros::<S>(4)?, run.zeros::<S>(4)?, run.zeros::<S>(4)?];
        special(4, &x, &y[0], 2, true)?;
        special(4, &x, &y[1], 3, false)?;
        special(4, &x, &y[2], 0, true)?;
        y.iter().for_each(|y| run.output(y));
    }
    by_hand(w) {
        let f = |k: usize, x: f64| match k {
            0 => ((x + 1.0).powi(2) * x * x, 2.0 * (x + 1.0) * x * x + (x + 1.0).powi(2) * 2.0 * x),
            1 => (x.powi(6), 6.0 * x.powi(5)),
            _ => (x + 1.0, 1.0),
        };
        (dot(w, &list(12, |k| f(k / 4, x[k % 4]).0)), vec![
            list(4, |i| (0..3).map(|k| w[4 * k + i] * f(k, x[i]).1).sum()),
        ])
    }
}

#[diff_kernel]
fn block<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let mut s = v;
    let a = {
        s = s * s;
        let v = s + 1.0;
        v * v
    };
    s += {
        let t = s * a;
        t.sin()
    };
    y[ABSOLUTE_POS] = a * s;
}

case! {
    /// Blocks that give a value and change a variable outside.
    a_block_with_a_value<S>(run; x: S = signed(5, 0.3, 0.9)) {
        let y = run.zeros::<S>(5)?;
        block(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (q, dq) = (x * x, 2.0 * x);
            let (a, da) = ((q + 1.0).powi(2), 2.0 * (q + 1.0) * dq);
            let (s, ds) = (q + (q * a).sin(), dq + (q * a).cos() * (dq * a + q * da));
            (a * s, da * s + a * ds)
        })
    }
}

#[diff_kernel]
fn nested<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let inner = select(v > 0.6, (v - 0.6).sqrt(), (0.6 - v) * v);
    y[ABSOLUTE_POS] = select(v > 0.0, inner * v, select(v < -0.6, (-v - 0.6).ln(), v.exp()));
}

case! {
    /// Square roots and logarithms of what is negative elsewhere.
    selects_in_each_other<S>(run; x: S = fixed(&[-1.3, -0.9, -0.4, -0.1, 0.2, 0.5, 0.8, 1.2])) {
        let y = run.zeros::<S>(8)?;
        nested(8, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| match x {
            _ if x > 0.6 => ((x - 0.6).sqrt() * x, 0.5 / (x - 0.6).sqrt() * x + (x - 0.6).sqrt()),
            _ if x > 0.0 => ((0.6 - x) * x * x, 1.2 * x - 3.0 * x * x),
            _ if x < -0.6 => ((-x - 0.6).ln(), 1.0 / (x + 0.6)),
            _ => (x.exp(), x.exp()),
        })
    }
}

#[diff_kernel]
fn vectors<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>) {
    let v = x[ABSOLUTE_POS];
    let turned = Vec2::new(v.y, -v.x) * v.x.ln();
    y[ABSOLUTE_POS] = select(v.x > 0.0, turned, v * v.y);
}

case! {
    /// A whole vector is chosen, the other has a NaN.
    a_vector_selected<S>(run; x: Vec2<S> = signed(8, 0.3, 1.4)) {
        let y = run.zeros::<Vec2<S>>(4)?;
        vectors(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![]);
        for (v, w) in x.chunks(2).zip(w.chunks(2)) {
            let (a, b) = (v[0], v[1]);
            if a > 0.0 {
                y.extend([b * a.ln(), -a * a.ln()]);
                dx.extend([w[0] * b / a - w[1] * (a.ln() + 1.0), w[0] * a.ln()]);
            } else {
                y.extend([a * b, b * b]);
                dx.extend([w[0] * b, w[0] * a + w[1] * 2.0 * b]);
            }
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn idle<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let mut a = v * v;
    if v > 0.0 {
        let b = a * v;
        let _ = b.sqrt();
    } else {
    }
    if a > 0.5 {
        a = a * 1.0;
    }
    y[ABSOLUTE_POS] = a * v;
}

case! {
    /// Branches that do nothing, and an empty one.
    a_branch_without_effect<S>(run; x: S = signed(5, 0.3, 1.2)) {
        let y = run.zeros::<S>(5)?;
        idle(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x.powi(3), 3.0 * x * x))
    }
}

#[diff_kernel]
fn one_sided<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let root = x[i].sqrt();
    if x[i] > 0.0 {
        y[i % 2] += root * x[i];
    } else {
        y[1 - i % 2] -= x[i] * x[i];
    }
}

case! {
    /// Each side adds somewhere else; the root is NaN for one of them.
    accumulated_on_one_side_only<S>(run; x: S = signed(7, 0.3, 1.4)) {
        let y = run.zeros::<S>(2)?;
        one_sided(7, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![0.0; 2], vec![]);
        for (i, &x) in x.iter().enumerate() {
            if x > 0.0 {
                y[i % 2] += x.powf(1.5);
                dx.push(w[i % 2] * 1.5 * x.sqrt());
            } else {
                y[1 - i % 2] -= x * x;
                dx.push(-w[1 - i % 2] * 2.0 * x);
            }
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn whole<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let a = if v > 0.0 { v.floor() + 1.5 } else { v * v };
    y[ABSOLUTE_POS] = a * v;
}

case! {
    /// One side has derivative 0.
    a_value_cut_on_one_side<S>(run; x: S = signed(6, 0.3, 0.9)) {
        let y = run.zeros::<S>(6)?;
        whole(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| if x > 0.0 { (1.5 * x, 1.5) } else { (x.powi(3), 3.0 * x * x) })
    }
}
