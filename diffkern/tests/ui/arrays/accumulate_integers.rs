use diffkern::prelude::*;

#[diff_kernel]
fn kernel(y: &mut Array<u32>) {
    y[0] += 1;
}

fn main() {}
