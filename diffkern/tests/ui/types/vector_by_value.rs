use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(v: Vec3<F>) {
    let a = 1.0;
}

fn main() {}
