use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let both = { (x[0], x[1]) };
    y[0] = both;
}

fn main() {}
