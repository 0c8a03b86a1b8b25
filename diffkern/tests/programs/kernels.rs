//! What the launches of random programs are made of.

use diffkern::prelude::*;

#[diff_kernel]
pub fn wave<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = (v * 1.7).sin() + v * 0.1;
}

/// Linear: its adjoint reads nothing.
#[diff_kernel]
pub fn blend<F: Float>(x: &Array<F>, y: &Array<F>, z: &mut Array<F>, s: F) {
    z[ABSOLUTE_POS] = x[ABSOLUTE_POS] * s - y[ABSOLUTE_POS] * 0.5;
}

#[diff_kernel]
pub fn mix<F: Float>(x: &Array<F>, y: &Array<F>, z: &mut Array<F>) {
    z[ABSOLUTE_POS] = (x[ABSOLUTE_POS] * y[ABSOLUTE_POS]).sin();
}

#[diff_kernel]
pub fn accumulate<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] += x[ABSOLUTE_POS].sin() * 0.5;
}

#[diff_kernel]
pub fn turn<F: Float>(x: &mut Array<F>) {
    x[ABSOLUTE_POS] = x[ABSOLUTE_POS].sin() * 1.1 + x[ABSOLUTE_POS] * 0.2;
}

#[diff_kernel]
pub fn damp<F: Float>(x: &mut Array<F>, y: &Array<F>) {
    x[ABSOLUTE_POS] *= y[ABSOLUTE_POS].cos();
}

#[diff_kernel]
pub fn scatter<F: Float>(x: &Array<F>, at: &Array<u32>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[at[ABSOLUTE_POS] as usize % y.len()] += v * v * 0.3;
}

#[diff_kernel]
pub fn pick<F: Float>(x: &Array<F>, at: &Array<u32>, w: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[at[ABSOLUTE_POS] as usize % x.len()].sin() * w[ABSOLUTE_POS];
}

/// Writes three arrays, each in another way.
#[diff_kernel]
pub fn spread<F: Float>(x: &Array<F>, y: &mut Array<F>, z: &mut Array<F>, w: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let v = x[i];
    y[i] = v.sin() * 0.7;
    z[i] += v * v * 0.3;
    w[i] *= v.cos();
}

/// Leaves early, loops as often as a scalar says, and draws.
#[diff_kernel]
pub fn branch<F: Float>(x: &Array<F>, y: &mut Array<F>, z: &mut Array<F>, n: u32, limit: F) {
    let i = ABSOLUTE_POS;
    let v = x[i];
    if v > limit {
        y[i] = v * v * 0.2;
        return;
    }
    let mut s = v;
    for _ in 0..n {
        s = s.sin() + v * 0.1;
    }
    let draw: F = diffkern::rand::uniform(7u32, n, i as u32);
    z[i] += s * draw;
}

/// The integers that `scatter` and `pick` go by.
#[diff_kernel]
pub fn shuffle(at: &Array<u32>, next: &mut Array<u32>, by: u32) {
    next[ABSOLUTE_POS] = (at[ABSOLUTE_POS] * 5 + by) % (at.len() as u32);
}

/// `A(p) x`, with a diagonal that dominates.
#[diff_kernel]
pub fn system<F: Float>(x: &Array<F>, p: &Array<F>, y: &mut Array<F>) {
    let (i, n) = (ABSOLUTE_POS, x.len());
    y[i] = (p[i] * p[i] + 3.0) * x[i] - x[(i + n - 1) % n] - p[i].sin() * x[(i + 1) % n] * 0.5;
}

#[diff_kernel]
pub fn contract<F: Float>(x: &Array<F>, p: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = (x[i] + x[(i + 1) % x.len()]).sin() * 0.4 + p[i] * 0.5;
}
