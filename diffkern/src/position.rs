//! Single positions of a launch, for the interpreter of the program's text: what arrays hold, with what a position has changed
//! kept apart.

use std::borrow::Cow;
use std::collections::HashMap;

use diffkern_ir::interpret::{Arg, Memory, Point, Val};
use diffkern_ir::{Access, Func, ParamKind, Ty};

use crate::buffer::{Buffer, LaunchArg};
use crate::domain::Domain;
use crate::error::Result;
use crate::kernel::ScalarTy;

/// What the interpreter takes at any position of a launch. An array has the number of its slot.
pub(crate) struct Positions<'a> {
    pub(crate) args: Vec<Arg>,
    pub(crate) elements: Elements<'a>,
    extent: [usize; 3],
    round: fn(f64) -> f64,
}

impl<'a> Positions<'a> {
    /// Those of a launch of `func` in the precision `scalar`; `contents` of an argument that is an array, by its slot, with the bytes of an element.
    /// Nothing where arguments are not those of its parameters.
    pub(crate) fn of(
        func: &Func,
        (scalar, domain): (ScalarTy, Domain),
        args: &[LaunchArg<'a, Buffer>],
        contents: impl Fn(usize, LaunchArg<'a, Buffer>, usize) -> Result<Contents<'a>>,
    ) -> Result<Option<Self>> {
        let round = match scalar {
            ScalarTy::F32 => |x: f64| f64::from(x as f32),
            _ => |x| x,
        };
        let (mut arrays, mut given) = (Vec::new(), Vec::new());
        for (slot, (param, &arg)) in func.params.iter().zip(args).enumerate() {
            let (array, arg) = match (&param.kind, arg) {
                (ParamKind::Array { elem, access, .. }, arg) => {
                    let scalar = if elem.is_int() { ScalarTy::U32 } else { scalar };
                    let contents = match arg {
                        // What is added to it counts as added to zero.
                        LaunchArg::Place { .. } if *access == Access::Add => Contents::of_none(arg),
                        arg => contents(slot, arg, elem.components() * scalar.bytes())?,
                    };
                    (Some(Array { ty: *elem, scalar, contents }), Arg::Array(slot))
                }
                (ParamKind::Scalar { .. }, LaunchArg::Real(x)) => (None, Arg::Value(Val::Real(vec![round(x)]))),
                (ParamKind::Scalar { .. }, LaunchArg::U32(x) | LaunchArg::Usize(x)) => {
                    (None, Arg::Value(Val::Int(x.into())))
                }
                (ParamKind::Scalar { .. }, LaunchArg::I32(x)) => (None, Arg::Value(Val::Int(x.into()))),
                (ParamKind::Scalar { .. }, LaunchArg::Bool(x)) => (None, Arg::Value(Val::Bool(x))),
                (ParamKind::Scalar { .. }, _) => return Ok(None),
            };
            arrays.push(array);
            given.push(arg);
        }
        let extent = domain.dims().map(|extent| extent.max(1));
        Ok(Some(Positions { args: given, elements: Elements { arrays, changed: HashMap::new() }, extent, round }))
    }

    /// The position of this number.
    pub(crate) fn point(&self, position: usize) -> Point {
        let [nx, ny, _] = self.extent;
        let coordinates = [position % nx, position / nx % ny, position / nx / ny];
        Point { position, coordinates, round: self.round }
    }
}

/// What an array holds.
pub(crate) enum Contents<'a> {
    /// These bytes.
    Known(Cow<'a, [u8]>),
    /// So many elements that are zero, whatever is stored to them.
    Zeros(usize),
}

impl Contents<'_> {
    /// Those of an argument of which nothing is known but its length.
    pub(crate) fn of_none(arg: LaunchArg<'_, Buffer>) -> Self {
        Contents::Zeros(match arg {
            LaunchArg::Buffer { len, .. } | LaunchArg::Place { len, .. } | LaunchArg::Absent { len } => len as usize,
            LaunchArg::Real(_) | LaunchArg::U32(_) | LaunchArg::I32(_) | LaunchArg::Usize(_) | LaunchArg::Bool(_) => 0,
        })
    }
}

struct Array<'a> {
    ty: Ty,
    scalar: ScalarTy,
    contents: Contents<'a>,
}

impl Array<'_> {
    fn size(&self) -> usize {
        self.ty.components() * self.scalar.bytes()
    }

    fn len(&self) -> usize {
        match &self.contents {
            Contents::Known(bytes) => bytes.len() / self.size(),
            Contents::Zeros(len) => *len,
        }
    }

    fn get(&self, index: usize) -> Option<Val> {
        let bytes = match &self.contents {
            Contents::Zeros(len) => return (index < *len).then(|| Val::zero(self.ty)),
            Contents::Known(bytes) => bytes.get(index * self.size()..)?.get(..self.size())?,
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

/// The arrays by slot, with what was changed in them since.
pub(crate) struct Elements<'a> {
    arrays: Vec<Option<Array<'a>>>,
    changed: HashMap<(usize, usize), Val>,
}

impl Elements<'_> {
    fn array(&self, slot: usize) -> Option<&Array<'_>> {
        self.arrays.get(slot)?.as_ref()
    }

    /// Forgets what was changed.
    pub(crate) fn undo(&mut self) {
        self.changed.clear();
    }
}

impl Memory for Elements<'_> {
    fn len(&self, array: usize) -> usize {
        self.array(array).map_or(0, Array::len)
    }

    fn get(&self, array: usize, index: usize) -> Option<Val> {
        let changed = self.changed.get(&(array, index)).cloned();
        changed.or_else(|| self.array(array)?.get(index))
    }

    fn set(&mut self, array: usize, index: usize, value: Val) -> Option<()> {
        let of = self.array(array)?;
        if index >= of.len() {
            return None;
        }
        // What is stored to an array that is absent is never read.
        if matches!(of.contents, Contents::Known(_)) {
            self.changed.insert((array, index), value);
        }
        Some(())
    }
}
