//! Forward mode: tangents that travel beside the launches, several directions at once, without a tape.

use std::cell::RefCell;
use std::sync::Arc;

use crate::array::{AnyArray, Array, Dots};
use crate::backend::{self, LaunchArg, Which};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::ids::{IdMap, fresh_id};
use crate::kernel::{Access, Arg};
use crate::launch::{Call, part};
use crate::tape::context;
use crate::tape::open::Open;

/// Tangents that go into a program along one direction: arrays with their derivatives, none of them twice.
pub type Direction<'a> = &'a [(&'a AnyArray, &'a AnyArray)];

thread_local! {
    static EVALUATION: RefCell<Option<Evaluation>> = const { RefCell::new(None) };
}

struct Evaluation {
    id: u64,
    directions: usize,
    /// The first launch that failed while it ran.
    failed: Option<&'static str>,
    /// Zeros by size, for arrays that have no tangent.
    zeros: IdMap<(Device, Arc<Buffer>), usize>,
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
    if context::mode().forward() || context::is_recording() || context::is_stepping() {
        let reason = "it runs inside another jvp, a recording or a rollout; give all directions to the outermost jvp";
        return Err(Error::Jvp(reason.to_owned()).into());
    }
    let evaluation = fresh_id();
    let _open = Open::new(evaluation);
    for (k, direction) in directions.iter().enumerate() {
        if let Some(array) = named_twice(direction) {
            return Err(Error::Jvp(twice(array)).into());
        }
        for (array, tangent) in *direction {
            seed(evaluation, (k, directions.len()), array, tangent)?;
        }
    }
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            context::set_forward(false);
            EVALUATION.with_borrow_mut(Option::take);
        }
    }
    let open = Evaluation { id: evaluation, directions: directions.len(), failed: None, zeros: IdMap::default() };
    EVALUATION.with_borrow_mut(|slot| *slot = Some(open));
    let end = End;
    context::set_forward(true);
    let result = program()?;
    let failed = EVALUATION.with_borrow(|slot| slot.as_ref().and_then(|open| open.failed));
    drop(end);
    if let Some(kernel) = failed {
        return Err(Error::Jvp(format!(
            "kernel `{kernel}` failed and the program went on, but what it has left in its arrays has no tangent; return \
             its error"
        ))
        .into());
    }
    Ok((result, Tangents { evaluation, directions: directions.len() }))
}

/// An array of which a direction names an element twice.
pub(crate) fn named_twice<'a>(direction: Direction<'a>) -> Option<&'a AnyArray> {
    let earlier = |k: usize| direction[..k].iter().any(|(other, _)| other.overlaps(direction[k].0));
    (0..direction.len()).find(|&k| earlier(k)).map(|k| direction[k].0)
}

pub(crate) fn twice(array: &AnyArray) -> String {
    format!("a direction names elements of {array:?} twice; add up what they move by")
}

/// Notes that a launch has failed after it may have written something.
pub(crate) fn failed(kernel: &'static str) {
    EVALUATION.with_borrow_mut(|slot| {
        if let Some(open) = slot {
            open.failed.get_or_insert(kernel);
        }
    });
}

fn seed(evaluation: u64, (k, of): (usize, usize), array: &AnyArray, tangent: &AnyArray) -> Result<()> {
    let shape = |a: &AnyArray| (a.elem(), a.scalar(), a.len());
    if shape(array) != shape(tangent) || array.device() != tangent.device() || !array.is_real() {
        return Err(Error::Jvp(format!(
            "{tangent:?} is not a tangent of {array:?}: shape, type and device must agree"
        )));
    }
    with_dots(evaluation, of, array, |dots| {
        let (to_at, bytes) = array.byte_range();
        let to = writable(&mut dots[k], array)?;
        array.device().copy(&tangent.buffer(), tangent.byte_range().0, to, to_at, bytes)
    })
}

/// Calls `act` with the tangents of `array` in this evaluation.
fn with_dots<R>(
    evaluation: u64,
    directions: usize,
    array: &AnyArray,
    act: impl FnOnce(&mut [Option<Arc<Buffer>>]) -> R,
) -> R {
    array.marks().set_tracked_in(evaluation);
    let mut guard = array.lock_dots();
    let dots = match guard.take() {
        Some(dots) if dots.evaluation == evaluation => dots,
        _ => Dots { evaluation, buffers: vec![None; directions] },
    };
    act(&mut guard.insert(dots).buffers)
}

/// The tangent, zero if it was absent, with no other reference to it.
fn writable<'a>(dot: &'a mut Option<Arc<Buffer>>, array: &AnyArray) -> Result<&'a Arc<Buffer>> {
    let mut buffer = match dot.take() {
        Some(buffer) => buffer,
        None => array.device().alloc_zeroed(array.base_bytes())?,
    };
    Buffer::unshare(&mut buffer)?;
    Ok(dot.insert(buffer))
}

pub(crate) fn current() -> Option<(u64, usize)> {
    EVALUATION.with_borrow(|s| s.as_ref().map(|s| (s.id, s.directions)))
}

/// The tangent of `array` along direction `k`, if it has one.
pub(crate) fn dot(evaluation: u64, array: &AnyArray, k: usize) -> Option<Arc<Buffer>> {
    let dots = array.lock_dots();
    dots.as_ref().filter(|dots| dots.evaluation == evaluation).and_then(|dots| dots.buffers.get(k)?.clone())
}

