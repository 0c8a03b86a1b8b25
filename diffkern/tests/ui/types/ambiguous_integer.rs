use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut k = 0;
    y[ABSOLUTE_POS] = x[k];
}

fn main() {}
