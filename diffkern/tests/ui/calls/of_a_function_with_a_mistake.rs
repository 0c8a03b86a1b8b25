use diffkern::prelude::*;

#[diff_fn]
fn wrong<F: Float>(x: F) -> F {
    x + nothing
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a: F = wrong(x[i]);
    y[i] = a + nothing;
}

fn main() {
    let x = Device::cpu().zeros(1).unwrap();
    let _ = wrong(1.0f32);
    let _ = kernel::gradcheck(1, &x, &x);
}
