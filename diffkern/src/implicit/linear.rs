//! `A(p) x = b`.

use std::rc::Rc;

use super::Solver;
use super::krylov;
use super::operation::{Equation, Implicit};
use super::vectors::{of_state, scatter, to_state};
use crate::array::AnyArray;
use crate::error::{Error, Result};
use crate::forward::current;
use crate::ids::fresh_id;
use crate::launch::observers::{self, Registered, Roles};
use crate::rollout::{Machine, State, StepTape, observe, pass_on, refresh};
use crate::tape::{Kept, Ledger, Node, Overwrite, Recording, Shape, context};

/// Solves `A x = b` for `x`, of the shape of `b`, where `apply` is `x -> A x`: linear in `x`, with any other array that it
/// reads for a parameter.
///
/// While a tape records, only `apply` at the solution is recorded, and `backward` solves the transposed system
/// `A^T w = x_bar` by the same method with products of the adjoint; [`jvp`](crate::jvp),
/// [`Tape::hvp`](crate::Tape::hvp) and rollouts around work as with any operation. Gradients reach `b` and all arrays
/// that `apply` reads.
///
/// `apply` is pure, as the step of a [`rollout`](crate::rollout), and does the same launches each time. It is taken for
/// linear unchecked. The vectors of the iteration stay on the device; the host waits for a number every ten products.
///
/// ```
/// use diffkern::implicit::{SolveOptions, linear_solve};
/// use diffkern::prelude::*;
///
/// #[diff_kernel]
/// fn scale<F: Float>(x: &Array<F>, d: &Array<F>, y: &mut Array<F>) {
///     y[ABSOLUTE_POS] = d[ABSOLUTE_POS] * x[ABSOLUTE_POS];
/// }
///
/// let dev = Device::cpu();
/// let d = dev.array(&[2.0, 4.0])?.requires_grad();
/// let b = dev.array(&[6.0, 4.0])?;
/// let (tape, x) = Tape::record_value(|| {
///     linear_solve(b, SolveOptions::default(), |x: &Array<f64>| {
///         let y = dev.uninit(2)?;
///         scale(2, x, &d, &y)?;
///         Ok(y)
///     })
/// })?;
/// tape.backward_from(&[(x.as_any(), dev.array(&[1.0, 1.0])?.as_any())])?;
/// let slope = d.grad()?.to_vec()?; // -b / d^2
/// assert!((slope[0] + 1.5).abs() < 1e-9 && (slope[1] + 0.25).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// What `apply` returns; [`Error::NotConverged`], which names the residual, here and from the derivatives.
pub fn linear_solve<S: State>(b: S, solver: impl Into<Solver>, apply: impl Fn(&S) -> Result<S>) -> Result<S> {
    let solver = solver.into().checked()?;
    let mut stage = Stage::new(&b)?;
    let step = |state: &S, _: usize| apply(state);
    let right = of_state(&b)?;
    let mut product = |x: &AnyArray| of_state(&stage.run(&step, &to_state(&b, x)?)?);
    let x = krylov::solve("linear system", (&solver, false), &mut product, &right)?;
    let x = to_state(&b, &x)?;
    // A right-hand side of zero was not multiplied.
    drop(stage.run(&step, &x)?);
    stage.finish(&step, &x, Some(b.arrays()), (Equation::Linear(Vec::new()), solver))
}

/// Where an implicit operation runs its step: watched as in a rollout, neither recorded nor with tangents.
pub(super) struct Stage {
    machine: Machine,
    ledger: Rc<Ledger>,
    recording: bool,
    /// Whether tangents are to be carried through the operation.
    forward: bool,
    /// They are not carried through its steps.
    _masked: Registered,
}

impl Stage {
    pub(super) fn new(state: &impl State) -> Result<Stage> {
        if !state.arrays().iter().any(|array| array.elem().is_real()) {
            return Err(Error::Invalid("implicit operation: no array of the state is real".to_owned()));
        }
        let first_id = fresh_id();
        observe(state)?;
        let around = context::with_recorder(|recorder, _| (recorder.ledger.clone(), recorder.overwrite()));
        let recording = around.is_some();
        let (ledger, overwrite) =
            around.unwrap_or_else(|| (Rc::new(Ledger::new(Recording::default())), Overwrite::Keep));
        let machine = Machine::new(first_id, Some((ledger.clone(), overwrite)));
        let forward = observers::is_played(Roles::TANGENTS);
        Ok(Stage { machine, ledger, recording, forward, _masked: observers::mask(Roles::TANGENTS) })
    }

