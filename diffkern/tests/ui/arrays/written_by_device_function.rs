use diffkern::prelude::*;

#[diff_fn]
fn function<F: Float>(x: F, y: &mut Array<F>) -> F {
    x
}

fn main() {}
