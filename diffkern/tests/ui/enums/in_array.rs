use diffkern::prelude::*;

#[diff_enum]
enum Mode {
    Zeros,
    Border,
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, modes: &Array<Mode>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[0];
}

#[diff_fn]
fn opposite<F: Float>(mode: Mode, x: F) -> Mode {
    Mode::Zeros
}

fn main() {}
