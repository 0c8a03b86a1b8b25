//! A rollout under second derivatives: each state of the schedule has its tangents beside it.

use std::any::Any;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::broken;
use super::machine::{Machine, StepTape};
use super::replay::{Progress, Recorded};
use super::state::{State, refresh};
use super::store::Snapshot;
use crate::error::Result;
use crate::schedule::{Action, Costs, Kind, Plan};
use crate::tape::{Bars, Dots, Kept, Ledger, Shape, Trail, forward, second};

/// Of each array of a state, by direction; none where it is zero.
type Tangents = Vec<Vec<Option<Kept>>>;

/// By direction, the arrays read from outside, with their tangents.
type Outer = Vec<Vec<(u64, Kept)>>;

/// A state on its way, with its tangents.
struct Moving<S> {
    state: S,
    tangents: Tangents,
}

/// A step walked forwards.
struct Walked {
    /// None if recording kept it.
    tape: Option<StepTape>,
    trails: Vec<Trail>,
}

/// A walk through the steps, from the forward to the backward half.
struct Passage<S> {
    /// It walks the tapes of the steps that recording kept.
    follows_recording: bool,
    actions: Box<dyn Iterator<Item = Action>>,
    now: Option<Moving<S>>,
    snapshots: BTreeMap<usize, (Snapshot<S>, Tangents)>,
    steps: BTreeMap<usize, Walked>,
    outer: Outer,
    ledger: Rc<Ledger>,
}

fn again(tangents: &Tangents) -> Tangents {
    let one = |dots: &Vec<Option<Kept>>| dots.iter().map(|dot| dot.as_ref().map(Kept::again)).collect();
    tangents.iter().map(one).collect()
}

/// Carries tangents through one step.
fn walk(
    tape: &StepTape,
    tangents: Tangents,
    outer: &Outer,
    ledger: &Rc<Ledger>,
    keep: bool,
) -> Result<(Tangents, Vec<Trail>)> {
    let mut tables: Vec<Dots> = Vec::with_capacity(tangents.len());
    for (tangents, outer) in tangents.into_iter().zip(outer) {
        let mut dots = Dots::new(ledger);
        outer.iter().for_each(|(id, dot)| dots.set(*id, Some(dot.again())));
        tape.inputs.iter().zip(tangents).for_each(|(shape, dot)| dots.set(shape.id, dot));
        tables.push(dots);
    }
    let trails = forward(&tape.nodes, &mut tables, keep)?;
    let after = |dots: &Dots| tape.outputs.iter().map(|shape| dots.keep(shape.id)).collect();
    Ok((tables.iter().map(after).collect(), trails))
}

/// Takes the adjoints of the arrays of a state.
fn take(bars: &mut Bars, shapes: &[Shape]) -> Vec<Option<Kept>> {
    shapes.iter().map(|shape| bars.take(shape.id)).collect()
}

fn add(bars: &mut Bars, shapes: &[Shape], state: Vec<Option<Kept>>) -> Result<()> {
    shapes.iter().zip(state).try_for_each(|(shape, bar)| bar.map_or(Ok(()), |bar| bars.add(shape, bar)))
}

impl<S: State> Passage<S> {
    /// Runs step `k` with its tangents.
    fn step(
        &mut self,
        machine: &mut Machine,
        step: &impl Fn(&S, usize) -> Result<S>,
        k: usize,
        keep: bool,
    ) -> Result<()> {
        let now = self.now.take().ok_or_else(|| broken("no state to step from"))?;
        let (next, tape) = machine.record(step, &now.state, k)?;
        drop(now.state);
        let (tangents, trails) = walk(&tape, now.tangents, &self.outer, &self.ledger, keep)?;
        self.now = Some(Moving { state: next, tangents });
        if keep {
            self.steps.insert(k, Walked { tape: Some(tape), trails });
        }
        Ok(())
    }

    /// Everything but `Reverse`.
    fn perform(&mut self, machine: &mut Machine, step: &impl Fn(&S, usize) -> Result<S>, action: Action) -> Result<()> {
        match action {
            Action::Snapshot { step: k } => {
                let now = self.now.as_ref().ok_or_else(|| broken("no state to keep"))?;
                let kept = (Snapshot::of(&now.state, &self.ledger)?, again(&now.tangents));
                self.snapshots.insert(k, kept);
            }
            Action::Restore { step: k } => {
                self.now = None;
                let (kept, tangents) = self.snapshots.get(&k).ok_or_else(|| broken("a state that is not kept"))?;
                self.now = Some(Moving { state: refresh(&kept.state)?, tangents: again(tangents) });
            }
            Action::Discard { step: k } => {
                self.snapshots.remove(&k);
            }
            Action::Forward { from, to } => (from..to).try_for_each(|k| self.step(machine, step, k, false))?,
            Action::Record { step: k } => self.step(machine, step, k, true)?,
            Action::Reverse { step: k } => {
                self.steps.remove(&k);
                self.now = None;
            }
            Action::Forget { step: k } => {
                self.steps.remove(&k);
            }
            Action::Save { .. } | Action::Load { .. } | Action::Erase { .. } => return Err(broken("a file")),
        }
        Ok(())
    }
}

