//! Derivatives written by hand: right ones pass the gradient check, wrong ones do not, of functions and of kernels.

#![expect(clippy::unwrap_used, reason = "tests")]

use diffkern::prelude::*;

/// x^3 with derivatives by hand; `exact` keeps what was asked of the wrong ones apart.
mod cube {
    use diffkern::prelude::*;

    #[diff_fn]
    pub fn vjp<F: Float>(x: F, scale: Vec2<F>, k: u32, bar: F, side_bar: Vec2<F>) -> (F, Vec2<F>) {
        let s = scale.x * F::cast_from(k);
        (3.0 * x * x * s * bar + scale.dot(side_bar), Vec2::new(x * x * x * F::cast_from(k) * bar, 0.0) + side_bar * x)
    }

    #[diff_fn]
    pub fn jvp<F: Float>(x: F, scale: Vec2<F>, k: u32, dx: F, dscale: Vec2<F>) -> (F, Vec2<F>, F, Vec2<F>) {
        let n = F::cast_from(k);
        (
            x * x * x * scale.x * n,
            scale * x,
            3.0 * x * x * dx * scale.x * n + x * x * x * dscale.x * n,
            dscale * x + scale * dx,
        )
    }

    #[diff_fn]
    pub fn wrong_vjp<F: Float>(x: F, scale: Vec2<F>, k: u32, bar: F, side_bar: Vec2<F>) -> (F, Vec2<F>) {
        let (a, b): (F, Vec2<F>) = vjp(x, scale, k, bar, side_bar);
        (a * 1.0001, b)
    }

    #[diff_fn]
    pub fn wrong_jvp<F: Float>(x: F, scale: Vec2<F>, k: u32, dx: F, dscale: Vec2<F>) -> (F, Vec2<F>, F, Vec2<F>) {
        let (a, b, c, d): (F, Vec2<F>, F, Vec2<F>) = jvp(x, scale, k, dx, dscale);
        (a, b, c, d * 0.9999)
    }
}

macro_rules! cubes {
    ($($name:ident $kernel:ident ($($attribute:tt)*);)*) => {$(
        #[diff_fn($($attribute)*)]
        fn $name<F: Float>(x: F, scale: Vec2<F>, k: u32) -> (F, Vec2<F>) {
            (x * x * x * scale.x * F::cast_from(k), scale * x)
        }

        #[diff_kernel]
        fn $kernel<F: Float>(x: &Array<F>, s: &Array<Vec2<F>>, y: &mut Array<F>, turns: usize) {
            let i = ABSOLUTE_POS;
            let mut sum = x[i];
            for k in 0..turns {
                let (a, b): (F, Vec2<F>) = $name(sum * 0.7, s[i], k as u32 + 1);
                if b.x > 0.1 {
                    sum = sum * 0.5 + 0.2 * a + b.y;
                }
            }
            y[i] = sum;
        }
    )*};
}

cubes! {
    generated in_generated ();
    both in_both (vjp = cube::vjp, jvp = cube::jvp);
    only_vjp in_only_vjp (vjp = cube::vjp);
    only_jvp in_only_jvp (jvp = cube::jvp,);
    with_wrong_vjp in_with_wrong_vjp (vjp = cube::wrong_vjp, jvp = cube::jvp);
    with_wrong_jvp in_with_wrong_jvp (vjp = cube::vjp, jvp = cube::wrong_jvp);
    with_wrong_vjp_alone in_with_wrong_vjp_alone (vjp = cube::wrong_vjp);
}

struct Inputs {
    x: Array<f64>,
    s: Array<Vec2<f64>>,
    y: Array<f64>,
}

fn inputs(seed: u32) -> Inputs {
    let dev = Device::cpu();
    let at = |k: u32| 0.4 + 0.5 * (f64::from(seed * 17 + k) * 1.37).sin().abs();
    Inputs {
        x: dev.array(&[at(1), at(2), at(3)]).unwrap(),
        s: dev.array(&[Vec2::new(at(4), at(5)), Vec2::new(at(6), -at(7)), Vec2::new(0.1, at(9))]).unwrap(),
        y: dev.zeros(3).unwrap(),
    }
}

