//! Where a function ends, bends, jumps or overflows; what is cut.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, each, fixed, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        abs_at_zero().kink(),
        extremum_at_a_tie().kink(),
        clamp_at_its_bounds().kink(),
        a_branch_at_its_threshold().kink(),
        clamped_between_others(),
        extremum_of_three(),
        steps_between_their_jumps(),
        fraction_between_jumps(),
        root_at_zero().edge(),
        logarithm_at_zero().edge(),
        arc_cosine_at_one().edge(),
        powers_at_zero().edge(),
        zero_to_a_variable_power().edge(),
        integer_powers_at_zero().edge(),
        hypot_at_the_origin().edge(),
        angle_at_the_origin().edge(),
        norm_of_the_zero_vector().edge(),
        // Differences of its gradient overflow or are all curvature.
        norm_near_zero().without_hessian(),
        normalize_guarded_at_zero(),
        roots_inside_a_norm(),
        arcs_near_one(),
        negative_base_of_a_power(),
        powers_of_both_signs(),
        a_power_of_a_power(),
        // Differences of its gradient overflow or are all curvature.
        hypot_of_the_huge_and_the_tiny().without_hessian(),
        // Differences of its gradient overflow or are all curvature.
        quotients_of_the_huge_and_the_tiny().without_hessian(),
        logarithm_near_one(),
        saturated_tails(),
        angle_in_all_quadrants(),
        detached_factor().edge(),
        detached_denominator().edge(),
        detached_to_stop_a_loop().edge(),
        hyperbolic_functions(),
        error_function_both_ways(),
        not_a_number_replaced(),
        fused_and_reciprocal(),
    ]
}

#[diff_kernel]
fn absolute<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = v.abs() * 3.0 + v;
}

case! {
    /// The derivative of `abs` at 0 is 0.
    abs_at_zero<S>(run; x: S = fixed(&[0.0, -0.7, 0.9])) {
        let y = run.zeros::<S>(3)?;
        absolute(3, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (3.0 * x.abs() + x, 1.0 + 3.0 * if x == 0.0 { 0.0 } else { x.signum() }))
    }
}

#[diff_kernel]
fn extrema<F: Float>(x: &Array<F>, u: &Array<F>, y: &mut Array<F>, z: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].min(u[i]) * 2.0;
    z[i] = x[i].max(u[i]) * x[i].max(u[i]);
}

case! {
    /// At a tie the first operand has all of the derivative.
    extremum_at_a_tie<S>(run; x: S = fixed(&[0.75, 1.25]), u: S = fixed(&[0.75, 0.5])) {
        let (y, z) = (run.zeros::<S>(2)?, run.zeros::<S>(2)?);
        extrema(2, &x, &u, &y, &z)?;
        extrema(1, &u.slice(..1)?, &x.slice(..1)?, &y.slice(..1)?, &run.zeros(1)?)?;
        run.output(&y);
        run.output(&z);
    }
    by_hand(w) {
        (dot(w, &[1.5, 1.0, 0.5625, 1.5625]), vec![vec![w[2] * 1.5, w[3] * 2.5], vec![w[0] * 2.0, w[1] * 2.0]])
    }
}

#[diff_kernel]
fn limited<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].clamp(-0.5, 0.75) * 2.0;
}

case! {
    /// At its bounds `clamp` has the derivative from within.
    clamp_at_its_bounds<S>(run; x: S = fixed(&[-0.5, 0.75, 0.1, 0.9, -0.6])) {
        let y = run.zeros::<S>(5)?;
        limited(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (2.0 * x.clamp(-0.5, 0.75), if (-0.5..=0.75).contains(&x) { 2.0 } else { 0.0 }))
    }
}

#[diff_kernel]
fn rectified<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let mut a = F::new(0.0);
    if v > 0.0 {
        a = v * 1.5;
    }
    y[ABSOLUTE_POS] = a + v;
}

