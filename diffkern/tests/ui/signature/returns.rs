use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>) -> F {
    x[0]
}

fn main() {}
