use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(#[comptime] a: F) {
    let a = 1.0;
}

fn main() {}
