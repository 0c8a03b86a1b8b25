use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(y: &mut Array<F>) {
    let a = Array::<Vec3<F>>::new(342);
    y[0] = a[0].x;
}

fn main() {}
