use diffkern::prelude::*;

#[diff_fn(adjoint = square_vjp)]
fn square<F: Float>(x: F) -> F {
    x * x
}

fn main() {}
