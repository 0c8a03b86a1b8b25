use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a = function(x[i]);
    y[i] = a;
}

fn main() {}
