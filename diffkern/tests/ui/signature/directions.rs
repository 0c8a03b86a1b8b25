use diffkern::prelude::*;

#[diff_kernel(directions = 1)]
fn one<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

#[diff_kernel(directions = 5)]
fn many<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

#[diff_kernel(directions = three)]
fn named<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

#[diff_kernel(directions = 2, directions = 3)]
fn twice<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

#[diff_kernel(directions = 2, jvp = moved)]
fn by_hand<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

#[diff_kernel(vjp = 2)]
fn number<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

#[diff_fn(directions = 2)]
fn function<F: Float>(x: F) -> F {
    x * x
}

fn main() {}
