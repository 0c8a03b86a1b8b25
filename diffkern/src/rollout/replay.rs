//! A rollout on the tape: executes the actions of its schedule.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::machine::{Machine, Record, StepTape};
use super::pass_on;
use super::state::{State, refresh};
use crate::array::AnyArray;
use crate::error::{Error, Result};
use crate::report::RolloutReport;
use crate::schedule::{Action, Plan, Schedule};
use crate::tape::{Bars, Kept, Ledger, Node, Replay, Shape, context};

/// A kept state. Its handles are its own, so no step changes it.
struct Snapshot<S> {
    state: S,
    /// Its arrays, on the tape's account.
    _kept: Vec<Kept>,
}

impl<S: State> Snapshot<S> {
    fn of(state: &S, ledger: &std::rc::Rc<Ledger>) -> Result<Snapshot<S>> {
        let state = refresh(state)?;
        let kept = state.arrays().iter().map(|array| Kept::new(array.buffer(), ledger)).collect();
        Ok(Snapshot { state, _kept: kept })
    }
}

/// Where the execution of a schedule stands.
struct Progress<S> {
    actions: Box<dyn Iterator<Item = Action>>,
    machine: Machine,
    now: Option<S>,
    snapshots: BTreeMap<usize, Snapshot<S>>,
    tapes: BTreeMap<usize, StepTape>,
    /// The actions go on where recording left off; otherwise they start anew.
    fresh: bool,
}

struct Rollout<S, F> {
    steps: usize,
    step: F,
    plan: Plan,
    /// To start anew from; absent when all tapes are kept.
    initial: Option<Snapshot<S>>,
    /// The arrays it started from, with whether they have a gradient.
    starts: Vec<(Shape, bool)>,
    ends: Vec<Shape>,
    progress: RefCell<Progress<S>>,
    account: usize,
}

/// Runs a rollout and puts it on the tape that records.
pub(super) fn record<S: State + 'static, F: Fn(&S, usize) -> Result<S> + 'static>(
    steps: usize,
    schedule: Schedule,
    state: S,
    step: F,
    record: Record,
    first_id: u64,
) -> Result<S> {
    let ledger = record.0.clone();
    let mut machine = Machine::new(first_id, Some(record));
    let mut now = refresh(&state)?;
    let initial = Snapshot::of(&now, &ledger)?;
    let state_bytes = now.arrays().iter().map(AnyArray::base_bytes).sum();
    let mut tapes = BTreeMap::new();
    let plan = match schedule {
        Schedule::StoreAll => Plan::StoreAll,
        Schedule::Checkpoints(states) => Plan::Revolve { states: states.min(steps) },
        Schedule::Budget(_) | Schedule::Auto => {
            // The first step shows what a step costs; it is not run for this alone.
            let (next, tape) = machine.record(&step, &now, 0)?;
            let cost = footprint(&tape, &machine);
            now = next;
            tapes.insert(0, tape);
            Plan::within(schedule.budget(), steps, state_bytes, cost)?
        }
    };
    let measured = !tapes.is_empty();
    if measured && plan != Plan::StoreAll && steps > 1 {
        tapes.clear();
    }
    let mut progress = Progress {
        actions: plan.actions(steps),
        machine,
        now: Some(now),
        snapshots: BTreeMap::new(),
        tapes,
        fresh: false,
    };
    progress.record(&step, steps, plan, &initial, measured)?;
    let end = progress.now.take().ok_or_else(|| broken("no final state"))?;
    let report = RolloutReport {
        steps,
        schedule: plan.to_string(),
        state_bytes,
        predicted_bytes: plan.predicted_bytes(),
        predicted_factor: plan.factor(steps),
        steps_run: progress.machine.steps_run,
        measured_factor: progress.machine.steps_run as f64 / steps as f64,
    };
    pass_on(&progress.machine)?;
    let machine = &progress.machine;
    let externals = context::with_recorder(|recorder, around| {
        let mut external: Vec<u64> = Vec::new();
        for captured in machine.captured.values() {
            if recorder.is_tracked(&captured.array, around) {
                external.push(captured.array.id());
            }
        }
        let starts: Vec<(Shape, bool)> =
            state.arrays().iter().map(|a| (Shape::of(a), recorder.is_tracked(a, around))).collect();
        (external, starts)
    });
    let Some((external, starts)) = externals else { return Ok(end) };
    if external.is_empty() && !starts.iter().any(|(_, tracked)| *tracked) {
        return Ok(end);
    }
    progress.machine.external = external;
    let account = ledger.rollout(report);
    let ends = end.arrays();
    let node = Rollout {
        steps,
        step,
        plan,
        initial: (plan != Plan::StoreAll).then_some(initial),
        starts,
        ends: ends.iter().map(Shape::of).collect(),
        progress: RefCell::new(progress),
        account,
    };
    context::with_recorder(|recorder, _| {
        for array in ends.iter().filter(|array| array.is_real()) {
            recorder.track(array.id());
        }
        recorder.nodes.push(Node::Rollout(Box::new(node)));
    });
    Ok(end)
}

