//! Cases that are wrong on purpose: the runner finds each.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, each, reals};
use crate::run::findings;

mod sine {
    use diffkern::prelude::*;

    #[diff_fn]
    pub fn wrong<F: Float>(x: F, bar: F) -> F {
        -x.cos() * bar
    }

    #[diff_fn]
    pub fn wrong_tangent<F: Float>(x: F, dx: F) -> (F, F) {
        (x.sin(), x.cos() * dx * 1.000001)
    }
}

#[diff_fn(vjp = sine::wrong)]
fn wrong_adjoint<F: Float>(x: F) -> F {
    x.sin()
}

#[diff_fn(jvp = sine::wrong_tangent)]
fn wrong_tangent<F: Float>(x: F) -> F {
    x.sin()
}

#[diff_kernel]
fn by_wrong_adjoint<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let s: F = wrong_adjoint(x[ABSOLUTE_POS]);
    y[ABSOLUTE_POS] = s;
}

#[diff_kernel]
fn by_wrong_tangent<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let s: F = wrong_tangent(x[ABSOLUTE_POS]);
    y[ABSOLUTE_POS] = s;
}

#[diff_kernel]
fn cut<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = detach(x[ABSOLUTE_POS]).sin();
}

case! {
    a_wrong_vjp<S>(run; x: S = reals(2, 0.3, 0.9)) {
        let y = run.zeros::<S>(2)?;
        by_wrong_adjoint(2, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x.sin(), x.cos()))
    }
}

case! {
    a_wrong_jvp<S>(run; x: S = reals(2, 0.3, 0.9)) {
        let y = run.zeros::<S>(2)?;
        by_wrong_tangent(2, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x.sin(), x.cos()))
    }
}

case! {
    a_wrong_vjp_with_a_formula_as_wrong<S>(run; x: S = reals(2, 0.3, 0.9)) {
        let y = run.zeros::<S>(2)?;
        cut(2, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x.sin(), 0.0))
    }
}

case! {
    a_wrong_value<S>(run; x: S = reals(2, 0.3, 0.9)) {
        let y = run.zeros::<S>(2)?;
        cut(2, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        each(x, w, |x| (x.sin() + 1e-9, 0.0))
    }
}

#[test]
fn what_is_wrong_is_found() {
    let expected: [(Case, &[&str]); 4] = [
        (a_wrong_vjp(), &["a_wrong_vjp", "seed 1", "parameter x, component 0", "analytic -", "by hand"]),
        (a_wrong_jvp(), &["by tangents"]),
        (a_wrong_vjp_with_a_formula_as_wrong(), &["parameter x", "analytic 0", "numeric 0."]),
        (a_wrong_value(), &["loss"]),
    ];
    for (case, parts) in expected {
        let found = findings(&[case]);
        assert_eq!(found.len(), 1);
        parts.iter().for_each(|part| assert!(found[0].contains(part), "no {part} in: {}", found[0]));
    }
}

#[test]
fn the_gradient_check_finds_a_wrong_vjp() {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[0.3, 0.8]).unwrap(), dev.zeros(2).unwrap());
    let message = by_wrong_adjoint::gradcheck(2, &x, &y).unwrap_err().to_string();
    assert!(message.contains("by_wrong_adjoint") && message.contains("disagree"), "{message}");
    let message = by_wrong_tangent::gradcheck(2, &x, &y).unwrap_err().to_string();
    assert!(message.contains("by_wrong_tangent"), "{message}");
}
