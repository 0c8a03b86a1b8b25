use diffkern::prelude::*;

#[diff_fn]
fn select<F: Float>(a: F, b: F) -> F {
    a * b
}

#[diff_fn]
fn detach<F: Float>(a: F) -> F {
    a * a
}

fn main() {}
