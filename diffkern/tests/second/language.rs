//! What kernels can say, each as a program whose loss is not linear in the kernel's outcome.

use diffkern::prelude::*;
use diffkern::reduce;

use crate::common::{holds, point};

#[diff_fn]
fn spring<F: Float>(length: F, rest: F, k: usize) -> (F, F) {
    let mut s = length / rest;
    for j in 0..k {
        s = s * s * 0.5 + F::cast_from(j) * 0.1;
    }
    (s.tanh(), s * rest)
}

#[diff_fn]
fn gather<F: Float>(x: &Array<F>, i: usize, w: F) -> F {
    let mut s = x[i] * w;
    if w > 0.2 {
        s += x[(i + 1) % x.len()] * (w * w);
    }
    s
}

#[diff_fn]
fn twice<F: Float>(x: &Array<F>, i: usize, w: F) -> F {
    let once: F = gather(x, i, w * w);
    once * w + x[i].sin()
}

#[diff_fn]
fn infinite_at_zero<F: Float>(x: F) -> F {
    x.sqrt() * x
}

#[diff_kernel]
fn branches<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let v = x[i];
    let mut r = v * v;
    if v > 0.9 {
        r = r.sin() + v;
    } else if v > 0.7 {
        r = v.powf(2.5);
    }
    y[i] = r.max(v * 0.3) + v.abs() * r;
}

#[diff_kernel]
fn loops<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
    let i = ABSOLUTE_POS;
    let a = x[i];
    let mut s = a;
    let mut t = x[(i + 1) % x.len()];
    for p in 0..n {
        let before = s;
        for q in p..4 {
            s = s * t.sin() + a * F::cast_from(q) * 0.1;
            t += s * before * 0.05;
        }
        if t > 1.0 {
            t = t * 0.9 + s * s * 0.1;
        }
    }
    y[i] = s * t + a;
}

#[diff_kernel]
fn functions<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let (s, e): (F, F) = spring(x[i], x[(i + 2) % x.len()] + 0.5, 3usize);
    let g: F = twice(x, i, e);
    let mut r = s * g;
    for k in 0..2 {
        let h: F = gather(x, k, r);
        r += h * 0.3;
    }
    y[i] = r;
}

#[diff_kernel]
fn scatter<F: Float>(x: &Array<F>, to: &Array<u32>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[to[ABSOLUTE_POS]] += v * v.exp();
    y[0] += v.ln();
}

#[diff_kernel]
fn stores<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] * x[i];
    if x[i] > 0.8 {
        y[i] = x[i].sin();
    }
}

#[diff_kernel]
fn algebra<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let n = x.len();
    let v = Vec3::new(x[i], x[(i + 1) % n], x[(i + 2) % n]);
    let m = v.outer(v.cross(Vec3::new(x[i], F::new(1.0), x[i] * x[i]))) + Mat3::identity();
    let w = m.inverse() * v.normalize();
    y[i] = w.norm() * m.determinant() + (m.transpose() * m).trace();
}

#[diff_kernel]
fn guarded<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let v = x[i];
    let s: F = infinite_at_zero(v - 0.8);
    let root = (v - 0.8).sqrt() * v;
    y[i] = select(v > 0.8, s + root, v * v);
}

#[diff_kernel]
fn misfit<F: Float>(y: &Array<F>, goal: &Array<F>, loss: &mut Array<F>) {
    let d = y[ABSOLUTE_POS] - goal[ABSOLUTE_POS];
    loss[0] += d * d * 0.5;
}

/// The adjoints that the generated ones would be, by hand.
mod by_hand {
    use diffkern::prelude::*;

    #[diff_fn]
    pub fn vjp<F: Float>(x: F, y: F, bar: F) -> (F, F) {
        (bar * y * x.cos(), bar * x.sin())
    }

    #[diff_kernel]
    pub fn adjoint_of_kernel<F: Float>(x: &Array<F>, y: &Array<F>, x_bar: &mut Array<F>, y_bar: &Array<F>) {
        let (i, n) = (ABSOLUTE_POS, x.len());
        x_bar[i] += y_bar[i] * x[i].exp() * x[(i + 1) % n];
        x_bar[(i + 1) % n] += y_bar[i] * x[i].exp();
    }
}

#[diff_fn(vjp = by_hand::vjp)]
fn sine_times<F: Float>(x: F, y: F) -> F {
    x.sin() * y
}

#[diff_kernel]
fn function_by_hand<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let s: F = sine_times(x[i], x[(i + 1) % x.len()]);
    y[i] = s * s + x[i];
}

