use diffkern::prelude::*;

#[diff_struct]
struct Params {
    count: u32,
    scale: f32,
}

fn main() {}
