use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(q: &Array<Quat<F>>, y: &mut Array<Quat<F>>) {
    let i = ABSOLUTE_POS;
    y[i] = q[i].slerp(q[i], 0.5);
}

fn main() {}
