use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, n: usize) {
    let i = ABSOLUTE_POS;
    for k in 0..=n {
        let a = x[k];
    }
}

fn main() {}
