use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>, n: i32) {
    let mut a = x[0];
    #[bound(n)]
    while a > 1.0 {
        a = a * 0.5;
    }
    y[0] = a;
}

fn main() {}
