use diffkern::prelude::*;

#[diff_kernel]
#[cube(launch)]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

fn main() {}
