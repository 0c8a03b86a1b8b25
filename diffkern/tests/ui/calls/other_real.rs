use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = f64::sqrt(x[ABSOLUTE_POS]);
}

fn main() {}