#[diff_kernel(vjp = by_hand::adjoint_of_kernel)]
fn kernel_by_hand<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].exp() * x[(i + 1) % x.len()];
}

#[diff_trait]
trait Law {
    /// Energy at a deformation, and a count that no derivative is taken of.
    fn energy<F: Float>(m: Mat2<F>, turns: u32, stiffness: F) -> (F, u32);
}

struct Corotated;

#[diff_impl]
impl Law for Corotated {
    fn energy<F: Float>(m: Mat2<F>, turns: u32, stiffness: F) -> (F, u32) {
        let (r, _s): (Mat2<F>, Mat2<F>) = polar2(m);
        let d = m - r;
        (d.ddot(d) * stiffness, turns + 1)
    }
}

struct Volume;

#[diff_impl]
impl Law for Volume {
    fn energy<F: Float>(m: Mat2<F>, turns: u32, stiffness: F) -> (F, u32) {
        let mut e = m.determinant();
        for _ in 0..turns {
            e = (e * e).sin() * stiffness + 0.4;
        }
        (e, turns)
    }
}

#[diff_kernel]
fn over_a_law<F: Float, L: Law>(x: &Array<F>, y: &mut Array<F>) {
    let (i, n) = (ABSOLUTE_POS, x.len());
    let m = Mat2::new(x[i] + 1.0, x[(i + 1) % n], x[(i + 2) % n] * 0.3, x[(i + 3) % n]);
    let (e, turns): (F, u32) = L::energy(m, 2u32, x[i]);
    y[i] = e * F::cast_from(turns);
}

const N: usize = 7;

type Kernel = fn(&Array<f64>, &Array<f64>) -> Result<()>;

/// The loss is `sum sin(y) y`, by two more launches.
fn loss_of(kernel: Kernel) -> impl Fn(&Array<f64>) -> Result<Array<f64>> {
    move |x| {
        let (y, z) = (x.device().zeros(N)?, x.device().zeros(N)?);
        kernel(x, &y)?;
        branches(N, &y, &z)?;
        reduce::dot(&y, &z)
    }
}

#[test]
fn statements_and_calls() -> Result<()> {
    let cases: [(&str, Kernel); 12] = [
        ("branches", |x, y| branches(N, x, y)),
        ("loops", |x, y| loops(N, x, y, 3)),
        ("loops without turns", |x, y| loops(N, x, y, 0)),
        ("functions", |x, y| functions(N, x, y)),
        ("scatter", |x, y| {
            let to = x.device().array(&[3u32, 1, 3, 3, 0, 6, 2])?;
            scatter(N, x, &to, y)
        }),
        ("stores", |x, y| stores(N, x, y)),
        ("algebra", |x, y| algebra(N, x, y)),
        ("guarded", |x, y| guarded(N, x, y)),
        ("law with a polar decomposition", |x, y| over_a_law::<_, Corotated>(N, x, y)),
        ("law with a loop", |x, y| over_a_law::<_, Volume>(N, x, y)),
        ("function by hand", |x, y| function_by_hand(N, x, y)),
        ("kernel by hand", |x, y| {
            // Twice into one array: the second store clears the adjoint of the first.
            scatter(N, x, &x.device().zeros(N)?, y)?;
            kernel_by_hand(N, x, y)
        }),
    ];
    for (what, kernel) in cases {
        holds(what, &loss_of(kernel), &point(N))?;
    }
    Ok(())
}

/// At the goal the adjoints are zero, and the adjoint's guards see that; the Hessian is `J^T J` all the same.
#[test]
fn a_residual_of_zero_has_curvature() -> Result<()> {
    let at = point(N);
    let goal = {
        let (x, y) = (Device::cpu().array(&at)?, Device::cpu().zeros::<f64>(N)?);
        guarded(N, &x, &y)?;
        y.to_vec()?
    };
    let program = move |x: &Array<f64>| {
        let (y, loss) = (x.device().zeros(N)?, x.device().zeros(1)?);
        guarded(N, x, &y)?;
        misfit(N, &y, &x.device().array(&goal)?, &loss)?;
        Ok(loss)
    };
    let (gradient, hessian) = crate::common::products(&program, &at, &[vec![1.0; N]])?;
    assert_eq!(gradient, [0.0; N]);
    for (x, found) in at.into_iter().zip(&hessian[0]) {
        let root = (x - 0.8).sqrt();
        let slope = if x > 0.8 { 1.5 * root + 0.5 * x / root + root } else { 2.0 * x };
        assert!((found - slope * slope).abs() < 1e-12 * slope * slope, "at {x}: {found}, {}", slope * slope);
    }
    Ok(())
}

