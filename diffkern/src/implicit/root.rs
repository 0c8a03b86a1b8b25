//! `r(x, p) = 0`.

use super::krylov::{self, norms};
use super::linear::Stage;
use super::operation::{Equation, Implicit};
use super::vectors::{add_scaled, of_state, scaled, scatter, to_state};
use super::{SolveOptions, Solver};
use crate::array::AnyArray;
use crate::error::Result;
use crate::rollout::State;
use crate::tape::context::quietly;

/// Halvings of a step of Newton's method, at most.
const HALVINGS: usize = 30;
/// Least part of the decrease that the linear model promises (Armijo's condition).
const DECREASE: f64 = 1e-4;
/// Residuals that a direction leaves of its linear system, the least and the largest: less would be lost to the next step, whose
/// error is the square of this one's.
const FORCING: [f64; 2] = [1e-6, 0.1];

/// A root of `residual`, which has the shape of its argument, by Newton's method from `start`: until its
/// step changes `x` by at most `options.tolerance`, relative to the larger of `x` and `start`, or the residual is zero.
///
/// Directions solve `(dr/dx) d = -r` by `options.method`, with products of the tangents of `residual`, no further than they
/// help (Eisenstat and Walker 1996); a step is halved until the residual decreases enough. What led to the root is not
/// recorded: while a tape records, `residual` at the root is, and `backward` solves `(dr/dx)^T w = x_bar` by the same
/// method; [`jvp`](crate::jvp), [`Tape::hvp`](crate::Tape::hvp) and rollouts around work as with any operation. Gradients
/// reach all arrays that `residual` reads, not `start`. They are those of the equation, exact as far as it is solved.
///
/// `residual` is pure, as the step of a [`rollout`](crate::rollout), and does the same launches each time. Vectors stay
/// on the device; the host waits for a number every ten products, and once for each length of a step that is tried.
///
/// ```
/// use diffkern::implicit::{SolveOptions, root};
/// use diffkern::prelude::*;
///
/// #[diff_kernel]
/// fn residual<F: Float>(x: &Array<F>, a: &Array<F>, r: &mut Array<F>) {
///     let x = x[ABSOLUTE_POS];
///     r[ABSOLUTE_POS] = x * x * x + x - a[ABSOLUTE_POS];
/// }
///
/// let dev = Device::cpu();
/// let a = dev.array(&[2.0, 10.0])?.requires_grad();
/// let (tape, x) = Tape::record_value(|| {
///     root(dev.array(&[0.0, 0.0])?, SolveOptions::default(), |x: &Array<f64>| {
///         let r = dev.uninit(2)?;
///         residual(2, x, &a, &r)?;
///         Ok(r)
///     })
/// })?;
/// tape.backward_from(&[(x.as_any(), dev.array(&[1.0, 1.0])?.as_any())])?;
/// let (x, slope) = (x.to_vec()?, a.grad()?.to_vec()?); // 1 / (3 x^2 + 1)
/// assert!((x[0] - 1.0).abs() < 1e-9 && (x[1] - 2.0).abs() < 1e-9);
/// assert!((slope[0] - 1.0 / 4.0).abs() < 1e-9 && (slope[1] - 1.0 / 13.0).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// What `residual` returns; [`Error::NotConverged`](crate::Error::NotConverged), which names the residual, of the iteration, of a direction and of the
/// derivatives; when `residual` has another shape than its argument.
pub fn root<S: State>(start: S, solver: impl Into<Solver>, residual: impl Fn(&S) -> Result<S>) -> Result<S> {
    let solver = solver.into().checked()?;
    let mut stage = Stage::new(&start)?;
    let (x, solver) = newton(&mut stage, start, solver, &residual)?;
    stage.finish(&|state: &S, _| residual(state), &x, None, (Equation::Root, solver))
}

/// As [`root`], from where `search` ends, and with the solver that it says to go on with: for equations on which Newton's method
/// needs a guide, a descent of an energy for example. `search` runs here and nothing records it: derivatives are those of
/// the equation at the root. It may read numbers to the host.
///
/// ```
/// use diffkern::implicit::{SolveOptions, root_after};
/// use diffkern::prelude::*;
///
/// #[diff_kernel]
/// fn residual<F: Float>(x: &Array<F>, a: &Array<F>, r: &mut Array<F>) {
///     r[ABSOLUTE_POS] = x[ABSOLUTE_POS].atan() - a[ABSOLUTE_POS];
/// }
///
/// // From 30 a step of Newton's method would go to -1,000.
/// let dev = Device::cpu();
/// let (a, start) = (dev.array(&[0.5])?.requires_grad(), dev.array(&[30.0])?);
/// let (tape, x) = Tape::record_value(|| {
///     let nearer = |x: &Array<f64>| Ok((dev.array(&[x.to_vec()?[0] / 30.0])?, SolveOptions::default()));
///     root_after(start, nearer, |x: &Array<f64>| {
///         let r = dev.uninit(1)?;
///         residual(1, x, &a, &r)?;
///         Ok(r)
///     })
/// })?;
/// tape.backward_from(&[(x.as_any(), dev.array(&[1.0])?.as_any())])?;
/// assert!((x.to_vec()?[0] - 0.5f64.tan()).abs() < 1e-9);
/// assert!((a.grad()?.to_vec()?[0] - (1.0 + 0.5f64.tan().powi(2))).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`root`], and what `search` returns.
pub fn root_after<S: State, V: Into<Solver>>(
    start: S,
    search: impl FnOnce(&S) -> Result<(S, V)>,
    residual: impl Fn(&S) -> Result<S>,
) -> Result<S> {
    let mut stage = Stage::new(&start)?;
    let (near, solver) = quietly(|| search(&start))?;
    let (x, solver) = newton(&mut stage, near, solver.into().checked()?, &residual)?;
    stage.finish(&|state: &S, _| residual(state), &x, None, (Equation::Root, solver))
}

