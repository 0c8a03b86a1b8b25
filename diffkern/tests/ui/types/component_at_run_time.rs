use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let v = x[i];
    for k in 0..3 {
        y[i] = v[k];
    }
}

fn main() {}
