use diffkern::prelude::*;

enum Mode {
    Zeros,
    Border,
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>, #[comptime] mode: Mode) {
    y[ABSOLUTE_POS] = x[0];
}

fn main() {}
