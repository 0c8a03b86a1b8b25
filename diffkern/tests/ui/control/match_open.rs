use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, kind: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = match kind[i] {
        0 => x[i],
        1 | 2 => x[i] * x[i],
    };
}

fn main() {}
