//! What a step of a rollout may do, and a hash of what it does.

use std::rc::Rc;

use super::ledger::{Kept, Ledger};
use crate::array::{AnyArray, Past};
use crate::error::{Error, Result};
use crate::ids::{IdMap, mix, next_id};
use crate::launch::{Arg, Call};

/// An array that steps read but that is not in the state, as it was at the first read.
pub(crate) struct Captured {
    pub(crate) array: AnyArray,
    /// How many were read before it: the same in every replay, unlike identities.
    pub(crate) index: usize,
    /// Its contents, when a tape records.
    pub(crate) kept: Option<Kept>,
}

/// Watches one step: writes stay inside the step and its state, and replays do the same as the first run.
pub(crate) struct Monitor {
    step: usize,
    /// Identities from here on were made inside the step.
    first_inside: u64,
    /// Identities from here to `first_inside` were made in an earlier step of the rollout.
    first_rollout: u64,
    state: Vec<u64>,
    /// By identity of what the step made, how many it had used before: the same in every replay.
    made: IdMap<u64>,
    hash: u64,
    pub(crate) captured: IdMap<Captured>,
    /// By which the step reads these.
    past: Past,
    /// Adds up the work of the launches, where asked for.
    pub(crate) work: Option<f64>,
    /// The step has been run before.
    pub(crate) replay: bool,
    /// Rollouts and implicit operations that it ran, and those in their steps.
    pub(crate) inner: Vec<u64>,
    /// Names of kernels that no step has launched, of those that were asked for.
    pub(crate) not_launched: Vec<String>,
    ledger: Option<Rc<Ledger>>,
}

impl Monitor {
    pub(crate) fn new(
        step: usize,
        first_rollout: u64,
        state: &[AnyArray],
        captured: IdMap<Captured>,
        ledger: Option<Rc<Ledger>>,
    ) -> Monitor {
        state.iter().for_each(|array| array.marks().set_home(first_rollout));
        let (state, made) = (state.iter().map(AnyArray::id).collect(), IdMap::default());
        let mut past = Past::default();
        for Captured { array, kept, .. } in captured.values() {
            if let Some(kept) = kept {
                past.add(array, kept.buffer().clone());
            }
        }
        Monitor {
            step,
            first_inside: next_id(),
            first_rollout,
            state,
            made,
            hash: 0,
            captured,
            past,
            work: None,
            replay: false,
            inner: Vec::new(),
            not_launched: Vec::new(),
            ledger,
        }
    }

    /// Hash of the launches, the scalars and shapes, and what was read to the host.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn fold(&mut self, word: u64) {
        self.hash = mix(self.hash, word);
    }

    pub(crate) fn fold_bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.fold(u64::from_ne_bytes(*word));
        }
        rest.iter().for_each(|&byte| self.fold(u64::from(byte)));
        self.fold(bytes.len() as u64);
    }

    pub(crate) fn launch(&mut self, call: Call<'_>) -> Result<()> {
        if self.replay && !call.is_repeatable() {
            return Err(Error::Rollout {
                step: self.step,
                reason: format!(
                    "kernel `{}` uses what `fetch_add` gives, which on `{}` is different each time, so the step cannot be \
                     replayed; keep all tapes (`Schedule::StoreAll`), or count and sort instead (`diffkern::ops`)",
                    call.def.name,
                    call.device.name()
                ),
            });
        }
        self.fold(std::ptr::from_ref(call.def) as u64);
        if let Some(work) = &mut self.work {
            *work += super::again::work(call.def, call.domain);
        }
        if !self.not_launched.is_empty() {
            self.not_launched.retain(|name| name != call.def.name);
        }
        call.domain.dims().into_iter().for_each(|n| self.fold(n as u64));
        for arg in call.args {
            match *arg {
                Arg::Array(_) => {}
                Arg::Real(x) => self.fold(x.to_bits()),
                Arg::U32(x) | Arg::Usize(x) => self.fold(u64::from(x)),
                Arg::I32(x) => self.fold(x as u64),
                Arg::Bool(x) => self.fold(u64::from(x)),
            }
        }
        for (slot, array, access) in call.arrays() {
            let what = || format!("kernel `{}`, parameter `{}`", call.def.name, call.def.primal.params[slot].name);
            match access.writes() {
                true => self.write(array, &what)?,
                false => self.read(array, &what)?,
            }
        }
        Ok(())
    }

    pub(crate) fn write(&mut self, array: &AnyArray, what: &dyn Fn() -> String) -> Result<()> {
        if self.is_inside(array) {
            self.place(array);
            return Ok(());
        }
        Err(Error::Rollout {
            step: self.step,
            reason: format!(
                "{}: {} is written but is neither in the state nor made inside the step, so the step could not \
                 be replayed; add the array to the state, or make it inside the step",
                what(),
                array.label()
            ),
        })
    }

    pub(crate) fn read(&mut self, array: &AnyArray, what: &dyn Fn() -> String) -> Result<()> {
        if self.is_inside(array) {
            self.place(array);
            return Ok(());
        }
        let index = self.captured.get(&array.id()).map_or(self.captured.len(), |captured| captured.index);
        self.fold(mix(1, index as u64));
        self.shape(array);
        if index < self.captured.len() {
            return Ok(());
        }
        if array.id() >= self.first_rollout {
            return Err(Error::Rollout {
                step: self.step,
                reason: format!(
                    "{}: {} was made in an earlier step and is not in the state; add it to the state",
                    what(),
                    array.label()
                ),
            });
        }
        let kept = self.ledger.as_ref().map(|ledger| Kept::new(array.buffer(), ledger));
        if let Some(kept) = &kept {
            self.past.add(array, kept.buffer().clone());
        }
        self.captured.insert(array.id(), Captured { array: array.clone(), index, kept });
        Ok(())
    }

    /// Notes which arrays the step returned.
    pub(crate) fn returned(&mut self, arrays: &[AnyArray]) -> Result<()> {
        for (k, array) in arrays.iter().enumerate() {
            if !self.is_inside(array) {
                let reason = format!(
                    "array {k} that it returned, {array:?}, is neither of the state that it got nor made inside the step, \
                     and later steps may write to it; return a copy (`copy_from`)"
                );
                return Err(Error::Rollout { step: self.step, reason });
            }
            self.place(array);
        }
        Ok(())
    }

    pub(crate) fn ledger(&self) -> Option<&Rc<Ledger>> {
        self.ledger.as_ref()
    }

    fn is_inside(&self, array: &AnyArray) -> bool {
        array.id() >= self.first_inside || self.state.contains(&array.id())
    }

    /// Notes an array of the step: which one it is, and its shape.
    fn place(&mut self, array: &AnyArray) {
        array.marks().set_home(self.first_rollout);
        let in_state = self.state.iter().position(|&id| id == array.id());
        let place = in_state.map_or_else(
            || {
                let before = self.made.len() as u64;
                !*self.made.entry(array.id()).or_insert(before)
            },
            |k| k as u64,
        );
        self.fold(place);
        self.shape(array);
    }

    fn shape(&mut self, array: &AnyArray) {
        self.fold(u64::from(array.offset()) << 32 | array.len() as u64);
    }
}
