use diffkern::prelude::*;

#[diff_fn]
fn factorial<F: Float>(x: F) -> F {
    let y: F = self::factorial(x - 1.0);
    x * y
}

fn main() {}
