use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Copy>(x: &Array<F>) {
    let a = 1.0;
}

fn main() {}
