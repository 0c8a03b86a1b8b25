use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a = x[i] * 2;
    y[i] = a;
    while true {}
    y[i] = unknown;
}

fn main() {}