case! {
    /// At the threshold the derivative is that of the side taken.
    a_branch_at_its_threshold<S>(run; x: S = fixed(&[0.0, 0.6, -0.6])) {
        let y = run.zeros::<S>(3)?;
        rectified(3, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| if x > 0.0 { (2.5 * x, 2.5) } else { (x, 1.0) })
    }
}

#[diff_kernel]
fn between<F: Float>(x: &Array<F>, lo: &Array<F>, hi: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let c = x[i].clamp(lo[i], hi[i]);
    y[i] = c * c;
}

case! {
    /// Inside, at the lower, at the upper, and with bounds that are crossed (the upper wins).
    clamped_between_others<S>(run; x: S = fixed(&[0.4, -0.9, 1.7, 0.6]), lo: S = fixed(&[0.1, 0.2, 0.3, 0.9]),
                              hi: S = fixed(&[1.1, 1.2, 1.3, 0.5])) {
        let y = run.zeros::<S>(4)?;
        between(4, &x, &lo, &hi, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let c = [x[0], lo[1], hi[2], hi[3]];
        let d = |i: usize| w[i] * 2.0 * c[i];
        (dot(w, &c.map(|c| c * c)), vec![
            vec![d(0), 0.0, 0.0, 0.0], vec![0.0, d(1), 0.0, 0.0], vec![0.0, 0.0, d(2), d(3)],
        ])
    }
}

#[diff_kernel]
fn middle<F: Float>(a: &Array<F>, b: &Array<F>, c: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = a[i].min(b[i]).max(a[i].max(b[i]).min(c[i])).exp();
}

case! {
    /// The median, from two minima and two maxima.
    extremum_of_three<S>(run; a: S = signed(6, 0.2, 1.2), b: S = signed(6, 0.2, 1.2), c: S = signed(6, 0.2, 1.2)) {
        let y = run.zeros::<S>(6)?;
        middle(6, &a, &b, &c, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let which = |i: usize| {
            let mut order = [(a[i], 0), (b[i], 1), (c[i], 2)];
            order.sort_by(|p, q| p.0.total_cmp(&q.0));
            order[1]
        };
        let gradient = |k: usize| list(6, |i| if which(i).1 == k { w[i] * which(i).0.exp() } else { 0.0 });
        (dot(w, &list(6, |i| which(i).0.exp())), vec![gradient(0), gradient(1), gradient(2)])
    }
}

#[diff_kernel]
fn steps<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = (v * 3.0).floor() + (v * 2.0).ceil() * v + v.round() * 0.5 + v.sign() * v * v;
}

case! {
    /// `floor`, `ceil`, `round` and `sign` have derivative 0, their products not.
    steps_between_their_jumps<S>(run; x: S = fixed(&[-1.8, -0.7, -0.15, 0.1, 0.45, 0.8, 2.55])) {
        let y = run.zeros::<S>(7)?;
        steps(7, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (
            (3.0 * x).floor() + (2.0 * x).ceil() * x + x.round() * 0.5 + x.signum() * x * x,
            (2.0 * x).ceil() + 2.0 * x.abs(),
        ))
    }
}

#[diff_kernel]
fn fraction<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let t = v - v.floor();
    y[ABSOLUTE_POS] = t * t * (3.0 - 2.0 * t);
}

case! {
    /// The fraction of a number has slope 1.
    fraction_between_jumps<S>(run; x: S = fixed(&[-1.7, -0.2, 0.3, 1.6])) {
        let y = run.zeros::<S>(4)?;
        fraction(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let t = x - x.floor();
            (t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t))
        })
    }
}

#[diff_kernel]
fn root<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].sqrt();
}

case! {
    /// The one-sided limit: infinity.
    root_at_zero<S>(run; x: S = fixed(&[0.0, 0.25])) {
        let y = run.zeros::<S>(2)?;
        root(2, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        (w[1] * 0.5, vec![vec![f64::INFINITY, w[1]]])
    }
}

#[diff_kernel]
fn logarithm<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].ln();
}

