use diffkern::prelude::*;

#[diff_fn]
fn halves<F: Float>(a: F, b: F) -> (F, F) {
    (a / 2.0, b / 2.0)
}

#[diff_kernel]
fn swap<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut a = x[0];
    let mut b = x[1];
    (a, b) = halves(a, b);
    y[ABSOLUTE_POS] = a - b;
}

fn main() {}
