//! A program of diffkern as one operation of Burn's autodiff.

use crate::share::Share;
use crate::tapes::{self, Token};
use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::tensor::backend::BackendTypes;
use burn::tensor::{Tensor, TensorPrimitive};
use diffkern::{Array, Device, Error, Result, Tape};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Launches that make one array from some.
type Program<T, const N: usize> = dyn for<'a> Fn([&'a Array<T>; N]) -> Result<Array<T>> + Send + Sync;

/// Runs `program` on the values of `inputs`, on `device`, and gives its output as a tensor. Gradients of losses of that
/// tensor reach the inputs through Burn's autodiff, as exact as diffkern's are. The program may launch whatever a tape
/// records, rollouts included; where no input is tracked, nothing is recorded. Several outputs are one array in parts.
///
/// The inputs are flat: reshape a tensor of more dimensions before.
///
/// # Errors
/// What `program` returns; when a tensor cannot be shared with `device`; when a tape records on this thread already.
///
/// # Panics
/// Not here. But Burn's `backward` has no errors: where the walk back through diffkern fails, because a device does or
/// because the output does not come from the inputs by launches, it panics with that error.
pub fn apply<B: Share, const N: usize>(
    device: &Device,
    inputs: [Tensor<Autodiff<B>, 1>; N],
    program: impl for<'a> Fn([&'a Array<B::Real>; N]) -> Result<Array<B::Real>> + Send + Sync + 'static,
) -> Result<Tensor<Autodiff<B>, 1>> {
    let place = inputs.first().map(Tensor::device).unwrap_or_default();
    let inputs = inputs.map(|tensor| tensor.into_primitive().tensor());
    let nodes = inputs.each_ref().map(|tensor| tensor.node.clone());
    let mut arrays = Vec::with_capacity(N);
    for tensor in inputs {
        let tracked = tensor.is_tracked();
        let tensor = Tensor::<B, 1>::from_primitive(TensorPrimitive::Float(tensor.primitive));
        let array = B::array(tensor, device)?;
        arrays.push(if tracked { array.requires_grad() } else { array });
    }
    let call = Call::<B, N> { program: Arc::new(program), inputs: arrays, place };
    let prepared = Through::<B, N>(PhantomData).prepare::<NoCheckpointing>(nodes);
    let output = match prepared.compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let (tape, output) = call.record()?;
            let tensor = call.tensor(&output)?;
            prepared.finish(Kept { call, output, tape: tapes::keep(tape) }, tensor.into_primitive().tensor())
        }
        OpsKind::UnTracked(prepared) => prepared.finish(call.tensor(&call.run()?)?.into_primitive().tensor()),
    };
    Ok(Tensor::from_primitive(TensorPrimitive::Float(output)))
}

/// A program with its inputs.
struct Call<B: Share, const N: usize> {
    program: Arc<Program<B::Real, N>>,
    inputs: Vec<Array<B::Real>>,
    /// Where the output goes.
    place: <B as BackendTypes>::Device,
}

impl<B: Share, const N: usize> Call<B, N> {
    fn run(&self) -> Result<Array<B::Real>> {
        (self.program)(std::array::from_fn(|k| &self.inputs[k]))
    }

    fn tensor(&self, array: &Array<B::Real>) -> Result<Tensor<B, 1>> {
        B::tensor(array, &self.place)
    }

    /// The tape of a run, and its output.
    fn record(&self) -> Result<(Tape, Array<B::Real>)> {
        Tape::record_value(|| self.run())
    }
}

/// What the walk back needs. It may happen on another thread.
struct Kept<B: Share, const N: usize> {
    call: Call<B, N>,
    output: Array<B::Real>,
    tape: Token,
}

impl<B: Share, const N: usize> Kept<B, N> {
    /// By input, the gradient where it is tracked.
    fn gradients(&self, bar: Tensor<B, 1>) -> Result<Vec<Option<Tensor<B, 1>>>> {
        let (tape, output) = match tapes::take(&self.tape) {
            Some(tape) => (tape, self.output.clone()),
            None => self.call.record()?,
        };
        let bar = B::array(bar, output.device())?;
        tape.backward_from(&[(output.as_any(), bar.as_any())])?;
        let gradient = |input: &Array<B::Real>| -> Result<Option<Tensor<B, 1>>> {
            if !input.as_any().needs_grad() {
                return Ok(None);
            }
            let gradient = match input.grad() {
                // It has no influence.
                Err(Error::NoGradient { .. }) => input.device().zeros(input.len())?,
                found => found?,
            };
            input.zero_grad();
            Ok(Some(self.call.tensor(&gradient)?))
        };
        self.call.inputs.iter().map(gradient).collect()
    }
}

impl<B: Share, const N: usize> Clone for Kept<B, N> {
    fn clone(&self) -> Self {
        let Call { program, inputs, place } = &self.call;
        let call = Call { program: program.clone(), inputs: inputs.clone(), place: place.clone() };
        Self { call, output: self.output.clone(), tape: self.tape.clone() }
    }
}

impl<B: Share, const N: usize> fmt::Debug for Kept<B, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({N} inputs, output {:?})", self.output.as_any())
    }
}

/// The operation.
struct Through<B, const N: usize>(PhantomData<fn() -> B>);

impl<B, const N: usize> fmt::Debug for Through<B, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("diffkern")
    }
}

impl<B: Share, const N: usize> Backward<B, N> for Through<B, N> {
    type State = Kept<B, N>;

    fn backward(self, ops: Ops<Kept<B, N>, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let bar = Tensor::from_primitive(TensorPrimitive::Float(grads.consume::<B>(&ops.node)));
        let gradients = match ops.state.gradients(bar) {
            Ok(gradients) => gradients,
            // Burn's signature has no room for an error, and no gradient would be a wrong one.
            Err(error) => panic!("backward through diffkern: {error}"),
        };
        for (parent, gradient) in ops.parents.iter().zip(gradients) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                grads.register::<B>(parent.id, gradient.into_primitive().tensor());
            }
        }
    }
}
