use diffkern::prelude::*;

#[diff_fn]
fn at_vjp<F: Float>(x: F, bar: F) -> F {
    x * bar
}

#[diff_fn(vjp = at_vjp)]
fn at<F: Float>(table: &Array<F>, i: usize) -> F {
    table[i]
}

fn main() {}