case! {
    /// Value and derivative are those of the limit.
    logarithm_at_zero<S>(run; x: S = fixed(&[0.0])) {
        let y = run.zeros::<S>(1)?;
        logarithm(1, &x, &y)?;
        run.output(&y);
    }
    by_hand(_w) {
        (f64::NEG_INFINITY, vec![vec![f64::INFINITY]])
    }
}

#[diff_kernel]
fn arcs<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[2 * ABSOLUTE_POS] = v.acos();
    y[2 * ABSOLUTE_POS + 1] = v.asin();
}

case! {
    /// `acos` and `asin` at 1, each with the infinity of its limit; they do not cancel.
    arc_cosine_at_one<S>(run; x: S = fixed(&[1.0, -1.0])) {
        let y = run.zeros::<S>(1)?;
        let z = run.zeros::<S>(1)?;
        only_acos(1, &x.slice(..1)?, &y)?;
        only_asin(1, &x.slice(1..)?, &z)?;
        run.output(&y);
        run.output(&z);
    }
    by_hand(w) {
        (-w[1] * std::f64::consts::FRAC_PI_2, vec![vec![f64::NEG_INFINITY, f64::INFINITY]])
    }
}

#[diff_kernel]
fn only_acos<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].acos();
}

#[diff_kernel]
fn only_asin<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].asin();
}

#[diff_kernel]
fn power<F: Float>(x: &Array<F>, p: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].powf(p[i]);
}

