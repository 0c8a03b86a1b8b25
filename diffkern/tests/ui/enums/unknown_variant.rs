use diffkern::prelude::*;

#[diff_enum]
enum Mode {
    Zeros,
    Border,
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>, mode: Mode) {
    y[ABSOLUTE_POS] = if mode == Mode::Reflection { x[0] } else { x[1] };
}

fn main() {}
