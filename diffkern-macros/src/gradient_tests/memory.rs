//! Local arrays in memory.

use diffkern_ir::interpret::{Library, Val};
use diffkern_ir::{StackKind, StmtKind, Ty};

use super::support::{Case, Input, int, ints, kernel, random, zeros};

#[track_caller]
fn holds(source: &str, domain: usize, args: Vec<Input>) -> Case {
    let case = Case::new(source, domain, args, Library::default());
    assert!(!case.primal.stacks_of(StackKind::Array).is_empty(), "in registers");
    case.holds();
    case
}

/// Overwritten and read at indices from data, non-linearly, in loops one after the other and in each other.
#[test]
fn a_window_that_moves() {
    let source = "fn k<F: Float>(x: &Array<F>, at: &Array<u32>, y: &mut Array<F>, n: u32) {
        let mut a = Array::<F>::new(70);
        let mut hits = Array::<u32>::new(65);
        for k in 0..4 { a[k] = x[k] * x[ABSOLUTE_POS]; }
        a[66] = x[1] * a[2];
        for k in 0..n {
            let j = at[k];
            a[j] = a[j] * a[(j + 1) % 4].sin() + a[3];
            for l in 0..j { a[l] = a[l] * 0.5 + a[(l + k) % 5] * a[66]; a[66] = (a[66] + a[l] * x[0]).sin(); }
            a[(j + k) % 4] *= x[0];
            hits[j * 21] += j;
        }
        a[1] = a[0] * a[66];
        let mut s = F::new(0.0);
        for k in 0..a.len() { s += a[k] * a[k] * F::cast_from(hits[k % 65] + 1); }
        y[ABSOLUTE_POS] = s;
    }";
    for n in [0, 1, 6] {
        let args = vec![random(1, 4, Ty::Real, 0.3, 1.2), ints(&[2, 0, 3, 3, 1, 2]), zeros(4, Ty::Real), int(n)];
        holds(source, 4, args);
    }
}

/// The factor of Cholesky and both substitutions: loops whose bounds are indices of other loops.
#[test]
fn linear_equations() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>) {
        let mut a = Array::<F>::new(81);
        let mut b = Array::<F>::new(65);
        for i in 0..9 {
            for j in 0..9 { a[9 * i + j] = (x[i] - x[j]).cos() * 0.4; }
            a[10 * i] += 1.0 + x[ABSOLUTE_POS] * x[i];
            b[i] = x[i] * x[i];
        }
        for j in 0..9 {
            for k in 0..j { a[10 * j] = a[10 * j] - a[9 * j + k] * a[9 * j + k]; }
            a[10 * j] = a[10 * j].sqrt();
            for i in j + 1..9 {
                let mut s = a[9 * i + j];
                for k in 0..j { s -= a[9 * i + k] * a[9 * j + k]; }
                a[9 * i + j] = s / a[10 * j];
            }
        }
        for i in 0..9 {
            for k in 0..i { b[i] -= a[9 * i + k] * b[k]; }
            b[i] = b[i] / a[10 * i];
        }
        for i in (0..9).rev() {
            for k in i + 1..9 { b[i] -= a[9 * k + i] * b[k]; }
            b[i] = b[i] / a[10 * i];
        }
        for i in 0..9 { y[9 * ABSOLUTE_POS + i] = b[i] * b[i]; }
    }";
    holds(source, 2, vec![random(3, 9, Ty::Real, 0.3, 2.0), zeros(18, Ty::Real)]);
}

/// Made in a turn, in a branch, from lists, from each other; of vectors; branches store to it and some turns leave.
#[test]
fn made_and_copied_where_they_are_used() {
    let source = "fn k<F: Float>(v: &Array<Vec3<F>>, y: &mut Array<F>, n: u32) {
        let i = ABSOLUTE_POS;
        let mut all = [v[i] * 0.5; 30];
        let mut s = F::new(0.3);
        for k in 0..n {
            let mut a = all;
            let mut b: [Vec3<F>; 30] = Array::<Vec3<F>>::new(30);
            if v[k as usize % 3].y > 0.6 {
                let mut c = a;
                c[k] += v[0] * s;
                for l in 0..3 { c[l + 1] = c[l] * c[l + 1].x + v[l]; }
                if c[2].x < 0.0 { continue; }
                b = c;
            } else {
                b[k + 1] = a[k] * v[1].x;
                a[2] = b[k + 1] + a[3];
            }
            s += a[2].dot(b[2]) + b[k + 1].z * s;
            if s > 3.0 { break; }
            all[k] = a[2] * s + b[1];
        }
        y[i] = s + all[1].dot(all[2]);
    }";
    for seed in 1..4 {
        for n in [1, 4] {
            holds(source, 3, vec![random(seed, 3, Ty::Vec(3), 0.2, 1.2), zeros(3, Ty::Real), int(n)]);
        }
    }
}

