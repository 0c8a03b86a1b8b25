use diffkern::prelude::*;

#[diff_kernel]
fn kernel<N: Numeric>(x: &Array<N>, y: &mut Array<N>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

fn main() {}
