use diffkern::prelude::*;

#[diff_kernel]
fn either<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if x[i] > 0.0 {
        y[i] += x[i];
    } else {
        y[i] = x[i] * x[i];
    }
}

fn main() {}
