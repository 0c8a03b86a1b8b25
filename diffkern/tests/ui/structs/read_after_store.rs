use diffkern::prelude::*;

#[diff_struct]
struct Body<F> {
    x: Vec3<F>,
    mass: F,
}

#[diff_kernel]
fn kernel<F: Float>(b: &Array<Body<F>>, y: &mut Array<Body<F>>) {
    let i = ABSOLUTE_POS;
    y[i].mass = b[i].mass * y[i].x.x;
    y[i].x = b[i].x * y[i].mass;
}

fn main() {}
