use diffkern::prelude::*;

#[diff_kernel]
fn last<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[-1];
}

fn main() {}
