use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    debug_print!("{}", x[ABSOLUTE_POS]);
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

fn main() {}
