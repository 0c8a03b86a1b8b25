use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(y: &mut Array<F>) {
    let a = [F::new(0.0); 2];
    a[1] = 2.0;
    y[0] = a[1];
}

fn main() {}
