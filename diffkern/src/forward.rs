//! Forward mode: tangents that travel beside the launches, several directions at once, without a tape.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use crate::array::active::Open;
use crate::array::{AnyArray, Array, Dots};
use crate::buffer::{Buffer, LaunchArg};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::ids::{IdMap, fresh_id};
use crate::kernel::{Access, Which};
use crate::launch::observers::{self, Event, Joined, Observer, Roles};
use crate::launch::{Arg, Call, access, part};
use crate::tangent::{Direction, Pushed, Tangents as _, named_twice, of_launch, twice};
use crate::tape::context;

/// A forward-mode evaluation of this thread.
pub(crate) struct Evaluation {
    id: u64,
    directions: usize,
    /// The first launch that failed while it ran.
    failed: Cell<Option<&'static str>>,
    /// The directions of a launch that its own program has gone along.
    joined: RefCell<Vec<usize>>,
    /// Zeros by size, for arrays that have no tangent.
    zeros: RefCell<IdMap<(Device, Arc<Buffer>), usize>>,
}

/// The derivatives of what a program computed, see [`jvp`].
#[derive(Clone, Copy, Debug)]
pub struct Tangents {
    evaluation: u64,
    directions: usize,
}

impl Tangents {
    /// Derivative of `array` along direction `k`, as it was at the end of the program: zero where it does not depend on
    /// the inputs.
    ///
    /// # Errors
    /// When there is no such direction, or the array has taken part in a later `jvp`.
    pub fn get<T: Element>(&self, k: usize, array: &Array<T>) -> Result<Array<T>> {
        Array::try_from(self.get_any(k, array.as_any())?)
    }

    /// The same for an array whose type is known at run time only.
    ///
    /// # Errors
    /// As [`Tangents::get`].
    pub fn get_any(&self, k: usize, array: &AnyArray) -> Result<AnyArray> {
        if k >= self.directions {
            return Err(Error::Jvp(format!("direction {k} of {}", self.directions)));
        }
        let ((at, bytes), device) = (array.byte_range(), array.device());
        let tangent = device.alloc_zeroed(bytes)?;
        match array.lock_dots().as_ref() {
            Some(dots) if dots.evaluation != self.evaluation => {
                return Err(Error::Jvp(format!("{} has taken part in a later jvp since", array.label())));
            }
            Some(Dots { buffers, .. }) => {
                if let Some(dot) = buffers.get(k).and_then(Option::as_ref) {
                    device.copy(dot, at, &tangent, 0, bytes)?;
                }
            }
            None => {}
        }
        Ok(AnyArray::over(device, array.scalar(), array.elem(), array.len() as u32, tangent))
    }
}

/// Runs `program` and the derivatives of all that it computes, along several directions at once: one run of the
/// kernels, one run of their tangents per direction. Rollouts inside take no more memory than without.
///
/// A kernel with `#[diff_kernel(directions = 3)]` is run together with its tangents along three of the directions, on the CPU.
/// What is computed has the same bits.
///
/// ```
/// use diffkern::jvp;
/// use diffkern::prelude::*;
///
/// #[diff_kernel]
/// fn product<F: Float>(a: &Array<F>, b: &Array<F>, y: &mut Array<F>) {
///     y[ABSOLUTE_POS] = a[ABSOLUTE_POS] * b[ABSOLUTE_POS];
/// }
///
/// let dev = Device::cpu();
/// let (a, b, one) = (dev.array(&[2.0])?, dev.array(&[3.0])?, dev.array(&[1.0])?);
/// let (y, tangents) = jvp(&[&[(a.as_any(), one.as_any())], &[(b.as_any(), one.as_any())]], || {
///     let y = dev.uninit(1)?;
///     product(1, &a, &b, &y)?;
///     Ok::<_, Error>(y)
/// })?;
/// assert_eq!(tangents.get(0, &y)?.to_vec()?, [3.0]); // by a
/// assert_eq!(tangents.get(1, &y)?.to_vec()?, [2.0]); // by b
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// What `program` returns; when a tangent does not have the shape of its array; when a tape records on this thread; when
/// it uses an array that another thread has written meanwhile, from arrays that have a tangent.
pub fn jvp<R, E: From<Error>>(
    directions: &[Direction<'_>],
    program: impl FnOnce() -> Result<R, E>,
) -> Result<(R, Tangents), E> {
    if observers::is_played(Roles::TANGENTS) || context::is_recording() || context::is_stepping() {
        let reason = "it runs inside another jvp, a recording or a rollout; give all directions to the outermost jvp";
        return Err(Error::Jvp(reason.to_owned()).into());
    }
    let evaluation = Rc::new(Evaluation::new(directions.len()));
    let _open = Open::new(evaluation.id);
    for (k, direction) in directions.iter().enumerate() {
        if let Some(array) = named_twice(direction) {
            return Err(Error::Jvp(twice(array)).into());
        }
        for (array, tangent) in *direction {
            evaluation.seed(k, array, tangent)?;
        }
    }
    let on_stack = observers::register(Roles::TANGENTS, evaluation.clone());
    let result = program()?;
    drop(on_stack);
    if let Some(kernel) = evaluation.failed.get() {
        return Err(Error::Jvp(format!(
            "kernel `{kernel}` failed and the program went on, but what it has left in its arrays has no tangent; return \
             its error"
        ))
        .into());
    }
    Ok((result, Tangents { evaluation: evaluation.id, directions: directions.len() }))
}

/// The tangents of an evaluation along one of its directions: they are beside the arrays, and go with them.
struct Beside<'a> {
    evaluation: &'a Evaluation,
    k: usize,
}