case! {
    /// `0^p` for p of 0, 1/2, 1, 2: 1, 0, 0, 0, with slopes 0, infinity, 1, 0; none in `p`.
    powers_at_zero<S>(run; x: S = fixed(&[0.0, 0.0, 0.0, 0.0]), p: S = fixed(&[0.0, 0.5, 1.0, 2.0])) {
        let y = run.zeros::<S>(4)?;
        power(4, &x, &p, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        (w[0], vec![vec![0.0, f64::INFINITY, w[2], 0.0], vec![0.0; 4]])
    }
}

#[diff_kernel]
fn variable_power<F: Float>(p: &Array<F>, y: &mut Array<F>) {
    let zero = F::new(0.0);
    y[ABSOLUTE_POS] = zero.powf(p[ABSOLUTE_POS]) + p[ABSOLUTE_POS];
}

case! {
    /// The base is a zero of its own.
    zero_to_a_variable_power<S>(run; p: S = fixed(&[1.5, 0.5])) {
        let y = run.zeros::<S>(2)?;
        variable_power(2, &p, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        (dot(w, p), vec![w.to_vec()])
    }
}

#[diff_kernel]
fn integer_power<F: Float>(x: &Array<F>, n: &Array<i32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].powi(n[i]);
}

case! {
    /// `0^0 = 1` without slope, `0^1` with slope 1, `0^3` with none.
    integer_powers_at_zero<S>(run; x: S = fixed(&[0.0, 0.0, 0.0])) {
        let n = run.dev.array(&[0i32, 1, 3])?;
        let y = run.zeros::<S>(3)?;
        integer_power(3, &x, &n, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        (w[0], vec![vec![0.0, w[1], 0.0]])
    }
}

#[diff_kernel]
fn radius<F: Float>(x: &Array<F>, u: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].hypot(u[i]);
}

case! {
    /// At the origin the derivative of `hypot` is 0.
    hypot_at_the_origin<S>(run; x: S = fixed(&[0.0, 3.0]), u: S = fixed(&[0.0, -4.0])) {
        let y = run.zeros::<S>(2)?;
        radius(2, &x, &u, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        (w[1] * 5.0, vec![vec![0.0, w[1] * 0.6], vec![0.0, w[1] * -0.8]])
    }
}

#[diff_kernel]
fn angle<F: Float>(x: &Array<F>, u: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = u[i].atan2(x[i]);
}

case! {
    /// At the origin that of `atan2` is 0, too.
    angle_at_the_origin<S>(run; x: S = fixed(&[0.0]), u: S = fixed(&[0.0])) {
        let y = run.zeros::<S>(1)?;
        angle(1, &x, &u, &y)?;
        run.output(&y);
    }
    by_hand(_w) {
        (0.0, vec![vec![0.0], vec![0.0]])
    }
}

#[diff_kernel]
fn lengths<F: Float>(x: &Array<Vec3<F>>, u: &Array<Vec2<F>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].norm() * 2.0 + u[i].norm();
}

case! {
    /// The derivative of `norm` at 0 is 0, as that of `hypot`.
    norm_of_the_zero_vector<S>(run; x: Vec3<S> = fixed(&[0.0, 0.0, 0.0, 1.0, -2.0, 2.0]),
                               u: Vec2<S> = fixed(&[3.0, 4.0, 0.0, 0.0])) {
        let y = run.zeros::<S>(2)?;
        lengths(2, &x, &u, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        (w[0] * 5.0 + w[1] * 6.0, vec![
            vec![0.0, 0.0, 0.0, w[1] * 2.0 / 3.0, w[1] * -4.0 / 3.0, w[1] * 4.0 / 3.0],
            vec![w[0] * 0.6, w[0] * 0.8, 0.0, 0.0],
        ])
    }
}

case! {
    /// Away from it the derivative is of length 1 however short the vector.
    norm_near_zero<S>(run; x: Vec3<S> = fixed(&[1e-9, -2e-9, 2e-9]), u: Vec2<S> = fixed(&[3e-12, 4e-12])) {
        let y = run.zeros::<S>(1)?;
        lengths(1, &x, &u, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (n, m) = (dot(x, x).sqrt(), dot(u, u).sqrt());
        (w[0] * (2.0 * n + m), vec![
            x.iter().map(|x| w[0] * 2.0 * x / n).collect(), u.iter().map(|u| w[0] * u / m).collect(),
        ])
    }
}

#[diff_kernel]
fn direction<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = select(v.norm_squared() > 0.01, v.normalize(), v * 3.0);
}

case! {
    /// `normalize` of the zero vector is NaN; the side not taken never shows it.
    normalize_guarded_at_zero<S>(run; x: Vec2<S> = fixed(&[0.0, 0.0, 0.6, -0.8, 0.02, 0.03])) {
        let y = run.zeros::<Vec2<S>>(3)?;
        direction(3, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (n, a, b) = (x[2].hypot(x[3]), x[2], x[3]);
        let y = [0.0, 0.0, a / n, b / n, 3.0 * x[4], 3.0 * x[5]];
        // (I - e e^T) / n
        let t = (w[2] * a + w[3] * b) / (n * n);
        (dot(w, &y), vec![vec![
            3.0 * w[0], 3.0 * w[1], (w[2] - t * a) / n, (w[3] - t * b) / n, 3.0 * w[4], 3.0 * w[5],
        ]])
    }
}

#[diff_kernel]
fn shifted_norm<F: Float>(x: &Array<Vec3<F>>, c: &Array<Vec3<F>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let d = x[i] - c[0];
    let far = (d.norm() - 0.2).max(0.0);
    y[i] = far * far + d.normalize().x;
}

case! {
    /// Distance to a sphere, squared, and a unit vector.
    roots_inside_a_norm<S>(run; x: Vec3<S> = signed(9, 0.6, 1.2), c: Vec3<S> = reals(3, 0.1, 0.3)) {
        let y = run.zeros::<S>(3)?;
        shifted_norm(3, &x, &c, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx, mut dc) = (vec![], vec![], vec![0.0; 3]);
        for (i, v) in x.chunks(3).enumerate() {
            let d = [v[0] - c[0], v[1] - c[1], v[2] - c[2]];
            let n = dot(&d, &d).sqrt();
            y.push((n - 0.2).powi(2) + d[0] / n);
            for k in 0..3 {
                let unit = d[k] / n;
                let slope = 2.0 * (n - 0.2) * unit + (if k == 0 { 1.0 } else { 0.0 } - d[0] / n * unit) / n;
                dx.push(w[i] * slope);
                dc[k] -= w[i] * slope;
            }
        }
        (dot(w, &y), vec![dx, dc])
    }
}

case! {
    /// Close to 1 and to -1, where the slopes are steep and must not cancel.
    arcs_near_one<S>(run; x: S = fixed(&[0.999, -0.999, 0.9999, -0.99, 0.3])) {
        let y = run.zeros::<S>(10)?;
        arcs(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let y: Vec<f64> = x.iter().flat_map(|x| [x.acos(), x.asin()]).collect();
        (dot(w, &y), vec![list(5, |i| (w[2 * i + 1] - w[2 * i]) / ((1.0 - x[i]) * (1.0 + x[i])).sqrt())])
    }
}

#[diff_kernel]
fn cubed<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = v.powf(3.0) + v.powf(2.0) * 0.5 + v.powf(-1.0);
}

case! {
    /// Whole exponents written as reals, of negative numbers.
    negative_base_of_a_power<S>(run; x: S = signed(6, 0.5, 1.5)) {
        let y = run.zeros::<S>(6)?;
        cubed(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x.powi(3) + 0.5 * x * x + 1.0 / x, 3.0 * x * x + x - 1.0 / (x * x)))
    }
}

#[diff_kernel]
fn integer_powers<F: Float>(x: &Array<F>, y: &mut Array<F>, n: i32) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = v.powi(-3) + v.powi(n) * v.powi(1) + v.powi(0) + v.powi(-n + 1);
}

case! {
    /// `powi` with negative, zero and run-time exponents.
    powers_of_both_signs<S>(run; x: S = signed(6, 0.6, 1.4)) {
        let y = run.zeros::<S>(6)?;
        integer_powers(6, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (2.0 * x.powi(-3) + x.powi(5) + 1.0, -6.0 * x.powi(-4) + 5.0 * x.powi(4)))
    }
}

#[diff_kernel]
fn tower<F: Float>(x: &Array<F>, p: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].powf(p[i].powf(x[i]));
}

