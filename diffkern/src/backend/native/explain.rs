//! What is wrong where packs of lanes left an array: they know only which pack it was, and the text of the program tells the rest.

use std::borrow::Cow;
use std::ops::Range;

use diffkern_ir::interpret::{self, attempt};

use super::args::Fault;
use crate::buffer::{LaunchArg, Part, Run};
use crate::error::Result;
use crate::linked::Linked;
use crate::position::{Contents, Positions};

/// The first fault of a launch that is over, of these positions one after the other. Nothing where they have none: the indices of lanes
/// come from reals that round otherwise, once in a while, and what was read may be overwritten by now. `bytes` reads the memory of a buffer.
pub(super) fn explain<'a>(
    launch: &Run<'a>,
    mut positions: Range<u32>,
    bytes: fn(Part<'a>, usize) -> Result<&'a [u8]>,
) -> Option<Fault> {
    let linked = Linked::of(launch.program).ok()?;
    let contents = |_, arg, size| {
        let (place, len) = match arg {
            LaunchArg::Buffer { buffer, offset, len, .. } => ((buffer, offset as usize * size), len),
            LaunchArg::Place { buffer, len, .. } => ((buffer, 0), len),
            arg => return Ok(Contents::of_none(arg)),
        };
        let known = bytes(place, len as usize * size);
        Ok(known.map_or_else(|_| Contents::of_none(arg), |known| Contents::Known(Cow::Borrowed(known))))
    };
    let at = Positions::of(&linked.func, (launch.scalar, launch.domain), launch.args, contents);
    let mut at = at.ok().flatten()?;
    positions.find_map(|position| {
        at.elements.undo();
        let point = at.point(position as usize);
        attempt((&linked.func, &*linked), &at.args, &mut at.elements, point).err().and_then(told)
    })
}

fn told(fault: interpret::Fault) -> Option<Fault> {
    Some(match fault {
        interpret::Fault::Outside { array: slot, index, len, node } => {
            Fault::OutOfRange { slot, line: node.0, index: index as u32, len: len as u32 }
        }
        interpret::Fault::Bound { bound, node } => Fault::BoundExceeded { line: node.0, bound },
        interpret::Fault::Local { index, len, node } => Fault::LocalOutOfRange { line: node.0, index, len },
        interpret::Fault::Unfit(_) => return None,
    })
}
