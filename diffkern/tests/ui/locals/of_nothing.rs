use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(y: &mut Array<F>) {
    let a = Array::new(4);
    y[0] = 1.0;
}

fn main() {}