case! {
    /// Base and exponent both vary: `x^(p^x)`.
    a_power_of_a_power<S>(run; x: S = reals(4, 0.5, 1.6), p: S = reals(4, 0.5, 1.6)) {
        let y = run.zeros::<S>(4)?;
        tower(4, &x, &p, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let y = |i: usize| x[i].powf(p[i].powf(x[i]));
        (dot(w, &list(4, y)), vec![
            list(4, |i| w[i] * y(i) * p[i].powf(x[i]) * (p[i].ln() * x[i].ln() + 1.0 / x[i])),
            list(4, |i| w[i] * y(i) * x[i].ln() * x[i] * p[i].powf(x[i] - 1.0)),
        ])
    }
}

#[diff_kernel]
fn rescale<F: Float>(y: &Array<F>, z: &mut Array<F>, size: F) {
    z[ABSOLUTE_POS] += y[ABSOLUTE_POS] / size;
}

case! {
    /// Squares of these are out of the range of f32, above and below.
    hypot_of_the_huge_and_the_tiny<S>(run; x: S = fixed(&[3e30, -5e29]), u: S = fixed(&[4e30, 1e30]),
                                      p: S = fixed(&[3e-25, 2e-25]), q: S = fixed(&[-4e-25, 1e-25])) {
        for (x, u, size) in [(&x, &u, 1e30), (&p, &q, 1e-25)] {
            let (y, z) = (run.zeros::<S>(2)?, run.zeros::<S>(2)?);
            radius(2, x, u, &y)?;
            angle(2, x, u, &z)?;
            rescale(2, &y, &z, S::from_f64(size))?;
            run.output(&z);
        }
    }
    by_hand(w) {
        let part = |x: &[f64], u: &[f64], w: &[f64], size: f64| {
            let r = |i: usize| x[i].hypot(u[i]);
            (dot(w, &list(2, |i| u[i].atan2(x[i]) + r(i) / size)), [
                list(2, |i| w[i] * (-u[i] / r(i) / r(i) + x[i] / r(i) / size)),
                list(2, |i| w[i] * (x[i] / r(i) / r(i) + u[i] / r(i) / size)),
            ])
        };
        let ((a, [dx, du]), (b, [dp, dq])) = (part(x, u, &w[..2], 1e30), part(p, q, &w[2..], 1e-25));
        (a + b, vec![dx, du, dp, dq])
    }
}

#[diff_kernel]
fn ratios<F: Float>(x: &Array<F>, u: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] / u[i] + (x[i] / u[i]).sqrt();
}