impl crate::tangent::Tangents<AnyArray> for Beside<'_> {
    fn get(&self, array: &AnyArray) -> Option<Arc<Buffer>> {
        self.evaluation.dot(array, self.k)
    }

    fn take(&mut self, array: &AnyArray) -> Option<Arc<Buffer>> {
        self.evaluation.with_dots(array, |dots| dots[self.k].take())
    }

    fn put(&mut self, array: &AnyArray, tangent: Arc<Buffer>) {
        self.evaluation.set(array, self.k, Some(tangent));
    }

    /// There for all launches: a program for zeros would have to be compiled for each set of absent tangents.
    fn zeros(&mut self, array: &AnyArray) -> Result<Option<Arc<Buffer>>> {
        let (bytes, device) = (array.base_bytes(), array.device());
        let mut zeros = self.evaluation.zeros.borrow_mut();
        if let Some((_, buffer)) = zeros.get(&bytes).filter(|(of, _)| of == device) {
            return Ok(Some(buffer.clone()));
        }
        let buffer = device.alloc_zeroed(bytes)?;
        zeros.insert(bytes, (device.clone(), buffer.clone()));
        Ok(Some(buffer))
    }
}

/// The evaluation of this thread, also where its tangents are not carried at present.
pub(crate) fn current() -> Option<Rc<Evaluation>> {
    observers::all::<Evaluation>().last().cloned()
}

impl Evaluation {
    fn new(directions: usize) -> Evaluation {
        Evaluation {
            id: fresh_id(),
            directions,
            failed: Cell::new(None),
            joined: RefCell::default(),
            zeros: RefCell::default(),
        }
    }

    pub(crate) fn directions(&self) -> usize {
        self.directions
    }

    fn seed(&self, k: usize, array: &AnyArray, tangent: &AnyArray) -> Result<()> {
        let shape = |a: &AnyArray| (a.elem(), a.scalar(), a.len());
        if shape(array) != shape(tangent) || array.device() != tangent.device() || !array.is_real() {
            return Err(Error::Jvp(format!(
                "{tangent:?} is not a tangent of {array:?}: shape, type and device must agree"
            )));
        }
        self.along(k).write(array, Some((&tangent.buffer(), tangent.byte_range().0)))
    }

