use diffkern::prelude::*;

#[diff_fn]
fn reset<F: Float>(value: F) -> F {
    F::new(0.0) * value
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut a = x[0];
    let mut b = x[1];
    reset::<F>(&mut a);
    std::mem::swap(&mut a, &mut b);
    reset(a);
    y[ABSOLUTE_POS] = a / b;
}

fn main() {}
