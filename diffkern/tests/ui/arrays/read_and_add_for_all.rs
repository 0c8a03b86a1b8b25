use diffkern::prelude::*;

#[diff_kernel]
fn number<F: Float>(x: &Array<F>, c: &mut Array<F>, a: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let s = c[0];
    c[0] += x[i];
    a[i] = s * x[i];
}

#[diff_kernel]
fn slots(flags: &Array<u32>, count: &mut Array<u32>, slot: &mut Array<u32>) {
    let i = ABSOLUTE_POS;
    if flags[i] == 1 {
        slot[i] = count[0];
        count[0] += 1u32;
    }
}

#[diff_kernel]
fn decay<F: Float>(c: &mut Array<F>, row: usize) {
    c[row] *= 0.5;
}

#[diff_kernel]
fn for_all<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
    for k in 0..n {
        let old = y[k];
        y[k] = old + x[ABSOLUTE_POS];
    }
}

#[diff_kernel]
fn by_one_thread<F: Float>(c: &mut Array<F>) {
    if ABSOLUTE_POS == 0 {
        c[0] *= 0.5;
    }
}

fn main() {}
