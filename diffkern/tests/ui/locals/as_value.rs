use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(y: &mut Array<F>) {
    let a = [F::new(0.0); 2];
    let b = a * 2.0;
    y[0] = 1.0;
}

fn main() {}
