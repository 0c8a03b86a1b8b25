use diffkern::prelude::*;

#[diff_trait]
trait Law {
    fn force<F: Float>(x: F) -> F;
}

#[diff_kernel]
fn pull<F: Float, L: Law>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] += x[ABSOLUTE_POS] * 2.0;
    let f = L::force(x[ABSOLUTE_POS]);
}

fn main() {}
