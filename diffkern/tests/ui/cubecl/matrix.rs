use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let a = cmma::Matrix::<F>::from_slice(cmma::MatrixIdent::A, 16u32, 16u32, 16u32, x, 16u32);
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

fn main() {}
