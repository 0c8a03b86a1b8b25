use diffkern::prelude::*;

#[diff_kernel(dims(2, 3))]
fn sizes<F: Float, const D: usize>(x: &Array<Vector<F, { D + 2 }>>, n: u32) {
    let m: Matrix<F, N> = Matrix::<F, D>::identity();
}

#[diff_kernel(dims(2, 3))]
fn changed<F: Float, const D: usize>(x: &Array<Vector<F, D>>, y: &mut Array<F>) {
    D = 3;
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].x;
}

#[diff_kernel(dims(2, 3))]
fn left<F: Float, const D: usize>(x: &Array<Vector<F, D>>, y: &mut Array<F>) {
    for a in 0..D {
        if x[ABSOLUTE_POS][a] > 0.0 {
            break;
        }
        y[ABSOLUTE_POS] += x[ABSOLUTE_POS][a];
    }
}

#[diff_kernel(dims(2, 3))]
fn made<F: Float, const D: usize>(x: &Array<Vector<F, D>>, y: &mut Array<Vector<F, D>>) {
    y[ABSOLUTE_POS] = Vector::<F, D>::from_fn(|r, c| x[ABSOLUTE_POS][r]);
}

fn main() {}
