use diffkern::prelude::*;

#[diff_fn]
fn power<F: Float>(x: F, n: u32) -> F {
    x * F::cast_from(n)
}

#[diff_kernel]
fn squares<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let p: F = power(x[ABSOLUTE_POS], 2);
    y[ABSOLUTE_POS] = p;
}

fn main() {}
