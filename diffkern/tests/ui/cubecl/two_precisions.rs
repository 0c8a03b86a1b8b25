use diffkern::prelude::*;

#[diff_kernel]
fn kernel(x: &Array<f32>, y: &mut Array<f64>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

fn main() {}