type Launch<'a> = &'a dyn Fn(&Array<f64>, &Array<f64>) -> Result<()>;

#[test]
fn derivatives_by_hand_pass_the_check_and_agree_with_the_generated_ones() {
    for seed in 0..4 {
        let Inputs { x, s, y } = inputs(seed);
        in_generated::gradcheck(3, &x, &s, &y, 4).unwrap();
        in_both::gradcheck(3, &x, &s, &y, 4).unwrap();
        in_only_vjp::gradcheck(3, &x, &s, &y, 4).unwrap();
        in_only_jvp::gradcheck(3, &x, &s, &y, 4).unwrap();
        let gradient = |kernel: Launch<'_>| {
            let (x, y) = (x.detached().unwrap().requires_grad(), y.detached().unwrap());
            let total = Device::cpu().zeros::<f64>(1).unwrap();
            let tape = Tape::record(|| {
                kernel(&x, &y)?;
                add_up(3, &y, &total)
            })
            .unwrap();
            tape.backward(&total).unwrap();
            x.grad().unwrap().to_vec().unwrap()
        };
        let a = gradient(&|x, y| in_generated(3, x, &s, y, 4));
        let b = gradient(&|x, y| in_both(3, x, &s, y, 4));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-13 * a.abs()), "{a:?} {b:?}");
    }
}

#[diff_kernel]
fn add_up<F: Float>(x: &Array<F>, total: &mut Array<F>) {
    total[0] += x[ABSOLUTE_POS];
}

#[test]
fn the_check_catches_a_wrong_vjp_and_a_wrong_jvp() {
    let Inputs { x, s, y } = inputs(1);
    let vjp = in_with_wrong_vjp::gradcheck(3, &x, &s, &y, 4).unwrap_err().to_string();
    assert!(vjp.contains("in_with_wrong_vjp") && vjp.contains("disagree"), "{vjp}");
    let alone = in_with_wrong_vjp_alone::gradcheck(3, &x, &s, &y, 4).unwrap_err().to_string();
    assert!(alone.contains("disagree"), "{alone}");
    let jvp = in_with_wrong_jvp::gradcheck(3, &x, &s, &y, 4).unwrap_err().to_string();
    assert!(jvp.contains("in_with_wrong_jvp") && jvp.contains("numeric"), "{jvp}");
}

// ---- a function whose formula has no derivative where it matters

#[diff_fn(vjp = sinc_vjp, jvp = sinc_jvp)]
fn sinc<F: Float>(x: F) -> F {
    select(x.abs() < 1e-4, 1.0 - x * x / 6.0, x.sin() / x)
}

#[diff_fn]
fn sinc_slope<F: Float>(x: F) -> F {
    select(x.abs() < 1e-4, -x / 3.0, (x.cos() * x - x.sin()) / (x * x))
}

#[diff_fn]
fn sinc_vjp<F: Float>(x: F, bar: F) -> F {
    let slope: F = sinc_slope(x);
    slope * bar
}

#[diff_fn]
fn sinc_jvp<F: Float>(x: F, dx: F) -> (F, F) {
    let value: F = sinc(x);
    let slope: F = sinc_slope(x);
    (value, slope * dx)
}

#[diff_kernel]
fn sincs<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let s: F = sinc(x[ABSOLUTE_POS]);
    y[ABSOLUTE_POS] = s * s + s;
}

#[test]
fn a_vjp_may_take_care_of_a_removable_singularity() {
    let dev = Device::cpu();
    let x = dev.array(&[0.0, 0.7, -2.3]).unwrap();
    sincs::gradcheck(3, &x, &dev.zeros(3).unwrap()).unwrap();
}

