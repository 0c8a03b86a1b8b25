use diffkern::{Array, Float, diff_kernel};

struct Vec3<T>(T);

#[diff_kernel]
fn kernel<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].x;
}

fn main() {}
