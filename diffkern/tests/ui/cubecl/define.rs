use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>, #[define(F)] _dtype: StorageType) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

fn main() {}
