//! Local arrays.

use diffkern_ir::Ty;
use diffkern_ir::interpret::Library;

use super::support::{Case, Input, int, ints, random, zeros};

#[track_caller]
fn holds(source: &str, domain: usize, args: Vec<Input>) {
    Case::new(source, domain, args, Library::default()).holds();
}

/// Written and read at indices from data, in loops, non-linearly.
#[test]
fn a_window_that_moves() {
    let source = "fn k<F: Float>(x: &Array<F>, at: &Array<u32>, y: &mut Array<F>, n: u32) {
        let mut a = Array::<F>::new(4);
        let mut hits = [0u32; 3];
        for k in 0..4 { a[k] = x[k] * x[ABSOLUTE_POS]; }
        for k in 0..n {
            let j = at[k];
            a[j] = a[j] * a[(j + 1) % 4].sin() + a[3];
            a[(j + k) % 4] *= x[0];
            hits[j % 3] += j;
        }
        let mut s = F::new(0.0);
        for k in 0..a.len() { s += a[k] * a[k] * F::cast_from(hits[k % 3] + 1); }
        y[ABSOLUTE_POS] = s;
    }";
    for n in [0, 1, 6] {
        let args = vec![random(1, 4, Ty::Real, 0.3, 1.2), ints(&[2, 0, 3, 3, 1, 2]), zeros(4, Ty::Real), int(n)];
        holds(source, 4, args);
    }
}

#[test]
fn vectors_in_branches_and_lists() {
    let source = "fn k<F: Float>(v: &Array<Vec3<F>>, y: &mut Array<F>) {
        let i = ABSOLUTE_POS;
        let w = [0.2, 0.5, v[i].x];
        let mut a: [Vec3<F>; 2] = [v[i]; 2];
        if v[i].y > 0.6 { a[i % 2] = v[0] * w[i % 3]; } else { a[0] += v[1] * w[2]; }
        y[i] = a[0].dot(a[1]) * w[(i + 2) % 3] + a[i % 2].z;
    }";
    holds(source, 3, vec![random(2, 3, Ty::Vec(3), 0.2, 1.2), zeros(3, Ty::Real)]);
}
