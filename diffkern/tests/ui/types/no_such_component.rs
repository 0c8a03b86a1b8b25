use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].z;
}

fn main() {}
