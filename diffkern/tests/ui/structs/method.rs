use diffkern::prelude::*;

#[diff_struct]
struct Pair<F> {
    left: F,
    right: F,
}

#[diff_kernel]
fn kernel<F: Float>(pairs: &Array<Pair<F>>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = pairs[ABSOLUTE_POS].sum();
}

fn main() {}
