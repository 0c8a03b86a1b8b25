use diffkern::prelude::*;

#[diff_kernel]
fn every_other<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut s = x[ABSOLUTE_POS];
    for t in range_stepped(F::new(0.0), F::new(1.0), F::new(0.1)) {
        s = s * t;
    }
    y[ABSOLUTE_POS] = s;
}

fn main() {}
