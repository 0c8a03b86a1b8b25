use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    #[unroll]
    for k in 0..n {
        y[i] = x[k];
    }
}

fn main() {}
