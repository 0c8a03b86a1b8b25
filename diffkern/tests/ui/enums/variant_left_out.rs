use diffkern::prelude::*;

#[diff_enum]
enum Mode {
    Zeros,
    Border,
    Reflection,
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>, #[comptime] mode: Mode) {
    y[ABSOLUTE_POS] = match mode {
        Mode::Zeros => x[0],
        Mode::Reflection => x[1],
    };
}

fn main() {}
