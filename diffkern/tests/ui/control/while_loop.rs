use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    while a > 1.0 {
        a = a * 0.5;
    }
    y[i] = a;
}

fn main() {}