fn broken(what: &str) -> Error {
    Error::Schedule(format!("its actions do not fit together: {what}"))
}

/// Bytes that the tape of a step keeps (state and captured arrays aside where the tape shares them), and bytes of the
/// adjoints that its reversal needs.
fn footprint(tape: &StepTape, machine: &Machine) -> (usize, usize) {
    let captured = |kept: &Kept| {
        machine
            .captured
            .values()
            .any(|c| c.kept.as_ref().is_some_and(|c| std::sync::Arc::ptr_eq(c.buffer(), kept.buffer())))
    };
    let mut kept = crate::ids::IdMap::<usize, usize>::default();
    let mut bars = crate::ids::IdMap::<usize>::default();
    for shape in tape.inputs.iter().chain(&tape.outputs).filter(|shape| shape.elem.is_real()) {
        bars.insert(shape.id, shape.base_bytes());
    }
    for node in &tape.nodes {
        node.visit(&mut |shape, buffer| {
            bars.insert(shape.id, shape.base_bytes());
            if let Some(buffer) = buffer.filter(|buffer| !captured(buffer)) {
                kept.insert(std::sync::Arc::as_ptr(buffer.buffer()) as usize, buffer.buffer().bytes());
            }
        });
    }
    let captured: usize = machine.captured.values().map(|c| c.array.base_bytes()).sum();
    (kept.values().sum(), bars.values().sum::<usize>() + captured)
}

impl<S: State> Progress<S> {
    /// The actions up to the tape of the last step: all that can be done before the loss is known.
    fn record(
        &mut self,
        step: &impl Fn(&S, usize) -> Result<S>,
        steps: usize,
        plan: Plan,
        initial: &Snapshot<S>,
        measured: bool,
    ) -> Result<()> {
        let mut at = usize::from(measured);
        while let Some(action) = self.actions.next() {
            match action {
                // The first step has been run to be measured.
                Action::Snapshot { step: 0 } if measured => {
                    self.snapshots.insert(0, Snapshot::of(&initial.state, &self.machine.ledger()?)?);
                }
                Action::Forward { from: 0, to } if measured => {
                    self.advance(step, at, to)?;
                    at = to;
                }
                _ => self.perform(step, action, plan)?,
            }
            if action == (Action::Record { step: steps - 1 }) {
                self.fresh = true;
                return Ok(());
            }
        }
        Err(broken("the last step is not recorded"))
    }

    fn advance(&mut self, step: &impl Fn(&S, usize) -> Result<S>, from: usize, to: usize) -> Result<()> {
        let mut now = self.now.take().ok_or_else(|| broken("no state to step from"))?;
        for k in from..to {
            now = self.machine.run(step, &now, k)?;
        }
        self.now = Some(now);
        Ok(())
    }

