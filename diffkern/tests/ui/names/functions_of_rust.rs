use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let a = x[0];
    y[0] = a.pow(2);
    y[1] = F::log10(a);
    y[2] = F::INFINITY;
    y[3] = F::pi();
}

fn main() {}
