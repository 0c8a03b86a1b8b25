use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(q: &Array<Quat<F>>, v: &Array<Vec3<F>>, y: &mut Array<Vec3<F>>) {
    let i = ABSOLUTE_POS;
    y[i] = q[i] * v[i];
}

fn main() {}
