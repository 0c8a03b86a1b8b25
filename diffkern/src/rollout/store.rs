//! Kept states: in memory, and in files.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use super::broken;
use super::files::StateFile;
use super::state::{State, refresh, with_arrays};
use crate::array::AnyArray;
use crate::error::Result;
use crate::tape::{Kept, Ledger};

/// A kept state. Its handles are its own, so no step changes it.
pub(super) struct Snapshot<S> {
    pub(super) state: S,
    /// Its arrays, on the tape's account.
    pub(super) kept: Vec<Kept>,
}

impl<S: State> Snapshot<S> {
    pub(super) fn of(state: &S, ledger: &Rc<Ledger>) -> Result<Snapshot<S>> {
        let state = refresh(state)?;
        let kept = state.arrays().iter().map(|array| Kept::new(array.buffer(), ledger)).collect();
        Ok(Snapshot { state, kept })
    }
}

/// All kept states of a rollout.
pub(super) struct Store<S> {
    ledger: Rc<Ledger>,
    memory: BTreeMap<usize, Snapshot<S>>,
    files: BTreeMap<usize, (StateFile, S)>,
    dir: Option<PathBuf>,
    /// Files written so far, and the most bytes in files at a time.
    pub(super) written: usize,
    pub(super) peak_file_bytes: usize,
}

impl<S: State> Store<S> {
    pub(super) fn new(ledger: Rc<Ledger>, dir: Option<PathBuf>) -> Store<S> {
        Store { ledger, memory: BTreeMap::new(), files: BTreeMap::new(), dir, written: 0, peak_file_bytes: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.memory.clear();
        self.files.clear();
    }

    pub(super) fn keep(&mut self, step: usize, state: &S) -> Result<()> {
        let snapshot = Snapshot::of(state, &self.ledger)?;
        self.memory.insert(step, snapshot);
        Ok(())
    }

    pub(super) fn restore(&self, step: usize) -> Result<S> {
        let kept = self.memory.get(&step).ok_or_else(|| broken("a state that is not kept"))?;
        refresh(&kept.state)
    }

    pub(super) fn discard(&mut self, step: usize) {
        self.memory.remove(&step);
    }

    /// Writes a state to a file; what of it is no array stays in memory, around the arrays of `shapes`.
    pub(super) fn save(&mut self, step: usize, state: &S, shapes: &S) -> Result<()> {
        let dir = self.dir.as_ref().ok_or_else(|| broken("no folder for files"))?;
        let file = StateFile::write(dir, step, state)?;
        self.files.insert(step, (file, with_arrays(state, alike(state, shapes))?));
        self.written += 1;
        let bytes = self.files.values().map(|(file, _)| file.bytes).sum();
        self.peak_file_bytes = self.peak_file_bytes.max(bytes);
        Ok(())
    }

    pub(super) fn load(&self, step: usize) -> Result<S> {
        let (file, rest) = self.files.get(&step).ok_or_else(|| broken("a state that is in no file"))?;
        file.read(rest)
    }

    pub(super) fn erase(&mut self, step: usize) {
        self.files.remove(&step);
    }

    /// What is kept in memory.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Kept> {
        self.memory.values().flat_map(|snapshot| &snapshot.kept)
    }
}

/// Arrays with the contents of `shapes`, one array where `state` has one array.
fn alike<S: State>(state: &S, shapes: &S) -> Vec<AnyArray> {
    let (arrays, mut alike) = (state.arrays(), Vec::<AnyArray>::new());
    for (k, shape) in shapes.arrays().iter().enumerate().take(arrays.len()) {
        let same = arrays[..k].iter().position(|other| other.id() == arrays[k].id());
        alike.push(same.map_or_else(|| shape.fork(), |j| alike[j].clone()));
    }
    alike
}
