use diffkern::prelude::*;

#[diff_fn]
fn square_jvp<F: Float>(x: F, dx: F) -> F {
    2.0 * x * dx
}

#[diff_fn(jvp = square_jvp)]
fn square<F: Float>(x: F) -> F {
    x * x
}

fn main() {}
