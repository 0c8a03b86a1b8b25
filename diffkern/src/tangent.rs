//! The engine of tangents: what a launch, a write and a copy do to them, wherever they are. Forward mode has them beside its
//! arrays; a tape that is swept forwards for second derivatives has them in tables.

use std::sync::Arc;

use crate::array::AnyArray;
use crate::backend::native::Native;
use crate::buffer::{Buffer, LaunchArg};
use crate::device::Device;
use crate::domain::Domain;
use crate::error::Result;
use crate::kernel::{Access, KernelDef, Which};
use crate::launch::part;
use crate::trace;

/// Tangents that go into a program along one direction: arrays with their derivatives, none of them twice.
pub type Direction<'a> = &'a [(&'a AnyArray, &'a AnyArray)];

/// An array of which a direction names an element twice.
pub(crate) fn named_twice<'a>(direction: Direction<'a>) -> Option<&'a AnyArray> {
    let earlier = |k: usize| direction[..k].iter().any(|(other, _)| other.overlaps(direction[k].0));
    (0..direction.len()).find(|&k| earlier(k)).map(|k| direction[k].0)
}

pub(crate) fn twice(array: &AnyArray) -> String {
    format!("a direction names elements of {array:?} twice; add up what they move by")
}

/// Elements of an array; the tangent is of the size of the whole array.
pub(crate) trait Elements {
    fn device(&self) -> &Device;

    /// Size of the whole array.
    fn base_bytes(&self) -> usize;

    /// Start and size of the elements in the buffer of the whole array.
    fn byte_range(&self) -> (usize, usize);

    /// The elements within a buffer, as an argument.
    fn within<'a>(&self, buffer: Option<&'a Buffer>) -> LaunchArg<'a, Buffer>;
}

impl Elements for AnyArray {
    fn device(&self) -> &Device {
        AnyArray::device(self)
    }

    fn base_bytes(&self) -> usize {
        AnyArray::base_bytes(self)
    }

    fn byte_range(&self) -> (usize, usize) {
        AnyArray::byte_range(self)
    }

    fn within<'a>(&self, buffer: Option<&'a Buffer>) -> LaunchArg<'a, Buffer> {
        match buffer {
            Some(buffer) => part(self, buffer),
            None => LaunchArg::Absent { len: self.len() as u32 },
        }
    }
}

/// The tangents of arrays along one direction. One that is absent is zero.
///
/// Who keeps a tangent keeps that version: writing makes a copy first.
pub(crate) trait Tangents<A: Elements> {
    fn get(&self, array: &A) -> Option<Arc<Buffer>>;

    fn take(&mut self, array: &A) -> Option<Arc<Buffer>>;

    fn put(&mut self, array: &A, tangent: Arc<Buffer>);

    /// What a launch reads where a tangent is absent; without it, the program is one for zeros.
    fn zeros(&mut self, array: &A) -> Result<Option<Arc<Buffer>>>;

    /// The tangent of an array, zero if it had none, with no other reference to it but that of the table.
    fn writable(&mut self, array: &A) -> Result<Arc<Buffer>> {
        let mut buffer = match self.take(array) {
            Some(buffer) => buffer,
            None => array.device().alloc_zeroed(array.base_bytes())?,
        };
        Buffer::unshare(&mut buffer)?;
        self.put(array, buffer.clone());
        Ok(buffer)
    }

    /// Overwrites the tangent of the elements of `to` by what `from` has from byte `at` on; by zero without it.
    fn write(&mut self, to: &A, from: Option<(&Arc<Buffer>, usize)>) -> Result<()> {
        let (to_at, bytes) = to.byte_range();
        match from {
            Some((from, at)) => {
                let target = self.writable(to)?;
                to.device().copy(from, at, &target, to_at, bytes)
            }
            None if self.get(to).is_some() => {
                let target = self.writable(to)?;
                to.device().clear(&target, to_at, bytes)
            }
            None => Ok(()),
        }
    }
}

/// What a launch takes as the tangents of these arrays, which are what it has of reals.
pub(crate) fn of_launch<A: Elements>(
    arrays: &[(&A, Access)],
    table: &mut impl Tangents<A>,
) -> Result<Vec<Option<Arc<Buffer>>>> {
    // All of them before the first is held: a second view of an array would otherwise find its tangent shared, and copy it.
    for (array, access) in arrays.iter().filter(|(_, access)| access.writes()) {
        debug_assert!(*access != Access::Take);
        table.writable(array)?;
    }
    let tangent = |(array, _): &(&A, Access)| match table.get(array) {
        Some(tangent) => Ok(Some(tangent)),
        None => table.zeros(array),
    };
    arrays.iter().map(tangent).collect()
}

/// A launch as its tangents see it.
pub(crate) struct Pushed<'a, A> {
    pub(crate) def: &'static KernelDef,
    pub(crate) native: Native,
    pub(crate) domain: Domain,
    pub(crate) device: &'a Device,
    /// By slot, what the launch had; what the tangent does not read may be absent.
    pub(crate) args: Vec<LaunchArg<'a, Buffer>>,
    /// The arrays of reals, in order.
    pub(crate) arrays: Vec<(&'a A, Access)>,
}

impl<A: Elements> Pushed<'_, A> {
    /// Runs the tangent along one direction, in which one of the arrays has a tangent.
    pub(crate) fn along(&self, table: &mut impl Tangents<A>) -> Result<()> {
        let tangents = of_launch(&self.arrays, table)?;
        let mut args = Vec::with_capacity(self.args.len() + self.arrays.len());
        args.extend_from_slice(&self.args);
        args.extend(self.arrays.iter().zip(&tangents).map(|((array, _), tangent)| array.within(tangent.as_deref())));
        let _span = trace::launch(self.def.name, "tangent", self.domain);
        let program = (self.def, Which::Tangent, self.native.tangent);
        self.device.run(program, self.native.scalar, self.domain, &args)
    }
}
