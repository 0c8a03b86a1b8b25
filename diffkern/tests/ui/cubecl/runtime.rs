use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float, R: Runtime>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

fn main() {}
