use diffkern::prelude::*;

#[diff_kernel]
fn kernel(n: u64) {
    let a = 1.0;
}

fn main() {}
