//! Runs steps, one at a time, watched.

use std::rc::Rc;

use super::state::State;
use crate::array::AnyArray;
use crate::array::active::Open;
use crate::error::{Error, Result};
use crate::ids::IdMap;
use crate::tape::monitor::{Captured, Monitor};
use crate::tape::{Again, Frame, Ledger, Node, Overwrite, Recorder, Shape, context};

/// The tape of one step.
pub(crate) struct StepTape {
    pub(crate) nodes: Vec<Node>,
    pub(crate) inputs: Vec<Shape>,
    pub(crate) outputs: Vec<Shape>,
}

/// Account and rules of the tape around.
pub(crate) type Record = (Rc<Ledger>, Overwrite);

pub(crate) struct Machine {
    /// Identities from here on were made in the rollout; no other rollout has this one.
    pub(crate) first_id: u64,
    record: Option<Record>,
    /// One per step run so far: what it did.
    pub(crate) hashes: Vec<u64>,
    /// What steps have read from outside.
    pub(crate) captured: IdMap<Captured>,
    /// Those of them that have a gradient, once that is known.
    pub(crate) external: Vec<u64>,
    /// Launches of recorded steps to be run again in backward.
    pub(crate) again: Again,
    /// Adds up the work of the launches, where asked for.
    pub(crate) work: Option<f64>,
    /// Steps run, recorded or not.
    pub(crate) steps_run: usize,
    /// Until it is on the tape, the rollouts and implicit operations in its steps.
    pub(crate) inner: Option<Vec<u64>>,
    /// Names of kernels that no step has launched, of those that are to be run again.
    pub(crate) not_launched: Vec<String>,
    /// A step is under way, or has panicked: what it has read from outside is gone.
    under_way: bool,
}

impl Machine {
    pub(crate) fn new(first_id: u64, record: Option<Record>) -> Machine {
        let (hashes, captured) = (Vec::new(), IdMap::default());
        Machine {
            first_id,
            record,
            hashes,
            captured,
            external: Vec::new(),
            again: Again::None,
            work: None,
            steps_run: 0,
            inner: Some(Vec::new()),
            not_launched: Vec::new(),
            under_way: false,
        }
    }

    /// Itself and all in its steps, once.
    pub(crate) fn homes(&mut self) -> Vec<u64> {
        self.inner.take().into_iter().flatten().chain([self.first_id]).collect()
    }

    /// The account of the tape around.
    pub(crate) fn ledger(&self) -> Result<Rc<Ledger>> {
        self.record.as_ref().map(|(ledger, _)| ledger.clone()).ok_or_else(|| super::broken("no tape records"))
    }

    /// Runs step `k` from `state` without recording it.
    pub(crate) fn run<S: State>(&mut self, step: &impl Fn(&S, usize) -> Result<S>, state: &S, k: usize) -> Result<S> {
        let inputs = state.arrays();
        let (next, _) = self.watch(&inputs, k, None, || step(state, k))?;
        Ok(next)
    }

    /// Runs step `k` from `state` and keeps its tape.
    pub(crate) fn record<S: State>(
        &mut self,
        step: &impl Fn(&S, usize) -> Result<S>,
        state: &S,
        k: usize,
    ) -> Result<(S, StepTape)> {
        let inputs = state.arrays();
        // A replay is after the recording, but its launches are not to be missed either.
        let open = self.record.as_ref().map(|(ledger, _)| Open::new(ledger.recording));
        let recorder = self.record.as_ref().map(|(ledger, overwrite)| {
            let mut recorder = Recorder::new(ledger.clone(), *overwrite);
            recorder.run_again(self.again.clone());
            // Every real array of the state counts as having a gradient, in every step and with every schedule.
            let outer = self.external.iter().filter_map(|id| self.captured.get(id)).map(|captured| &captured.array);
            for array in inputs.iter().filter(|array| array.is_real()).chain(outer) {
                recorder.add_external(array);
            }
            recorder
        });
        let (next, recorder) = self.watch(&inputs, k, recorder, || step(state, k))?;
        drop(open);
        let nodes = match recorder.map(Recorder::into_parts) {
            Some(Err(Error::Tape(reason))) => return Err(Error::Rollout { step: k, reason }),
            Some(parts) => parts?.0,
            None => Vec::new(),
        };
        let shapes = |arrays: &[AnyArray]| arrays.iter().map(Shape::of).collect();
        let tape = StepTape { nodes, inputs: shapes(&inputs), outputs: shapes(&next.arrays()) };
        Ok((next, tape))
    }

