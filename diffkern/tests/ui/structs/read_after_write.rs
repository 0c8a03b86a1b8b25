use diffkern::prelude::*;

#[diff_struct]
struct Body<F> {
    x: Vec3<F>,
    mass: F,
}

#[diff_kernel]
fn kernel<F: Float>(b: &Array<Body<F>>, y: &mut Array<Body<F>>) {
    y[ABSOLUTE_POS].mass = b[ABSOLUTE_POS].mass;
    y[0].x = b[0].x * y[ABSOLUTE_POS].mass;
}

fn main() {}
