//! Operations on arrays, against the host's.

use diffkern::ops;
use diffkern::prelude::*;

use crate::{near, numbers};

/// Words that repeat for a seed, of so many low bits.
fn words(seed: u64, n: usize, bits: u32) -> Vec<u32> {
    let mask = u64::from(u32::MAX >> (32 - bits));
    numbers(seed, n, 0.0, 4_294_967_296.0).into_iter().map(|x| (x as u64 & mask) as u32).collect()
}

fn sizes() -> Vec<usize> {
    let mut sizes = vec![0, 1, 5000, 17, 777, 3210];
    for k in 1..13 {
        sizes.extend([(1 << k) - 1, 1 << k, (1 << k) + 1]);
    }
    sizes
}

pub fn sort_is_right(dev: &Device, sizes: &[usize]) {
    for (seed, &n) in sizes.iter().enumerate() {
        // All bits, and few values: there order among equals shows.
        for bits in [32, 3] {
            let keys = words(seed as u64, n, bits);
            let sorted = ops::sort(&dev.array(&keys).unwrap()).unwrap();
            let mut order: Vec<u32> = (0..n as u32).collect();
            order.sort_by_key(|&k| keys[k as usize]);
            assert_eq!(sorted.order.to_vec().unwrap(), order, "{n} keys of {bits} bits");
            let expected: Vec<u32> = order.iter().map(|&k| keys[k as usize]).collect();
            assert_eq!(sorted.keys.to_vec().unwrap(), expected);
        }
    }
}

pub fn sums_are_right(dev: &Device, sizes: &[usize]) {
    for (seed, &n) in sizes.iter().enumerate() {
        let x = words(seed as u64, n, 32);
        let before: Vec<u32> =
            x.iter().scan(0u32, |sum, x| Some(std::mem::replace(sum, sum.wrapping_add(*x)))).collect();
        assert_eq!(ops::exclusive_sum_u32(&dev.array(&x).unwrap()).unwrap().to_vec().unwrap(), before, "{n} words");
    }
}

#[test]
fn sort_is_that_of_std() {
    sort_is_right(&Device::cpu(), &sizes());
}

#[test]
fn sums_are_those_before() {
    let dev = Device::cpu();
    sums_are_right(&dev, &sizes());
    sums_are_right(&dev, &[20_000]);
    for n in sizes() {
        let x = numbers(5, n, 0.2, 0.9);
        let before: Vec<f64> = x.iter().scan(0.0, |sum, x| Some(std::mem::replace(sum, *sum + x))).collect();
        near(&ops::exclusive_sum(&dev.array(&x).unwrap()).unwrap().to_vec().unwrap(), &before);
    }
}

#[diff_kernel]
fn weigh<F: Float>(x: &Array<F>, loss: &mut Array<F>) {
    loss[0] += x[ABSOLUTE_POS] * x[ABSOLUTE_POS] * F::cast_from(ABSOLUTE_POS + 1);
}

/// `d/dx_j of sum_i (i + 1) y_i^2 = sum_{i > j} 2 (i + 1) y_i`.
#[test]
fn the_gradient_of_a_prefix_sum_is_a_suffix_sum() {
    let dev = Device::cpu();
    for n in [1, 2, 128, 129, 700] {
        let x = dev.array(&numbers(6, n, 0.2, 0.9)).unwrap().requires_grad();
        let loss = dev.zeros::<f64>(1).unwrap();
        let (tape, y) = Tape::record_value(|| -> Result<_> {
            let y = ops::exclusive_sum(&x)?;
            weigh(n, &y, &loss)?;
            Ok(y)
        })
        .unwrap();
        tape.backward(&loss).unwrap();
        let y = y.to_vec().unwrap();
        let mut expected = vec![0.0; n];
        for j in (1..n).rev() {
            expected[j - 1] = expected[j] + 2.0 * (j + 1) as f64 * y[j];
        }
        near(&x.grad().unwrap().to_vec().unwrap(), &expected);
    }
}

/// Gathers with repeats, scatters back: `y_k = 2 c_k x_k` with `c_k` the number of its repeats, and so its gradient.
#[test]
fn gather_and_scatter_are_each_others_transpose() {
    let dev = Device::cpu();
    let index = words(3, 300, 5);
    let count: Vec<f64> = (0..32).map(|k| index.iter().filter(|&&i| i == k).count() as f64).collect();
    let (x0, index) = (numbers(1, 32, 0.2, 0.9), dev.array(&index).unwrap());
    let x = dev.array(&x0).unwrap().requires_grad();
    let (y, loss) = (dev.zeros::<f64>(32).unwrap(), dev.zeros::<f64>(1).unwrap());
    let tape = Tape::record(|| {
        ops::scatter_add(&ops::gather(&x, &index)?, &index, &y)?;
        weigh(32, &y, &loss)
    })
    .unwrap();
    tape.backward(&loss).unwrap();
    near(&y.to_vec().unwrap(), &count.iter().zip(&x0).map(|(c, x)| c * x).collect::<Vec<_>>());
    let slope = |k: usize| 2.0 * (k + 1) as f64 * count[k] * count[k] * x0[k];
    near(&x.grad().unwrap().to_vec().unwrap(), &(0..32).map(slope).collect::<Vec<_>>());
}

#[test]
fn vectors_and_words_move_too() {
    let dev = Device::cpu();
    let v: Vec<Vec3<f64>> = numbers(1, 12, 0.2, 0.9).chunks(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect();
    let (x, index) = (dev.array(&v).unwrap(), dev.array(&[3u32, 0, 3]).unwrap());
    let y = ops::gather_vec3(&x, &index).unwrap();
    assert_eq!(y.to_vec().unwrap(), [v[3], v[0], v[3]]);
    let sum = dev.zeros::<Vec3<f64>>(4).unwrap();
    ops::scatter_add_vec3(&y, &index, &sum).unwrap();
    assert_eq!(sum.to_vec().unwrap(), [v[0], Vec3::zero(), Vec3::zero(), v[3] + v[3]]);
    let words = ops::gather_u32(&dev.array(&[5u32, 6, 7, 8]).unwrap(), &index).unwrap();
    assert_eq!(words.to_vec().unwrap(), [8, 5, 8]);
    let error = ops::scatter_add_vec3(&y, &dev.array(&[1u32]).unwrap(), &sum).unwrap_err();
    assert!(matches!(error, Error::Length { found: 3, expected: 1, .. }), "{error}");
    assert!(ops::gather(&dev.array(&[1.0f64]).unwrap(), &index).is_err());
}
