use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<Atomic<F>>) {
    y[0] += x[ABSOLUTE_POS];
}

fn main() {}
