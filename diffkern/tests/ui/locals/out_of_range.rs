use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(y: &mut Array<F>) {
    let mut a = Array::<F>::new(4usize);
    a[4] = 1.0;
    y[0] = a[0];
}

fn main() {}
