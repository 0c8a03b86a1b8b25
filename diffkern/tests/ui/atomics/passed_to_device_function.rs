use diffkern::prelude::*;

#[diff_fn]
fn first(n: &Array<u32>) -> u32 {
    n[0]
}

#[diff_kernel]
fn kernel(n: &Array<Atomic<u32>>, y: &mut Array<u32>) {
    n[0].fetch_add(1);
    let a: u32 = first(n);
    y[ABSOLUTE_POS] = a;
}

fn main() {}
