//! Loops that end early, `while` with a bound, and `return` from inside.

use diffkern_ir::Ty;
use diffkern_ir::interpret::{Arg, Library, Val, run};

use super::support::{Case, Input, Random, int, kernel, random, zeros};

#[track_caller]
fn holds(source: &str, domain: usize, args: Vec<Input>) {
    Case::new(source, domain, args, Library::default()).holds_at(4e-6);
}

#[test]
fn bounded_while() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
        let mut s = x[ABSOLUTE_POS];
        let mut t = F::new(0.3);
        #[bound(n)]
        while s * t < 2.0 {
            t = t * s.cosh() + s * s;
            s = s * 1.2 + t.sin() * 0.1;
        }
        y[ABSOLUTE_POS] = s * t;
    }";
    for bound in [9, 40] {
        for seed in 1..4 {
            holds(source, 5, vec![random(seed, 5, Ty::Real, 0.3, 3.5), zeros(5, Ty::Real), int(bound)]);
        }
    }
}

#[test]
fn while_in_while_and_in_for() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>) {
        let mut s = x[ABSOLUTE_POS];
        let mut turns = 0u32;
        for j in 0..4 {
            let mut t = s;
            #[bound(20)]
            while t < 1.5 {
                t = t * 1.4 + x[j] * 0.1;
                #[bound(8)]
                while t > 1.0 && t < 1.3 { t = t * t * 1.1; turns += 1; }
            }
            s = s * 0.7 + t.sin() * s;
        }
        y[ABSOLUTE_POS] = s + F::cast_from(turns) * s;
    }";
    for seed in 1..4 {
        holds(source, 3, vec![random(seed, 4, Ty::Real, 0.3, 1.2), zeros(3, Ty::Real)]);
    }
}

/// `break` and `continue` at several depths, in branches that may or may not leave.
const LEAVING: &str = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
    let mut s = x[ABSOLUTE_POS];
    let mut t = F::new(1.0);
    for k in 0..n {
        if s > 2.5 { t = t * s; break; }
        s = s * 1.3 + t * 0.1;
        if k % 3 == 1 {
            t = t * 0.9;
            if t * s < 0.6 { continue; }
            t = t + s * s * 0.05;
        } else if s > 1.9 {
            for j in 0..k {
                if t > 1.4 { break; }
                if j == 1 { continue; }
                t = t * s.cosh() * 0.5;
            }
        }
        s = s * t.sin() + 0.4;
    }
    y[ABSOLUTE_POS] = s * t;
}";

#[test]
fn break_and_continue() {
    for n in [0, 1, 2, 7, 30] {
        for seed in 1..4 {
            let args = vec![random(seed, 5, Ty::Real, 0.3, 1.9), zeros(5, Ty::Real), int(n)];
            // It jumps often.
            Case::new(LEAVING, 5, args, Library::default()).holds_at(2e-7);
        }
    }
}

#[test]
fn break_out_of_while() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>) {
        let mut s = x[ABSOLUTE_POS];
        #[bound(30)]
        while s < 3.0 {
            s = s * s * 0.3 + s;
            if s > 1.2 && s < 1.6 { s = s * 2.0; break; }
            if s > 2.0 { continue; }
            s = s + 0.2 * s.sin();
        }
        y[ABSOLUTE_POS] = s * s;
    }";
    for seed in 1..4 {
        holds(source, 6, vec![random(seed, 6, Ty::Real, 0.5, 2.5), zeros(6, Ty::Real)]);
    }
}

#[test]
fn return_out_of_loops() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
        let i = ABSOLUTE_POS;
        let mut s = x[i];
        if s < 0.6 {
            if s < 0.45 { y[i] = s; return; }
            s = s * 1.5;
        }
        for k in 0..n {
            s = s * 1.2;
            for j in 0..k {
                s = s * (1.0 + s * 0.02);
                if s > 2.0 { y[i] = s * s; terminate!(); }
            }
            if s > 1.8 { y[i] = s.sin(); return; }
            s = s + 0.03;
        }
        y[i] = s * 3.0;
    }";
    for n in [0, 2, 5, 9] {
        for seed in 1..4 {
            holds(source, 6, vec![random(seed, 6, Ty::Real, 0.3, 1.4), zeros(6, Ty::Real), int(n)]);
        }
    }
}

#[test]
fn unrolled_and_left() {
    let source = "fn k<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<F>) {
        let v = x[ABSOLUTE_POS];
        let mut s = F::new(0.2);
        #[unroll]
        for k in 0..3 {
            if v[k] < 0.3 { continue; }
            s = s + v[k] * v[k];
            if s > 1.0 { break; }
        }
        y[ABSOLUTE_POS] = s * s;
    }";
    for seed in 1..5 {
        holds(source, 6, vec![random(seed, 6, Ty::Vec(3), 0.1, 1.0), zeros(6, Ty::Real)]);
    }
}

/// `y` of a kernel of `x`, `y` and a count.
fn values(source: &str, x: &[f64], n: i64) -> Vec<f64> {
    let primal = kernel(source);
    let array = |x: &[f64]| x.iter().map(|x| Val::Real(vec![*x])).collect();
    let mut arrays = vec![array(x), array(&vec![0.0; x.len()])];
    let args = [Arg::Array(0), Arg::Array(1), Arg::Value(Val::Int(n))];
    for pos in 0..x.len() {
        run(&primal, &args, &mut arrays, pos, &Library::default());
    }
    arrays[1].iter().map(|y| y.reals()[0]).collect()
}

/// What `LEAVING` says, in Rust.
fn left(x: f64, n: u32) -> f64 {
    let (mut s, mut t) = (x, 1.0f64);
    for k in 0..n {
        if s > 2.5 {
            t *= s;
            break;
        }
        s = s * 1.3 + t * 0.1;
        if k % 3 == 1 {
            t *= 0.9;
            if t * s < 0.6 {
                continue;
            }
            t += s * s * 0.05;
        } else if s > 1.9 {
            for j in 0..k {
                if t > 1.4 {
                    break;
                }
                if j == 1 {
                    continue;
                }
                t = t * s.cosh() * 0.5;
            }
        }
        s = s * t.sin() + 0.4;
    }
    s * t
}

/// A `while` that breaks, does not look at its condition again then, and returns.
const WHILE: &str = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
    let i = ABSOLUTE_POS;
    let mut s = x[i];
    #[bound(40)]
    while s < 3.0 {
        s = s * 1.2 + 0.05;
        if s > 2.0 && s < 2.2 { s = s - 1.0; break; }
        for j in 0..n { if s > 2.7 { y[i] = 0.0 - s; return; } s = s + 0.01; }
    }
    y[i] = s;
}";

fn left_while(x: f64, n: u32) -> f64 {
    let mut s = x;
    while s < 3.0 {
        s = s * 1.2 + 0.05;
        if s > 2.0 && s < 2.2 {
            s -= 1.0;
            break;
        }
        for _ in 0..n {
            if s > 2.7 {
                return -s;
            }
            s += 0.01;
        }
    }
    s
}

#[test]
fn values_are_those_of_rust() {
    let mut rng = Random::new(1);
    let x: Vec<f64> = (0..200).map(|_| rng.within(0.2, 2.4)).collect();
    for n in [0, 1, 2, 7, 30] {
        for (source, expected) in [(LEAVING, left as fn(f64, u32) -> f64), (WHILE, left_while)] {
            for (x, found) in x.iter().zip(values(source, &x, i64::from(n))) {
                let right = expected(*x, n);
                assert!((found - right).abs() <= 1e-12 * right.abs(), "of {x}, {n} turns: {found}, not {right}");
            }
        }
    }
}
