use diffkern::prelude::*;

#[diff_enum]
enum Mode {
    Zeros,
    Border,
}

#[diff_struct]
struct Config {
    size: u32,
    mode: Mode,
}

fn main() {}