/// Gives an array its tangent along direction `k`.
pub(crate) fn set(evaluation: u64, directions: usize, array: &AnyArray, (k, dot): (usize, Option<Arc<Buffer>>)) {
    with_dots(evaluation, directions, array, |dots| dots[k] = dot);
}

/// Zeros of the size of an array.
fn zeros(array: &AnyArray) -> Result<Arc<Buffer>> {
    let (bytes, device) = (array.base_bytes(), array.device());
    let cached = EVALUATION.with_borrow(|s| s.as_ref().and_then(|s| s.zeros.get(&bytes).cloned()));
    if let Some((_, buffer)) = cached.filter(|(of, _)| of == device) {
        return Ok(buffer);
    }
    let buffer = device.alloc_zeroed(bytes)?;
    EVALUATION.with_borrow_mut(|s| {
        if let Some(evaluation) = s {
            evaluation.zeros.insert(bytes, (device.clone(), buffer.clone()));
        }
    });
    Ok(buffer)
}

/// Refuses arrays whose tangent has been missed.
pub(crate) fn allow_use<'a>(mut arrays: impl Iterator<Item = &'a AnyArray>, what: &dyn Fn() -> String) -> Result<()> {
    let Some((evaluation, _)) = current() else { return Ok(()) };
    match arrays.find(|array| array.is_real() && array.marks().has_strayed_from(evaluation)) {
        None => Ok(()),
        Some(array) => Err(Error::Jvp(format!(
            "{} uses {}, which another thread has written meanwhile, from arrays that have a tangent here or over \
             one, and `jvp` sees this thread only; launch on the thread that runs it",
            what(),
            array.label()
        ))),
    }
}

/// Runs the tangents of a launch.
pub(crate) fn launch(call: Call<'_>, reads: &[Option<Arc<Buffer>>]) -> Result<()> {
    let Some((evaluation, directions)) = current() else { return Ok(()) };
    (0..directions).try_for_each(|k| launch_direction(call, reads, evaluation, k, directions))
}

fn launch_direction(
    call: Call<'_>,
    reads: &[Option<Arc<Buffer>>],
    evaluation: u64,
    k: usize,
    directions: usize,
) -> Result<()> {
    let real = || call.arrays().filter(|(_, array, _)| array.is_real());
    if !real().any(|(_, array, _)| dot(evaluation, array, k).is_some()) {
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
    // All of them before the first is held: a second view of an array would otherwise find its tangent shared, and copy it.
    for (_, array, access) in real().filter(|(_, _, access)| access.writes()) {
        debug_assert!(access != Access::Take);
        with_dots(evaluation, directions, array, |dots| writable(&mut dots[k], array).map(drop))?;
    }
    let mut args: Vec<LaunchArg<'_, Buffer>> = Vec::with_capacity(call.args.len() * 2);
    for ((arg, primal), param) in call.args.iter().zip(&primals).zip(call.def.tangent.params) {
        let used = crate::launch::access(param) != Access::Unused;
        args.push(match (*arg, primal.as_deref()) {
            (Arg::Array(array), Some(buffer)) if used => part(array, buffer),
            (Arg::Array(array), _) => LaunchArg::Absent { len: array.len() as u32 },
            (Arg::Real(x), _) => LaunchArg::Real(x),
            (Arg::U32(x), _) => LaunchArg::U32(x),
            (Arg::I32(x), _) => LaunchArg::I32(x),
            (Arg::Usize(x), _) => LaunchArg::Usize(x),
            (Arg::Bool(x), _) => LaunchArg::Bool(x),
        });
    }
    let tangents: Vec<(&AnyArray, Arc<Buffer>)> = real()
        .map(|(_, array, _)| Ok((array, dot(evaluation, array, k).map_or_else(|| zeros(array), Ok)?)))
        .collect::<Result<_>>()?;
    args.extend(tangents.iter().map(|(array, buffer)| part(array, buffer)));
    let _span = crate::trace::launch(call.def.name, "tangent", call.domain);
    let program = (call.def, Which::Tangent, call.native.tangent);
    backend::run(call.device, program, call.native.scalar, call.domain, &args)
}

/// The elements have become constants.
pub(crate) fn clear(array: &AnyArray) -> Result<()> {
    let Some((evaluation, directions)) = current() else { return Ok(()) };
    if !(0..directions).any(|k| dot(evaluation, array, k).is_some()) {
        return Ok(());
    }
    with_dots(evaluation, directions, array, |dots| {
        let (at, bytes) = array.byte_range();
        dots.iter_mut().filter(|dot| dot.is_some()).try_for_each(|dot| {
            let to = writable(dot, array)?;
            array.device().clear(to, at, bytes)
        })
    })
}

/// The elements have become those of another array.
pub(crate) fn copy(to: &AnyArray, from: &AnyArray) -> Result<()> {
    let Some((evaluation, directions)) = current() else { return Ok(()) };
    for k in 0..directions {
        let source = dot(evaluation, from, k);
        with_dots(evaluation, directions, to, |dots| {
            let (at, bytes) = to.byte_range();
            match source {
                Some(source) => {
                    let target = writable(&mut dots[k], to)?;
                    to.device().copy(&source, from.byte_range().0, target, at, bytes)
                }
                None if dots[k].is_some() => to.device().clear(writable(&mut dots[k], to)?, at, bytes),
                None => Ok(()),
            }
        })?;
    }
    Ok(())
}
