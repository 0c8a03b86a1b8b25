use diffkern::prelude::*;

#[diff_fn]
fn sample<F: Float>(a: &Array<F>, i: usize) -> F {
    a[i] * 2.0
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a: F = sample(x[i], i);
    let b: F = sample(x, i, 1.0);
    let (c, d): (F, F) = sample(x, i);
    y[i] = a + b + c + d;
}

fn main() {}
