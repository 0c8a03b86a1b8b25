//! Kernels in the spelling of CubeCL that becomes another one: vectors of a width that is a parameter, slices, loops in
//! steps, enums, calls without a type, parameters that change.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, each, fixed, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        vectors_of_any_width(),
        integers_in_vectors_of_any_width(),
        loops_in_steps(),
        loops_in_steps_either_way(),
        a_choice_among_names(),
        numbers_of_variants(),
        parameters_that_change(),
        known_when_compiled(),
        calls_without_a_type(),
        single_precision_in_a_generic_kernel(),
        laws_of_any_name(),
        an_end_that_may_be_given(),
        functions_of_traits(),
    ]
}

#[diff_fn]
fn swish<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    x / (Vector::new(F::new(1.0)) + Vector::exp(-x))
}

#[diff_kernel]
fn leaky_swish<F: Float, N: Size>(input: &[Vector<F, N>], slope: &[Line<F>], output: &mut [Vector<F, N>]) {
    if ABSOLUTE_POS < input.len() {
        let x = input[ABSOLUTE_POS];
        let zero = Line::empty(input.line_size()).fill(F::new(0.0));
        let inside = swish::<F, N>(x);
        let y = select_many(x.greater_than(&zero), inside, x * slope[ABSOLUTE_POS]);
        output[ABSOLUTE_POS] = y * Vector::cast_from(N::value() as u32) + Vector::<F, N>::max(x, zero);
    }
}

