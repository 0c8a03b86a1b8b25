use diffkern::prelude::*;

fn plain<F: Float>(x: F) -> F {
    x + x
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a: F = plain(x[i]);
    let b: F = missing(x[i]);
    y[i] = a + b;
}

fn main() {}
