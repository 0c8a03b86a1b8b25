//! A tape in the making.

use std::rc::Rc;
use std::sync::Arc;

use super::again::{Again, Reruns, Source};
use super::bars::Shape;
use super::ledger::Ledger;
use super::node::{Detour, KeptArg, KeptArray, LaunchNode, Node};
use crate::array::AnyArray;
use crate::buffer::{Buffer, LaunchArg};
use crate::error::{Error, Result};
use crate::ids::{IdMap, IdSet};
use crate::kernel::{Access, ParamDef};
use crate::launch::{Arg, Call, access};
use crate::tape::Overwrite;

/// Records the launches of one stretch of the program: of a whole tape, or of one step of a rollout.
pub(crate) struct Recorder {
    pub(crate) nodes: Vec<Node>,
    pub(crate) ledger: Rc<Ledger>,
    /// Arrays that depend on something with a gradient.
    tracked: IdSet,
    /// Those of them that had it before this recording: their adjoints outlive it.
    external: IdSet,
    /// Arrays that asked for a gradient.
    pub(crate) leaves: IdMap<AnyArray>,
    overwrite: Overwrite,
    reruns: Reruns,
    /// Rollouts and implicit operations on it: what was made inside has no gradient here, but what they returned.
    closed: IdSet,
    /// The first launch that failed while it ran.
    failed: Option<&'static str>,
}

impl Recorder {
    pub(crate) fn new(ledger: Rc<Ledger>, overwrite: Overwrite) -> Recorder {
        Recorder {
            nodes: Vec::new(),
            ledger,
            tracked: IdSet::default(),
            external: IdSet::default(),
            leaves: IdMap::default(),
            overwrite,
            reruns: Reruns::default(),
            closed: IdSet::default(),
            failed: None,
        }
    }

    /// Says which launches backward runs again.
    pub(crate) fn run_again(&mut self, which: Again) {
        self.reruns.which = which;
    }

    /// To be called before a launch.
    pub(crate) fn prepare(&mut self, call: Call<'_>) {
        self.reruns.prepare(call, &self.ledger);
    }

    pub(crate) fn overwrite(&self) -> Overwrite {
        self.overwrite
    }

    /// Says that an array had a gradient before this recording.
    pub(crate) fn add_external(&mut self, array: &AnyArray) {
        array.marks().set_tracked_in(self.ledger.recording);
        self.external.insert(array.id());
        self.tracked.insert(array.id());
    }

    /// Whether the array is known to have a gradient.
    pub(crate) fn knows(&self, id: u64) -> bool {
        self.tracked.contains(&id)
    }

    /// What was recorded, arrays that asked for a gradient, arrays that have one.
    ///
    /// # Errors
    /// When a launch failed and the program went on.
    pub(crate) fn into_parts(self) -> Result<(Vec<Node>, IdMap<AnyArray>, IdSet)> {
        match self.failed {
            None => Ok((self.nodes, self.leaves, self.tracked)),
            Some(kernel) => Err(Error::Tape(format!(
                "kernel `{kernel}` failed and the program went on, but what it has left in its arrays has no gradient; \
                 return its error, or launch it outside of the recording"
            ))),
        }
    }

    pub(crate) fn failed(&mut self, kernel: &'static str) {
        self.failed.get_or_insert(kernel);
    }

    /// Says that a rollout or an implicit operation is on the tape as one entry, with those in its steps.
    pub(crate) fn close(&mut self, homes: Vec<u64>) {
        self.closed.extend(homes);
    }

    /// Refuses arrays whose gradient would be lost here.
    pub(crate) fn allow_use(
        &self,
        array: &AnyArray,
        around: &dyn Fn(u64) -> bool,
        what: &dyn Fn() -> String,
    ) -> Result<()> {
        let stray = !self.closed.is_empty() && self.closed.contains(&array.marks().home());
        let foreign = array.marks().has_strayed_from(self.ledger.recording);
        let late = array.needs_grad() && array.marks().is_constant_in(self.ledger.recording);
        let id = array.id();
        if foreign && array.is_real() {
            return Err(Error::Tape(format!(
                "{} uses {}, which another thread has written meanwhile, from arrays that have a gradient here or \
                 over one, and the tape records this thread only; launch on the thread that records",
                what(),
                array.label()
            )));
        }
        if !(stray || late) || !array.is_real() || self.knows(id) || around(id) {
            return Ok(());
        }
        if stray {
            return Err(Error::Tape(format!(
                "{} uses {}, which was made in a step of a rollout (or of an implicit operation) and is not what \
                 that returned, so its gradient would be lost; return it as part of the state, or use `detached` in the \
                 step where no gradient is wanted",
                what(),
                array.label()
            )));
        }
        Err(Error::Tape(format!(
            "{} uses {}, which asked for its gradient after an earlier launch of this recording had read it; call \
             `requires_grad` before the first launch that reads the array",
            what(),
            array.label()
        )))
    }

    /// Whether the array, which is read, has a gradient.
    pub(crate) fn reads(&mut self, array: &AnyArray, around: &dyn Fn(u64) -> bool) -> bool {
        let tracked = self.is_tracked(array, around);
        if !tracked {
            array.marks().set_constant_in(self.ledger.recording);
        }
        tracked
    }

