use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let k = 3;
    let j = k * 2;
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * F::cast_from(j);
}

fn main() {}
