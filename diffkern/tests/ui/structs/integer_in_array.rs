use diffkern::prelude::*;

#[diff_struct]
struct Body<F> {
    mass: F,
    kind: u32,
}

#[diff_kernel]
fn kernel<F: Float>(b: &Array<Body<F>>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = b[ABSOLUTE_POS].mass;
}

fn main() {}
