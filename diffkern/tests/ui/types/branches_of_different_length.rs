use diffkern::prelude::*;

#[diff_kernel]
fn unequal<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let (a, b) = if v > 0.0 { (v, v * v) } else { v };
    y[ABSOLUTE_POS] = a * b;
}

fn main() {}
