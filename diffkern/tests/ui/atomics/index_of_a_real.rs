use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, next: &mut Array<Atomic<u32>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let slot = next[0].fetch_add(1);
    y[slot] = x[i];
}

fn main() {}
