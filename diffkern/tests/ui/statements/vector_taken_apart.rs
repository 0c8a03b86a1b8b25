use diffkern::prelude::*;

#[diff_kernel]
fn apart<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<F>) {
    let (a, b) = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = a * b;
}

fn main() {}
