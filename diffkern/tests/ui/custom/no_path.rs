use diffkern::prelude::*;

#[diff_fn(vjp)]
fn square<F: Float>(x: F) -> F {
    x * x
}

fn main() {}
