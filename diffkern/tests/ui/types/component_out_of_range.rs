use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i][5];
}

fn main() {}
