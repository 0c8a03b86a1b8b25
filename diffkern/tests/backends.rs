//! Every kernel gives the same values, gradients and tangents on each device that this build and machine have: `f32`,
//! relative 1e-4, against the CPU. What only the CPU can do is an error elsewhere, never another number.

#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(clippy::needless_borrow, reason = "a macro takes arrays and references to them alike")]

use diffkern::gradcheck::devices;
use diffkern::prelude::*;
use diffkern::{jvp, reduce};

/// Elements as scalars.
trait Flat: Element {
    const N: usize;
    fn join(scalars: &[f32]) -> Self;
    fn split(&self) -> Vec<f32>;
}

impl Flat for f32 {
    const N: usize = 1;
    fn join(scalars: &[f32]) -> f32 {
        scalars[0]
    }
    fn split(&self) -> Vec<f32> {
        vec![*self]
    }
}

macro_rules! flat {
    ($($ty:ident $n:literal),*) => {$(
        impl Flat for $ty<f32> {
            const N: usize = $n;
            fn join(scalars: &[f32]) -> Self {
                $ty::from_array(std::array::from_fn(|k| scalars[k]))
            }
            fn split(&self) -> Vec<f32> {
                self.to_array().to_vec()
            }
        }
    )*};
}

flat!(Vec2 2, Vec3 3, Vec4 4, Mat2 4, Mat3 9);

/// Numbers in (lo, hi) that repeat for a seed.
fn numbers<T: Flat>(dev: &Device, seed: u64, n: usize, lo: f32, hi: f32) -> Array<T> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        lo + (hi - lo) * (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let elements: Vec<T> = (0..n).map(|_| T::join(&(0..T::N).map(|_| next()).collect::<Vec<_>>())).collect();
    dev.array(&elements).unwrap()
}

/// Matrices near the identity but not symmetric.
fn matrices(dev: &Device, seed: u64, n: usize) -> Array<Mat3<f32>> {
    let near = |m: Mat3<f32>| {
        let mut a = m.to_array();
        a.iter_mut().step_by(4).zip([1.2, 0.9, 1.1]).for_each(|(x, d)| *x += d);
        Mat3::from_array(a)
    };
    let all: Vec<_> = numbers::<Mat3<f32>>(dev, seed, n, -0.3, 0.3).to_vec().unwrap().into_iter().map(near).collect();
    dev.array(&all).unwrap()
}

fn flat<T: Flat>(array: &Array<T>) -> Vec<f32> {
    array.to_vec().unwrap().iter().flat_map(Flat::split).collect()
}

