use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(y: &mut Array<F>, n: usize) {
    let a = [F::new(0.0); n];
    y[0] = a[0];
}

fn main() {}
