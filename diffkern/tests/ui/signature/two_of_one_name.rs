use diffkern::prelude::*;

#[diff_kernel]
fn scale<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * 2.0;
}

#[diff_kernel]
fn scale<F: Float>(x: &Array<F>, y: &mut Array<F>, by: F) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * by;
}

fn main() {}
