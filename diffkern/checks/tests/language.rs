//! The kernel language, construct by construct: values against Rust written by hand, gradients by the generated checks
//! (dot-product identity 1e-10, finite differences 1e-6) at points away from zero, one and symmetric states.

#![expect(clippy::unwrap_used, reason = "tests")]

use diffkern::prelude::*;

/// Numbers in (lo, hi) that repeat for a seed.
fn numbers(seed: u64, n: usize, lo: f64, hi: f64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            lo + (hi - lo) * (state >> 11) as f64 / (1u64 << 53) as f64
        })
        .collect()
}

fn reals(dev: &Device, seed: u64, n: usize, lo: f64, hi: f64) -> Array<f64> {
    dev.array(&numbers(seed, n, lo, hi)).unwrap()
}

fn vec3s(dev: &Device, seed: u64, n: usize) -> Array<Vec3<f64>> {
    let x = numbers(seed, 3 * n, 0.2, 1.7);
    dev.array(&x.chunks(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect::<Vec<_>>()).unwrap()
}

/// Matrices near the identity but not symmetric.
fn mat3s(dev: &Device, seed: u64, n: usize) -> Array<Mat3<f64>> {
    let x = numbers(seed, 9 * n, -0.3, 0.3);
    let m = |c: &[f64]| Mat3::new(1.2 + c[0], c[1], c[2], c[3], 0.9 + c[4], c[5], c[6], c[7], 1.1 + c[8]);
    dev.array(&x.chunks(9).map(m).collect::<Vec<_>>()).unwrap()
}

// ---- loops

#[diff_kernel]
fn logistic<F: Float>(x: &Array<F>, r: &Array<F>, y: &mut Array<F>, n: usize) {
    let mut s = x[ABSOLUTE_POS];
    for _ in 0..n {
        s = r[0] * s * (1.0 - s);
    }
    y[ABSOLUTE_POS] = s;
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
fn a_loop_of_any_length_is_exact() {
    let dev = Device::cpu();
    for n in [0, 1, 2, 7, 200, 1280] {
        let (x, w, y) = (reals(&dev, 3, 5, 0.3, 0.8), reals(&dev, 4, 11, 0.6, 1.1), dev.zeros::<f64>(5).unwrap());
        order_matters::gradcheck(5, &x, &w, &y, n).unwrap();
    }
}

#[test]
fn a_loop_of_100_000_turns_is_exact() {
    let dev = Device::cpu();
    let (x, w, y) = (reals(&dev, 5, 2, 0.3, 0.8), reals(&dev, 6, 11, 0.6, 1.1), dev.zeros::<f64>(2).unwrap());
    order_matters::gradcheck(2, &x, &w, &y, 100_000).unwrap();
}

#[test]
fn a_loop_gives_the_derivative_of_its_formula() {
    let dev = Device::cpu();
    let (x0, r, n) = (0.37, 2.7, 40);
    let (x, rate) = (dev.array(&[x0]).unwrap().requires_grad(), dev.array(&[r]).unwrap().requires_grad());
    let y = dev.zeros::<f64>(1).unwrap();
    let tape = Tape::record(|| logistic(1, &x, &rate, &y, n)).unwrap();
    tape.backward(&y).unwrap();
    let (mut s, mut dx, mut dr) = (x0, 1.0, 0.0);
    for _ in 0..n {
        dr = s * (1.0 - s) + r * (1.0 - 2.0 * s) * dr;
        dx *= r * (1.0 - 2.0 * s);
        s = r * s * (1.0 - s);
    }
    assert!((y.to_vec().unwrap()[0] - s).abs() < 1e-14);
    assert!((x.grad().unwrap().to_vec().unwrap()[0] - dx).abs() <= 1e-12 * dx.abs());
    assert!((rate.grad().unwrap().to_vec().unwrap()[0] - dr).abs() <= 1e-12 * dr.abs());
}

#[diff_kernel]
fn nested<F: Float>(x: &Array<F>, count: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for k in 0..count[i] {
        let mut b = a * 0.7;
        for j in k..count[i] {
            b = b * b + 0.1 * F::cast_from(j);
            if b > 1.0 {
                b = 1.0 / b;
            }
        }
        a = a.sin() + b;
    }
    y[i] = a;
}

#[test]
fn nested_loops_with_bounds_from_data_are_exact() {
    let dev = Device::cpu();
    let count = dev.array(&[0u32, 1, 2, 5, 9]).unwrap();
    for seed in 1..4 {
        nested::gradcheck(5, &reals(&dev, seed, 5, 0.3, 0.9), &count, &dev.zeros(5).unwrap()).unwrap();
    }
}

#[diff_kernel]
fn signed_range<F: Float>(x: &Array<F>, y: &mut Array<F>, lo: i32, hi: i32) {
    let mut s = x[ABSOLUTE_POS];
    for k in lo..hi {
        s = s * (1.0 + 0.1 * F::cast_from(k)) + 0.05 * s * s;
    }
    y[ABSOLUTE_POS] = s;
}

#[test]
fn ranges_may_start_below_zero_or_be_empty() {
    let dev = Device::cpu();
    for (lo, hi) in [(-3, 4), (2, 2), (5, -5)] {
        let (x, y) = (reals(&dev, 9, 3, 0.3, 0.9), dev.zeros::<f64>(3).unwrap());
        signed_range::gradcheck(3, &x, &y, lo, hi).unwrap();
        signed_range(3, &x, &y, lo, hi).unwrap();
        let expected: Vec<f64> = x
            .to_vec()
            .unwrap()
            .iter()
            .map(|&s| (lo..hi).fold(s, |s, k| s * (1.0 + 0.1 * f64::from(k)) + 0.05 * s * s))
            .collect();
        let found = y.to_vec().unwrap();
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13), "{found:?} {expected:?}");
    }
}

