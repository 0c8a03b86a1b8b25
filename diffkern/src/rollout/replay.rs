//! A rollout on the tape: executes the actions of its schedule.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::broken;
use super::machine::{Machine, StepTape};
use super::state::{State, refresh};
use super::store::{Snapshot, Store};
use crate::error::Result;
use crate::report::{Entry, Graph, Part};
use crate::schedule::{Action, Costs, Plan};
use crate::tape::{Bars, Dots, Kept, Node, Replay, Shape};
use crate::trace;

/// Where the execution of a schedule stands.
pub(super) struct Progress<S> {
    pub(super) actions: Box<dyn Iterator<Item = Action>>,
    pub(super) machine: Machine,
    pub(super) now: Option<S>,
    pub(super) store: Store<S>,
    pub(super) state_bytes: usize,
    pub(super) tapes: BTreeMap<usize, StepTape>,
    /// The actions go on where recording left off; otherwise they start anew.
    pub(super) fresh: bool,
    /// Runs of the first step for its measurement alone.
    pub(super) trials: usize,
    /// Steps that recording and the first backward run, where that is not by the plan; and the plan in words.
    pub(super) predicted: Option<usize>,
    pub(super) words: Option<String>,
    /// What a step costs and what there is to spend, where it was measured.
    pub(super) costs: Option<(Costs, usize)>,
}

pub(super) struct Recorded<S, F> {
    pub(super) step: F,
    pub(super) plan: Cell<Plan>,
    /// To start anew from; absent when all tapes are kept whatever they cost.
    pub(super) initial: Option<Snapshot<S>>,
    /// The arrays it started from, with whether they have a gradient.
    pub(super) starts: Vec<(Shape, bool)>,
    pub(super) ends: Vec<Shape>,
    pub(super) progress: RefCell<Progress<S>>,
    pub(super) account: usize,
    pub(super) graph: StepGraph,
}

/// The last step as a graph, between what the rollout started from and ended with.
pub(super) struct StepGraph {
    pub(super) schedule: String,
    pub(super) inputs: Vec<Part>,
    pub(super) outputs: Vec<Part>,
    pub(super) step: Graph,
}

impl StepGraph {
    pub(super) fn of(tape: &StepTape, schedule: String) -> StepGraph {
        let parts = |shapes: &[Shape]| shapes.iter().map(Shape::part).collect();
        let entries = tape.nodes.iter().filter_map(Node::describe).collect();
        let (inputs, outputs) = (parts(&tape.inputs), parts(&tape.outputs));
        StepGraph { schedule, inputs, outputs, step: Graph { entries } }
    }
}

impl<S: State> Progress<S> {
    pub(super) fn new(machine: Machine, now: S, store: Store<S>) -> Progress<S> {
        Progress {
            actions: Box::new(std::iter::empty()),
            machine,
            state_bytes: super::record::state_bytes(&now),
            now: Some(now),
            store,
            tapes: BTreeMap::new(),
            fresh: false,
            trials: 0,
            predicted: None,
            words: None,
            costs: None,
        }
    }

    /// Drops what recording left for the first walk back, which then starts anew.
    pub(super) fn let_go(&mut self) {
        self.store.clear();
        self.tapes.clear();
        self.now = None;
        self.fresh = false;
    }

    pub(super) fn advance(&mut self, step: &impl Fn(&S, usize) -> Result<S>, from: usize, to: usize) -> Result<()> {
        let mut now = self.now.take().ok_or_else(|| broken("no state to step from"))?;
        for k in from..to {
            now = self.machine.run(step, &now, k)?;
        }
        self.now = Some(now);
        Ok(())
    }

    /// Everything but the walk of `Reverse`, see [`Progress::act`], as a span.
    pub(super) fn perform(
        &mut self,
        step: &impl Fn(&S, usize) -> Result<S>,
        action: Action,
        plan: Plan,
        shapes: &S,
    ) -> Result<()> {
        let _span = trace::action(action, self.state_bytes);
        self.act(step, action, plan, shapes)
    }

