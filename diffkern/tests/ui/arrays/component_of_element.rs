use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(y: &mut Array<Vec3<F>>) {
    let i = ABSOLUTE_POS;
    y[i].x = 1.0;
}

fn main() {}
