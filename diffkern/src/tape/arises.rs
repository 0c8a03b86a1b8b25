//! The line of the source at which a value that is not finite arises: found by running the text of the program at the one
//! position that wrote it.

use std::borrow::Cow;

use diffkern_ir::interpret::{Place, arises};

use crate::buffer::{Buffer, LaunchArg};
use crate::device::Device;
use crate::domain::Domain;
use crate::error::Result;
use crate::kernel::{Program, ScalarTy};
use crate::linked::Linked;
use crate::position::{Contents, Positions};

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
    let contents = |slot: usize, arg: LaunchArg<'a, Buffer>, bytes: usize| {
        Ok(match (before(slot), arg) {
            (Some(known), _) => Contents::Known(Cow::Borrowed(known)),
            (None, LaunchArg::Buffer { buffer, offset, len, .. }) => {
                let mut all = crate::memory::filled(len as usize * bytes, 0)?;
                launched.device.download(buffer, offset as usize * bytes, &mut all)?;
                Contents::Known(Cow::Owned(all))
            }
            (None, arg) => Contents::of_none(arg),
        })
    };
    let positions = Positions::of(&linked.func, (launched.scalar, launched.domain), launched.args, contents)?;
    let Some(mut positions) = positions else { return Ok(Vec::new()) };
    let point = positions.point(position);
    let place = arises((&linked.func, &*linked), &positions.args, &mut positions.elements, point, (slot, element));
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