    /// Everything but `Reverse`.
    fn perform(&mut self, step: &impl Fn(&S, usize) -> Result<S>, action: Action, plan: Plan) -> Result<()> {
        match action {
            Action::Snapshot { step: k } => {
                let now = self.now.as_ref().ok_or_else(|| broken("no state to keep"))?;
                let snapshot = Snapshot::of(now, &self.machine.ledger()?)?;
                self.snapshots.insert(k, snapshot);
            }
            Action::Restore { step: k } => {
                self.now = None;
                let kept = self.snapshots.get(&k).ok_or_else(|| broken("a state that is not kept"))?;
                self.now = Some(refresh(&kept.state)?);
            }
            Action::Discard { step: k } => {
                self.snapshots.remove(&k);
            }
            Action::Forward { from, to } => self.advance(step, from, to)?,
            Action::Record { step: k } => {
                if !self.tapes.contains_key(&k) {
                    let now = self.now.take().ok_or_else(|| broken("no state to record from"))?;
                    let (next, tape) = self.machine.record(step, &now, k)?;
                    self.now = Some(next);
                    self.tapes.insert(k, tape);
                }
            }
            Action::Reverse { step: k } => {
                if plan != Plan::StoreAll {
                    self.tapes.remove(&k);
                }
                self.now = None;
            }
        }
        Ok(())
    }
}

/// Walks the tape of one step: `bars` of the state after it become those of the state before it.
fn reverse(tape: &StepTape, state: Vec<Option<Kept>>, bars: &mut Bars) -> Result<Vec<Option<Kept>>> {
    for (shape, bar) in tape.outputs.iter().zip(state) {
        if let Some(bar) = bar {
            bars.add(shape, bar)?;
        }
    }
    tape.nodes.iter().rev().try_for_each(|node| node.backward(bars))?;
    Ok(tape.inputs.iter().map(|shape| bars.take(shape.id)).collect())
}

/// Puts back what captured arrays had when they were recorded, and what they have now on drop.
struct AsRecorded(Vec<(AnyArray, std::sync::Arc<crate::buffer::Buffer>)>);

impl AsRecorded {
    fn new(machine: &Machine) -> AsRecorded {
        let put = |c: &crate::tape::monitor::Captured| {
            let buffer = c.kept.as_ref()?.buffer().clone();
            let mut cell = c.array.lock();
            if std::sync::Arc::ptr_eq(&cell.buffer, &buffer) {
                return None;
            }
            let present = std::mem::replace(&mut cell.buffer, buffer);
            Some((c.array.clone(), present))
        };
        AsRecorded(machine.captured.values().filter_map(put).collect())
    }
}

impl Drop for AsRecorded {
    fn drop(&mut self) {
        for (array, buffer) in self.0.drain(..) {
            array.lock().buffer = buffer;
        }
    }
}

impl<S: State, F: Fn(&S, usize) -> Result<S>> Rollout<S, F> {
    fn restart(&self, progress: &mut Progress<S>) -> Result<()> {
        progress.actions = self.plan.actions(self.steps);
        progress.snapshots.clear();
        progress.now = match &self.initial {
            Some(initial) => Some(refresh(&initial.state)?),
            None => None,
        };
        if self.plan != Plan::StoreAll {
            progress.tapes.clear();
        }
        Ok(())
    }
}

impl<S: State, F: Fn(&S, usize) -> Result<S>> Replay for Rollout<S, F> {
    fn backward(&self, bars: &mut Bars) -> Result<()> {
        let mut state: Vec<Option<Kept>> = self.ends.iter().map(|shape| bars.take(shape.id)).collect();
        if state.iter().all(Option::is_none) {
            return Ok(());
        }
        let mut progress = self.progress.borrow_mut();
        let progress = &mut *progress;
        let first = std::mem::take(&mut progress.fresh);
        if !first {
            self.restart(progress)?;
        }
        let as_recorded = AsRecorded::new(&progress.machine);
        while let Some(action) = progress.actions.next() {
            if let Action::Reverse { step: k } = action {
                let tape = progress.tapes.get(&k).ok_or_else(|| broken("a step that is not recorded"))?;
                progress.now = None;
                state = reverse(tape, state, bars)?;
            }
            progress.perform(&self.step, action, self.plan)?;
        }
        drop(as_recorded);
        let (run, steps) = (progress.machine.steps_run, self.steps);
        bars.ledger.with_rollout(self.account, |report| {
            report.steps_run = run;
            if first {
                report.measured_factor = run as f64 / steps as f64;
            }
        });
        for ((shape, tracked), bar) in self.starts.iter().zip(state) {
            if let Some(bar) = bar.filter(|_| *tracked) {
                bars.add(shape, bar)?;
            }
        }
        Ok(())
    }
}
