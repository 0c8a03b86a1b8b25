use diffkern::prelude::*;

#[diff_struct]
struct Body<F> {
    x: Vec3<F>,
    mass: F,
}

#[diff_kernel]
fn kernel<F: Float>(b: &Array<Body<F>>, y: &mut Array<Body<F>>) {
    y[ABSOLUTE_POS] = if b[0].mass > 0.0 { b[0] } else { 1.0 };
}

fn main() {}
