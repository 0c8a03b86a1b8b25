use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let k: i32 = 2;
    y[ABSOLUTE_POS] = x[k];
}

fn main() {}