case! {
    /// Neither square of the denominator is needed.
    quotients_of_the_huge_and_the_tiny<S>(run; x: S = fixed(&[3e30]), u: S = fixed(&[2e29]), p: S = fixed(&[2e-30]),
                                          q: S = fixed(&[7e-31])) {
        for (x, u) in [(&x, &u), (&p, &q)] {
            let y = run.zeros::<S>(1)?;
            ratios(1, x, u, &y)?;
            run.output(&y);
        }
    }
    by_hand(w) {
        let part = |x: f64, u: f64, w: f64| {
            let (r, slope) = (x / u, w * (1.0 + 0.5 / (x / u).sqrt()));
            (w * (r + r.sqrt()), vec![slope / u], vec![-slope * r / u])
        };
        let ((a, dx, du), (b, dp, dq)) = (part(x[0], u[0], w[0]), part(p[0], q[0], w[1]));
        (a + b, vec![dx, du, dp, dq])
    }
}

#[diff_kernel]
fn small_logarithm<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = v.log1p() / v + v.log1p();
}

case! {
    /// `log1p` of the small, divided by it.
    logarithm_near_one<S>(run; x: S = fixed(&[0.02, -0.03, 0.5, -0.7, 3.0])) {
        let y = run.zeros::<S>(5)?;
        small_logarithm(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (
            x.ln_1p() / x + x.ln_1p(),
            (1.0 / (1.0 + x) - x.ln_1p() / x) / x + 1.0 / (1.0 + x),
        ))
    }
}

#[diff_kernel]
fn tails<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = v.tanh() + v.atan() + 1.0 / (1.0 + (-v.abs()).exp());
}

case! {
    /// Far out, where the functions are flat.
    saturated_tails<S>(run; x: S = fixed(&[-6.5, -3.0, 2.5, 7.5])) {
        let y = run.zeros::<S>(4)?;
        tails(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let e = (-x.abs()).exp();
            (
                x.tanh() + x.atan() + 1.0 / (1.0 + e),
                1.0 / x.cosh().powi(2) + 1.0 / (1.0 + x * x) + x.signum() * e / (1.0 + e).powi(2),
            )
        })
    }
}

case! {
    /// `atan2` over all four quadrants and both axes' neighbourhoods.
    angle_in_all_quadrants<S>(run; x: S = fixed(&[1.2, -0.7, -1.1, 0.4, 0.01, -0.9]), u: S = fixed(&[0.5, 0.8, -0.6, -1.3, 1.0, 0.02])) {
        let y = run.zeros::<S>(6)?;
        angle(6, &x, &u, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let q = |i: usize| x[i] * x[i] + u[i] * u[i];
        (dot(w, &list(6, |i| u[i].atan2(x[i]))), vec![
            list(6, |i| -w[i] * u[i] / q(i)), list(6, |i| w[i] * x[i] / q(i)),
        ])
    }
}

#[diff_kernel]
fn cut<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = v * detach(v) + detach(v * v) + v;
}

case! {
    /// `detach` is a constant of the same value.
    detached_factor<S>(run; x: S = signed(4, 0.4, 1.4)) {
        let y = run.zeros::<S>(4)?;
        cut(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (2.0 * x * x + x, x + 1.0))
    }
}

