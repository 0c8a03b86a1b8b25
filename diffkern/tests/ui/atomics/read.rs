use diffkern::prelude::*;

#[diff_kernel]
fn kernel(n: &mut Array<Atomic<u32>>, y: &mut Array<u32>) {
    n[0].fetch_add(1);
    y[0] = n[0];
}

fn main() {}
