//! Local arrays: a sort in registers, a histogram, vectors, indices out of range.

use diffkern::prelude::*;

use crate::{near, numbers, reals};

/// The square of the median of five, by insertion sort.
#[diff_kernel]
pub fn median<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = Array::<F>::new(5usize);
    for k in 0..5 {
        a[k] = x[5 * i + k];
        let mut j = k;
        #[bound(5)]
        while j > 0 && a[j.max(1) - 1] > a[j] {
            let upper = a[j - 1];
            a[j - 1] = a[j];
            a[j] = upper;
            j -= 1;
        }
    }
    y[i] = a[2] * a[2];
}

#[test]
fn a_sort_in_registers_finds_the_median_and_its_gradient() {
    let dev = Device::cpu();
    let x0 = numbers(3, 100, 0.3, 1.9);
    let (x, y) = (dev.array(&x0).unwrap().requires_grad(), dev.zeros::<f64>(20).unwrap());
    let tape = Tape::record(|| median(20, &x, &y)).unwrap();
    tape.backward_from(&[(y.as_any(), dev.array(&[1.0; 20]).unwrap().as_any())]).unwrap();
    let (mut values, mut slopes) = (vec![], vec![]);
    for group in x0.chunks(5) {
        let mut sorted = group.to_vec();
        sorted.sort_by(f64::total_cmp);
        values.push(sorted[2] * sorted[2]);
        slopes.extend(group.iter().map(|x| if *x == sorted[2] { 2.0 * x } else { 0.0 }));
    }
    near(&y.to_vec().unwrap(), &values);
    near(&x.grad().unwrap().to_vec().unwrap(), &slopes);
    median::gradcheck(20, &x, &y).unwrap();
}

/// Weights by bin: integers and vectors, at indices from data.
#[diff_kernel]
pub fn bins<F: Float>(x: &Array<F>, v: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>, counts: &mut Array<u32>) {
    let i = ABSOLUTE_POS;
    let mut count = [0u32; 4];
    let mut sum: [Vec2<F>; 4] = [Vec2::zero(); 4];
    for k in 0..x.len() {
        let bin = u32::cast_from(x[k] * 4.0).min(3);
        count[bin] += 1;
        sum[bin] += v[k] * x[k] * x[i];
    }
    let mine = u32::cast_from(x[i] * 4.0).min(3);
    y[i] = sum[mine] * F::cast_from(count[mine]) + sum[(mine + 1) % 4];
    for b in 0..4 {
        counts[4 * i + b] = count[b];
    }
}

#[test]
fn bins_of_integers_and_vectors_are_exact() {
    let dev = Device::cpu();
    let x = reals(&dev, 1, 12, 0.05, 0.99);
    let v: Vec<Vec2<f64>> = numbers(2, 24, 0.3, 1.2).chunks(2).map(|c| Vec2::new(c[0], c[1])).collect();
    let (v, y, counts) = (dev.array(&v).unwrap(), dev.zeros(12).unwrap(), dev.zeros::<u32>(48).unwrap());
    bins::gradcheck(12, &x, &v, &y, &counts).unwrap();
    bins(12, &x, &v, &y, &counts).unwrap();
    let mut expected = [0u32; 4];
    x.to_vec().unwrap().iter().for_each(|x| expected[(x * 4.0) as usize] += 1);
    assert_eq!(counts.to_vec().unwrap(), expected.repeat(12));
}

#[diff_fn]
fn picked<F: Float>(a: F, b: F, k: u32) -> F {
    let both = [a, b * b];
    both[k]
}

#[diff_kernel]
fn pick<F: Float>(x: &Array<F>, k: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = [F::new(0.5); 3];
    a[k[i]] = x[i];
    let p: F = picked::<F>(x[i], x[i], k[i] % 2);
    y[i] = a[0] + a[2] * 2.0 + p;
}

#[diff_kernel]
fn pick_in_function<F: Float>(x: &Array<F>, k: &Array<u32>, y: &mut Array<F>) {
    let p: F = picked::<F>(x[0], x[0], k[0]);
    y[0] = p;
}

#[test]
fn an_index_out_of_range_is_an_error_that_names_it() {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[3.0f64, 5.0]).unwrap(), dev.zeros(2).unwrap());
    pick(2, &x, &dev.array(&[2u32, 1]).unwrap(), &y).unwrap();
    assert_eq!(y.to_vec().unwrap(), [0.5 + 6.0 + 3.0, 0.5 + 1.0 + 25.0]);
    let far = dev.array(&[2u32, 7]).unwrap();
    let error = pick(2, &x, &far, &y).unwrap_err();
    assert!(matches!(error, Error::Index { kernel: "pick", index: 7, len: 3, .. }), "{error}");
    let error = pick_in_function(1, &x, &far, &y).unwrap_err();
    assert!(matches!(error, Error::Index { kernel: "pick_in_function", index: 2, len: 2, .. }), "{error}");
    pick_in_function(1, &x, &dev.array(&[1u32]).unwrap(), &y).unwrap();
}
