use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    for k in x {
        let a = 1.0;
    }
}

fn main() {}
