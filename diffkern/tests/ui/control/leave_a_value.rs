use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut s = F::new(0.0);
    for k in 0..x.len() {
        s += if x[k] > 1.0 {
            break;
            0.0
        } else {
            x[k]
        };
    }
    y[0] = s;
}

fn main() {}
