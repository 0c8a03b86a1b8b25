use diffkern::prelude::*;

#[diff_kernel]
fn kernel(n: &mut Array<u32>, y: &mut Array<u32>) {
    y[ABSOLUTE_POS] = n[0].fetch_add(1);
}

fn main() {}