impl<S: State + 'static, F: Fn(&S, usize) -> Result<S>> Recorded<S, F> {
    /// The schedule for so many directions, without files. What recording keeps goes where it would not fit beside the
    /// tangents.
    fn plan_with(&self, progress: &mut Progress<S>, directions: usize) -> Result<Plan> {
        let recorded = self.plan.get();
        let all = |bytes: usize| bytes.saturating_mul(1 + directions);
        let plan = match (progress.costs, recorded.kind) {
            (Some((costs, budget)), _) => {
                let tape = match costs.light.filter(|_| recorded.light) {
                    Some(light) => all(light.tape).saturating_add(light.again),
                    None => all(costs.tape),
                };
                let (state, adjoints) = (all(costs.state), all(costs.adjoints));
                let costs = Costs { state, tape, adjoints, work: None, light: None, file: None };
                Plan::within(budget, recorded.steps(), costs)?
            }
            (None, Kind::Multistage { states, .. }) => Plan::new(Kind::Revolve { states }, recorded.steps()),
            (None, _) => recorded,
        };
        if !plan.keeps_tapes() {
            progress.let_go();
            if recorded.keeps_tapes() {
                self.plan.set(Plan { light: recorded.light, ..plan });
            }
        }
        Ok(plan)
    }

    pub(super) fn walk_forward(&self, dots: &mut [Dots], keep: bool) -> Result<Box<dyn Any>> {
        let mut progress = self.progress.borrow_mut();
        let progress = &mut *progress;
        let plan = self.plan_with(progress, dots.len())?;
        let steps = plan.steps();
        let machine = &mut progress.machine;
        let ledger = machine.ledger()?;
        let start: Tangents =
            dots.iter().map(|dots| self.starts.iter().map(|(shape, _)| dots.keep(shape.id)).collect()).collect();
        let outer = dots
            .iter()
            .map(|dots| machine.captured.keys().filter_map(|&id| Some((id, dots.keep(id)?))).collect())
            .collect();
        let actions = plan.actions();
        let (snapshots, walked) = (BTreeMap::new(), BTreeMap::new());
        let follows_recording = plan.keeps_tapes() && self.plan.get().keeps_tapes();
        let mut passage = Passage { follows_recording, actions, now: None, snapshots, steps: walked, outer, ledger };
        let ends = if passage.follows_recording {
            let mut tangents = start;
            for k in 0..steps {
                let tape = progress.tapes.get(&k).ok_or_else(|| broken("a step that is not recorded"))?;
                let (next, trails) = walk(tape, tangents, &passage.outer, &passage.ledger, keep)?;
                tangents = next;
                if keep {
                    passage.steps.insert(k, Walked { tape: None, trails });
                }
            }
            tangents
        } else {
            let initial = self.initial.as_ref().ok_or_else(|| broken("no state to start from"))?;
            passage.now = Some(Moving { state: refresh(&initial.state)?, tangents: start });
            if keep {
                while let Some(action) = passage.actions.next() {
                    passage.perform(machine, &self.step, action)?;
                    if action == (Action::Record { step: steps - 1 }) {
                        break;
                    }
                }
            } else {
                (0..steps).try_for_each(|k| passage.step(machine, &self.step, k, false))?;
            }
            again(&passage.now.as_ref().ok_or_else(|| broken("no final state"))?.tangents)
        };
        for (dots, ends) in dots.iter_mut().zip(ends) {
            self.ends.iter().zip(ends).for_each(|(shape, dot)| dots.set(shape.id, dot));
        }
        Ok(Box::new(passage))
    }

    pub(super) fn walk_back(&self, trail: Box<dyn Any>, bars: &mut Bars, bar_dots: &mut [Bars]) -> Result<()> {
        let mut passage = trail.downcast::<Passage<S>>().map_err(|_| broken("the walk of another rollout"))?;
        let mut state = take(bars, &self.ends);
        let mut tangents: Tangents = bar_dots.iter_mut().map(|bars| take(bars, &self.ends)).collect();
        if state.iter().chain(tangents.iter().flatten()).all(Option::is_none) {
            return Ok(());
        }
        let mut progress = self.progress.borrow_mut();
        let progress = &mut *progress;
        if passage.follows_recording {
            passage.actions = Box::new((0..self.plan.get().steps()).rev().map(|step| Action::Reverse { step }));
        }
        while let Some(action) = passage.actions.next() {
            if let Action::Reverse { step: k } = action {
                passage.now = None;
                let walked = passage.steps.remove(&k).ok_or_else(|| broken("a step that is not recorded"))?;
                let recorded = progress.tapes.get(&k);
                let tape = walked.tape.as_ref().or(recorded).ok_or_else(|| broken("a step that is not recorded"))?;
                add(bars, &tape.outputs, state)?;
                for (bars, tangents) in bar_dots.iter_mut().zip(tangents) {
                    add(bars, &tape.outputs, tangents)?;
                }
                second(&tape.nodes, walked.trails, bars, bar_dots)?;
                state = take(bars, &tape.inputs);
                tangents = bar_dots.iter_mut().map(|bars| take(bars, &tape.inputs)).collect();
            }
            passage.perform(&mut progress.machine, &self.step, action)?;
        }
        let run = progress.machine.steps_run;
        bars.ledger.with_rollout(self.account, |report| report.steps_run = run);
        let tracked = |state: Vec<Option<Kept>>| -> Vec<Option<Kept>> {
            state.into_iter().zip(&self.starts).map(|(bar, (_, tracked))| bar.filter(|_| *tracked)).collect()
        };
        let starts: Vec<Shape> = self.starts.iter().map(|(shape, _)| shape.clone()).collect();
        add(bars, &starts, tracked(state))?;
        bar_dots.iter_mut().zip(tangents).try_for_each(|(bars, tangents)| add(bars, &starts, tracked(tangents)))
    }
}
