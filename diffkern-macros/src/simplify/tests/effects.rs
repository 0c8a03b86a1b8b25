//! What stays because it does something, and what goes with the statement that nobody reads.

use diffkern_ir::verify;

use super::says;
use crate::adjoint::adjoint;
use crate::gradient_tests::support::kernel;
use crate::gradient_tests::support::text;
use crate::simplify::simplify;

#[test]
fn arguments_go_with_what_they_are_for() {
    says("let r: F = f::<F>(a * b); y[0] = a;", "call", 0);
    says("let r: F = f::<F>(a * b); y[0] = a;", "mul", 0);
    says("let r: F = f::<F>(x, a); y[0] = a;", "call", 0);
    says("let mut r = a; if a * b > 1.0 { r = b; } y[0] = a;", "mul", 0);
    says("let mut r = a; for k in 0..t * 3 { r = r * b; } y[0] = a;", "mul", 0);
}

#[test]
fn calls_of_equal_arguments_are_made_once() {
    says("let r: F = f::<F>(a); let s: F = f::<F>(a); y[0] = r * s;", "call", 1);
    says("let r: F = f::<F>(a); let s: F = f::<F>(b); y[0] = r * s;", "call", 2);
}

#[test]
fn a_bound_that_may_be_exceeded_is_tested() {
    says("let mut r = a; #[bound(t)] while r < b { r = r + 1.0; } y[0] = r;", "fault", 1);
    says("let mut r = a; #[bound(0)] while 1u32 > 2 { r = r + 1.0; } y[0] = r;", "fault", 0);
}

#[test]
fn a_loop_that_cannot_end_early_tests_nothing() {
    says("for k in 0..t { y[k as usize] = a; if p { break; } }", "while", 1);
    says("for k in 0..t { y[k as usize] = a; if 1u32 > 2 { break; } }", "while", 0);
}

/// Counting is an effect, whoever uses the old count.
#[test]
fn a_count_that_nobody_uses_is_counted() {
    let mut func = kernel(
        "fn k<F: Float>(n: &mut Array<Atomic<u32>>, y: &mut Array<F>, t: u32) {
            let slot = n[0].fetch_add(1);
            n[1].fetch_add(t * t);
            y[slot] = 1.0;
        }",
    );
    simplify(&mut func);
    verify(&func).expect("simplified IR is valid");
    assert_eq!(super::count(&func, "fetch"), 2, "{}", text(&func));
}

/// Of what only conditions read there is no adjoint.
#[test]
fn conditions_are_not_reversed() {
    let of = |body: &str| {
        let source = format!("fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, t: u32) {{ {body} }}");
        let func = adjoint(&kernel(&source));
        verify(&func).expect("the adjoint is valid");
        text(&func)
    };
    let words = |text: &str, word: &str| text.split_whitespace().filter(|w| *w == word).count();
    let shown = of("let v = x[0]; let s: F = f::<F>(v); y[0] = select(s > 0.5, v, v * 2.0);");
    assert_eq!((words(&shown, "replay"), words(&shown, "vjp")), (1, 0), "{shown}");
    let shown = of(
        "let s = x[1].sin(); let v = x[0]; let mut r = v; for k in 0..t { if s * v > 0.5 { r = r * v; } } y[0] = r;",
    );
    assert_eq!((words(&shown, "sin"), words(&shown, "cos")), (1, 0), "{shown}");
}
