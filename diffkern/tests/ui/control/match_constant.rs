use diffkern::prelude::*;

const FIRST: u32 = 0;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, kind: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = match kind[i] {
        FIRST => x[i],
        _ => x[i] * x[i],
    };
}

fn main() {}
