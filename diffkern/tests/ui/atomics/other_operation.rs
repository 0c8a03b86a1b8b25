use diffkern::prelude::*;

#[diff_kernel]
fn kernel(n: &mut Array<Atomic<u32>>) {
    let a = n[0].fetch_max(3);
}

fn main() {}
