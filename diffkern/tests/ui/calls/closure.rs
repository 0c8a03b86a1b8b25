use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let f = |a| a + 1.0;
    y[i] = x[i];
}

fn main() {}
