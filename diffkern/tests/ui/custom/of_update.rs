use diffkern::prelude::*;

#[diff_kernel]
fn double_adjoint<F: Float>(y: &Array<F>, y_bar: &Array<F>) {
    let _g = y_bar[ABSOLUTE_POS];
}

#[diff_kernel(vjp = double_adjoint)]
fn double<F: Float>(y: &mut Array<F>) {
    y[ABSOLUTE_POS] *= 2.0;
}

fn main() {}