#[diff_kernel]
fn unrolled<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let mut p = F::new(1.0);
    #[unroll]
    for k in 0..3 {
        p = p * v[k] + v[2 - k];
    }
    y[ABSOLUTE_POS] = p;
}

// ---- branches, mutation, scope

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
    let mut out = w;
    {
        let w = out * 3.0;
        out = out + w * v;
    }
    if square {
        out *= out;
    }
    y[i] = out;
}

#[diff_kernel]
fn components<F: Float>(x: &Array<Vec3<F>>, m: &Array<Mat3<F>>, y: &mut Array<Vec3<F>>) {
    let mut v = x[ABSOLUTE_POS];
    v.x = v.x * v.y;
    v.x *= v.z;
    v[1] += v.x;
    let mut a = m[ABSOLUTE_POS];
    a[(0, 2)] = v.x * a[(2, 0)];
    a[(1, 1)] -= 0.5;
    y[ABSOLUTE_POS] = a * v;
}

#[test]
fn branches_and_mutation_are_exact() {
    let dev = Device::cpu();
    for seed in 1..4 {
        for square in [false, true] {
            let (x, y) = (reals(&dev, seed, 16, 0.2, 1.6), dev.zeros::<f64>(16).unwrap());
            branches::gradcheck(16, &x, &y, 0.55, square).unwrap();
        }
        components::gradcheck(4, &vec3s(&dev, seed, 4), &mat3s(&dev, seed, 4), &dev.zeros(4).unwrap()).unwrap();
        unrolled::gradcheck(4, &vec3s(&dev, seed, 4), &dev.zeros(4).unwrap()).unwrap();
    }
}

// ---- functions

#[diff_kernel]
fn elementary<F: Float>(x: &Array<F>, p: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a = x[i];
    let b = p[i];
    let first = a.exp() + a.ln() * b.sqrt() + a.powf(b) + a.powi(3) + b.powi(-2) + a.sin() * b.cos() + (a * 0.5).tan();
    let second = (a * 0.4).asin() + (b * 0.4).acos() + a.atan() + a.atan2(b) + a.tanh() + a.sinh() * b.cosh();
    let third =
        a.erf() + b.log1p() + (a - 3.0).abs() + a.min(b) * b.max(a) + a.clamp(0.1, 5.0) + a.hypot(b) + a.fma(b, a);
    let cut = (a * 10.0).floor() + b.ceil() + a.round() + a.sign();
    y[i] = first + second * third + select(a > b, a / b, b * b) + cut * a + a.recip();
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
    s[i] = m.trace() + m.ddot(m * m) + v.dot(w) + w.norm_squared() + Mat3::identity()[(1, 1)];
}

#[diff_kernel]
fn plane<F: Float>(f: &Array<Mat2<F>>, x: &Array<Vec2<F>>, q: &Array<Vec4<F>>, y: &mut Array<Vec2<F>>) {
    let i = ABSOLUTE_POS;
    let m = f[i];
    y[i] = m.inverse() * x[i] * m.determinant().ln() + m * (m.transpose() * x[i]) * q[i].w + x[i] * q[i].dot(q[i]);
}

