//! Random numbers by counters: the published vectors, moments, and gradients around them.

use diffkern::prelude::*;
use diffkern::rand;

use crate::reals;

/// From `kat_vectors` of Random123: counter, key, result.
#[test]
fn threefry_gives_the_published_vectors() {
    let ones = u32::MAX;
    assert_eq!(rand::threefry(0, 0, 0, 0), (0x6b20_0159, 0x99ba_4efe));
    assert_eq!(rand::threefry(ones, ones, ones, ones), (0x1cb9_96fc, 0xbb00_2be7));
    let (counter, key) = ((0x243f_6a88, 0x85a3_08d3), (0x1319_8a2e, 0x0370_7344));
    assert_eq!(rand::threefry(key.0, key.1, counter.0, counter.1), (0xc492_3a9c, 0x483d_f7a0));
}

#[diff_kernel]
pub fn draw<F: Float>(u: &mut Array<F>, z: &mut Array<F>, seed: u32) {
    let i = ABSOLUTE_POS;
    let a: F = rand::uniform::<F>(seed, 7u32, i as u32);
    let b: F = rand::normal::<F>(seed, 7u32, i as u32);
    u[i] = a;
    z[i] = b;
}

/// Mean of powers 1 to 4, and of products of neighbours.
fn moments(x: &[f64]) -> [f64; 5] {
    let n = x.len() as f64;
    let power = |k| x.iter().map(|x| x.powi(k)).sum::<f64>() / n;
    [power(1), power(2), power(3), power(4), x.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / (n - 1.0)]
}

#[track_caller]
fn moments_are(x: &[f64], expected: [f64; 5], deviations: [f64; 5]) {
    for ((found, right), sigma) in moments(x).into_iter().zip(expected).zip(deviations) {
        let bound = 4.5 * sigma / (x.len() as f64).sqrt();
        assert!((found - right).abs() < bound, "{found} where {right} within {bound} is right");
    }
}

fn check(u: &[f64], z: &[f64], seed_resolution: f64) {
    assert!(u.iter().all(|u| (0.0..1.0).contains(u)));
    let (least, most) = u.iter().fold((1.0f64, 0.0f64), |(a, b), u| (a.min(*u), b.max(*u)));
    assert!(least < seed_resolution && most > 1.0 - seed_resolution, "{least} to {most}");
    // Standard deviations of u^k: sqrt(1 / (2k + 1) - 1 / (k + 1)^2); of z^k: 1, sqrt 2, sqrt 15, sqrt 96.
    let of_power = |k: f64| (1.0 / (2.0 * k + 1.0) - 1.0 / (k + 1.0).powi(2)).sqrt();
    let deviations = [of_power(1.0), of_power(2.0), of_power(3.0), of_power(4.0), 0.22];
    moments_are(u, [0.5, 1.0 / 3.0, 0.25, 0.2, 0.25], deviations.map(|s| s * 1.3));
    moments_are(z, [0.0, 1.0, 0.0, 3.0, 0.0], [1.0, 2.0f64.sqrt(), 15.0f64.sqrt(), 96.0f64.sqrt(), 1.0]);
    let mixed = u.iter().zip(z).map(|(u, z)| (u - 0.5) * z).sum::<f64>() / u.len() as f64;
    assert!(mixed.abs() < 4.5 * 0.29 / (u.len() as f64).sqrt(), "uniform and normal depend on each other: {mixed}");
    // Fractions of a normal within 1, 2 and 3.
    for (bound, right) in [(1.0, 0.682_689_492), (2.0, 0.954_499_736), (3.0, 0.997_300_204)] {
        let found = z.iter().filter(|z| z.abs() < bound).count() as f64 / z.len() as f64;
        assert!((found - right).abs() < 4.5 * (right * (1.0f64 - right) / z.len() as f64).sqrt(), "{found}");
    }
}

#[test]
fn moments_are_those_of_the_distributions() {
    const N: usize = 200_000;
    let dev = Device::cpu();
    let (u, z) = (dev.uninit::<f64>(N).unwrap(), dev.uninit::<f64>(N).unwrap());
    draw(N, &u, &z, 11).unwrap();
    check(&u.to_vec().unwrap(), &z.to_vec().unwrap(), 1e-4);
    let (v, w) = (dev.uninit::<f32>(N).unwrap(), dev.uninit::<f32>(N).unwrap());
    draw(N, &v, &w, 12).unwrap();
    let wide = |x: Vec<f32>| x.into_iter().map(f64::from).collect::<Vec<_>>();
    check(&wide(v.to_vec().unwrap()), &wide(w.to_vec().unwrap()), 1e-4);
    // The same draw in both widths, to the narrower's last bit.
    draw(N, &v, &w, 11).unwrap();
    for (a, b) in u.to_vec().unwrap().iter().zip(v.to_vec().unwrap()) {
        assert!((a - f64::from(b)).abs() <= 6.0e-8, "{a} and {b}");
    }
}

/// Means of transformed draws; the gradient to the parameters is that of the transform.
#[diff_kernel]
pub fn sample<F: Float>(mean: &Array<F>, spread: &Array<F>, y: &mut Array<F>, seed: u32) {
    let i = ABSOLUTE_POS;
    let z: F = rand::normal::<F>(seed, i as u32, 0u32);
    let u: F = rand::uniform::<F>(seed, i as u32, 1u32);
    let x = mean[0] + spread[0] * z;
    y[i] = x * x + (u * spread[0]).sin();
}

#[test]
fn the_gradient_around_a_draw_is_exact() {
    let dev = Device::cpu();
    let (mean, spread) = (reals(&dev, 1, 1, 0.4, 0.6), reals(&dev, 2, 1, 0.3, 0.9));
    for seed in 1..4 {
        sample::gradcheck(30, &mean, &spread, &dev.zeros(30).unwrap(), seed).unwrap();
    }
}
