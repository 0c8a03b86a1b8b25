use diffkern::prelude::*;

#[diff_fn]
fn function<F: Float>(x: F) {
    let y = x;
}

fn main() {}
