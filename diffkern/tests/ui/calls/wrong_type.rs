use diffkern::prelude::*;

#[diff_fn]
fn function<F: Float>(x: F) -> F {
    x * x
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a: Vec3<F> = function(x[i]);
    y[i] = a.x;
}

fn main() {}
