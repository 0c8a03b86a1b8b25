use diffkern::prelude::*;

#[diff_fn]
fn cell<F: Float>(x: F) -> u32 {
    u32::cast_from(x * F::new(3.0))
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a = cell(x[i]);
    let b = a + 1;
    y[i] = x[b];
}

fn main() {}
