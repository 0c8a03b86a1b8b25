use diffkern::prelude::*;

#[diff_kernel]
fn last<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut s = x[ABSOLUTE_POS];
    for k in 4294967290u32..=4294967295u32 {
        s = s * F::cast_from(k);
    }
    y[ABSOLUTE_POS] = s;
}

fn main() {}
