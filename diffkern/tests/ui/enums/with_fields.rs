use diffkern::prelude::*;

#[diff_enum]
enum Function {
    Affine { a: f32, b: f32 },
    Cos,
    Divide(f32),
}

fn main() {}
