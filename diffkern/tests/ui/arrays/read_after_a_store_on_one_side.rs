use diffkern::prelude::*;

#[diff_kernel]
fn half<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if x[i] > 0.0 {
        y[i] = x[i];
    }
    y[i] = y[i] * 2.0;
}

fn main() {}
