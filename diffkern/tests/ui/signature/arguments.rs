use diffkern::prelude::*;

#[diff_kernel(fast)]
fn kernel<F: Float>(x: &Array<F>) {
    let a = 1.0;
}

fn main() {}
