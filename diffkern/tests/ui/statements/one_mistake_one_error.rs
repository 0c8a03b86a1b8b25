use diffkern::prelude::*;

#[diff_kernel]
fn constants<F: Float, const N: usize>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * F::cast_from(N);
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let Vec2 { x: mut a, .. } = x[i];
    a += 1.0;
    let mut s = Sequence::<F>::new();
    s.push(a);
    match i {
        k if k > 3 => a += 1.0,
        _ => {}
    }
    let mut count = nothing;
    count += 1;
    unsafe {
        y[i] = a;
    }
}

fn main() {}