type Outcome = Vec<(&'static str, Vec<f32>)>;

/// Values, gradients for fixed seeds and tangents for fixed directions of a launch.
macro_rules! outcome {
    ($dev:expr, inputs $($input:ident)*; outputs $($output:ident)*; $launch:expr) => {{
        let dev: &Device = $dev;
        $(let $input = $input.requires_grad();)*
        let launch = || -> Result<()> { $launch };
        let mut all: Outcome = vec![];
        let tape = Tape::record(launch).unwrap();
        $(all.push((stringify!($output), flat(&$output)));)*
        let mut seed = 40;
        $(seed += 1; let $output = ($output.clone(), like(dev, seed, &$output));)*
        tape.backward_from(&[$(($output.0.as_any(), $output.1.as_any())),*]).unwrap();
        $(all.push((concat!("gradient of ", stringify!($input)), flat(&$input.grad().unwrap())));)*
        $(seed += 1; let $input = ($input.clone(), like(dev, seed, &$input));)*
        let directions = [$(($input.0.as_any(), $input.1.as_any())),*];
        let (_, tangents) = jvp::<_, diffkern::Error>(&[&directions], || {
            $(let $output = &$output.0; let _ = $output;)*
            $(let $input = &$input.0; let _ = $input;)*
            $launch
        }).unwrap();
        $(all.push((concat!("tangent of ", stringify!($output)), flat(&tangents.get(0, &$output.0).unwrap())));)*
        all
    }};
}

fn like<T: Flat>(dev: &Device, seed: u64, array: &Array<T>) -> Array<T> {
    numbers(dev, seed, array.len(), -1.0, 1.0)
}

/// The same on every device.
fn agree(name: &str, outcome: impl Fn(&Device) -> Outcome) {
    let expected = outcome(&Device::cpu());
    for dev in devices().unwrap() {
        for ((what, found), (_, expected)) in outcome(&dev).into_iter().zip(&expected) {
            let scale = expected.iter().fold(0.0f32, |m, v| m.max(v.abs()));
            assert!(scale.is_finite() && found.len() == expected.len(), "{name}, {what}");
            for (k, (&a, &b)) in found.iter().zip(expected).enumerate() {
                let error = (a - b).abs() / b.abs().max(1e-2 * scale).max(1e-6);
                assert!(error < 1e-4, "{name}, {what}, scalar {k}: {a} on {}, {b} on cpu", dev.name());
            }
        }
    }
}

#[diff_kernel]
fn elementary<F: Float>(x: &Array<F>, p: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a = x[i];
    let b = p[i];
    let first = a.exp() + a.ln() * b.sqrt() + a.powf(b) + a.powi(3) + b.powi(-2) + a.sin() * b.cos() + (a * 0.5).tan();
    let second = (a * 0.4).asin() + (b * 0.4).acos() + a.atan() + a.atan2(b) + a.tanh() + a.sinh() * b.cosh();
    let third = a.erf() + b.log1p() + (a - 3.0).abs() + a.min(b) * b.max(a) + a.clamp(0.1, 5.0) + a.hypot(b);
    y[i] = first + second * third + select(a > b, a / b, b * b) + (a * 10.0).floor() * a;
}

#[test]
fn functions() {
    agree("elementary", |dev| {
        let x: Array<f32> = numbers(dev, 1, 300, 0.33, 1.9);
        let p: Array<f32> = numbers(dev, 2, 300, 0.35, 1.8);
        let y = dev.zeros::<f32>(300).unwrap();
        outcome!(dev, inputs x p; outputs y; elementary(300, &x, &p, &y))
    });
}

#[diff_kernel]
fn linear_algebra<F: Float>(f: &Array<Mat3<F>>, x: &Array<Vec3<F>>, y: &mut Array<Mat3<F>>, s: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let m = f[i];
    let v = x[i];
    let w = v.cross(m * v) + m.col(1) - m.row(2) + Vec3::splat(0.3).mul_elem(v);
    y[i] = m.inverse() * m.transpose() + v.outer(w) * m.determinant() + Mat3::from_cols(v, w, v - w)
        - Mat3::from_rows(w, v, v) / v.norm()
        + Mat3::from_diagonal(v.normalize());
    s[i] = m.trace() + m.ddot(m * m) + v.dot(w) + w.norm_squared();
}

#[test]
fn vectors_and_matrices() {
    agree("linear_algebra", |dev| {
        let f = matrices(dev, 3, 50);
        let x: Array<Vec3<f32>> = numbers(dev, 4, 50, 0.2, 1.7);
        let (y, s) = (dev.zeros::<Mat3<f32>>(50).unwrap(), dev.zeros::<f32>(50).unwrap());
        outcome!(dev, inputs f x; outputs y s; linear_algebra(50, &f, &x, &y, &s))
    });
}

#[diff_kernel]
fn order_matters<F: Float>(x: &Array<F>, w: &Array<F>, y: &mut Array<F>, n: usize) {
    let mut s = x[ABSOLUTE_POS];
    let mut t = F::new(0.5);
    for k in 0..n {
        if k % 3 == 1 {
            s = (s * w[k % w.len()]).sin() + t;
        } else {
            t = t * 0.9 + s.cos() * 0.1;
        }
    }
    y[ABSOLUTE_POS] = s * t;
}

#[test]
fn loops_of_a_length_known_at_launch() {
    for n in [0usize, 1, 7, 60] {
        agree("order_matters", |dev| {
            let x: Array<f32> = numbers(dev, 5, 100, 0.3, 0.8);
            let w: Array<f32> = numbers(dev, 6, 11, 0.6, 1.1);
            let y = dev.zeros::<f32>(100).unwrap();
            outcome!(dev, inputs x w; outputs y; order_matters(100, &x, &w, &y, n))
        });
    }
}

#[diff_kernel]
fn triangle<F: Float>(x: &Array<F>, y: &mut Array<F>, m: i32) {
    let mut a = x[ABSOLUTE_POS];
    for k in 0..12usize {
        let mut b = a * 0.7;
        for j in k..10 {
            b = b * b + 0.1 * F::cast_from(j);
            if b > 1.0 {
                b = 1.0 / b;
            }
        }
        a = a.sin() + b;
    }
    for k in -2..m {
        a = a * (1.0 + 0.1 * F::cast_from(k)) + 0.05 * a * a;
    }
    for _ in ABSOLUTE_POS..20 {
        a = a * 0.9 + 0.01 * a * a;
    }
    y[ABSOLUTE_POS] = a;
}

#[test]
fn nested_loops_bounded_by_constants_scalars_and_positions() {
    agree("triangle", |dev| {
        let x: Array<f32> = numbers(dev, 7, 30, 0.3, 0.9);
        let y = dev.zeros::<f32>(30).unwrap();
        outcome!(dev, inputs x; outputs y; triangle(30, &x, &y, 3))
    });
}

#[diff_kernel]
fn branches<F: Float>(x: &Array<F>, y: &mut Array<F>, limit: F, #[comptime] square: bool) {
    let i = ABSOLUTE_POS;
    let v = x[i];
    if v < limit {
        y[i] = v.exp();
        return;
    }
    let w = if v > 0.9 && x[i] < 5.0 {
        let w = v * v;
        w.ln()
    } else if v > 0.7 || limit > 3.0 {
        v.tanh()
    } else {
        v
    };
    let mut out = w + w * 3.0 * v;
    if square {
        out *= out;
    }
    y[i] = out;
}

#[test]
fn branches_and_comptime() {
    for square in [false, true] {
        agree("branches", |dev| {
            let x: Array<f32> = numbers(dev, 8, 64, 0.2, 1.6);
            let y = dev.zeros::<f32>(64).unwrap();
            outcome!(dev, inputs x; outputs y; branches(64, &x, &y, 0.55, square))
        });
    }
}

#[diff_fn]
fn lookup<F: Float>(table: &Array<F>, at: F) -> (F, F) {
    let k = usize::cast_from(at.floor());
    let t = at - at.floor();
    let (a, b) = (table[k], table[k + 1]);
    (a + (b - a) * t * t, b - a)
}

#[diff_fn]
fn law<F: Float>(x: F, v: Vec3<F>, table: &Array<F>, turns: usize) -> Vec3<F> {
    let (value, slope): (F, F) = lookup(table, x);
    let mut r = v * value;
    for _ in 0..turns {
        r = r * r.norm() - v * slope;
    }
    r
}

#[diff_kernel]
fn calls<F: Float>(x: &Array<F>, v: &Array<Vec3<F>>, table: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut sum = F::new(0.0);
    for k in 0..n {
        let r: Vec3<F> = law::<F>(x[i] + 0.2 * F::cast_from(k), v[i], table, k);
        sum = sum * 0.5 + r.x * r.y;
    }
    y[i] = sum + table[0];
}

#[test]
fn device_functions() {
    agree("calls", |dev| {
        let x: Array<f32> = numbers(dev, 9, 20, 0.13, 0.17);
        let v: Array<Vec3<f32>> = numbers(dev, 10, 20, 0.2, 0.9);
        let table: Array<f32> = numbers(dev, 11, 6, 0.4, 0.8);
        let y = dev.zeros::<f32>(20).unwrap();
        outcome!(dev, inputs x v table; outputs y; calls(20, &x, &v, &table, &y, 5))
    });
}

#[diff_kernel]
fn scatter<F: Float>(x: &Array<F>, to: &Array<u32>, y: &mut Array<F>, z: &mut Array<Vec2<F>>) {
    let i = ABSOLUTE_POS;
    y[to[i]] += x[i] * x[i];
    y[0] -= x[i].sin();
    z[to[i]] += Vec2::new(x[i], x[i] * x[i] * x[i]);
}

#[diff_kernel]
fn stencil<F: Float>(x: &Array<F>, y: &mut Array<F>, nx: usize, ny: usize) {
    let (i, j, k) = (ABSOLUTE_POS_X, ABSOLUTE_POS_Y, ABSOLUTE_POS_Z);
    let right = x[(i + 1) % nx + nx * (j + ny * k)];
    let up = x[i + nx * ((j + 1) % ny + ny * k)];
    y[ABSOLUTE_POS] = x[i + nx * (j + ny * k)] * right + up * up;
}

#[test]
fn scatters_and_domains_of_three_dimensions() {
    agree("scatter", |dev| {
        let x: Array<f32> = numbers(dev, 12, 500, 0.3, 1.4);
        let to: Vec<u32> = (0..500).map(|k| k * 7 % 13).collect();
        let to = dev.array(&to).unwrap();
        let (y, z) = (dev.zeros::<f32>(13).unwrap(), dev.zeros::<Vec2<f32>>(13).unwrap());
        outcome!(dev, inputs x; outputs y z; scatter(500, &x, &to, &y, &z))
    });
    agree("stencil", |dev| {
        let x: Array<f32> = numbers(dev, 13, 24, 0.3, 1.4);
        let y = dev.zeros::<f32>(24).unwrap();
        outcome!(dev, inputs x; outputs y; stencil((4, 3, 2), &x, &y, 4, 3))
    });
}

/// Positions and velocities after a step of a spring.
#[diff_kernel]
fn spring<F: Float>(
    x: &Array<Vec2<F>>,
    v: &Array<Vec2<F>>,
    k: &Array<F>,
    x1: &mut Array<Vec2<F>>,
    v1: &mut Array<Vec2<F>>,
    dt: F,
) {
    let i = ABSOLUTE_POS;
    let speed = v[i] - x[i] * (k[0] * x[i].norm() * dt);
    v1[i] = speed;
    x1[i] = x[i] + speed * dt;
}

#[test]
fn a_simulation_with_few_checkpoints() {
    agree("spring", |dev| {
        let x: Array<Vec2<f32>> = numbers(dev, 14, 8, 0.5, 1.0);
        let k = dev.array(&[3.0f32]).unwrap().requires_grad();
        let (x, v) = (x.requires_grad(), dev.zeros::<Vec2<f32>>(8).unwrap().requires_grad());
        let (tape, (end, sum)) = Tape::record_value(|| -> Result<_> {
            let (k, dev) = (k.clone(), dev.clone());
            let end = diffkern::rollout(30, Schedule::Checkpoints(4), (x.clone(), v.clone()), move |(x, v), _| {
                let next = (dev.zeros(8)?, dev.zeros(8)?);
                spring(8, x, v, &k, &next.0, &next.1, 0.05)?;
                Ok(next)
            })?;
            let height = end.0.device().zeros::<f32>(8)?;
            first(8, &end.0, &height)?;
            let sum = reduce::sum(&height)?;
            Ok((end, sum))
        })
        .unwrap();
        tape.backward(&sum).unwrap();
        let gradient = |a: &Array<Vec2<f32>>| flat(&a.grad().unwrap());
        vec![
            ("end", flat(&end.0)),
            ("sum", flat(&sum)),
            ("gradient of x", gradient(&x)),
            ("gradient of v", gradient(&v)),
            ("gradient of k", flat(&k.grad().unwrap())),
        ]
    });
}

#[diff_kernel]
fn first<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].x;
}

