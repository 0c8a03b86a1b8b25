use diffkern::prelude::*;

#[diff_kernel]
fn double_adjoint<F: Float>(x: &Array<F>, y: &Array<F>, x_bar: &mut Array<F>, y_bar: &Array<F>) {
    x_bar[ABSOLUTE_POS] = 2.0 * y_bar[ABSOLUTE_POS];
}

#[diff_kernel(vjp = double_adjoint)]
fn double<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = 2.0 * x[ABSOLUTE_POS];
}

fn main() {}
