use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(y: &mut Array<F>) {
    y[ABSOLUTE_POS] += 1e400;
    y[ABSOLUTE_POS] += F::new(-1e400);
    y[ABSOLUTE_POS] += F::cast_from(1e400);
    y[ABSOLUTE_POS] += 1e-400;
    y[ABSOLUTE_POS] += F::new(0.0 / 0.0);
    y[ABSOLUTE_POS] += 1.0 / 0.0;
    y[ABSOLUTE_POS] += 1e300 * -1e300;
    y[ABSOLUTE_POS] += 1e300 + 0.0e-999;
}

#[diff_kernel]
fn single(y: &mut Array<f32>) {
    y[ABSOLUTE_POS] += 1e39;
    y[ABSOLUTE_POS] += 1e-60f32;
}

fn main() {}
