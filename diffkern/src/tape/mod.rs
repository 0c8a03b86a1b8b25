//! The tape: what was launched, and its gradients by walking it backwards.

mod ledger;
mod bars;
mod dots;
mod again;
mod arises;
mod finite;
mod node;
mod hand_over;
mod second;
mod recorder;
pub(crate) mod monitor;
mod account;
mod check_finite;
pub(crate) mod context;
mod recording;
mod hvp;
mod gauss_newton;

use std::cell::RefCell;
use std::rc::Rc;

pub(crate) use again::Again;
pub use again::recompute;
pub(crate) use bars::{Bars, Shape};
pub(crate) use context::Frame;
pub(crate) use dots::Dots;
pub(crate) use ledger::{Kept, Ledger};
pub(crate) use node::{Node, Replay};
pub(crate) use recorder::Recorder;
pub use recording::Recording;
pub(crate) use second::{Trail, forward, second};

pub use gauss_newton::Metric;
pub use hvp::Products;

use crate::array::{AnyArray, Array};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::ids::{IdMap, IdSet, Label};
use crate::kernel::ScalarTy;
use crate::report::{Graph, Report};
use crate::trace;

/// What happens when a launch overwrites a value that the tape needs for a gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// The tape keeps the old value; the write goes to fresh memory.
    #[default]
    Keep,
    /// The launch is refused.
    Error,
}

/// A recorded program. Of this thread only; the arrays may be used anywhere.
///
/// ```
/// # use diffkern::prelude::*;
/// # #[diff_kernel]
/// # fn sum_of_squares<F: Float>(x: &Array<F>, loss: &mut Array<F>) {
/// #     loss[0] += x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
/// # }
/// let dev = Device::cpu();
/// let x = dev.array(&[1.0, 2.0, 3.0])?.requires_grad();
/// let (tape, loss) = Tape::record_value(|| {
///     let loss = dev.zeros(1)?;
///     sum_of_squares(x.len(), &x, &loss)?;
///     Ok::<_, Error>(loss)
/// })?;
/// tape.backward(&loss)?;
/// assert_eq!(x.grad()?.to_vec()?, [2.0, 4.0, 6.0]);
/// println!("{}", tape.report()); // launches, bytes, times
/// # Ok::<(), Error>(())
/// ```
///
/// Gradients are those of the launches. They do not flow through values that the host reads and passes on as scalars.
pub struct Tape {
    nodes: Vec<Node>,
    leaves: IdMap<AnyArray>,
    tracked: IdSet,
    ledger: Rc<Ledger>,
    /// What the last `backward` started from.
    losses: RefCell<Vec<Label>>,
}

impl std::fmt::Debug for Tape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tape({} nodes, {} bytes)", self.nodes.len(), self.ledger.bytes())
    }
}

impl Tape {
    fn new(nodes: Vec<Node>, leaves: IdMap<AnyArray>, tracked: IdSet, ledger: Rc<Ledger>) -> Tape {
        Tape { nodes, leaves, tracked, ledger, losses: RefCell::default() }
    }

    /// Runs `program` and records its launches. [`Recording`] has more to choose.
    ///
    /// # Errors
    /// What `program` returns; when a tape records on this thread already; when a launch failed while it ran and `program`
    /// went on; when an array is used whose gradient would be lost: one that asked for it after it had been read, one of a
    /// rollout's steps that the rollout did not return, or one that another thread has written meanwhile, from arrays that
    /// have a gradient here or ask for one.
    pub fn record(program: impl FnOnce() -> Result<()>) -> Result<Tape> {
        Tape::record_value(program).map(|(tape, ())| tape)
    }

    /// The same for a program that returns a value, such as its loss, and whose error may be of another type.
    ///
    /// # Errors
    /// As [`Tape::record`].
    pub fn record_value<R, E: From<Error>>(program: impl FnOnce() -> Result<R, E>) -> Result<(Tape, R), E> {
        Recording::new().record_value(program)
    }

    /// Adds the gradient of `loss`, an array of one element, to the [`Array::grad`] of all arrays that asked for it.
    ///
    /// # Errors
    /// When `loss` has not one element or no recorded launch made it from arrays that require a gradient; when a
    /// rollout does something else on replay; when the device fails.
    pub fn backward<T: Element>(&self, loss: &Array<T>) -> Result<()> {
        self.backward_from(&[(loss.as_any(), &one(loss.as_any())?)])
    }

