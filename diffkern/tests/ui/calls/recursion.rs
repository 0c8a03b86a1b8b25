use diffkern::prelude::*;

#[diff_fn]
fn function<F: Float>(x: F) -> F {
    let y: F = function(x);
    y
}

fn main() {}
