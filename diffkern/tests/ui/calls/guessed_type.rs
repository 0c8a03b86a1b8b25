use diffkern::prelude::*;

#[diff_fn]
fn cell<F: Float>(x: F) -> u32 {
    u32::cast_from(x * F::new(3.0))
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let a = cell(x[ABSOLUTE_POS]);
    y[ABSOLUTE_POS] = F::cast_from(a);
}

fn main() {}