#[diff_kernel]
fn normalised<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>) {
    let v = x[ABSOLUTE_POS];
    let scale = detach(v);
    y[ABSOLUTE_POS] = v / scale.norm();
}

case! {
    /// A detached vector.
    detached_denominator<S>(run; x: Vec2<S> = signed(4, 0.4, 1.4)) {
        let y = run.zeros::<Vec2<S>>(2)?;
        normalised(2, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let n = |k: usize| x[k / 2 * 2].hypot(x[k / 2 * 2 + 1]);
        (dot(w, &list(4, |k| x[k] / n(k))), vec![list(4, |k| w[k] / n(k))])
    }
}

#[diff_kernel]
fn truncated<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let v = x[ABSOLUTE_POS];
    let mut a = v;
    for k in 0..n {
        if k == 2 {
            a = detach(a);
        }
        a = a * a * 0.5 + v;
    }
    y[ABSOLUTE_POS] = a;
}

case! {
    /// The first two turns have no part in the derivative.
    detached_to_stop_a_loop<S>(run; x: S = reals(3, 0.3, 0.8)) {
        let y = run.zeros::<S>(3)?;
        truncated(3, &x, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (0..4).fold((x, 1.0), |(a, da), k| (a * a * 0.5 + x, a * if k == 2 { 0.0 } else { da } + 1.0)))
    }
}

#[diff_kernel]
fn hyperbolic<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = v.sinh() * v.cosh() - v.tanh() / v.cosh();
}

case! {
    /// `sinh`, `cosh` and `tanh` of both signs, small and large.
    hyperbolic_functions<S>(run; x: S = fixed(&[-2.1, -0.05, 0.04, 0.8, 3.2])) {
        let y = run.zeros::<S>(5)?;
        hyperbolic(5, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let (s, c) = (x.sinh(), x.cosh());
            (s * c - s / (c * c), c * c + s * s - (c * c - 2.0 * s * s) / c.powi(3))
        })
    }
}

#[diff_kernel]
fn normal<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = 0.5 * (1.0 + (v * 0.7071067811865476).erf()) * v;
}

case! {
    /// `x Phi(x)`, whose derivative is `Phi(x) + x phi(x)`.
    error_function_both_ways<S>(run; x: S = signed(6, 0.2, 2.4)) {
        let y = run.zeros::<S>(6)?;
        normal(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            let cumulative = 0.5 * (1.0 + Float::erf(x * std::f64::consts::FRAC_1_SQRT_2));
            (x * cumulative, cumulative + x * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt())
        })
    }
}

#[diff_kernel]
fn repaired<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let root = v.sqrt();
    y[ABSOLUTE_POS] = select(root.is_nan(), v * v, root);
}

case! {
    /// `is_nan` decides.
    not_a_number_replaced<S>(run; x: S = signed(6, 0.3, 1.4)) {
        let y = run.zeros::<S>(6)?;
        repaired(6, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| if x < 0.0 { (x * x, 2.0 * x) } else { (x.sqrt(), 0.5 / x.sqrt()) })
    }
}

#[diff_kernel]
fn fused<F: Float>(x: &Array<F>, u: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].fma(u[i], x[i]) * F::recip(u[i]) + F::fma(u[i], u[i], 2.0);
}

case! {
    /// `(x u + x) / u + u^2 + 2`, as methods and as functions of `F`.
    fused_and_reciprocal<S>(run; x: S = signed(4, 0.5, 1.4), u: S = signed(4, 0.5, 1.4)) {
        let y = run.zeros::<S>(4)?;
        fused(4, &x, &u, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        (dot(w, &list(4, |i| x[i] + x[i] / u[i] + u[i] * u[i] + 2.0)), vec![
            list(4, |i| w[i] * (1.0 + 1.0 / u[i])), list(4, |i| w[i] * (2.0 * u[i] - x[i] / (u[i] * u[i]))),
        ])
    }
}