#[test]
fn every_function_has_its_derivative() {
    let dev = Device::cpu();
    for seed in 1..5 {
        let y = dev.zeros::<f64>(9).unwrap();
        elementary::gradcheck(9, &reals(&dev, seed, 9, 0.33, 1.9), &reals(&dev, seed + 70, 9, 0.35, 1.8), &y).unwrap();
        let (y, s) = (dev.zeros(3).unwrap(), dev.zeros(3).unwrap());
        linear_algebra::gradcheck(3, &mat3s(&dev, seed, 3), &vec3s(&dev, seed, 3), &y, &s).unwrap();
        let n = numbers(seed, 30, 0.3, 0.8);
        let f =
            dev.array(&[Mat2::new(1.0 + n[0], n[1], -n[2], 1.0 + n[3]), Mat2::new(n[4], -n[5], n[6], 1.3)]).unwrap();
        let x = dev.array(&[Vec2::new(n[7], n[8]), Vec2::new(n[9], -n[10])]).unwrap();
        let q = dev.array(&[Vec4::new(n[11], n[12], n[13], n[14]), Vec4::new(n[15], n[16], n[17], n[18])]).unwrap();
        plane::gradcheck(2, &f, &x, &q, &dev.zeros(2).unwrap()).unwrap();
    }
}

// ---- device functions

mod material {
    use diffkern::prelude::*;

    #[diff_fn]
    pub fn lookup<F: Float>(table: &Array<F>, at: F) -> (F, F) {
        let k = usize::cast_from(at.floor());
        let t = at - at.floor();
        let (a, b) = (table[k], table[k + 1]);
        (a + (b - a) * t * t, b - a)
    }

    #[diff_fn]
    pub fn law<F: Float>(x: F, v: Vec3<F>, table: &Array<F>, turns: usize) -> Vec3<F> {
        let (value, slope): (F, F) = lookup(table, x);
        let mut r = v * value;
        for _ in 0..turns {
            r = r * r.norm() - v * slope;
        }
        r
    }
}

#[diff_kernel]
fn calls<F: Float>(x: &Array<F>, v: &Array<Vec3<F>>, table: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    let mut sum = F::new(0.0);
    for k in 0..n {
        let r: Vec3<F> = material::law::<F>(x[i] + 0.2 * F::cast_from(k), v[i], table, k);
        sum = sum * 0.5 + r.x * r.y;
    }
    y[i] = sum + table[0];
}

#[test]
fn device_functions_with_arrays_and_several_results_are_exact() {
    let dev = Device::cpu();
    for seed in 1..4 {
        let (x, table) = (reals(&dev, seed, 4, 0.13, 0.17), reals(&dev, seed + 9, 6, 0.4, 0.8));
        calls::gradcheck(4, &x, &vec3s(&dev, seed, 4), &table, &dev.zeros(4).unwrap(), 5).unwrap();
    }
}

#[test]
fn a_device_function_can_be_called_on_the_host() {
    #[diff_fn]
    fn square<F: Float>(x: F) -> F {
        x * x
    }
    assert_eq!(square(1.5f64), 2.25);
}

// ---- arrays and domains

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
fn scatters_and_domains_of_three_dimensions_are_exact() {
    let dev = Device::cpu();
    let to = dev.array(&[2u32, 0, 2, 1, 2]).unwrap();
    for seed in 1..4 {
        let (y, z) = (dev.zeros(3).unwrap(), dev.zeros(3).unwrap());
        scatter::gradcheck(5, &reals(&dev, seed, 5, 0.3, 1.4), &to, &y, &z).unwrap();
        let x = reals(&dev, seed, 24, 0.3, 1.4);
        stencil::gradcheck((4, 3, 2), &x, &dev.zeros(24).unwrap(), 4, 3).unwrap();
    }
}

#[diff_kernel]
fn integers(a: &Array<i32>, b: &Array<i32>, y: &mut Array<i32>, u: &mut Array<u32>) {
    let i = ABSOLUTE_POS;
    y[i] = a[i] / b[i] + a[i] % b[i] * 1000 + a[i].max(b[i]) * (a[i] & 3) - (b[i] << 2) + a[i].abs();
    u[i] = (u32::cast_from(a[i]) ^ 5) + (i as u32 | 8) - 7;
}

#[test]
fn integers_wrap_and_division_by_zero_is_zero() {
    let dev = Device::cpu();
    let (a, b) = (dev.array(&[7, -7, i32::MIN, 9]).unwrap(), dev.array(&[2, 2, -1, 0]).unwrap());
    let (y, u) = (dev.zeros::<i32>(4).unwrap(), dev.zeros::<u32>(4).unwrap());
    integers(4, &a, &b, &y, &u).unwrap();
    let div = |a: i32, b: i32| if b == 0 { 0 } else { a.wrapping_div(b) };
    let rem = |a: i32, b: i32| if b == 0 { 0 } else { a.wrapping_rem(b) };
    let expected: Vec<i32> = [(7i32, 2i32), (-7, 2), (i32::MIN, -1), (9, 0)]
        .iter()
        .map(|&(a, b)| {
            div(a, b)
                .wrapping_add(rem(a, b).wrapping_mul(1000))
                .wrapping_add(a.max(b).wrapping_mul(a & 3))
                .wrapping_sub(b.wrapping_shl(2))
                .wrapping_add(a.wrapping_abs())
        })
        .collect();
    assert_eq!(y.to_vec().unwrap(), expected);
    let expected: Vec<u32> = [7i32, -7, i32::MIN, 9]
        .iter()
        .enumerate()
        .map(|(i, &a)| (a as u32 ^ 5).wrapping_add(i as u32 | 8).wrapping_sub(7))
        .collect();
    assert_eq!(u.to_vec().unwrap(), expected);
}