case! {
    /// A vector is one component wide.
    vectors_of_any_width<S>(run; x: S = fixed(&[0.4, -0.7, 1.3, -2.1]), s: S = signed(4, 0.2, 0.9)) {
        let y = run.zeros::<S>(4)?;
        leaky_swish(4, &x, &s, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
        let y = list(4, |i| if x[i] > 0.0 { x[i] * logistic(x[i]) + x[i] } else { x[i] * s[i] });
        let dx = |i: usize| match x[i] > 0.0 {
            true => logistic(x[i]) * (1.0 + x[i] * (1.0 - logistic(x[i]))) + 1.0,
            false => s[i],
        };
        (dot(w, &y), vec![
            list(4, |i| w[i] * dx(i)),
            list(4, |i| if x[i] > 0.0 { 0.0 } else { w[i] * x[i] }),
        ])
    }
}

#[diff_kernel]
fn dequantized<F: Float, N: Size>(q: &Array<Vector<u32, N>>, scale: &Array<Vector<F, N>>, y: &mut Array<Vector<F, N>>) {
    let low = q[ABSOLUTE_POS] & Vector::new(15u32);
    let middle = Vector::<u32, N>::new(8);
    let value = Vector::<F, N>::cast_from(low) - Vector::cast_from(middle);
    y[ABSOLUTE_POS] = value * scale[ABSOLUTE_POS] * scale[ABSOLUTE_POS];
}

case! {
    /// Their components are integers, too.
    integers_in_vectors_of_any_width<S>(run; s: S = reals(3, 0.3, 1.4)) {
        let (q, y) = (run.dev.array(&[3u32, 17, 250])?, run.zeros::<S>(3)?);
        dequantized(3, &q, &s, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let value = [-5.0, -7.0, 2.0];
        (dot(w, &list(3, |i| value[i] * s[i] * s[i])), vec![list(3, |i| 2.0 * w[i] * value[i] * s[i])])
    }
}

#[diff_kernel]
fn strided<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32, units: u32) {
    let mut p = F::new(1.0);
    for i in range_stepped(ABSOLUTE_POS as u32, n, units) {
        p = p * x[i] + x[i];
    }
    for i in (1..n as usize).step_by(3) {
        if i > 5 {
            break;
        }
        p += x[i] * x[i];
    }
    #[unroll]
    for i in range_stepped(0u32, 5u32, 2u32) {
        p += F::cast_from(i) * x[i];
    }
    y[ABSOLUTE_POS] = p;
}

case! {
    /// Every third, from where the thread is; the end is not met exactly.
    loops_in_steps<S>(run; x: S = reals(8, 0.3, 1.2)) {
        let y = run.zeros::<S>(3)?;
        strided(3, &x, &y, 8, 3)?;
        run.output(&y);
    }
    by_hand(w) {
        let mut dx = vec![0.0; 8];
        let mut y = vec![0.0; 3];
        for t in 0..3 {
            let own: Vec<usize> = (t..8).step_by(3).collect();
            let mut p = vec![1.0];
            for &i in &own {
                p.push(p[p.len() - 1] * x[i] + x[i]);
            }
            y[t] = p[own.len()] + x[1] * x[1] + x[4] * x[4] + 2.0 * x[2] + 4.0 * x[4];
            let mut bar = w[t];
            for k in (0..own.len()).rev() {
                dx[own[k]] += bar * (p[k] + 1.0);
                bar *= x[own[k]];
            }
            for (i, slope) in [(1, 2.0 * x[1]), (4, 2.0 * x[4] + 4.0), (2, 2.0)] {
                dx[i] += w[t] * slope;
            }
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn walked<F: Float>(x: &Array<F>, y: &mut Array<F>, from: i32, to: i32, by: i32) {
    let mut p = F::new(1.0);
    for i in range_stepped(from, to, by) {
        p = p * x[i as usize] + F::cast_from(i);
    }
    y[0] += p;
}

case! {
    /// Up, down, and over nothing.
    loops_in_steps_either_way<S>(run; x: S = reals(7, 0.3, 1.2)) {
        let y = run.zeros::<S>(1)?;
        for (from, to, by) in [(0, 7, 2), (6, -1, -4), (5, 2, 1), (2, 5, -1)] {
            walked(1, &x, &y, from, to, by)?;
        }
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (2.0, vec![0.0; 7]);
        for turns in [vec![0usize, 2, 4, 6], vec![6, 2]] {
            let mut p = vec![1.0];
            for &i in &turns {
                p.push(p[p.len() - 1] * x[i] + i as f64);
            }
            y += p[turns.len()];
            let mut bar = w[0];
            for k in (0..turns.len()).rev() {
                dx[turns[k]] += bar * p[k];
                bar *= x[turns[k]];
            }
        }
        (w[0] * y, vec![dx])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[diff_enum]
enum Padding {
    Zeros,
    Border,
    Reflection,
}

#[diff_kernel]
fn padded<F: Float>(x: &Array<F>, y: &mut Array<F>, shift: i32, #[comptime] padding: Padding) {
    let last = x.len() as i32 - 1;
    let at = ABSOLUTE_POS as i32 + shift;
    let inside = at >= 0 && at <= last;
    let index = match padding {
        Padding::Zeros | Padding::Border => at.clamp(0, last),
        Padding::Reflection => {
            let up = at.abs();
            if up > last { 2 * last - up } else { up }
        }
    };
    let mut value = x[index as usize] * x[index as usize];
    if comptime!(padding == Padding::Zeros) && !inside {
        value = F::new(0.0);
    }
    y[ABSOLUTE_POS] = value;
}

case! {
    /// One program per variant.
    a_choice_among_names<S>(run; x: S = reals(4, 0.3, 1.4)) {
        for padding in [Padding::Zeros, Padding::Border, Padding::Reflection] {
            let y = run.zeros::<S>(4)?;
            padded(4, &x, &y, -2, padding)?;
            run.output(&y);
        }
    }
    by_hand(w) {
        let read = [None, None, Some(0), Some(1), Some(0), Some(0), Some(0), Some(1), Some(2), Some(1), Some(0), Some(1)];
        let mut dx = vec![0.0; 4];
        let mut y = vec![0.0; 12];
        for (k, i) in read.into_iter().enumerate() {
            if let Some(i) = i {
                y[k] = x[i] * x[i];
                dx[i] += 2.0 * w[k] * x[i];
            }
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_enum]
#[derive(Clone, Copy)]
pub enum Activation {
    Identity,
    Tanh = 7,
    Square,
}

#[diff_fn]
fn activated<F: Float>(x: F, kind: Activation) -> F {
    match kind {
        Activation::Identity => x,
        Activation::Tanh => F::tanh(x),
        Activation::Square => x * x,
    }
}

#[diff_kernel]
fn layers<F: Float>(x: &Array<F>, y: &mut Array<F>, kind: Activation) {
    let hidden = activated::<F>(x[ABSOLUTE_POS], kind);
    let gate = if matches!(kind, Activation::Identity | Activation::Square) { hidden } else { F::new(1.0) };
    y[ABSOLUTE_POS] = gate * activated::<F>(hidden, Activation::Tanh);
}

case! {
    /// Known at the launch only, passed on, and written out.
    numbers_of_variants<S>(run; x: S = reals(2, 0.3, 1.4)) {
        for kind in [Activation::Identity, Activation::Tanh, Activation::Square] {
            let y = run.zeros::<S>(2)?;
            layers(2, &x, &y, kind)?;
            run.output(&y);
        }
        assert_eq!(activated(3.0f64, Activation::Square), 9.0);
    }
    by_hand(w) {
        let slope = |x: f64| 1.0 - x.tanh() * x.tanh();
        let y = |x: f64| [x * x.tanh(), x.tanh().tanh(), x * x * (x * x).tanh()];
        let dy = |x: f64| [
            x.tanh() + x * slope(x),
            slope(x.tanh()) * slope(x),
            2.0 * x * (x * x).tanh() + x * x * slope(x * x) * 2.0 * x,
        ];
        let value = (0..6).map(|k| w[k] * y(x[k % 2])[k / 2]).sum();
        (value, vec![list(2, |i| (0..3).map(|k| w[2 * k + i] * dy(x[i])[k]).sum())])
    }
}

#[diff_fn]
fn root<F: Float>(mut guess: F, a: F, mut turns: u32) -> F {
    for _ in 0..8 {
        if turns > 0 {
            guess = F::new(0.5) * (guess + a / guess);
            turns -= 1;
        }
    }
    guess
}

#[diff_kernel]
fn roots<F: Float>(a: &Array<F>, mut y: &mut Array<F>, mut turns: u32) {
    turns += 1;
    y[ABSOLUTE_POS] = root::<F>(F::new(1.0), a[ABSOLUTE_POS], turns);
}

case! {
    /// Two turns of Newton's iteration from 1.
    parameters_that_change<S>(run; a: S = reals(3, 0.4, 1.8)) {
        let y = run.zeros::<S>(3)?;
        roots(3, &a, &y, 1)?;
        run.output(&y);
    }
    by_hand(w) {
        each(a, w, |a| {
            let first = 0.5 * (1.0 + a);
            (0.5 * (first + a / first), 0.25 + 0.5 / first - 0.25 * a / (first * first))
        })
    }
}

#[diff_struct]
pub struct Window {
    size: u32,
    mean: bool,
}

#[diff_kernel]
fn windows<F: Float>(x: &Array<F>, y: &mut Array<F>, #[comptime] window: Window) {
    let half = comptime!(window.size / 2);
    let weight = comptime! {
        let most = if window.size > 3 { 3u32 } else { window.size };
        most + 1
    };
    let mut sum = F::new(0.0);
    #[unroll]
    for i in 0..half {
        sum += x[ABSOLUTE_POS + i as usize] * x[ABSOLUTE_POS + half as usize];
    }
    if comptime!(window.mean) {
        sum /= F::new(comptime!(2.0f32.sqrt())) * F::cast_from(half.comptime());
    }
    y[ABSOLUTE_POS] = sum * F::cast_from(weight);
}

case! {
    /// A struct that is compiled in, and what is computed of it.
    known_when_compiled<S>(run; x: S = reals(4, 0.4, 1.8)) {
        let y = run.zeros::<S>(2)?;
        windows(2, &x, &y, Window { size: 5, mean: true })?;
        run.output(&y);
    }
    by_hand(w) {
        let scale = 4.0 / (2.0 * 2f64.sqrt());
        let y = list(2, |i| (x[i] + x[i + 1]) * x[i + 2] * scale);
        let mut dx = vec![0.0; 4];
        for i in 0..2 {
            dx[i] += w[i] * scale * x[i + 2];
            dx[i + 1] += w[i] * scale * x[i + 2];
            dx[i + 2] += w[i] * scale * (x[i] + x[i + 1]);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_fn]
fn squared<F: Float>(x: F) -> F {
    x * x
}

#[diff_fn]
fn sine_and_cosine<F: Float>(x: F) -> (F, F) {
    (F::sin(x), F::cos(x))
}

#[diff_fn]
fn bin<F: Float>(x: F, bins: u32) -> u32 {
    u32::cast_from(x * F::cast_from(bins))
}

#[diff_kernel]
fn untyped<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let a = squared::<F>(squared::<F>(x[ABSOLUTE_POS]) + F::new(1.0));
    let (s, c) = sine_and_cosine::<F>(a);
    let b = bin::<F>(x[ABSOLUTE_POS], 2u32);
    let mut sum = F::new(0.0);
    if squared(s) > F::new(2.0) {
        sum = s;
    }
    y[ABSOLUTE_POS] = sum + s * c * x[b];
}

case! {
    /// Reals, unless what follows says otherwise: an index is an integer.
    calls_without_a_type<S>(run; x: S = fixed(&[0.3, 0.8])) {
        let y = run.zeros::<S>(2)?;
        untyped(2, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let a = |x: f64| (x * x + 1.0) * (x * x + 1.0);
        let y = list(2, |i| a(x[i]).sin() * a(x[i]).cos() * x[i]);
        let dy = |x: f64| (2.0 * a(x)).cos() * 4.0 * x * (x * x + 1.0) * x + a(x).sin() * a(x).cos();
        (dot(w, &y), vec![list(2, |i| w[i] * dy(x[i]))])
    }
}

#[diff_kernel]
fn scaled<F: Float>(x: &Array<F>, y: &mut Array<F>, alpha: f32) {
    let twice: f32 = alpha * 2.0f32;
    let count = x.len() as f32;
    let value = f32::cast_from(x[ABSOLUTE_POS]) + 1f32;
    y[ABSOLUTE_POS] = F::cast_from(f32::sqrt(twice)) * F::cast_from(value) * value / F::cast_from(count + 3 as f32);
}

case! {
    /// `f32` is the kernel's real type, whatever that is.
    single_precision_in_a_generic_kernel<S>(run; x: S = reals(2, 0.3, 1.5)) {
        let y = run.zeros::<S>(2)?;
        scaled(2, &x, &y, S::from_f64(0.125))?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (0.1 * (x + 1.0) * (x + 1.0), 0.2 * (x + 1.0)))
    }
}

#[diff_trait]
pub trait Curve: 'static + Send + Sync {
    fn at<T>(x: T) -> T
    where
        T: Float;
}

pub struct Parabola;
pub struct Wave;

#[diff_impl]
impl Curve for Parabola {
    fn at<T>(x: T) -> T
    where
        T: Float,
    {
        x * x
    }
}

#[diff_impl]
impl Curve for Wave {
    fn at<T: Float>(x: T) -> T {
        T::sin(x)
    }
}

#[diff_kernel]
fn curves<E, K, F, S>(x: &Array<E>, y: &mut Array<E>)
where
    E: Float + Send,
    K: Curve,
    F: Curve,
    S: Curve,
{
    let first = K::at::<E>(x[ABSOLUTE_POS]);
    y[ABSOLUTE_POS] = first * F::at(x[ABSOLUTE_POS]) + S::at(first);
}

case! {
    /// Type parameters have the names that the author gives them.
    laws_of_any_name<S>(run; x: S = reals(3, 0.3, 1.2)) {
        let y = run.zeros::<S>(3)?;
        curves::<S, Parabola, Wave, Parabola>(3, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| {
            (x * x * x.sin() + x * x * x * x, 2.0 * x * x.sin() + x * x * x.cos() + 4.0 * x * x * x)
        })
    }
}

#[diff_kernel]
fn operations<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let length = v.magnitude();
    let bounded = Clamp::clamp(Max::max(v.x, F::new(f32::EPSILON)), F::new(f32::MIN_POSITIVE), F::new(f32::MAX));
    y[ABSOLUTE_POS] = Exp::exp(bounded) * Recip::recip(length) + Dot::dot(v, v) * Min::min(v.y, F::new(9.0));
}

case! {
    /// Functions by the trait that CubeCL has them in.
    functions_of_traits<S>(run; x: Vec2<S> = fixed(&[0.3, 0.8, 1.2, 0.4])) {
        let y = run.zeros::<S>(2)?;
        operations(2, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut value, mut dx) = (0.0, vec![0.0; 4]);
        for i in 0..2 {
            let (a, b) = (x[2 * i], x[2 * i + 1]);
            let square = a * a + b * b;
            let (length, e) = (square.sqrt(), a.exp());
            value += w[i] * (e / length + square * b);
            dx[2 * i] = w[i] * (e / length - e * a / (square * length) + 2.0 * a * b);
            dx[2 * i + 1] = w[i] * (-e * b / (square * length) + 2.0 * b * b + square);
        }
        (value, vec![dx])
    }
}

#[diff_fn]
fn length<F: Float>(x: &Array<F>, #[comptime] end: Option<usize>) -> F {
    let end = end.unwrap_or_else(|| x.len());
    let mut sum = F::new(0.0);
    for i in 0..end {
        sum += x[i] * x[i];
    }
    F::sqrt(sum)
}

#[diff_kernel]
fn product_to<F: Float>(x: &Array<F>, y: &mut Array<F>, #[comptime] end: Option<u32>, power: Option<i32>) {
    let unroll = end.is_some();
    let last = match end {
        Some(n) => n,
        None => x.len() as u32,
    };
    let mut product = length::<F>(x, Some(last));
    #[unroll(unroll)]
    for i in 0..last {
        product *= x[i];
    }
    if let Some(n) = power {
        product = F::powi(product, n);
    }
    y[ABSOLUTE_POS] = product;
}

case! {
    /// Each of two options, with and without.
    an_end_that_may_be_given<S>(run; x: S = reals(4, 0.6, 1.4)) {
        for (end, power) in [(None, Some(2)), (Some(2), None)] {
            let y = run.zeros::<S>(1)?;
            product_to(1, &x, &y, end, power)?;
            run.output(&y);
        }
    }
    by_hand(w) {
        let length = |n: usize| x[..n].iter().map(|x| x * x).sum::<f64>().sqrt();
        let value = |n: usize| length(n) * x[..n].iter().product::<f64>();
        let slope = |n: usize, i: usize| if i < n { value(n) * (x[i] / (length(n) * length(n)) + 1.0 / x[i]) } else { 0.0 };
        let dx = list(4, |i| w[0] * 2.0 * value(4) * slope(4, i) + w[1] * slope(2, i));
        (w[0] * value(4) * value(4) + w[1] * value(2), vec![dx])
    }
}
