use diffkern::prelude::*;

#[diff_kernel]
unsafe fn kernel<F: Float>(x: &Array<F>) {
    let a = 1.0;
}

fn main() {}
