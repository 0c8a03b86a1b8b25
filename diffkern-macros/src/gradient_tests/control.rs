//! Branches, loops, arrays and calls: each kernel by the dot-product identity and by differences.

use diffkern_ir::Ty;
use diffkern_ir::interpret::{Library, Val};

use super::support::{Case, Input, int, ints, library, random, real, zeros};

#[track_caller]
fn holds(source: &str, domain: usize, args: Vec<Input>) {
    Case::new(source, domain, args, Library::default()).holds();
}

fn flag(value: bool) -> Input {
    Input::Value(Val::Bool(value))
}

#[test]
fn straight_line_on_vectors() {
    holds(
        "fn k<F: Float>(v: &Array<Vec3<F>>, m: &Array<Mat3<F>>, out: &mut Array<Vec3<F>>, e: &mut Array<F>, dt: F) {
            let i = ABSOLUTE_POS;
            let a = m[i] * v[i] + v[i] * dt;
            let mut b = a.cross(v[i]).normalize();
            b.x = b.y * b.z + a.x;
            b.x = b.x * b.x;
            let f = m[i].inverse() * m[i].determinant() + m[i].transpose() * a.norm();
            out[i] = f * b;
            e[0] += f.ddot(m[i]) + b.dot(a) + m[i].trace();
        }",
        3,
        vec![
            random(1, 3, Ty::Vec(3), 0.2, 1.1),
            random(2, 3, Ty::Mat(3), -1.0, 1.0),
            zeros(3, Ty::Vec(3)),
            zeros(1, Ty::Real),
            real(0.3),
        ],
    );
}

/// The body reads what the turn before left, in an order that matters.
const NESTED: &str = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32, m: u32) {
    let i = ABSOLUTE_POS;
    let a = x[i];
    let mut s = a;
    let mut t = x[i + 1];
    let mut count = 1u32;
    for p in 0..n {
        let before = s;
        for q in p..m {
            s = s * t.sin() + a * F::cast_from(q) * 0.1;
            t = t + s * before * 0.05;
            count = count * 3 + q;
        }
        t = t * 0.9 + s * s * 0.1 + F::cast_from(count % 7) * s * 0.01;
    }
    y[i] = s * t + a;
}";

#[test]
fn nested_loops_with_state() {
    for (n, m) in [(4, 5), (1, 1), (3, 0), (0, 4), (5, 2), (0, 0)] {
        holds(NESTED, 2, vec![random(3, 3, Ty::Real, 0.2, 1.2), zeros(2, Ty::Real), int(n), int(m)]);
    }
}

#[test]
fn signed_and_empty_ranges() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, lo: i32, hi: i32) {
        let mut s = x[0];
        for k in lo..hi {
            s = s * x[1] + (F::cast_from(k) * 0.7).cos() * s.sin();
        }
        y[0] = s;
    }";
    for (lo, hi) in [(-3, 2), (2, 2), (3, -4), (-2147483648, -2147483645), (0, 6)] {
        holds(source, 1, vec![random(3, 2, Ty::Real, 0.4, 0.9), zeros(1, Ty::Real), int(lo), int(hi)]);
    }
}

#[test]
fn branch_in_loop() {
    let source = "fn k<F: Float>(x: &Array<F>, w: &Array<Vec2<F>>, y: &mut Array<F>, n: u32) {
        let mut s = x[0];
        let mut v = w[0];
        let mut odd = false;
        for k in 0..n {
            if odd {
                let t = s * x[1];
                s = t.cos() + v.x;
                v.y = v.y * t;
            } else {
                v = v * s + w[1];
                if s > 0.8 {
                    s = s * s;
                }
            }
            odd = !odd;
        }
        y[0] = s * v.dot(v);
    }";
    for n in 0..6 {
        let args =
            vec![random(5, 2, Ty::Real, 0.3, 1.2), random(6, 2, Ty::Vec(2), 0.1, 0.9), zeros(1, Ty::Real), int(n)];
        holds(source, 1, args);
    }
}

#[test]
fn loop_in_branch() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32, go: bool) {
        let a = x[0] * x[1];
        let mut s = a;
        let mut t = x[1];
        if go {
            let b = a.exp();
            for k in 0..n {
                s = s * b * 0.5 + t;
                if k > 1 { t = t * s; }
            }
        } else {
            t = a.sqrt();
        }
        y[0] = s * t * a;
    }";
    for (n, go) in [(4, true), (0, true), (4, false)] {
        holds(source, 1, vec![random(8, 2, Ty::Real, 0.3, 1.0), zeros(1, Ty::Real), int(n), flag(go)]);
    }
}

#[test]
fn swapped_and_free_values() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
        let a = x[0];
        let mut p = a;
        let mut q = x[1];
        let mut last = x[2];
        for k in 0..n {
            let t = p;
            p = q;
            q = t * a;
            last = a;
        }
        y[0] = p * 2.0 + q * q + last * p;
    }";
    for n in 0..5 {
        holds(source, 1, vec![random(9, 3, Ty::Real, 0.3, 1.4), zeros(1, Ty::Real), int(n)]);
    }
}

