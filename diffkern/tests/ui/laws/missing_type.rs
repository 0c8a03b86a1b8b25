use diffkern::prelude::*;

#[diff_trait]
trait Law {
    fn cell<F: Float>(x: F) -> u32;
}

#[diff_kernel]
fn pull<F: Float, L: Law>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] += x[ABSOLUTE_POS] * 2.0;
    let cell = L::cell(x[ABSOLUTE_POS]);
    let next = cell + 1;
    y[next] += x[next];
}

fn main() {}
