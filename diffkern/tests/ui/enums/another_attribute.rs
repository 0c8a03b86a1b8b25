use diffkern::prelude::*;

#[diff_struct]
enum Mode {
    Zeros,
    Border,
}

fn main() {}
