use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float, G: Float>(x: &Array<F>, y: &Array<G>) {
    let a = 1.0;
}

fn main() {}
