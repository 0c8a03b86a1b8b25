use diffkern::prelude::*;

#[diff_fn(dims(3))]
fn turn<F: Float, const D: usize>(x: Vector<F, D>) -> Vector<F, D> {
    x.cross(x)
}

#[diff_kernel(dims(2, 3))]
fn kernel<F: Float, const D: usize>(x: &Array<Vector<F, D>>, y: &mut Array<Vector<F, D>>) {
    let v: Vector<F, D> = turn::<F, D>(x[ABSOLUTE_POS]);
    y[ABSOLUTE_POS] = v;
}

fn main() {}
