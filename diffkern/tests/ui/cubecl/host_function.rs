use diffkern::prelude::*;

fn tiles(n: u32) -> u32 {
    n.div_ceil(16)
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>, #[comptime] n: u32) {
    let tile = comptime!(tiles(n));
    y[ABSOLUTE_POS] = x[tile];
}

fn main() {}
