use diffkern::prelude::*;

#[diff_enum]
enum Mode {
    #[cfg(windows)]
    Zeros,
    Border,
    Huge = 5_000_000_000,
}

fn main() {}
