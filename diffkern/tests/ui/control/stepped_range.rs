use diffkern::prelude::*;

#[diff_kernel]
fn every_other<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut s = x[ABSOLUTE_POS];
    for k in (0..x.len()).step_by(2) {
        s = s * x[k];
    }
    y[ABSOLUTE_POS] = s;
}

fn main() {}
