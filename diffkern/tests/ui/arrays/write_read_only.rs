use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    x[i] = 1.0;
}

fn main() {}