/// A branch overwrites what it reads, and what a loop carries goes nowhere but into the array.
#[test]
fn branches_that_read_what_they_overwrite() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>) {
        let mut a = Array::<F>::new(70);
        let mut product = x[ABSOLUTE_POS];
        for k in 0..4 {
            product = product * x[k];
            a[k] = product;
        }
        if x[ABSOLUTE_POS] > 0.7 {
            a[1] = a[1] * a[1] * a[2];
            if x[0] > 0.2 { a[2] = a[2] * a[1].sin(); }
        } else {
            a[3] = a[3].exp() * a[0];
        }
        y[ABSOLUTE_POS] = a[1] * a[2] + a[3];
    }";
    for seed in 1..4 {
        holds(source, 4, vec![random(seed, 4, Ty::Real, 0.3, 1.2), zeros(4, Ty::Real)]);
    }
}

/// Reads of an index out of range give the last element, writes change none, and so do their derivatives.
#[test]
fn beyond_its_end() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
        let mut a = Array::<F>::new(65);
        a[64] = x[0] * x[1];
        a[n] = x[2];
        y[0] = a[n] * a[n] + a[63];
    }";
    for n in [63, 64, 65, 1000] {
        let args = vec![random(1, 3, Ty::Real, 0.3, 1.2), zeros(1, Ty::Real), int(n)];
        let mut case = Case::new(source, 1, args, Library::default());
        // Where it is an error the launch goes on.
        case.primal.body.stmts.retain(|stmt| !matches!(stmt.kind, StmtKind::Fault { .. }));
        case.holds();
        let [x, y] = [&case.arrays[0], &case.launch(&case.primal, &case.arrays, &[])[1]].map(|a| reals(a));
        let (last, read) = (if n == 64 { x[2] } else { x[0] * x[1] }, if n == 63 { x[2] } else { 0.0 });
        let at_n = if n == 63 { x[2] } else { last };
        assert_eq!(y, [at_n * at_n + read]);
    }
}

fn reals(array: &[Val]) -> Vec<f64> {
    array.iter().map(|val| val.reals()[0]).collect()
}

/// A sum of elements needs none of them on the way back.
#[test]
fn what_is_linear_keeps_nothing() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>) {
        let mut a = Array::<F>::new(100);
        for k in 0..100 { a[k] = x[k] * 2.0; }
        for k in 1..100 { a[k] += a[k - 1]; }
        y[0] = a[99] + a[50];
    }";
    let case = holds(source, 1, vec![random(1, 100, Ty::Real, 0.3, 1.2), zeros(1, Ty::Real)]);
    assert_eq!(case.adjoint.stacks_of(StackKind::Log).len(), 0);
    assert_eq!(case.adjoint.stacks, 1, "its adjoints alone");
}

/// In memory are arrays of more than 64 scalars, and those of more than 16 of which an index is not known.
#[test]
fn small_arrays_are_variables() {
    let stacks = |elem: &str, n: u32, index: &str| {
        let source = format!(
            "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {{
                let mut b = Array::<u32>::new(3);
                let mut a = Array::<{elem}>::new({n});
                a[{index}] = a[1] + a[2];
                y[b[1]] = x[0];
                b[1] = 2;
            }}"
        );
        kernel(&source).stacks
    };
    assert_eq!([stacks("F", 17, "n"), stacks("Vec3<F>", 6, "n"), stacks("F", 65, "3")], [1; 3]);
    assert_eq!([stacks("F", 16, "n"), stacks("Vec3<F>", 5, "n"), stacks("F", 64, "b[1]")], [0; 3]);
}