#[test]
fn arrays_are_filled_copied_cut_and_overwritten() {
    agree("arrays", |dev| {
        let a: Array<f32> = numbers(dev, 15, 10, 0.0, 1.0);
        let b = dev.full(10, 0.5f32).unwrap();
        let shared = a.clone();
        b.slice(2..6).unwrap().copy_from(&a.slice(4..8).unwrap()).unwrap();
        a.slice(0..3).unwrap().fill(7.0).unwrap();
        let c = dev.array(&[1.0f32, 2.0]).unwrap();
        c.write(&[4.0, 5.0]).unwrap();
        let empty = dev.zeros::<f32>(0).unwrap();
        vec![("a", flat(&a)), ("b", flat(&b)), ("shared", flat(&shared)), ("c", flat(&c)), ("none", flat(&empty))]
    });
}

#[diff_kernel]
fn bounded_by_data_and_a_scalar<F: Float>(x: &Array<F>, count: &Array<u32>, y: &mut Array<F>, most: u32) {
    let mut a = x[ABSOLUTE_POS];
    for k in 0..count[ABSOLUTE_POS].min(most) {
        a = a.sin() * a + 0.1 * F::cast_from(k);
    }
    y[ABSOLUTE_POS] = a;
}

#[test]
fn a_loop_bounded_by_data_and_a_scalar() {
    agree("bounded_by_data_and_a_scalar", |dev| {
        let x: Array<f32> = numbers(dev, 16, 50, 0.4, 0.9);
        let count = dev.array(&(0..50u32).map(|k| k % 8).collect::<Vec<_>>()).unwrap();
        let y = dev.zeros::<f32>(50).unwrap();
        outcome!(dev, inputs x; outputs y; bounded_by_data_and_a_scalar(50, &x, &count, &y, 6))
    });
}

