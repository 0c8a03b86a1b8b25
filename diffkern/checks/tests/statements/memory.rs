//! Local arrays in memory: linear equations, elements at indices from data in branches, functions, indices out of range.

use diffkern::gradcheck::devices;
use diffkern::prelude::*;

use crate::{near, numbers, reals};

/// Solves `A x = b` by elimination, with `A_jk = 1 / (1 + |p_j - p_k|)`, 2 + p_j on the diagonal, and `b = p`.
#[diff_kernel(directions = 3)]
pub fn eliminate<F: Float>(p: &Array<F>, x: &mut Array<F>) {
    let mut a = Array::<F>::new(121usize);
    let mut b = Array::<F>::new(65usize);
    let first = 11 * ABSOLUTE_POS;
    for j in 0..11 {
        b[j] = p[first + j];
        for k in 0..11 {
            a[11 * j + k] = 1.0 / (1.0 + (p[first + j] - p[first + k]).abs());
        }
        a[12 * j] = p[first + j] + 2.0;
    }
    for j in 0..11 {
        for k in j + 1..11 {
            let factor = a[11 * k + j] / a[12 * j];
            for l in j..11 {
                a[11 * k + l] -= factor * a[11 * j + l];
            }
            b[k] -= factor * b[j];
        }
    }
    for j in (0..11).rev() {
        for k in j + 1..11 {
            b[j] -= a[11 * j + k] * b[k];
        }
        b[j] /= a[12 * j];
        x[first + j] = b[j];
    }
}

#[test]
fn equations_are_solved_and_so_are_their_derivatives() {
    let dev = Device::cpu();
    let p0 = numbers(5, 44, 0.2, 3.0);
    let (p, x) = (dev.array(&p0).unwrap().requires_grad(), dev.zeros::<f64>(44).unwrap());
    let tape = Tape::record(|| eliminate(4, &p, &x)).unwrap();
    let found = x.to_vec().unwrap();
    let a = |p: &[f64], j: usize, k: usize| if j == k { p[j] + 2.0 } else { 1.0 / (1.0 + (p[j] - p[k]).abs()) };
    for (p, x) in p0.chunks(11).zip(found.chunks(11)) {
        let b: Vec<f64> = (0..11).map(|j| (0..11).map(|k| a(p, j, k) * x[k]).sum()).collect();
        near(&b, p);
    }
    // With `A y = 1`, `A` symmetric: the sum of `x` has the derivative `y_j - sum_kl y_k (dA_kl / dp_j) x_l`.
    let solve = |p: &[f64], right: &[f64]| {
        let matrix = nalgebra::DMatrix::from_fn(11, 11, |j, k| a(p, j, k));
        matrix.lu().solve(&nalgebra::DVector::from_column_slice(right)).unwrap()
    };
    tape.backward_from(&[(x.as_any(), dev.array(&[1.0; 44]).unwrap().as_any())]).unwrap();
    let slopes = p0.chunks(11).flat_map(|p| {
        let (x, y) = (solve(p, p), solve(p, &[1.0; 11]));
        let slope = move |j: usize| {
            let apart = |k: usize| {
                let d = p[j] - p[k];
                -d.signum() / (1.0 + d.abs()).powi(2) * (y[j] * x[k] + y[k] * x[j])
            };
            y[j] * (1.0 - x[j]) - (0..11).filter(|k| *k != j).map(apart).sum::<f64>()
        };
        (0..11).map(slope).collect::<Vec<_>>()
    });
    near(&p.grad().unwrap().to_vec().unwrap(), &slopes.collect::<Vec<_>>());
    eliminate::gradcheck(4, &p, &x).unwrap();
}

/// A device function with an array of its own: the weighted sum of the entries that a walk leaves.
#[diff_fn]
fn walked<F: Float>(w: F, n: u32) -> F {
    let mut a = [w; 80];
    let mut at = 0u32;
    for k in 0..n {
        a[at] = a[at] * w + 0.3;
        at = (at * 7 + k + 1) % 80;
    }
    let mut sum = F::new(0.0);
    for k in 0..80 {
        sum += a[k] * a[(k + 1) % 80];
    }
    sum
}

