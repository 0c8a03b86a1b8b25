use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut list = Sequence::<F>::new();
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

fn main() {}