    /// Whether the array has a gradient, by itself or in a recording around this one.
    pub(crate) fn is_tracked(&mut self, array: &AnyArray, around: &dyn Fn(u64) -> bool) -> bool {
        let id = array.id();
        if !array.is_real() {
            return false;
        }
        if self.knows(id) {
            array.marks().set_tracked_in(self.ledger.recording);
            return true;
        }
        let leaf = array.needs_grad();
        if leaf {
            self.leaves.insert(id, array.clone());
        }
        let tracked = leaf || around(id);
        if tracked {
            self.add_external(array);
        }
        tracked
    }

    /// Marks an array as depending on something with a gradient; says whether that is new.
    pub(crate) fn track(&mut self, array: &AnyArray) -> bool {
        array.marks().set_tracked_in(self.ledger.recording);
        self.tracked.insert(array.id()) && !self.external.contains(&array.id())
    }

    /// Refuses writes that the tape cannot record, or shall not.
    pub(crate) fn allow_write(&self, array: &AnyArray, stores: bool, what: &dyn Fn() -> String) -> Result<()> {
        if stores && array.needs_grad() {
            return Err(Error::Tape(format!(
                "{} overwrites {}, which requires a gradient, while the tape records; write to another array, \
                 or set it before recording",
                what(),
                array.label()
            )));
        }
        if self.overwrite == Overwrite::Error && self.ledger.holds(&array.lock().buffer) {
            return Err(Error::Overwrite { what: what(), array: array.label() });
        }
        Ok(())
    }

    pub(crate) fn launch(&mut self, call: Call<'_>, reads: &[Option<Arc<Buffer>>], around: &dyn Fn(u64) -> bool) {
        let again = self.reruns.launched(call, reads, &self.ledger);
        self.nodes.extend(again.iter().map(|launch| Node::Again(Rc::downgrade(launch))));
        let mut active = false;
        let mut writes_real = false;
        for (_, array, access) in call.arrays() {
            // Not `any`: each leaf has to be seen.
            active |= match access {
                Access::Read => self.reads(array, around),
                _ => self.is_tracked(array, around),
            };
            writes_real |= access.writes() && array.is_real();
        }
        if !active {
            return;
        }
        if !writes_real {
            let arrays = call.arrays().map(|(slot, array, _)| (slot, Shape::of(array))).collect();
            self.nodes.push(Node::Detour(Detour { def: call.def, domain: call.domain, arrays }));
            return;
        }
        // The others read what the adjoint reads, unless they are written by hand.
        let second = call.def.second.as_ref().map_or(&[][..], |second| second.params);
        let clear = call.def.clear.as_ref().map_or(&[][..], |clear| clear.params);
        let derivatives = [call.def.adjoint.params, call.def.tangent.params, second, clear];
        let args = call.args.iter().enumerate().map(|(slot, arg)| match *arg {
            Arg::Array(array) => {
                let how = access(&call.def.primal.params[slot]);
                let retire = how.writes() && array.is_real() && self.track(array);
                let is_read = |params: &[ParamDef]| params.get(slot).is_some_and(|p| access(p) == Access::Read);
                let read = derivatives.into_iter().any(is_read);
                KeptArg::Array(KeptArray {
                    shape: Shape::of(array),
                    access: how,
                    tracked: self.knows(array.id()),
                    retire,
                    kept: read.then(|| {
                        match (&reads[slot], &again) {
                            // Read and overwritten: what it was before. No launch made the version of now, unless
                            // this one is run again.
                            (Some(buffer), Some(again)) if how.writes() => {
                                again.before(slot).unwrap_or_else(|| Source::keep(buffer.clone(), &self.ledger))
                            }
                            (Some(buffer), _) => self.reruns.source(array, buffer.clone(), &self.ledger),
                            (None, _) => self.reruns.source(array, array.buffer(), &self.ledger),
                        }
                    }),
                })
            }
            Arg::Real(x) => KeptArg::Scalar(LaunchArg::Real(x)),
            Arg::U32(x) => KeptArg::Scalar(LaunchArg::U32(x)),
            Arg::I32(x) => KeptArg::Scalar(LaunchArg::I32(x)),
            Arg::Usize(x) => KeptArg::Scalar(LaunchArg::Usize(x)),
            Arg::Bool(x) => KeptArg::Scalar(LaunchArg::Bool(x)),
        });
        let args = args.collect();
        let Call { def, native, domain, device, .. } = call;
        self.nodes.push(Node::Launch(LaunchNode { def, native: *native, domain, device: device.clone(), args }));
    }

    /// Records that the elements now have values without a gradient.
    pub(crate) fn overwritten(&mut self, array: &AnyArray, around: &dyn Fn(u64) -> bool) {
        if self.is_tracked(array, around) {
            self.nodes.push(Node::Overwrite { to: Shape::of(array) });
        }
    }

    /// Records that the elements now have the values of another array.
    pub(crate) fn copied(&mut self, to: &AnyArray, from: &AnyArray, around: &dyn Fn(u64) -> bool) {
        let source = self.reads(from, around);
        if self.is_tracked(to, around) || source {
            let retire = self.track(to);
            self.nodes.push(Node::Copy { to: Shape::of(to), from: source.then(|| Shape::of(from)), retire });
        }
    }
}
