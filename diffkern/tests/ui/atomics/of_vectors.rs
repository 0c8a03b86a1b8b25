use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(n: &mut Array<Atomic<Vec2<F>>>) {
    n[0].fetch_add(Vec2::zero());
}

fn main() {}
