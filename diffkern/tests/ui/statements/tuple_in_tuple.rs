use diffkern::prelude::*;

#[diff_fn]
fn three<F: Float>(x: F) -> (F, F, F) {
    (x, x, x)
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let (a, (b, c)): (F, (F, F)) = three(x[0]);
    let (d, (e, g)) = (x[0], three(x[1]));
    y[ABSOLUTE_POS] = a + b + c + d + e + g;
}

fn main() {}
