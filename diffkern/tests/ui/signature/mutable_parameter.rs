use diffkern::prelude::*;

#[diff_kernel]
fn kernel(mut n: u32) {
    let a = 1.0;
}

fn main() {}