#[diff_kernel]
fn bounded_by_data<F: Float>(x: &Array<F>, count: &Array<u32>, y: &mut Array<F>) {
    let mut a = x[ABSOLUTE_POS];
    for _ in 0..count[ABSOLUTE_POS] {
        a = a.sin() * a;
    }
    y[ABSOLUTE_POS] = a;
}

#[test]
fn a_gradient_that_a_gpu_cannot_keep_is_an_error() {
    for dev in devices().unwrap() {
        let x = dev.array(&[0.5f32, 0.6]).unwrap().requires_grad();
        let (count, y) = (dev.array(&[2u32, 3]).unwrap(), dev.zeros::<f32>(2).unwrap());
        let tape = Tape::record(|| bounded_by_data(2, &x, &count, &y)).unwrap();
        assert!(flat(&y).iter().all(|v| v.is_finite()));
        let error = tape.backward_from(&[(y.as_any(), dev.array(&[1.0f32, 1.0]).unwrap().as_any())]).unwrap_err();
        assert!(error.to_string().contains("bounded_by_data"), "{error}");
    }
}

#[test]
fn f64_is_an_error_where_it_would_be_wrong() {
    for dev in devices().unwrap().into_iter().filter(|dev| !dev.supports_f64()) {
        let error = dev.array(&[1.0f64]).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("f64"), "{error}");
    }
}

#[diff_kernel]
fn add_to<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] += x[ABSOLUTE_POS];
}

/// Kernels that no thread has launched before, on arrays that all of them write.
#[test]
fn launches_from_several_threads_lose_nothing() {
    for dev in devices().unwrap() {
        let (x, y) = (dev.full(1000, 1.0f32).unwrap(), dev.zeros::<f32>(1000).unwrap());
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..40).for_each(|_| add_to(1000, &x, &y).unwrap()));
            }
        });
        assert_eq!(y.to_vec().unwrap(), vec![120.0; 1000]);
    }
}

#[test]
fn an_array_that_a_device_cannot_hold_is_an_error() {
    // 2^32 scalars, of which a GPU has no buffer; nothing is allocated for it.
    for dev in devices().unwrap().into_iter().filter(|dev| dev.name() == "wgpu") {
        let error = dev.zeros::<Mat3<f32>>(477_218_588).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("cannot allocate") && error.contains("split it"), "{error}");
    }
}
