use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(idx: &Array<u32>, x: &Array<F>, y: &mut Array<F>) {
    let j = idx[ABSOLUTE_POS];
    let old = y[j];
    if x[j] > 0.5 {
        y[j] = old * 2.0;
    }
}

fn main() {}