/// The root to which Newton's method leads, with the solver of its last step.
fn newton<S: State>(
    stage: &mut Stage,
    start: S,
    solver: Solver,
    residual: &impl Fn(&S) -> Result<S>,
) -> Result<(S, Solver)> {
    let options = solver.options;
    let step = |state: &S, _: usize| residual(state);
    let mut x = of_state(&start)?;
    let [from] = norms([&x])?;
    let (mut first, mut before, mut left) = (None, f64::INFINITY, None);
    for iteration in 0..options.iterations {
        let (r, tangents) = stage.linearised(&step, &to_state(&start, &x)?, &solver)?;
        let now = match left {
            Some(left) => left,
            None => norms([&r])?[0],
        };
        if now == 0.0 {
            return Ok((to_state(&start, &x)?, solver));
        }
        let first = *first.get_or_insert(now);
        if !now.is_finite() {
            return Err(options.missed("root", iteration, now));
        }
        let forcing = (now / before).powi(2).clamp(FORCING[0], FORCING[1]);
        before = now;
        let mut apply = |v: &AnyArray| tangents.push(scatter(&tangents.tape.inputs, v, &tangents.ledger)?, &[]);
        let linear = Solver { options: SolveOptions { tolerance: forcing, ..options }, ..solver.clone() };
        let direction =
            krylov::solve("direction of Newton's method", (&linear, false), &mut apply, &scaled(&r, -1.0)?)?;
        let [length, size] = norms([&direction, &x])?;
        if length <= options.tolerance * size.max(from) {
            add_scaled(&x, 1.0, &direction)?;
            return Ok((to_state(&start, &x)?, solver));
        }
        match stage.search(&step, &start, (&x, &direction), now)? {
            Some((further, less)) => (x, left) = (further, Some(less)),
            None => return Err(options.missed("root", iteration, now / first)),
        }
    }
    Err(options.missed("root", options.iterations, left.unwrap_or(f64::INFINITY) / first.unwrap_or(1.0)))
}

/// The root `x` of `residual` that the caller has found, as one operation: its derivatives are those of the equation, as
/// [`root`]'s. How it was found is neither looked at nor recorded; how far it is a root decides how far they are exact.
///
/// # Errors
/// As [`root`].
pub fn root_at<S: State>(x: S, solver: impl Into<Solver>, residual: impl Fn(&S) -> Result<S>) -> Result<S> {
    let solver = solver.into().checked()?;
    let mut stage = Stage::new(&x)?;
    let step = |state: &S, _: usize| residual(state);
    drop(stage.run(&step, &x)?);
    stage.finish(&step, &x, None, (Equation::Root, solver))
}

impl Stage {
    /// The residual at `x`, and an operation that has its tangents.
    fn linearised<S: State>(
        &mut self,
        step: &impl Fn(&S, usize) -> Result<S>,
        x: &S,
        solver: &Solver,
    ) -> Result<(AnyArray, Implicit)> {
        let (residual, tape) = self.record(step, x)?;
        let tangents = self.operation((Equation::Root, solver.clone()), tape);
        Ok((of_state(&residual)?, tangents))
    }

    /// Goes along the direction until the residual is less: that place, and the norm of the residual there.
    fn search<S: State>(
        &mut self,
        step: &impl Fn(&S, usize) -> Result<S>,
        like: &S,
        (x, direction): (&AnyArray, &AnyArray),
        from: f64,
    ) -> Result<Option<(AnyArray, f64)>> {
        let mut part = 1.0;
        for _ in 0..HALVINGS {
            let moved = scaled(x, 1.0)?;
            add_scaled(&moved, part, direction)?;
            let [left] = norms([&of_state(&self.run(step, &to_state(like, &moved)?)?)?])?;
            if left <= (1.0 - DECREASE * part) * from {
                return Ok(Some((moved, left)));
            }
            part /= 2.0;
        }
        Ok(None)
    }
}