/// Weights by bin, as many turns as data say; vectors, integers and truth values.
#[diff_kernel(directions = 2)]
pub fn histogram<F: Float>(x: &Array<F>, v: &Array<Vec2<F>>, turns: &Array<u32>, y: &mut Array<F>, most: u32) {
    let i = ABSOLUTE_POS;
    let mut sums: [Vec2<F>; 40] = [v[i]; 40];
    let mut counts = Array::<u32>::new(65usize);
    let mut seen = [false; 70];
    // What is alike in all lanes that take part, and is not set in the others.
    let mut marks = Array::<F>::new(65usize);
    for k in 0..turns[i].min(most) {
        let bin = u32::cast_from(x[(i + k as usize) % x.len()] * 40.0).min(39);
        if x[bin as usize % x.len()] > 0.5 {
            sums[bin] = sums[bin] * x[i] + v[k as usize % v.len()];
            seen[bin] = true;
            marks[k] = 0.25;
        } else if counts[bin] < 3 {
            counts[bin + 3] += 1;
            sums[(bin + 1) % 40] += sums[bin] * x[i];
            sums[2] = sums[2] * 0.5;
        }
        counts[bin] += 1;
    }
    let mut total = walked::<F>(x[i], turns[i].min(most));
    for bin in 0..40 {
        if seen[bin] {
            total += sums[bin].dot(sums[(bin + 1) % 40]) * F::cast_from(counts[bin]);
        }
    }
    y[i] = total + sums[7].x * sums[2].y + (marks[3] + marks[4]) * x[i];
}

/// Leaves when an entry has grown: its adjoint has no packs.
#[diff_kernel]
pub fn grown<F: Float>(x: &Array<F>, turns: &Array<u32>, y: &mut Array<F>, most: u32) {
    let mut a = [x[ABSOLUTE_POS]; 66];
    for k in 0..most {
        let at = (k * turns[ABSOLUTE_POS]) % 66;
        a[at] = a[at] * 1.3 + a[(at + 1) % 66] * x[0];
        if a[at] > 1.5 {
            break;
        }
    }
    y[ABSOLUTE_POS] = a[0] * a[5];
}

fn histogram_inputs(dev: &Device) -> (Array<f64>, Array<Vec2<f64>>, Array<u32>) {
    let x = reals(dev, 7, 50, 0.02, 0.98);
    let v: Vec<Vec2<f64>> = numbers(2, 100, 0.3, 1.2).chunks(2).map(|c| Vec2::new(c[0], c[1])).collect();
    let turns: Vec<u32> = (0..50).map(|i| i * 5 % 23).collect();
    (x, dev.array(&v).unwrap(), dev.array(&turns).unwrap())
}

#[test]
fn bins_at_indices_from_data_are_exact() {
    let dev = Device::cpu();
    let (x, v, turns) = histogram_inputs(&dev);
    histogram::gradcheck(50, &x, &v, &turns, &dev.zeros(50).unwrap(), 20).unwrap();
    grown::gradcheck(50, &x, &turns, &dev.zeros(50).unwrap(), 90).unwrap();
}

#[test]
fn packs_agree() {
    let dev = Device::cpu();
    assert_eq!((histogram::LANES, eliminate::LANES), ([true; 3], [true; 3]));
    let (x, v, turns) = histogram_inputs(&dev);
    histogram::lanecheck(50, &x, &v, &turns, &dev.zeros(50).unwrap(), 20).unwrap();
    grown::lanecheck(50, &x, &turns, &dev.zeros(50).unwrap(), 90).unwrap();
    eliminate::lanecheck(21, &reals(&dev, 5, 231, 0.2, 3.0), &dev.zeros(231).unwrap()).unwrap();
}

#[test]
fn devices_agree() {
    let cpu = Device::cpu();
    let (x, v, turns) = histogram_inputs(&cpu);
    for dev in devices().unwrap() {
        histogram::devicecheck(&dev, 50, &x, &v, &turns, &cpu.zeros(50).unwrap(), 20).unwrap();
        grown::devicecheck(&dev, 50, &x, &turns, &cpu.zeros(50).unwrap(), 90).unwrap();
        eliminate::devicecheck(&dev, 21, &reals(&cpu, 5, 231, 0.2, 3.0), &cpu.zeros(231).unwrap()).unwrap();
    }
}

#[diff_kernel]
fn last<F: Float>(x: &Array<F>, at: &Array<u32>, y: &mut Array<F>) {
    let mut a = [x[ABSOLUTE_POS]; 65];
    a[at[ABSOLUTE_POS]] = F::new(2.0);
    y[ABSOLUTE_POS] = a[64] * a[0];
}

#[test]
fn an_index_out_of_range_is_an_error_that_names_it() {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[3.0f64, 5.0]).unwrap(), dev.zeros(2).unwrap());
    last(2, &x, &dev.array(&[64u32, 1]).unwrap(), &y).unwrap();
    assert_eq!(y.to_vec().unwrap(), [6.0, 25.0]);
    let error = last(2, &x, &dev.array(&[64u32, 65]).unwrap(), &y).unwrap_err();
    assert!(matches!(error, Error::Index { kernel: "last", index: 65, len: 65, .. }), "{error}");
}
