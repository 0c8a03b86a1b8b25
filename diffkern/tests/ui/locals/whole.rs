use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let a = [x[0], x[1]];
    let mut b = [0.0; 3];
    let c = a;
    b = a;
    c = a;
    b = [1u32; 3];
    b = x[0];
    let d: [F; 3] = a;
    y[ABSOLUTE_POS] = b[0] + c[0] + d[0];
}

fn main() {}
