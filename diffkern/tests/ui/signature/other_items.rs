use diffkern::prelude::*;

struct Complex;

#[diff_fn]
impl Complex {
    fn real(self) -> f32 {
        0.0
    }
}

#[diff_fn]
struct Body<F> {
    mass: F,
}

#[diff_kernel(launch)]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

fn main() {}
