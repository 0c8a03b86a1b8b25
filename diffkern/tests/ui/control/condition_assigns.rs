use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut a = x[0];
    #[bound(5)]
    while {
        a = a * 0.5;
        a > 1.0
    } {
        a += 0.1;
    }
    y[0] = a;
}

fn main() {}
