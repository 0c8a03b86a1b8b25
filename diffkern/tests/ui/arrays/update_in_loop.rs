use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    for k in 0..3 {
        y[i] *= x[k];
    }
}

fn main() {}
