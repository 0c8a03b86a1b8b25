use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] * crate::DAMPING;
}

const DAMPING: f64 = 0.9;

fn main() {}
