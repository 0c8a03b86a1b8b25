use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a = x[i];
    a = a * 2.0;
    y[i] = a;
}

fn main() {}
