use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<Vector<F, Const<4>>>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = F::new(0.0);
}

fn main() {}
