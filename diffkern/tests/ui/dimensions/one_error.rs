use diffkern::prelude::*;

// Mistakes of both instances, each once.
#[diff_kernel(dims(2, 3))]
fn kernel<F: Float, const D: usize>(x: &Array<Vector<F, D>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].length();
    for a in 0..D {
        y[i] += missing * x[i][a];
    }
    y[i] += x[i].z;
}

fn main() {
    let (dev, n) = (Device::cpu(), 1);
    let (x, y) = (dev.zeros(n).unwrap(), dev.zeros::<f32>(n).unwrap());
    kernel::<f32, Dim2>(n, &x, &y).unwrap();
    kernel_2d(n, &x, &y).unwrap();
}