    /// Asks whether to go on before step `k`; the answer may read whatever a step may, and write nothing of that.
    pub(crate) fn ask<S: State>(
        &mut self,
        go_on: &impl Fn(&S, usize) -> Result<bool>,
        state: &S,
        k: usize,
    ) -> Result<bool> {
        self.begin(k)?;
        let ledger = self.record.as_ref().map(|(ledger, _)| ledger.clone());
        let arrays = state.arrays();
        let versions: Vec<u64> = arrays.iter().map(AnyArray::version).collect();
        let monitor = Monitor::new(k, self.first_id, &arrays, std::mem::take(&mut self.captured), ledger);
        let frame = Frame { recorder: None, monitor: Some(monitor) };
        let (answer, frame) = context::within(frame, || go_on(state, k));
        self.under_way = false;
        if let Some(monitor) = frame.monitor {
            self.captured = monitor.captured;
        }
        if arrays.iter().zip(versions).any(|(array, version)| array.version() != version) {
            let reason = "the question whether to go on has written to the state; write to arrays made for it";
            return Err(Error::Rollout { step: k, reason: reason.to_owned() });
        }
        answer
    }

    fn begin(&mut self, step: usize) -> Result<()> {
        match std::mem::replace(&mut self.under_way, true) {
            false => Ok(()),
            true => {
                let reason =
                    "a step has panicked before, so the rollout cannot be replayed; record it again".to_owned();
                Err(Error::Rollout { step, reason })
            }
        }
    }

    fn watch<S: State>(
        &mut self,
        inputs: &[AnyArray],
        k: usize,
        recorder: Option<Recorder>,
        step: impl FnOnce() -> Result<S>,
    ) -> Result<(S, Option<Recorder>)> {
        self.begin(k)?;
        let ledger = self.record.as_ref().map(|(ledger, _)| ledger.clone());
        let mut monitor = Monitor::new(k, self.first_id, inputs, std::mem::take(&mut self.captured), ledger);
        monitor.work = self.work;
        monitor.not_launched = std::mem::take(&mut self.not_launched);
        monitor.replay = k < self.hashes.len();
        let (next, frame) = context::within(Frame { recorder, monitor: Some(monitor) }, step);
        self.under_way = false;
        self.steps_run += 1;
        let (mut hash, mut returned) = (0, Ok(()));
        if let Some(mut monitor) = frame.monitor {
            if let Ok(next) = &next {
                returned = monitor.returned(&next.arrays());
            }
            hash = monitor.hash();
            self.captured = monitor.captured;
            self.work = monitor.work;
            self.not_launched = monitor.not_launched;
            self.inner.iter_mut().for_each(|inner| inner.append(&mut monitor.inner));
        }
        let next = next.map_err(|e| e.in_step(k))?;
        returned?;
        check_shapes(inputs, &next.arrays(), k)?;
        match self.hashes.get(k) {
            None => self.hashes.push(hash),
            Some(&first) if first == hash => {}
            Some(_) => return Err(not_repeated(k)),
        }
        Ok((next, frame.recorder))
    }
}

fn not_repeated(step: usize) -> Error {
    Error::Rollout {
        step,
        reason:
            "on replay it did not do what it did at first: other launches, arrays, scalars or shapes, or other values \
                 read to or written from the host; make the step depend on its state and number alone"
                .to_owned(),
    }
}

fn check_shapes(inputs: &[AnyArray], outputs: &[AnyArray], step: usize) -> Result<()> {
    let wrong = |reason| Err(Error::Rollout { step, reason });
    if inputs.len() != outputs.len() {
        return wrong(format!("it returned {} arrays, its state has {}", outputs.len(), inputs.len()));
    }
    for (k, (a, b)) in inputs.iter().zip(outputs).enumerate() {
        if (a.elem(), a.scalar(), a.len()) != (b.elem(), b.scalar(), b.len()) || a.device() != b.device() {
            return wrong(format!("array {k} of the state was {a:?}, it returned {b:?}; shapes must stay"));
        }
        if !b.is_whole() {
            return wrong(format!("array {k} that it returned, {b:?}, is a view; return a copy (`copy_from`)"));
        }
    }
    Ok(())
}
