use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, next: &mut Array<Atomic<u32>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    if next[0].fetch_add(1) < 5 {
        a = a * a;
    }
    y[i] = a;
}

fn main() {}
