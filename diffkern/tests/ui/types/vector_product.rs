use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<Vec3<F>>) {
    let i = ABSOLUTE_POS;
    let v = x[i] * x[i];
    y[i] = v;
}

fn main() {}
