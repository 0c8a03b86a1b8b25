use diffkern::prelude::*;

#[diff_fn]
fn function<F: Float>(x: F) -> F {
    let i = ABSOLUTE_POS;
    x
}

fn main() {}
