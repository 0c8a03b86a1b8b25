use diffkern::prelude::*;

struct Solver;

impl Solver {
    #[diff_kernel]
    fn scale<F: Float>(x: &Array<F>, y: &mut Array<F>) {
        y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * 2.0;
    }

    #[diff_fn]
    fn twice<F: Float>(x: F) -> F {
        2.0 * x
    }
}

fn main() {}