    fn along(&self, k: usize) -> Beside<'_> {
        Beside { evaluation: self, k }
    }

    /// Calls `act` with the tangents of `array` in this evaluation.
    fn with_dots<R>(&self, array: &AnyArray, act: impl FnOnce(&mut [Option<Arc<Buffer>>]) -> R) -> R {
        array.marks().set_tracked_in(self.id);
        let mut guard = array.lock_dots();
        let dots = match guard.take() {
            Some(dots) if dots.evaluation == self.id => dots,
            _ => Dots { evaluation: self.id, buffers: vec![None; self.directions] },
        };
        act(&mut guard.insert(dots).buffers)
    }

    /// The tangent of `array` along direction `k`, if it has one.
    pub(crate) fn dot(&self, array: &AnyArray, k: usize) -> Option<Arc<Buffer>> {
        let dots = array.lock_dots();
        dots.as_ref().filter(|dots| dots.evaluation == self.id).and_then(|dots| dots.buffers.get(k)?.clone())
    }

    /// Gives an array its tangent along direction `k`.
    pub(crate) fn set(&self, array: &AnyArray, k: usize, dot: Option<Arc<Buffer>>) {
        self.with_dots(array, |dots| dots[k] = dot);
    }

    /// Refuses arrays whose tangent has been missed.
    pub(crate) fn allow_use<'a>(
        &self,
        mut arrays: impl Iterator<Item = &'a AnyArray>,
        what: &dyn Fn() -> String,
    ) -> Result<()> {
        match arrays.find(|array| array.is_real() && array.marks().has_strayed_from(self.id)) {
            None => Ok(()),
            Some(array) => Err(Error::Jvp(format!(
                "{} uses {}, which another thread has written meanwhile, from arrays that have a tangent here or over \
                 one, and `jvp` sees this thread only; launch on the thread that runs it",
                what(),
                array.label()
            ))),
        }
    }

    /// The directions that reach a launch: one of its arrays has a tangent.
    fn reached(&self, arrays: &[(&AnyArray, Access)]) -> Vec<usize> {
        let moves = |k: &usize| arrays.iter().any(|(array, _)| self.dot(array, *k).is_some());
        (0..self.directions).filter(moves).collect()
    }

    /// The launch with the first of the directions that reach it, where there is a program for that which pays.
    fn with_tangents(&self, call: Call<'_>) -> Result<Option<Joined>> {
        self.joined.take();
        let (Some(directions), Some(body)) = (&call.def.directions, call.native.directions) else { return Ok(None) };
        // Sums of floating-point numbers would have another order than in the tangent alone, which fetches nothing.
        let fetches = call.arrays().any(|(_, _, access)| access == Access::Fetch);
        if !call.device.is_cpu() || fetches {
            return Ok(None);
        }
        let arrays = reals(call);
        let mut along = self.reached(&arrays);
        if along.len() < 2 {
            return Ok(None);
        }
        let complete = along.len() <= directions.count;
        along.truncate(directions.count);
        let slots = || call.arrays().filter(|(_, array, _)| array.is_real()).map(|(slot, ..)| slot);
        let mut more = Vec::with_capacity(directions.count * arrays.len());
        for k in &along {
            more.extend(slots().zip(of_launch(&arrays, &mut self.along(*k))?));
        }
        for _ in along.len()..directions.count {
            more.extend(slots().zip(self.nowhere(&arrays)?));
        }
        self.joined.replace(along);
        Ok(Some(Joined { program: (Which::Directions, body), more, complete }))
    }

    /// Arguments for a direction along which nothing moves; what is stored there is dropped.
    fn nowhere(&self, arrays: &[(&AnyArray, Access)]) -> Result<Vec<Option<Arc<Buffer>>>> {
        let mut tangents = Vec::with_capacity(arrays.len());
        for (array, access) in arrays {
            tangents.push(match access {
                Access::Read => self.along(0).zeros(array)?,
                Access::Store | Access::Update => Some(array.device().alloc_zeroed(array.base_bytes())?),
                Access::Add | Access::Unused | Access::Take | Access::Fetch => None,
            });
        }
        Ok(tangents)
    }

    /// Runs the tangents of a launch, along the directions that reach it and along which its own program has not gone.
    fn launch(&self, call: Call<'_>, reads: &[Option<Arc<Buffer>>]) -> Result<()> {
        let (arrays, joined) = (reals(call), self.joined.take());
        let mut reached = self.reached(&arrays);
        reached.retain(|k| !joined.contains(k));
        if reached.is_empty() {
            return Ok(());
        }
        let primals: Vec<Option<Arc<Buffer>>> = call
            .args
            .iter()
            .enumerate()
            .map(|(slot, arg)| match arg {
                Arg::Array(array) => reads[slot].clone().or_else(|| Some(array.buffer())),
                _ => None,
            })
            .collect();
        let args = call.args.iter().zip(&primals).zip(call.def.tangent.params).map(|((arg, primal), param)| {
            let used = access(param) != Access::Unused;
            match (*arg, primal.as_deref()) {
                (Arg::Array(array), Some(buffer)) if used => part(array, buffer),
                (Arg::Array(array), _) => LaunchArg::Absent { len: array.len() as u32 },
                (Arg::Real(x), _) => LaunchArg::Real(x),
                (Arg::U32(x), _) => LaunchArg::U32(x),
                (Arg::I32(x), _) => LaunchArg::I32(x),
                (Arg::Usize(x), _) => LaunchArg::Usize(x),
                (Arg::Bool(x), _) => LaunchArg::Bool(x),
            }
        });
        let Call { def, native, domain, device, .. } = call;
        let pushed = Pushed { def, native: *native, domain, device, args: args.collect(), arrays };
        reached.into_iter().try_for_each(|k| pushed.along(&mut self.along(k)))
    }
}

/// The arrays of reals of a launch.
fn reals(call: Call<'_>) -> Vec<(&AnyArray, Access)> {
    call.arrays().filter(|(_, array, _)| array.is_real()).map(|(_, array, access)| (array, access)).collect()
}

impl Observer for Evaluation {
    fn before(&self, event: &Event<'_>) -> Result<()> {
        match *event {
            Event::Launch(call) => {
                let arrays = call.arrays().map(|(_, array, _)| array);
                self.allow_use(arrays, &|| format!("kernel `{}`", call.def.name))
            }
            Event::Overwrite { .. } => Ok(()),
            Event::Copy { to, from } => self.allow_use([from, to].into_iter(), &|| "`copy_from`".to_owned()),
        }
    }

    fn join(&self, call: Call<'_>) -> Result<Option<Joined>> {
        self.with_tangents(call)
    }

    fn after(&self, event: &Event<'_>, reads: &[Option<Arc<Buffer>>]) -> Result<()> {
        match *event {
            Event::Launch(call) => self.launch(call, reads),
            Event::Overwrite { array, .. } => (0..self.directions).try_for_each(|k| self.along(k).write(array, None)),
            Event::Copy { to, from } => (0..self.directions).try_for_each(|k| {
                let source = self.dot(from, k);
                self.along(k).write(to, source.as_ref().map(|source| (source, from.byte_range().0)))
            }),
        }
    }

    fn failed(&self, kernel: &'static str) {
        self.joined.take();
        if self.failed.get().is_none() {
            self.failed.set(Some(kernel));
        }
    }
}