    pub(super) fn fresh<S: State>(&self, state: &S) -> Result<S> {
        refresh(state)
    }

    pub(super) fn run<S: State>(&mut self, step: &impl Fn(&S, usize) -> Result<S>, state: &S) -> Result<S> {
        self.machine.run(step, &refresh(state)?, 0)
    }

    /// As [`Stage::run`], with its tape.
    pub(super) fn record<S: State>(
        &mut self,
        step: &impl Fn(&S, usize) -> Result<S>,
        state: &S,
    ) -> Result<(S, StepTape)> {
        self.machine.record(step, &refresh(state)?, 0)
    }

    /// An operation by its tape: nothing outside moves it, and it is on no tape.
    pub(super) fn operation(&self, (equation, solver): (Equation, Solver), tape: StepTape) -> Implicit {
        let ledger = self.ledger.clone();
        Implicit { equation, solver, tape, ends: Vec::new(), captured: Vec::new(), ledger }
    }

    /// Puts the operation with the solution `x` on the tape, or its tangents beside it.
    pub(super) fn finish<S: State>(
        mut self,
        step: &impl Fn(&S, usize) -> Result<S>,
        x: &S,
        right: Option<Vec<AnyArray>>,
        (equation, solver): (Equation, Solver),
    ) -> Result<S> {
        pass_on(&self.machine)?;
        let solution = refresh(x)?;
        if !self.recording && !self.forward {
            return Ok(solution);
        }
        if self.forward {
            let captured = self.machine.captured.values();
            self.machine.external = captured.filter(|c| c.array.elem().is_real()).map(|c| c.array.id()).collect();
        }
        let (_, tape) = self.machine.record(step, &refresh(x)?, 0)?;
        let captured: Vec<AnyArray> = self.machine.captured.values().map(|c| c.array.clone()).collect();
        let mut operation = self.operation((equation, solver), tape);
        operation.ends = solution.arrays().iter().map(Shape::of).collect();
        operation.captured = captured.iter().map(AnyArray::id).collect();
        if let (Equation::Linear(shapes), Some(right)) = (&mut operation.equation, &right) {
            *shapes = right.iter().map(|array| (Shape::of(array), false)).collect();
        }
        if self.forward {
            carry(&operation, &captured, right.as_deref(), &solution)?;
            return Ok(solution);
        }
        let (homes, what) = (self.machine.homes(), || "an implicit operation".to_owned());
        context::with_recorder(|recorder, around| {
            let mut active = false;
            for array in &captured {
                recorder.allow_use(array, around, &what)?;
                active |= recorder.reads(array, around);
            }
            if let Equation::Linear(shapes) = &mut operation.equation {
                for ((_, tracked), array) in shapes.iter_mut().zip(right.iter().flatten()) {
                    recorder.allow_use(array, around, &what)?;
                    *tracked = recorder.reads(array, around);
                    active |= *tracked;
                }
            }
            if active {
                recorder.close(homes);
                solution.arrays().iter().filter(|array| array.elem().is_real()).for_each(|array| {
                    recorder.track(array);
                });
                recorder.nodes.push(Node::Rollout(Box::new(operation)));
            }
            Ok(())
        })
        .unwrap_or(Ok(()))?;
        Ok(solution)
    }
}

/// Gives the solution its tangents in forward mode.
fn carry(operation: &Implicit, captured: &[AnyArray], right: Option<&[AnyArray]>, x: &impl State) -> Result<()> {
    let Some(evaluation) = current() else { return Ok(()) };
    let right_too = right.into_iter().flatten();
    evaluation.allow_use(captured.iter().chain(right_too), &|| "an implicit operation".to_owned())?;
    let dot = |array: &AnyArray, k: usize| evaluation.dot(array, k).map(|dot| Kept::new(dot, &operation.ledger));
    for k in 0..evaluation.directions() {
        let outer: Vec<(u64, Kept)> = captured.iter().filter_map(|array| Some((array.id(), dot(array, k)?))).collect();
        let right = operation.right().zip(right).map(|(shapes, arrays)| {
            let parts: Vec<Option<Kept>> = arrays.iter().map(|array| dot(array, k)).collect();
            super::vectors::gather(&shapes, &parts)
        });
        let moved = operation.tangent(&outer, right.transpose()?)?;
        let parts = scatter(&operation.ends, &moved, &operation.ledger)?;
        for (array, part) in x.arrays().iter().zip(parts) {
            evaluation.set(array, k, part.map(|part| part.buffer().clone()));
        }
    }
    Ok(())
}
