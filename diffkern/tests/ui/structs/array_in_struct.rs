use diffkern::prelude::*;

#[diff_struct]
struct Pair<F> {
    left: Array<F>,
    right: F,
}

#[diff_kernel]
fn kernel<F: Float>(p: Pair<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = p.right;
}

fn main() {}