#[diff_kernel]
fn of_equal_values<F: Float>(x: &Array<F>, y: &mut Array<F>, what: u32) {
    let (a, b) = (x[0], x[1]);
    if what == 0 {
        let s: Vec2<F> = singular_values2(Mat2::new(a, b, b, a));
        y[0] = s.norm_squared() * s.x * s.y;
    } else if what == 1 {
        let (u, s, v): (Mat2<F>, Vec2<F>, Mat2<F>) = svd2(Mat2::new(a, b, b, a));
        y[0] = (u * Mat2::from_diagonal(s * s.x * s.y) * v.transpose()).trace();
    } else if what == 2 {
        let s: Vec3<F> = singular_values3(Mat3::new(a, b, 0.0, b, a, 0.0, 0.0, b, a));
        y[0] = s.norm_squared() * s.x * s.y * s.z;
    } else if what == 3 {
        let (u, s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(Mat3::new(a, b, 0.0, b, a, 0.0, 0.0, b, a));
        y[0] = (u * Mat3::from_diagonal(s * s.x * s.y) * v.transpose()).trace();
    } else if what == 4 {
        let (r, s): (Mat2<F>, Mat2<F>) = polar2(Mat2::new(a, b, b * 2.0, a));
        y[0] = (r * s * s).ddot(s);
    } else {
        let (r, s): (Mat3<F>, Mat3<F>) = polar3(Mat3::new(a, b, 0.0, b * 2.0, a, 0.0, 0.0, b, a));
        y[0] = (r * s * s).ddot(s);
    }
}

/// No number is right there, so it is none; the gradient is right, and so are the Hessians of polar factors.
#[test]
fn equal_singular_values_have_no_second_derivatives() -> Result<()> {
    for what in 0..6 {
        let program = move |x: &Array<f64>| {
            let y = x.device().zeros(1)?;
            of_equal_values(1, x, &y, what)?;
            Ok(y)
        };
        for (apart, known) in [(0.0, what >= 4), (1e-9, what >= 4), (0.2, true)] {
            let (x, v) = (Device::cpu().array(&[0.7, apart])?.requires_grad(), Device::cpu().array(&[0.3, 1.1])?);
            let (tape, y) = Tape::record_value(|| program(&x))?;
            let product = tape.hvp(&y, &[&[(x.as_any(), v.as_any())]])?.get(0, &x)?.to_vec()?;
            assert_eq!(product.iter().all(|h| h.is_finite()), known, "{what}, {apart}: {product:?}");
            tape.backward(&y)?;
            let gradient = x.grad()?.to_vec()?;
            assert!(gradient.iter().all(|g| g.is_finite()), "{what}, {apart}: {gradient:?}");
        }
        holds(&format!("far from equal, {what}"), &program, &[0.7, 0.2])?;
    }
    Ok(())
}

fn device_product<F: Float>(device: &Device, kernel: usize) -> Result<Vec<f64>> {
    let reals = |x: &[f64]| x.iter().map(|&x| F::from_f64(x)).collect::<Vec<F>>();
    let (x, v) = (device.array(&reals(&point(N)))?.requires_grad(), device.array(&reals(&[0.5; N]))?);
    let (tape, loss) = Tape::record_value(|| {
        let (y, z) = (device.zeros(N)?, device.zeros(N)?);
        match kernel {
            0 => loops(N, &x, &y, 3)?,
            1 => functions(N, &x, &y)?,
            2 => guarded(N, &x, &y)?,
            3 => scatter(N, &x, &device.array(&[3u32, 1, 3, 3, 0, 6, 2])?, &y)?,
            4 => over_a_law::<_, Corotated>(N, &x, &y)?,
            _ => algebra(N, &x, &y)?,
        }
        branches(N, &y, &z)?;
        reduce::dot(&y, &z)
    })?;
    let products = tape.hvp(&loss, &[&[(x.as_any(), v.as_any())]])?;
    Ok(products.get(0, &x)?.to_vec()?.into_iter().map(Float::to_f64).collect())
}

/// The text of the form makes the same numbers as its Rust, wherever there is a device.
#[test]
fn every_device_agrees_with_the_cpu() -> Result<()> {
    for (name, _) in Device::available() {
        let device = Device::by_name(&name)?;
        for kernel in 0..6 {
            let exact = device_product::<f64>(&Device::cpu(), kernel)?;
            let found = device_product::<f32>(&device, kernel)?;
            let size = exact.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            for (found, exact) in found.iter().zip(&exact) {
                assert!((found - exact).abs() < 3e-4 * size, "{name}, kernel {kernel}: {found} against {exact}");
            }
        }
    }
    Ok(())
}
