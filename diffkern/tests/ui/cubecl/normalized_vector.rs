use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float, N: Size>(x: &Array<Vector<F, N>>, y: &mut Array<Vector<F, N>>) {
    y[ABSOLUTE_POS] = Vector::normalize(x[ABSOLUTE_POS]);
}

fn main() {}
