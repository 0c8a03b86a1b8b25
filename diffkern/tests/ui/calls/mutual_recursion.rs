use diffkern::prelude::*;

#[diff_fn]
fn even<F: Float>(x: F) -> F {
    let y: F = odd(x - 1.0);
    y
}

#[diff_fn]
fn odd<F: Float>(x: F) -> F {
    let y: F = even(x - 1.0);
    y
}

fn main() {}