// ---- kernels

#[diff_kernel]
fn smooth_adjoint<F: Float>(
    x: &Array<F>,
    w: &Array<F>,
    at: &Array<u32>,
    y: &Array<F>,
    sum: &Array<F>,
    power: i32,
    x_bar: &mut Array<F>,
    w_bar: &mut Array<F>,
    y_bar: &Array<F>,
    sum_bar: &Array<F>,
) {
    let i = ABSOLUTE_POS;
    if i < y.len() {
        let (a, b) = (x[i], w[0]);
        let g = y_bar[at[i]];
        x_bar[i] += g * b * F::cast_from(power) * a.powi(power - 1) + sum_bar[0] * a.cos();
        w_bar[0] += g * a.powi(power);
    }
}

#[diff_kernel]
fn smooth_tangent<F: Float>(
    x: &Array<F>,
    w: &Array<F>,
    at: &Array<u32>,
    y: &Array<F>,
    sum: &Array<F>,
    power: i32,
    x_dot: &Array<F>,
    w_dot: &Array<F>,
    y_dot: &mut Array<F>,
    sum_dot: &mut Array<F>,
) {
    let i = ABSOLUTE_POS;
    y_dot[at[i]] = w_dot[0] * x[i].powi(power) + w[0] * F::cast_from(power) * x[i].powi(power - 1) * x_dot[i];
    sum_dot[0] += x[i].cos() * x_dot[i];
}

/// Its second array forgets a factor.
#[diff_kernel]
fn wrong_adjoint<F: Float>(
    x: &Array<F>,
    w: &Array<F>,
    at: &Array<u32>,
    y: &Array<F>,
    sum: &Array<F>,
    power: i32,
    x_bar: &mut Array<F>,
    w_bar: &mut Array<F>,
    y_bar: &Array<F>,
    sum_bar: &Array<F>,
) {
    let i = ABSOLUTE_POS;
    let (a, b) = (x[i], w[0]);
    let g = y_bar[at[i]];
    x_bar[i] += g * b * F::cast_from(power) * a.powi(power - 1) + sum_bar[0] * a.cos();
    w_bar[0] += g * a;
}

macro_rules! smooth {
    ($($name:ident ($($attribute:tt)*);)*) => {$(
        #[diff_kernel($($attribute)*)]
        fn $name<F: Float>(
            x: &Array<F>, w: &Array<F>, at: &Array<u32>, y: &mut Array<F>, sum: &mut Array<F>, power: i32,
        ) {
            let i = ABSOLUTE_POS;
            y[at[i]] = w[0] * x[i].powi(power);
            sum[0] += x[i].sin();
        }
    )*};
}

smooth! {
    smooth_generated ();
    smooth_by_hand (vjp = smooth_adjoint, jvp = smooth_tangent);
    smooth_vjp (vjp = smooth_adjoint);
    smooth_wrong (vjp = wrong_adjoint);
}

#[test]
fn an_adjoint_kernel_by_hand_is_checked_like_any_other() {
    let dev = Device::cpu();
    let (x, w) = (dev.array(&[0.8, 1.3, 0.4]).unwrap(), dev.array(&[1.7]).unwrap());
    // One element of `y` is not written, so its adjoint passes through.
    let (at, y, sum) = (dev.array(&[3u32, 0, 2]).unwrap(), dev.array(&[0.3; 4]).unwrap(), dev.array(&[0.4]).unwrap());
    smooth_generated::gradcheck(3, &x, &w, &at, &y, &sum, 3).unwrap();
    smooth_by_hand::gradcheck(3, &x, &w, &at, &y, &sum, 3).unwrap();
    smooth_vjp::gradcheck(3, &x, &w, &at, &y, &sum, 3).unwrap();
    let message = smooth_wrong::gradcheck(3, &x, &w, &at, &y, &sum, 3).unwrap_err().to_string();
    assert!(message.contains("smooth_wrong") && message.contains("disagree"), "{message}");
}

