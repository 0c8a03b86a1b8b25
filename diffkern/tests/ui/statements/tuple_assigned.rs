use diffkern::prelude::*;

#[diff_kernel]
fn swap<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut a = x[0];
    let mut b = x[1];
    (a, b) = (b, a);
    y[ABSOLUTE_POS] = a - b;
}

fn main() {}
