use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, next: &mut Array<Atomic<u32>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] * F::cast_from(next[0].fetch_add(1));
}

fn main() {}
