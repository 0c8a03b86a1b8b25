//! The line of the source at which a value that is not finite arises: found by running the text of the program at the one
//! position that wrote it.

use std::borrow::Cow;
use std::collections::HashMap;

use diffkern_ir::interpret::{Arg, Memory, Place, Point, Val, arises};
use diffkern_ir::{Access, ParamKind, Ty};

use crate::buffer::{Buffer, LaunchArg};
use crate::device::Device;
use crate::domain::Domain;
use crate::error::Result;
use crate::kernel::{Program, ScalarTy};
use crate::linked::Linked;

/// A launch of a program.
#[derive(Clone, Copy)]
pub(crate) struct Launched<'a> {
    pub(crate) device: &'a Device,
    pub(crate) scalar: ScalarTy,
    pub(crate) domain: Domain,
    /// With the contents from before, but for what `before` gives.
    pub(crate) args: &'a [LaunchArg<'a, Buffer>],
}

/// File and line of the operation that leaves an element of the parameter `slot` not finite; before it those of the calls that
/// lead there. Nothing where no operation does by itself: where what other positions add is part of it, or the last bits of
/// a device decide. `before` has the bytes of arrays, by slot.
pub(super) fn line<'a>(
    program: &'static Program,
    launched: Launched<'a>,
    before: &dyn Fn(usize) -> Option<&'a [u8]>,
    position: usize,
    (slot, element): (usize, usize),
) -> Result<Vec<(&'static str, u32)>> {
    let Ok(linked) = Linked::of(program) else { return Ok(Vec::new()) };
    let round = match launched.scalar {
        ScalarTy::F32 => |x: f64| f64::from(x as f32),
        _ => |x| x,
    };
    let mut elements = Elements { arrays: Vec::new(), changed: HashMap::new() };
    let mut args = Vec::new();
    for (number, (param, arg)) in linked.func.params.iter().zip(launched.args).enumerate() {
        let (array, given) = match (&param.kind, *arg) {
            (ParamKind::Array { elem, access, .. }, arg) => {
                (Some(contents(launched, (*elem, *access), arg, before(number))?), Arg::Array(number))
            }
            (ParamKind::Scalar { .. }, LaunchArg::Real(x)) => (None, Arg::Value(Val::Real(vec![round(x)]))),
            (ParamKind::Scalar { .. }, LaunchArg::U32(x) | LaunchArg::Usize(x)) => {
                (None, Arg::Value(Val::Int(x.into())))
            }
            (ParamKind::Scalar { .. }, LaunchArg::I32(x)) => (None, Arg::Value(Val::Int(x.into()))),
            (ParamKind::Scalar { .. }, LaunchArg::Bool(x)) => (None, Arg::Value(Val::Bool(x))),
            (ParamKind::Scalar { .. }, _) => return Ok(Vec::new()),
        };
        elements.arrays.push(array);
        args.push(given);
    }
    let [nx, ny, _] = launched.domain.dims().map(|extent| extent.max(1));
    let coordinates = [position % nx, position / nx % ny, position / nx / ny];
    let point = Point { position, coordinates, round };
    let place = arises((&linked.func, &*linked), &args, &mut elements, point, (slot, element));
    Ok(place.ok().flatten().and_then(|place| in_source(&linked, &place)).unwrap_or_default())
}

fn in_source(linked: &Linked, place: &Place) -> Option<Vec<(&'static str, u32)>> {
    let mut lines = Vec::new();
    let mut within = linked;
    for &(node, callee, mode) in &place.calls {
        lines.push((within.file, node.0));
        within = within.callees.get(&(callee, mode))?;
    }
    lines.push((within.file, place.node.0));
    lines.iter().all(|(_, line)| *line > 0).then_some(lines)
}

/// The elements of an argument.
fn contents<'a>(
    launched: Launched<'a>,
    (ty, access): (Ty, Access),
    arg: LaunchArg<'a, Buffer>,
    before: Option<&'a [u8]>,
) -> Result<Contents<'a>> {
    let scalar = if ty.is_int() { ScalarTy::U32 } else { launched.scalar };
    let of = |bytes| Contents { ty, scalar, bytes };
    Ok(match arg {
        // What is added to it counts as added to zero.
        LaunchArg::Place { len, .. } if access == Access::Add => of(Bytes::Zeros(len as usize)),
        _ if before.is_some() => of(Bytes::Known(Cow::Borrowed(before.unwrap_or_default()))),
        LaunchArg::Buffer { buffer, offset, len, elem } => {
            let size = elem.components() * scalar.bytes();
            let mut all = crate::memory::filled(len as usize * size, 0)?;
            launched.device.download(buffer, offset as usize * size, &mut all)?;
            of(Bytes::Known(Cow::Owned(all)))
        }
        LaunchArg::Absent { len } | LaunchArg::Place { len, .. } => of(Bytes::Zeros(len as usize)),
        _ => of(Bytes::Zeros(0)),
    })
}

struct Contents<'a> {
    ty: Ty,
    scalar: ScalarTy,
    bytes: Bytes<'a>,
}

enum Bytes<'a> {
    Known(Cow<'a, [u8]>),
    /// So many elements that are zero, whatever is stored to them.
    Zeros(usize),
}

impl Contents<'_> {
    fn size(&self) -> usize {
        self.ty.components() * self.scalar.bytes()
    }

    fn len(&self) -> usize {
        match &self.bytes {
            Bytes::Known(bytes) => bytes.len() / self.size(),
            Bytes::Zeros(len) => *len,
        }
    }

    fn get(&self, index: usize) -> Option<Val> {
        let bytes = match &self.bytes {
            Bytes::Zeros(len) => return (index < *len).then(|| Val::zero(self.ty)),
            Bytes::Known(bytes) => bytes.get(index * self.size()..)?.get(..self.size())?,
        };
        let (words, _) = bytes.as_chunks::<4>();
        let word = |k: usize| words.get(k).copied().unwrap_or_default();
        Some(match (self.ty, self.scalar) {
            (Ty::I32, _) => Val::Int(i32::from_ne_bytes(word(0)).into()),
            (ty, _) if ty.is_int() => Val::Int(u32::from_ne_bytes(word(0)).into()),
            (_, ScalarTy::F64) => Val::Real(bytes.as_chunks().0.iter().map(|part| f64::from_ne_bytes(*part)).collect()),
            _ => Val::Real(words.iter().map(|part| f32::from_ne_bytes(*part).into()).collect()),
        })
    }
}

/// The arrays by slot, with what the position has changed.
struct Elements<'a> {
    arrays: Vec<Option<Contents<'a>>>,
    changed: HashMap<(usize, usize), Val>,
}

impl Memory for Elements<'_> {
    fn len(&self, array: usize) -> usize {
        self.arrays.get(array).and_then(Option::as_ref).map_or(0, Contents::len)
    }

    fn get(&self, array: usize, index: usize) -> Option<Val> {
        let changed = self.changed.get(&(array, index)).cloned();
        changed.or_else(|| self.arrays.get(array)?.as_ref()?.get(index))
    }

    fn set(&mut self, array: usize, index: usize, value: Val) -> Option<()> {
        let contents = self.arrays.get(array)?.as_ref()?;
        if index >= contents.len() {
            return None;
        }
        // What is stored to an array that is absent is never read.
        if matches!(contents.bytes, Bytes::Known(_)) {
            self.changed.insert((array, index), value);
        }
        Some(())
    }
}
