use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<Line<F>>, y: &mut Array<F>) {
    let line = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = line[0];
}

fn main() {}
