use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = y[i] * y[i + 1];
}

fn main() {}
