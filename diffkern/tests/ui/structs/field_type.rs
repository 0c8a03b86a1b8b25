use diffkern::prelude::*;

#[diff_struct]
struct Named<F> {
    mass: F,
    name: &'static str,
}

fn main() {}
