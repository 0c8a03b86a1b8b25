use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut shared = SharedMemory::<F>::new(32usize);
    shared[UNIT_POS] = x[ABSOLUTE_POS];
    sync_cube();
    y[ABSOLUTE_POS] = shared[0];
}

fn main() {}
