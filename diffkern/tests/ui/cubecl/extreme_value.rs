use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut most = F::min_value();
    for i in 0..x.len() {
        most = F::max(most, x[i]);
    }
    y[ABSOLUTE_POS] = most;
}

fn main() {}
