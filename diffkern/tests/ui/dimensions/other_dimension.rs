use diffkern::prelude::*;

#[diff_kernel(dims(2, 4))]
fn four<F: Float, const D: usize>(x: &Array<Vector<F, D>>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].x;
}

#[diff_kernel(dims(2, 2))]
fn twice<F: Float, const D: usize>(x: &Array<Vector<F, D>>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].x;
}

#[diff_fn(dims(any))]
fn any<F: Float, const D: usize>(x: Vector<F, D>) -> F {
    x.x
}

#[diff_struct(dims(3))]
struct One<F, const D: usize> {
    x: Vector<F, D>,
}

fn main() {}
