use diffkern::prelude::*;

#[diff_struct]
struct Body<F> {
    x: Vec3<F>,
    mass: F,
}

#[diff_kernel]
fn kernel<F: Float>(b: &Array<Body<F>>, y: &mut Array<Body<F>>) {
    let mut p = b[ABSOLUTE_POS];
    p.mass = p.x;
    y[ABSOLUTE_POS] = p;
}

fn main() {}
