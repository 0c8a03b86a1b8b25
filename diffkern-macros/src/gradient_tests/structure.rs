//! What the adjoint keeps, and that the transformations compose.

use diffkern_ir::interpret::{Arg, Library, Val, run};
use diffkern_ir::{Access, Func, ParamKind, verify};

use super::support::{close, difference, function, kernel};
use crate::adjoint::adjoint;
use crate::gradient_tests::support::text;
use crate::tangent::second;

fn count(func: &Func, word: &str) -> usize {
    text(func).lines().filter(|line| line.split(' ').any(|w| w == word)).count()
}

const SUM: &str = "fn total<F: Float>(x: &Array<F>, out: &mut Array<F>, n: u32) {
    let mut s = F::new(0.0);
    for k in 0..n { s = s + x[k as usize] * 3.0; }
    out[0] += s;
}";

#[test]
fn a_sum_keeps_nothing() {
    let adjoint = adjoint(&kernel(SUM));
    let shown = text(&adjoint);
    assert_eq!(adjoint.stacks, 0, "{shown}");
    assert_eq!((count(&adjoint, "for"), count(&adjoint, "peek"), count(&adjoint, "stack")), (1, 0, 0), "{shown}");
    // The values summed are not read either.
    assert_eq!(access(&adjoint, "x"), Access::Unused, "{shown}");
    assert_eq!(access(&adjoint, "x_bar"), Access::Add, "{shown}");
    assert_eq!(access(&adjoint, "out_bar"), Access::Read, "{shown}");
}

fn access(func: &Func, name: &str) -> Access {
    let param = func.params.iter().find(|p| p.name == name).expect("the parameter exists");
    match param.kind {
        ParamKind::Array { access, .. } => access,
        ParamKind::Scalar { .. } => panic!("{name} is an array"),
    }
}

#[test]
fn only_what_is_read_is_kept() {
    let adjoint = adjoint(&kernel(
        "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
            let mut s = x[0];
            let mut t = x[1];
            let mut c = 0u32;
            for k in 0..n {
                t = t + s;
                s = s.sin();
                c = c + 2;
            }
            y[0] = s + t + F::cast_from(c);
        }",
    ));
    // `s` alone: its sine needs it; `t` and `c` enter linearly or not at all.
    assert_eq!(adjoint.stacks, 1, "{}", text(&adjoint));
}

#[test]
fn inactive_work_disappears() {
    let adjoint = adjoint(&kernel(
        "fn k<F: Float>(x: &Array<F>, w: &Array<u32>, y: &mut Array<F>) {
            let i = ABSOLUTE_POS;
            let scale = F::cast_from(w[i]).exp();
            let cut = detach(x[i]).sin();
            y[i] = x[i] * 2.0 + scale + cut;
        }",
    ));
    let shown = text(&adjoint);
    assert_eq!((count(&adjoint, "exp"), count(&adjoint, "sin"), count(&adjoint, "cos")), (0, 0, 0), "{shown}");
    assert_eq!(access(&adjoint, "x"), Access::Unused, "{shown}");
    assert_eq!(access(&adjoint, "w"), Access::Unused, "{shown}");
}

#[test]
fn straight_line_code_has_no_zeros() {
    let adjoint = adjoint(&kernel(
        "fn k<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<Vec3<F>>) {
            let v = x[ABSOLUTE_POS];
            y[ABSOLUTE_POS] = Vec3::new(v.x * v.y, v.y * v.z, v.z * v.x);
        }",
    ));
    let shown = text(&adjoint);
    assert_eq!((count(&adjoint, "0.0"), count(&adjoint, "insert")), (0, 0), "{shown}");
    assert_eq!(count(&adjoint, "load"), 1, "{shown}");
}

#[test]
fn tangent_of_adjoint_is_valid() {
    let order = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, z: &mut Array<F>, n: u32) {
        let mut s = x[0];
        for k in 0..n { if s > 0.2 { s = s.sin() * x[1]; z[0] += s; } }
        y[0] = s;
    }";
    let update = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
        let i = ABSOLUTE_POS;
        let mut s = y[i];
        #[bound(n)]
        while s < 1.0 { s = s * x[i] * 1.5; if s > 0.7 { break; } }
        y[i] = s * y[i];
    }";
    for source in [SUM, order, update] {
        let func = second(&adjoint(&kernel(source)));
        verify(&func).expect("valid");
    }
}

/// With a loop and a branch; with a local array and a loop that ends early.
const TWICE: [&str; 2] = [
    "fn f<F: Float>(x: F, a: F, n: u32) -> F {
        let mut s = x * a;
        for k in 0..n {
            if k % 2 == 1 { s = s.sin() * a + s * s * 0.3; } else { s = s * x; }
        }
        s
    }",
    "fn f<F: Float>(x: F, a: F, n: u32) -> F {
        let mut s = x * a;
        let mut w = [x, a, x * a];
        for k in 0..n {
            if s > 1.3 { break; }
            w[k % 3] *= s;
            s = s * 1.1 + w[(k + 1) % 3] * 0.1;
        }
        s * w[0] * w[n % 3]
    }",
];

#[test]
fn tangent_of_adjoint_is_the_second_derivative() {
    TWICE.into_iter().for_each(second_derivative);
}

/// Forward over reverse.
fn second_derivative(source: &str) {
    let primal = function(source);
    let gradient = adjoint(&primal);
    let second = second(&gradient);
    verify(&second).expect("valid");
    let call = |func: &Func, args: &[Val]| {
        let args: Vec<Arg> = args.iter().cloned().map(Arg::Value).collect();
        run(func, &args, &mut [], 0, &Library::default())
    };
    let real = |x: f64| Val::Real(vec![x]);
    for n in [0, 1, 4, 9] {
        let at = |h: f64| [real(0.7 + 0.5 * h), real(1.2 - 0.8 * h), Val::Int(n), real(1.0)];
        // The tangents of x, a and of the adjoint of the result.
        let args = [&at(0.0)[..], &[real(0.5), real(-0.8), real(0.0)]].concat();
        let found = call(&second, &args);
        for k in 0..2 {
            let numeric = difference(|h| call(&gradient, &at(h))[k].reals()[0], 1e-3);
            close(found[2 + k].reals()[0], numeric, 1e-7, "second derivative");
        }
    }
}
