//! Looks at what every launch writes, for values that are not finite.

use std::cell::RefCell;
use std::sync::Arc;

use super::arises::Launched;
use super::finite::{Prefix, Watch};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::few::Few;
use crate::kernel::Which;
use crate::launch::observers::{Event, Observer};
use crate::launch::{Call, bind};

/// Contents that a launch is about to overwrite, by identity of the array.
type Held = Vec<(u64, Arc<Buffer>)>;

/// Stops at the first launch that writes a value that is not finite.
#[derive(Default)]
pub(super) struct Finite {
    /// Of the launch that runs.
    before: RefCell<Option<(Watch, Held)>>,
}

impl Observer for Finite {
    fn before(&self, event: &Event<'_>) -> Result<()> {
        if let Event::Launch(call) = *event {
            *self.before.borrow_mut() = Some((Watch::launch(call)?, held(call)));
        }
        Ok(())
    }

    fn after(&self, event: &Event<'_>, reads: &[Option<Arc<Buffer>>]) -> Result<()> {
        let (Event::Launch(call), Some((watch, held))) = (event, self.before.take()) else { return Ok(()) };
        check(*call, reads, &watch, &held)
    }

    fn failed(&self, _: &'static str) {
        self.before.take();
    }
}

fn check(call: Call<'_>, reads: &[Option<Arc<Buffer>>], watch: &Watch, held: &Held) -> Result<()> {
    let written: Vec<_> = call.arrays().filter(|(_, array, access)| access.writes() && array.is_real()).collect();
    let run = |positions: usize, id: u64| run_first(call, reads, held, positions, id);
    let prefix = Prefix { positions: call.domain.len(), run: &run };
    let line = matches!(call.domain.dims(), [_, 1, 1]).then_some(&prefix);
    let before = |id: u64| held.iter().find(|(other, _)| *other == id).map(|(_, buffer)| &**buffer);
    let args: Few<_, 24> = bind(call, reads, before).collect();
    let (device, scalar, domain) = (call.device, call.native.scalar, call.domain);
    let launched = Launched { device, scalar, domain, args: &args };
    watch.check(&|place| written.get(place).map(|(_, array, _)| array.buffer()), line, launched)
}

/// What the launch is about to overwrite, by identity of the array. Held, it stays as it is.
fn held(call: Call<'_>) -> Held {
    call.writes().map(|array| (array.id(), array.buffer())).collect()
}

/// Runs the first positions of a launch on copies of what it overwrites; gives the one of the array `id`.
fn run_first(
    call: Call<'_>,
    reads: &[Option<Arc<Buffer>>],
    held: &Held,
    positions: usize,
    id: u64,
) -> Result<Arc<Buffer>> {
    let mut copies: Vec<(u64, Arc<Buffer>)> = Vec::new();
    for (id, before) in held {
        if copies.iter().all(|(other, _)| other != id) {
            let copy = call.device.alloc(before.bytes())?;
            call.device.copy(before, 0, &copy, 0, before.bytes())?;
            copies.push((*id, copy));
        }
    }
    let of = |id: u64| copies.iter().find(|(other, _)| *other == id).map(|(_, copy)| copy);
    let args: Few<_, 24> = bind(call, reads, |id| of(id).map(|copy| &**copy)).collect();
    let program = (call.def, Which::Primal, call.native.primal);
    call.device.run(program, call.native.scalar, positions.into(), &args)?;
    of(id).cloned().ok_or_else(|| Error::Invalid("a launch that does not write what it wrote".to_owned()))
}