    /// The same for several outputs, each with the derivative of the loss by its elements.
    ///
    /// ```
    /// # use diffkern::prelude::*;
    /// # #[diff_kernel]
    /// # fn square<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    /// #     y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
    /// # }
    /// let dev = Device::cpu();
    /// let (x, y) = (dev.array(&[1.0, 2.0])?.requires_grad(), dev.uninit(2)?);
    /// let tape = Tape::record(|| square(2, &x, &y))?;
    /// let seed = dev.array(&[1.0, 10.0])?;
    /// tape.backward_from(&[(y.as_any(), seed.as_any())])?;
    /// assert_eq!(x.grad()?.to_vec()?, [2.0, 40.0]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tape::backward`], and when a seed does not have the shape of its output.
    pub fn backward_from(&self, seeds: &[(&AnyArray, &AnyArray)]) -> Result<()> {
        if context::is_recording() || context::is_stepping() {
            return Err(Error::Tape("`backward` inside a recording; leave `Tape::record` first".to_owned()));
        }
        let _span = trace::backward("backward", self.nodes.len());
        *self.losses.borrow_mut() = seeds.iter().map(|(output, _)| output.label()).collect();
        let mut bars = Bars::new(&self.ledger);
        for (output, seed) in seeds {
            self.check_seed(output, seed)?;
            bars.add_part(&Shape::of(output), &seed.buffer(), seed.byte_range().0)?;
        }
        self.nodes.iter().rev().try_for_each(|node| node.backward(&mut bars))?;
        for (&id, leaf) in &self.leaves {
            if let Some(bar) = bars.take(id) {
                accumulate(leaf, bar)?;
            }
        }
        Ok(())
    }

    fn check_seed(&self, output: &AnyArray, seed: &AnyArray) -> Result<()> {
        if !self.tracked.contains(&output.id()) {
            return Err(Error::Tape(format!(
                "{} does not depend on any array that requires a gradient; call `requires_grad` on the inputs \
                 before recording, and pass the array that the recorded launches wrote",
                output.label()
            )));
        }
        if (seed.elem(), seed.scalar(), seed.len()) != (output.elem(), output.scalar(), output.len()) {
            return Err(Error::Tape(format!("seed {seed:?} does not have the shape of its output {output:?}")));
        }
        match seed.device() == output.device() {
            true => Ok(()),
            false => Err(Error::Tape(format!("seed {seed:?} is not on the device of its output {output:?}"))),
        }
    }

    /// What the tape did and what it costs.
    pub fn report(&self) -> Report {
        let graph = Graph { entries: self.nodes.iter().filter_map(Node::describe).collect() };
        let mut leaves: Vec<Label> = self.leaves.values().map(|leaf| leaf.label()).collect();
        leaves.sort_unstable_by_key(Label::id);
        self.ledger.report(graph, leaves, self.losses.borrow().clone())
    }
}

/// The derivative of a loss by itself.
fn one(loss: &AnyArray) -> Result<AnyArray> {
    if loss.len() != 1 || loss.elem().components() != 1 || !loss.is_real() {
        return Err(Error::Tape(format!(
            "the loss is an array of one real scalar, not {loss:?}; sum it, or give a seed for each output"
        )));
    }
    Ok(match loss.scalar() {
        ScalarTy::F64 => loss.device().array(&[1.0f64])?.as_any().clone(),
        _ => loss.device().array(&[1.0f32])?.as_any().clone(),
    })
}

/// Adds to the gradient of an array.
fn accumulate(leaf: &AnyArray, bar: Kept) -> Result<()> {
    let mut grad = leaf.lock_grad();
    match grad.as_ref() {
        Some(sum) => sum.update(|to| {
            let bytes = leaf.base_bytes();
            leaf.device().accumulate(leaf.scalar(), (bar.buffer(), 0), (to, 0), bytes)
        }),
        None => {
            let buffer = bar.buffer().clone();
            *grad = Some(AnyArray::over(leaf.device(), leaf.scalar(), leaf.elem(), leaf.base_len(), buffer));
            Ok(())
        }
    }
}
