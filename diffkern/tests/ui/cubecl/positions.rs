use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = CUBE_POS_X * CUBE_DIM_X + UNIT_POS_X;
    y[i] = x[i];
}

fn main() {}
