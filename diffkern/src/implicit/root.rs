//! `r(x, p) = 0`.

use super::SolveOptions;
use super::krylov::{self, add_scaled, norm};
use super::linear::Stage;
use super::operation::{Equation, Implicit};
use super::vectors::{of_state, scatter, to_state};
use crate::error::Result;
use crate::rollout::State;

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
/// `residual` is pure, as the step of a [`rollout`](crate::rollout), and does the same launches each time. The vectors of the
/// iteration live on the host, which waits for a device once per product.
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
pub fn root<S: State>(start: S, options: SolveOptions, residual: impl Fn(&S) -> Result<S>) -> Result<S> {
    options.check()?;
    let mut stage = Stage::new(&start)?;
    let step = |state: &S, _: usize| residual(state);
    let mut x = of_state(&start)?;
    let (scale, mut first, mut before, mut left) = (norm(&x), None, f64::INFINITY, f64::INFINITY);
    for turn in 0..options.iterations {
        let (mut r, tangents) = stage.linearised(&step, &to_state(&start, &x)?, options)?;
        left = norm(&r);
        if left == 0.0 {
            return stage.finish(&step, &to_state(&start, &x)?, None, (Equation::Root, options));
        }
        let first = *first.get_or_insert(left);
        if !left.is_finite() {
            return Err(options.missed("root", turn, left));
        }
        let forcing = (left / before).powi(2).clamp(FORCING[0], FORCING[1]);
        before = left;
        r.iter_mut().for_each(|r| *r = -*r);
        let mut apply = |v: &[f64]| tangents.push(scatter(&tangents.tape.inputs, v, &tangents.ledger)?, &[]);
        let linear = SolveOptions { tolerance: forcing, ..options };
        let direction = krylov::solve("direction of Newton's method", &linear, &mut apply, &r)?;
        if norm(&direction) <= options.tolerance * norm(&x).max(scale) {
            add_scaled(&mut x, 1.0, &direction);
            return stage.finish(&step, &to_state(&start, &x)?, None, (Equation::Root, options));
        }
        if !stage.search(&step, &start, (&mut x, &direction), left)? {
            return Err(options.missed("root", turn, left / first));
        }
    }
    Err(options.missed("root", options.iterations, left / first.unwrap_or(1.0)))
}

/// The root `x` of `residual` that the caller has found, as one operation: its derivatives are those of the equation, as
/// [`root`]'s. How it was found is neither looked at nor recorded; how far it is a root decides how far they are exact.
///
/// # Errors
/// As [`root`].
pub fn root_at<S: State>(x: S, options: SolveOptions, residual: impl Fn(&S) -> Result<S>) -> Result<S> {
    options.check()?;
    let mut stage = Stage::new(&x)?;
    let step = |state: &S, _: usize| residual(state);
    drop(stage.run(&step, &x)?);
    stage.finish(&step, &x, None, (Equation::Root, options))
}

impl Stage {
    /// The residual at `x`, and an operation that has its tangents.
    fn linearised<S: State>(
        &mut self,
        step: &impl Fn(&S, usize) -> Result<S>,
        x: &S,
        options: SolveOptions,
    ) -> Result<(Vec<f64>, Implicit)> {
        let (residual, tape) = self.record(step, x)?;
        let tangents = self.operation((Equation::Root, options), tape);
        Ok((of_state(&residual)?, tangents))
    }

    /// Goes along the direction until the residual is less; whether it found such a place.
    fn search<S: State>(
        &mut self,
        step: &impl Fn(&S, usize) -> Result<S>,
        like: &S,
        (x, direction): (&mut Vec<f64>, &[f64]),
        from: f64,
    ) -> Result<bool> {
        let mut part = 1.0;
        for _ in 0..HALVINGS {
            let mut moved = crate::memory::collect(x.iter().copied())?;
            add_scaled(&mut moved, part, direction);
            let left = norm(&of_state(&self.run(step, &to_state(like, &moved)?)?)?);
            if left <= (1.0 - DECREASE * part) * from {
                *x = moved;
                return Ok(true);
            }
            part /= 2.0;
        }
        Ok(false)
    }
}
