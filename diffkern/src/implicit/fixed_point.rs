//! `x = g(x, p)`.

use super::krylov::norms;
use super::operation::Equation;
use super::vectors::{difference, of_state};
use super::{Solver, linear::Stage};
use crate::error::Result;
use crate::rollout::State;

/// The fixed point of `g`, by its own iteration from `start`: `x = g(x)` until a turn changes `x` by at most
/// `options.tolerance`, relative to `x`.
///
/// While a tape records, only `g` at the solution is recorded, whatever the number of turns, and `backward` solves the
/// transposed system `(I - dg/dx)^T w = x_bar` with `options`; [`jvp`](crate::jvp), [`Tape::hvp`](crate::Tape::hvp) and
/// rollouts around work as with any operation. Gradients reach all arrays that `g` reads, not `start`, on which the
/// solution does not depend. They are those of the equation, exact as far as it is solved.
///
/// `g` is pure, as the step of a [`rollout`](crate::rollout): it writes arrays that it makes or that are in the state it
/// is given, and does the same launches in every turn. After each turn the host waits for two numbers, how far it went and
/// where it is.
///
/// ```
/// use diffkern::implicit::{SolveOptions, fixed_point};
/// use diffkern::prelude::*;
///
/// #[diff_kernel]
/// fn improve<F: Float>(x: &Array<F>, a: &Array<F>, next: &mut Array<F>) {
///     next[ABSOLUTE_POS] = 0.5 * (x[ABSOLUTE_POS] + a[ABSOLUTE_POS] / x[ABSOLUTE_POS]);
/// }
///
/// let dev = Device::cpu();
/// let a = dev.array(&[4.0, 9.0])?.requires_grad();
/// let (tape, roots) = Tape::record_value(|| {
///     fixed_point(dev.array(&[1.0, 1.0])?, SolveOptions::default(), |x: &Array<f64>| {
///         let next = dev.uninit(2)?;
///         improve(2, x, &a, &next)?;
///         Ok(next)
///     })
/// })?;
/// tape.backward_from(&[(roots.as_any(), dev.array(&[1.0, 1.0])?.as_any())])?;
/// let slope = a.grad()?.to_vec()?; // of the root of a: 1 / (2 root)
/// assert!((slope[0] - 1.0 / 4.0).abs() < 1e-9 && (slope[1] - 1.0 / 6.0).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// What `g` returns; [`Error::NotConverged`](crate::Error::NotConverged), which names the residual, here and from the
/// derivatives.
pub fn fixed_point<S: State>(start: S, solver: impl Into<Solver>, g: impl Fn(&S) -> Result<S>) -> Result<S> {
    let solver = solver.into().checked()?;
    let options = solver.options;
    let mut stage = Stage::new(&start)?;
    let step = |state: &S, _: usize| g(state);
    let mut now = stage.fresh(&start)?;
    let mut values = of_state(&now)?;
    let (mut turns, mut change) = (0, f64::INFINITY);
    while turns < options.iterations {
        let next = stage.run(&step, &now)?;
        let found = of_state(&next)?;
        let [moved, size] = norms([&difference(&values, &found)?, &found])?;
        (turns, change) = (turns + 1, moved / size.max(f64::MIN_POSITIVE));
        (now, values) = (next, found);
        if change <= options.tolerance {
            return stage.finish(&step, &now, None, (Equation::FixedPoint, solver));
        }
    }
    Err(options.missed("fixed point", turns, change))
}
