use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, s: &mut Array<Atomic<F>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = s[0].fetch_add(x[i]);
}

fn main() {}
