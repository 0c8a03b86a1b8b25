use diffkern::prelude::*;

#[diff_fn]
fn square_vjp<F: Float>(x: F) -> F {
    2.0 * x
}

#[diff_fn(vjp = square_vjp)]
fn square<F: Float>(x: F) -> F {
    x * x
}

fn main() {}
