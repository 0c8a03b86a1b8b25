use diffkern::prelude::*;

#[diff_fn]
fn root<F: Float>(x: F) -> F {
    if x < 0.0 {
        return -x;
    }
    x.sqrt()
}

fn main() {}
