use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    #[cfg(feature = "fast")]
    let v = x[0];
    #[allow(unused)]
    let v = x[1];
    y[ABSOLUTE_POS] = v;
}

fn main() {}
