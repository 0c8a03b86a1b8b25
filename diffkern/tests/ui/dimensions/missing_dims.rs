use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float, const D: usize>(x: &Array<Vector<F, D>>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].x;
}

#[diff_fn]
fn function<F: Float, const D: usize>(x: Matrix<F, D>) -> F {
    x.trace()
}

#[diff_trait]
trait Law {
    fn stress<F: Float, const D: usize>(x: Matrix<F, D>) -> Matrix<F, D>;
}

#[diff_struct]
struct Ball<F, const D: usize> {
    x: Vector<F, D>,
}

#[diff_kernel(dims(2, 3))]
fn without<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

fn main() {}
