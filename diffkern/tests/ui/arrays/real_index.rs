use diffkern::prelude::*;

#[diff_kernel]
fn lookup<F: Float>(table: &Array<F>, x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = table[x[ABSOLUTE_POS].floor()];
}

fn main() {}