/// A value that varies only from the third turn on, through two others.
#[test]
fn late_variation() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
        let a = x[0];
        let mut p = F::new(0.5);
        let mut q = F::new(0.4);
        let mut r = F::new(0.3);
        for k in 0..n {
            p = p * 0.5 + q.sin();
            q = q * 0.5 + r.cos();
            r = r * 0.5 + a;
        }
        y[0] = p;
    }";
    for n in [2, 3, 5] {
        holds(source, 1, vec![random(9, 1, Ty::Real, 0.3, 1.4), zeros(1, Ty::Real), int(n)]);
    }
}

/// Stores in turns, the last of one index counts; accumulation through an index array.
#[test]
fn stores_and_accumulation() {
    let source = "fn k<F: Float>(x: &Array<F>, idx: &Array<u32>, y: &mut Array<F>, z: &mut Array<Vec2<F>>, n: u32) {
        let i = ABSOLUTE_POS;
        let mut s = x[i];
        y[i] = s * s;
        for k in 0..n {
            s = s.sin() + x[(i + 1) % x.len()];
            y[i] = s * x[i];
            z[idx[k as usize] as usize] += Vec2::new(s, x[i] * s);
            if k == 2 { y[i + 3] = 4.0; }
        }
    }";
    for n in [0, 1, 5] {
        let args = vec![
            random(4, 3, Ty::Real, 0.3, 1.4),
            ints(&[1, 0, 1, 2, 2]),
            zeros(6, Ty::Real),
            zeros(3, Ty::Vec(2)),
            int(n),
        ];
        holds(source, 3, args);
    }
}

/// What a store replaces has no influence, even when the new value is constant.
#[test]
fn a_store_takes_the_adjoint() {
    let case = Case::new(
        "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>) { let a = x[0]; if y.len() > 2 { y[2] = 1.0; } y[1] = a; }",
        1,
        vec![random(1, 1, Ty::Real, 0.0, 1.0), zeros(3, Ty::Real)],
        Library::default(),
    );
    let seed = |values: &[f64]| values.iter().map(|x| Val::Real(vec![*x])).collect::<Vec<_>>();
    let bars = case.gradient(&[seed(&[0.5]), seed(&[2.0, 4.0, 3.0])]);
    assert_eq!(bars, [seed(&[4.5]), seed(&[2.0, 0.0, 0.0])]);
}

#[test]
fn early_return() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>) {
        let i = ABSOLUTE_POS;
        let v = x[i] * x[i];
        if x[i] < 0.5 { y[i] = v * 3.0; return; }
        y[i] = v.sin();
    }";
    holds(source, 4, vec![random(2, 4, Ty::Real, 0.0, 1.0), zeros(4, Ty::Real)]);
}

#[test]
fn unrolled_loops() {
    let source = "fn k<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<F>) {
        let mut s = F::new(1.0);
        #[unroll]
        for k in 0..3 { s = s * x[ABSOLUTE_POS][k] + x[ABSOLUTE_POS].x; }
        y[ABSOLUTE_POS] = s;
    }";
    holds(source, 2, vec![random(2, 2, Ty::Vec(3), 0.1, 1.0), zeros(2, Ty::Real)]);
}

#[test]
fn calls() {
    let functions = [
        "fn stress<F: Float>(f: Mat2<F>, mu: F, k: usize) -> (Mat2<F>, F) {
            let mut e = mu * f.determinant();
            for j in 0..k { e = (e * e * 0.5 + mu).tanh(); }
            (f * f.transpose() * e, e + mu)
        }",
        "fn gather<F: Float>(a: &Array<Vec2<F>>, i: usize, w: F) -> Vec2<F> {
            let mut s = a[i] * w;
            if w > 0.2 { s = s + a[i + 1] * (w * w); }
            s
        }",
        "fn outer<F: Float>(a: &Array<Vec2<F>>, i: usize, x: F) -> F {
            let g: Vec2<F> = gather::<F>(a, i, x * x);
            g.dot(g) * x
        }",
    ];
    let source = "fn k<F: Float>(a: &Array<Vec2<F>>, m: &Array<Mat2<F>>, y: &mut Array<F>, n: u32) {
        let i = ABSOLUTE_POS;
        let mut s = m[i].trace();
        for j in 0..n {
            let (p, e): (Mat2<F>, F) = stress::<F>(m[i], s, 2usize);
            let g: Vec2<F> = gather::<F>(a, i, e);
            s = s * 0.3 + (p * g).x * 0.1;
            if j > 0 {
                let o: F = outer::<F>(a, i, s);
                s = s + o * 0.2;
            }
        }
        y[i] = s;
    }";
    for n in [0, 1, 3] {
        let args =
            vec![random(2, 3, Ty::Vec(2), 0.1, 1.0), random(7, 2, Ty::Mat(2), 0.1, 0.9), zeros(2, Ty::Real), int(n)];
        Case::new(source, 2, args, library(&functions)).holds();
    }
}

/// Its derivative gives nothing back: all of it goes to the elements that it read.
#[test]
fn a_call_on_arrays_alone() {
    let square = "fn square<F: Float>(a: &Array<F>, i: usize) -> F { a[i] * a[i] }";
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>) {
        let s: F = square::<F>(x, ABSOLUTE_POS);
        y[ABSOLUTE_POS] = s;
    }";
    Case::new(source, 2, vec![random(3, 2, Ty::Real, 0.1, 1.0), zeros(2, Ty::Real)], library(&[square])).holds();
}