#[test]
fn an_adjoint_by_hand_ends_the_adjoint_of_what_a_store_overwrites() {
    let dev = Device::cpu();
    let (x, w) = (dev.array(&[0.8, 1.3, 0.4]).unwrap().requires_grad(), dev.array(&[1.7]).unwrap());
    let (at, y0) = (dev.array(&[3u32, 0, 2]).unwrap(), dev.array(&[0.3, 0.5, 0.7, 0.9]).unwrap().requires_grad());
    let y = dev.zeros::<f64>(4).unwrap();
    let (sum, total) = (dev.zeros::<f64>(1).unwrap(), dev.zeros::<f64>(1).unwrap());
    let tape = Tape::record(|| {
        y.copy_from(&y0)?;
        smooth_vjp(3, &x, &w, &at, &y, &sum, 2)?;
        add_up(4, &y, &total)
    })
    .unwrap();
    tape.backward(&total).unwrap();
    let expected: Vec<f64> = [0.8, 1.3, 0.4].iter().map(|x| 1.7 * 2.0 * x).collect();
    let found = x.grad().unwrap().to_vec().unwrap();
    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14), "{found:?} {expected:?}");
    assert_eq!(y0.grad().unwrap().to_vec().unwrap(), [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn devices_agree_on_derivatives_by_hand() {
    let dev = Device::cpu();
    let Inputs { x, s, y } = inputs(2);
    for device in diffkern::gradcheck::devices().unwrap() {
        in_both::devicecheck(&device, 3, &x, &s, &y, 4).unwrap();
        let (w, at) = (dev.array(&[1.7]).unwrap(), dev.array(&[3u32, 0, 2]).unwrap());
        let (y, sum) = (dev.array(&[0.3; 4]).unwrap(), dev.array(&[0.4]).unwrap());
        smooth_by_hand::devicecheck(&device, 3, &x, &w, &at, &y, &sum, 3).unwrap();
        sincs::devicecheck(&device, 3, &x, &dev.zeros(3).unwrap()).unwrap();
    }
}

// ---- what a store overwrites, where the derivatives by hand look elsewhere

#[diff_kernel]
fn reset_adjoint<F: Float>(x: &Array<F>, mask: &Array<u32>, y: &Array<F>, x_bar: &mut Array<F>, y_bar: &Array<F>) {
    if x.len() + mask.len() + y.len() + y_bar.len() == 0 {
        x_bar[0] += 1.0;
    }
}

#[diff_kernel]
fn reset_tangent<F: Float>(x: &Array<F>, mask: &Array<u32>, y: &Array<F>, x_dot: &Array<F>, y_dot: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if mask[i] > 0 && x.len() + y.len() + x_dot.len() > 0 {
        y_dot[i] = 0.0;
    }
}

/// The mask says where `x` is positive.
#[diff_kernel(vjp = reset_adjoint, jvp = reset_tangent)]
fn reset<F: Float>(x: &Array<F>, mask: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if x[i] > 0.0 && mask.len() > 0 {
        y[i] = 0.25;
    }
}

#[test]
fn what_a_store_overwrites_is_found_by_what_the_kernel_reads() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0, -1.0, 2.0, -2.0])?;
    let mask = dev.array(&[1u32, 0, 1, 0])?;
    let y0 = dev.array(&[0.5; 4])?.requires_grad();
    let (tape, total) = Tape::record_value(|| {
        let (y, total) = (dev.zeros(4)?, dev.zeros(1)?);
        y.copy_from(&y0)?;
        reset(4, &x, &mask, &y)?;
        add_up(4, &y, &total)?;
        Ok::<_, Error>(total)
    })?;
    tape.backward(&total)?;
    assert_eq!(y0.grad()?.to_vec()?, [0.0, 1.0, 0.0, 1.0]);
    Ok(())
}