#[diff_kernel]
fn out_of_range<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS + 1];
}

#[test]
fn an_index_out_of_range_names_kernel_line_index_and_length() {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[1.0f32, 2.0, 3.0]).unwrap(), dev.zeros::<f32>(3).unwrap());
    let message = out_of_range(3, &x, &y).unwrap_err().to_string();
    for part in ["out_of_range", "`x`", "3"] {
        assert!(message.contains(part), "{message}");
    }
}

#[diff_kernel]
fn written_twice<F: Float>(x: &Array<F>, to: &Array<u32>, y: &mut Array<F>) {
    y[to[ABSOLUTE_POS]] = x[ABSOLUTE_POS];
}

#[test]
fn an_element_written_by_two_threads_is_an_error() {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[1.0f32, 2.0, 3.0]).unwrap(), dev.zeros::<f32>(3).unwrap());
    written_twice(3, &x, &dev.array(&[2u32, 0, 1]).unwrap(), &y).unwrap();
    assert_eq!(y.to_vec().unwrap(), [2.0, 3.0, 1.0]);
    assert!(written_twice(3, &x, &dev.array(&[2u32, 0, 2]).unwrap(), &y).is_err());
}

#[diff_kernel]
fn guarded<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = select(v > 0.0, v.sqrt() + v.ln(), v * 2.0);
}

#[test]
fn the_side_not_taken_never_reaches_the_gradient() {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[-1.5, 0.0, 2.0]).unwrap().requires_grad(), dev.zeros::<f64>(3).unwrap());
    let total = dev.zeros::<f64>(1).unwrap();
    let tape = Tape::record(|| {
        guarded(3, &x, &y)?;
        add_up(3, &y, &total)
    })
    .unwrap();
    tape.backward(&total).unwrap();
    assert_eq!(x.grad().unwrap().to_vec().unwrap(), [2.0, 2.0, 0.5 / 2f64.sqrt() + 0.5]);
}

#[diff_kernel]
fn cut<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = v * detach(v) + detach(v * v);
}

#[test]
fn a_detached_value_has_no_derivative() {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[1.5]).unwrap().requires_grad(), dev.zeros::<f64>(1).unwrap());
    let tape = Tape::record(|| cut(1, &x, &y)).unwrap();
    tape.backward(&y).unwrap();
    assert_eq!((y.to_vec().unwrap()[0], x.grad().unwrap().to_vec().unwrap()[0]), (4.5, 1.5));
}

#[diff_kernel]
fn add_up<F: Float>(x: &Array<F>, total: &mut Array<F>) {
    total[0] += x[ABSOLUTE_POS];
}

#[diff_kernel]
fn vector_functions<F: Float>(v: &Array<Vec3<F>>, y: &mut Array<F>) {
    let (a, b) = (v[0], Vec3::splat(v[1].x));
    let unit = a.normalize();
    y[0] = a.norm();
    y[1] = a.magnitude();
    y[2] = a.norm_squared();
    y[3] = a.dot(b);
    y[4] = a.mul_elem(b).z;
    y[5] = a.cross(b).y;
    y[6] = unit.x;
}

/// What kernels have of vectors the host has too, with the same values.
#[test]
fn vectors_of_the_host_have_the_functions_of_kernels() -> Result<()> {
    let dev = Device::cpu();
    let (a, b) = (Vec3::new(0.3, -1.7, 2.9), Vec3::splat(0.7));
    let y = dev.uninit(7)?;
    vector_functions(1, &dev.array(&[a, b])?, &y)?;
    let host = [a.norm(), a.magnitude(), a.norm_squared(), a.dot(b), a.mul_elem(b).z, a.cross(b).y, a.normalize().x];
    for (found, expected) in y.to_vec()?.into_iter().zip(host) {
        assert!((found - expected).abs() <= 1e-15 * expected.abs(), "{found} and {expected}");
    }
    assert_eq!((Vec2::splat(2.0), Vec4::splat(1.0).norm_squared()), (Vec2::new(2.0, 2.0), 4.0));
    Ok(())
}