    /// Everything but the walk of `Reverse`; `shapes` is a state that stays in memory anyway.
    fn act(&mut self, step: &impl Fn(&S, usize) -> Result<S>, action: Action, plan: Plan, shapes: &S) -> Result<()> {
        match action {
            Action::Snapshot { step: k } => {
                let now = self.now.as_ref().ok_or_else(|| broken("no state to keep"))?;
                self.store.keep(k, now)?;
            }
            Action::Restore { step: k } => {
                self.now = None;
                self.now = Some(self.store.restore(k)?);
            }
            Action::Discard { step: k } => self.store.discard(k),
            Action::Save { step: k } => {
                let now = self.now.as_ref().ok_or_else(|| broken("no state to write"))?;
                self.store.save(k, now, shapes)?;
            }
            Action::Load { step: k } => {
                self.now = None;
                self.now = Some(self.store.load(k)?);
            }
            Action::Erase { step: k } => self.store.erase(k),
            Action::Forward { from, to } => self.advance(step, from, to)?,
            Action::Record { step: k } => {
                if !self.tapes.contains_key(&k) {
                    let now = self.now.take().ok_or_else(|| broken("no state to record from"))?;
                    let (next, tape) = self.machine.record(step, &now, k)?;
                    self.now = Some(next);
                    self.tapes.insert(k, tape);
                }
            }
            Action::Forget { step: k } => {
                self.tapes.remove(&k);
            }
            Action::Reverse { step: k } => {
                if !plan.keeps_tapes() {
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

impl<S: State, F: Fn(&S, usize) -> Result<S>> Recorded<S, F> {
    fn restart(&self, progress: &mut Progress<S>) -> Result<()> {
        progress.actions = self.plan.get().actions();
        progress.store.clear();
        progress.now = match &self.initial {
            Some(initial) => Some(refresh(&initial.state)?),
            None => None,
        };
        if !self.plan.get().keeps_tapes() {
            progress.tapes.clear();
        }
        Ok(())
    }
}

impl<S: State + 'static, F: Fn(&S, usize) -> Result<S>> Replay for Recorded<S, F> {
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
        while let Some(action) = progress.actions.next() {
            if let Action::Reverse { step: k } = action {
                let _span = trace::action(action, progress.state_bytes);
                let tape = progress.tapes.get(&k).ok_or_else(|| broken("a step that is not recorded"))?;
                progress.now = None;
                state = reverse(tape, state, bars).map_err(|e| e.in_step(k))?;
            }
            match &self.initial {
                Some(initial) if matches!(action, Action::Reverse { .. }) => {
                    progress.act(&self.step, action, self.plan.get(), &initial.state)?;
                }
                Some(initial) => progress.perform(&self.step, action, self.plan.get(), &initial.state)?,
                // All tapes are there.
                None => progress.now = None,
            }
        }
        let (run, steps) = (progress.machine.steps_run, self.plan.get().steps());
        bars.ledger.with_rollout(self.account, |report| {
            report.steps_run = run;
            report.files = progress.store.written;
            report.peak_file_bytes = progress.store.peak_file_bytes;
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

    fn describe(&self) -> Entry {
        let StepGraph { schedule, inputs, outputs, step } = &self.graph;
        Entry::Rollout {
            steps: self.plan.get().steps(),
            schedule: schedule.clone(),
            starts: self.starts.iter().map(|(shape, _)| shape.part()).collect(),
            ends: self.ends.iter().map(Shape::part).collect(),
            inputs: inputs.clone(),
            outputs: outputs.clone(),
            step: step.clone(),
        }
    }

    fn forward(&self, dots: &mut [Dots], keep: bool) -> Result<Box<dyn Any>> {
        self.walk_forward(dots, keep)
    }

    fn second(&self, trail: Box<dyn Any>, bars: &mut Bars, bar_dots: &mut [Bars]) -> Result<()> {
        self.walk_back(trail, bars, bar_dots)
    }

    fn visit(&self, see: &mut dyn FnMut(&Shape, Option<&Kept>)) {
        self.starts.iter().map(|(shape, _)| shape).chain(&self.ends).for_each(|shape| see(shape, None));
        let progress = self.progress.borrow();
        for tape in progress.tapes.values() {
            tape.nodes.iter().for_each(|node| node.visit(see));
        }
        let (Some(initial), Some((shape, _))) = (&self.initial, self.starts.first()) else { return };
        initial.kept.iter().chain(progress.store.kept()).for_each(|kept| see(shape, Some(kept)));
    }
}
