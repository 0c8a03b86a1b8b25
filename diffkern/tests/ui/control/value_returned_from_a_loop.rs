use diffkern::prelude::*;

#[diff_fn]
fn root<F: Float>(x: F) -> F {
    let mut s = x;
    for _ in 0..20 {
        if (s * s - x).abs() < 1e-6 {
            return s;
        }
        s = 0.5 * (s + x / s);
    }
    s
}

fn main() {}
