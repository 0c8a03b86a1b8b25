use diffkern::prelude::*;

#[diff_fn]
fn halved<F: Float>(x: F) -> F {
    let mut a = x;
    #[bound(10)]
    while a > 1.0 {
        a = a * 0.5;
    }
    a
}

fn main() {}
