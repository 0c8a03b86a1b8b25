use diffkern::prelude::*;

#[diff_kernel]
fn kernel(x: &Array<f32>) {
    let a = 1.0;
}

fn main() {}
