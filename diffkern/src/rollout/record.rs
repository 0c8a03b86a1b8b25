//! Recording a rollout: the choice of its schedule, and the actions up to the tape of the last step.

use std::cell::{Cell, RefCell};

use super::footprint::Footprint;
use super::machine::{Machine, Record};
use super::replay::{Progress, Recorded, StepGraph};
use super::state::{State, refresh};
use super::store::{Snapshot, Store};
use super::{Rollout, broken, pass_on};
use crate::array::AnyArray;
use crate::error::Result;
use crate::report::RolloutReport;
use crate::schedule::{Action, Costs, Kind, Light, Multistage, Online, Plan, Schedule, endless_states};
use crate::tape::{Again, Node, Shape, context};

/// Whether a rollout goes on before step `k`.
pub(super) type GoOn<'a, S> = &'a mut dyn FnMut(&mut Machine, &S, usize) -> Result<bool>;

/// How many steps there are.
pub(super) enum Length<'a, S> {
    Known(usize),
    While(GoOn<'a, S>),
}

/// Runs a rollout and puts it on the tape that records.
pub(super) fn record<S: State + 'static, F: Fn(&S, usize) -> Result<S> + 'static>(
    options: &Rollout,
    length: Length<'_, S>,
    state: S,
    step: F,
    record: Record,
    first_id: u64,
) -> Result<(S, usize)> {
    let ledger = record.0.clone();
    let mut machine = Machine::new(first_id, Some(record));
    machine.not_launched = options.again.names();
    let now = refresh(&state)?;
    let initial = Snapshot::of(&now, &ledger)?;
    let store = Store::new(ledger.clone(), options.dir());
    let mut progress = Progress::new(machine, now, store);
    let plan = match length {
        Length::Known(steps) => known(options, steps, &initial, &step, &mut progress)?,
        Length::While(go_on) => {
            let Some(plan) = unknown(options, go_on, &initial, &step, &mut progress)? else {
                pass_on(&progress.machine)?;
                return Ok((state, 0));
            };
            plan
        }
    };
    progress.fresh = true;
    let (steps, trials) = (plan.steps(), progress.trials);
    let end = progress.now.take().ok_or_else(|| broken("no final state"))?;
    let per_step = |n: usize| n as f64 / steps as f64;
    let schedule = progress.words.take().unwrap_or_else(|| plan.to_string());
    let last = progress.tapes.get(&(steps - 1)).ok_or_else(|| broken("the last step is not recorded"))?;
    let graph = StepGraph::of(last, schedule.clone());
    let report = RolloutReport {
        steps,
        schedule,
        state_bytes: state_bytes(&end),
        predicted_bytes: plan.bytes(),
        predicted_factor: per_step(progress.predicted.unwrap_or(plan.runs() as usize) + trials),
        steps_run: progress.machine.steps_run,
        measured_factor: per_step(progress.machine.steps_run),
        predicted_again: plan.share,
        files: progress.store.written,
        peak_file_bytes: progress.store.peak_file_bytes,
        not_launched: progress.machine.not_launched.clone(),
    };
    pass_on(&progress.machine)?;
    let homes = progress.machine.homes();
    let machine = &progress.machine;
    let what = || "a rollout".to_owned();
    let externals = context::with_recorder(|recorder, around| {
        let mut external: Vec<u64> = Vec::new();
        for captured in machine.captured.values() {
            recorder.allow_use(&captured.array, around, &what)?;
            if recorder.reads(&captured.array, around) {
                external.push(captured.array.id());
            }
        }
        let mut starts: Vec<(Shape, bool)> = Vec::new();
        for array in state.arrays() {
            recorder.allow_use(&array, around, &what)?;
            starts.push((Shape::of(&array), recorder.reads(&array, around)));
        }
        Ok((external, starts))
    });
    let Some((external, starts)) = externals.transpose()? else { return Ok((end, steps)) };
    if external.is_empty() && !starts.iter().any(|(_, tracked)| *tracked) {
        return Ok((end, steps));
    }
    progress.machine.external = external;
    let account = ledger.rollout(report);
    let ends = end.arrays();
    let node = Recorded {
        step,
        plan: Cell::new(plan),
        initial: (!plan.keeps_tapes() || progress.costs.is_some()).then_some(initial),
        starts,
        ends: ends.iter().map(Shape::of).collect(),
        progress: RefCell::new(progress),
        account,
        graph,
    };
    context::with_recorder(|recorder, _| {
        for array in ends.iter().filter(|array| array.is_real()) {
            recorder.track(array);
        }
        recorder.close(homes);
        recorder.nodes.push(Node::Rollout(Box::new(node)));
    });
    Ok((end, steps))
}

pub(super) fn state_bytes<S: State>(state: &S) -> usize {
    state.arrays().iter().map(AnyArray::base_bytes).sum()
}

/// Chooses the plan for a known number of steps; the first step, if it had to be measured, is left on `progress`.
pub(super) fn choose<S: State>(
    options: &Rollout,
    steps: usize,
    initial: &S,
    step: &impl Fn(&S, usize) -> Result<S>,
    progress: &mut Progress<S>,
) -> Result<Plan> {
    let light = options.again != Again::None;
    let file = options.file_cost();
    let plan = match options.schedule {
        Schedule::StoreAll => Plan { light, ..Plan::new(Kind::StoreAll, steps) },
        Schedule::Checkpoints(states) => Plan { light, ..Plan::with_states(states, steps, file) },
        Schedule::Budget(_) | Schedule::Auto => {
            let budget = options.schedule.budget();
            let mut costs = measure(options, step, progress)?;
            let plan = Plan::within(budget, steps, costs);
            if !light || plan.as_ref().is_ok_and(|plan| plan.keeps_tapes()) {
                plan?
            } else {
                costs.light = Some(measure_light(options, costs.work.unwrap_or(1.0), initial, step, progress)?);
                Plan::within(budget, steps, costs)?
            }
        }
    };
    if plan.light {
        progress.machine.again = options.again.clone();
    }
    Ok(plan)
}

fn known<S: State>(
    options: &Rollout,
    steps: usize,
    initial: &Snapshot<S>,
    step: &impl Fn(&S, usize) -> Result<S>,
    progress: &mut Progress<S>,
) -> Result<Plan> {
    let plan = choose(options, steps, &initial.state, step, progress)?;
    let measured = progress.tapes.contains_key(&0);
    if measured && (!plan.keeps_tapes() || plan.light) {
        progress.tapes.clear();
    }
    progress.actions = plan.actions();
    // The first step has been run to be measured.
    let again = plan.light && measured;
    if again {
        progress.now = Some(refresh(&initial.state)?);
        progress.trials += 1;
    }
    let mut ahead = usize::from(measured && !again);
    while let Some(action) = progress.actions.next() {
        match action {
            Action::Snapshot { step: 0 } => progress.store.keep(0, &initial.state)?,
            Action::Save { step: 0 } => progress.store.save(0, &initial.state, &initial.state)?,
            Action::Forward { from: 0, to } => progress.advance(step, std::mem::take(&mut ahead), to)?,
            _ => progress.perform(step, action, plan, &initial.state)?,
        }
        if action == (Action::Record { step: steps - 1 }) {
            return Ok(plan);
        }
    }
    Err(broken("the last step is not recorded"))
}

/// Records the first step and says what it costs.
fn measure<S: State>(
    options: &Rollout,
    step: &impl Fn(&S, usize) -> Result<S>,
    progress: &mut Progress<S>,
) -> Result<Costs> {
    let now = progress.now.take().ok_or_else(|| broken("no state to measure"))?;
    progress.machine.work = (options.again != Again::None).then_some(0.0);
    let (next, tape) = progress.machine.record(step, &now, 0)?;
    let work = progress.machine.work.take();
    let print = Footprint::of(&tape, &progress.machine);
    progress.now = Some(next);
    progress.tapes.insert(0, tape);
    let state = state_bytes(&now);
    let (tape, adjoints, file) = (print.tape, print.adjoints, options.file_cost());
    let costs = Costs { state, tape, adjoints, work, light: None, file };
    progress.costs = Some((costs, options.schedule.budget()));
    Ok(costs)
}

/// Records the first step once more, with launches that are run again.
fn measure_light<S: State>(
    options: &Rollout,
    work: f64,
    initial: &S,
    step: &impl Fn(&S, usize) -> Result<S>,
    progress: &mut Progress<S>,
) -> Result<Light> {
    let start = refresh(initial)?;
    progress.machine.again = options.again.clone();
    let (_, tape) = progress.machine.record(step, &start, 0)?;
    progress.machine.again = Again::None;
    progress.trials += 1;
    let print = Footprint::of(&tape, &progress.machine);
    let share = print.work_again / work.max(1.0);
    let light = Light { tape: print.tape, again: print.again, share };
    if let Some((costs, _)) = &mut progress.costs {
        costs.light = Some(light);
    }
    Ok(light)
}

/// Runs until it is told to stop; `None` when that is at once.
fn unknown<S: State>(
    options: &Rollout,
    go_on: GoOn<'_, S>,
    initial: &Snapshot<S>,
    step: &impl Fn(&S, usize) -> Result<S>,
    progress: &mut Progress<S>,
) -> Result<Option<Plan>> {
    if !go_on(&mut progress.machine, &initial.state, 0)? {
        return Ok(None);
    }
    let file = options.file_cost();
    let (mut states, mut all) = (0, false);
    match options.schedule {
        Schedule::StoreAll => all = true,
        Schedule::Checkpoints(n) => states = n,
        Schedule::Budget(_) | Schedule::Auto => {
            states = endless_states(options.schedule.budget(), measure(options, step, progress)?)?;
            // Beside files the initial state stays in memory too.
            states = if file.is_some() && states > 1 { states - 1 } else { states };
        }
    }
    progress.machine.again = if progress.tapes.is_empty() { options.again.clone() } else { Again::None };
    let period = file.map(|cost| Multistage::endless_period(states, cost));
    let mut online = period.map_or_else(|| Online::new(states), |period| Online::with_files(states, period));
    let light = progress.machine.again != Again::None;
    let plan = Plan::new(Kind::StoreAll, 0);
    loop {
        let k = online.steps();
        for action in online.step() {
            match action {
                Action::Forget { .. } | Action::Snapshot { .. } | Action::Save { .. } | Action::Discard { .. }
                    if all => {}
                Action::Snapshot { step: 0 } => progress.store.keep(0, &initial.state)?,
                Action::Save { step: 0 } => progress.store.save(0, &initial.state, &initial.state)?,
                _ => progress.perform(step, action, plan, &initial.state)?,
            }
        }
        let now = progress.now.take().ok_or_else(|| broken("no state to step from"))?;
        let more = go_on(&mut progress.machine, &now, k + 1)?;
        progress.now = Some(now);
        if !more {
            break;
        }
    }
    let steps = online.steps();
    if all {
        let plan = Plan { light, ..Plan::new(Kind::StoreAll, steps) };
        // All tapes are there; what is left is to reverse them.
        progress.actions = Box::new((0..steps).rev().map(|step| Action::Reverse { step }));
        return Ok(Some(plan));
    }
    let left: Vec<Action> = online.finish().collect();
    let runs = left.iter().map(|action| match action {
        Action::Forward { from, to } => to - from,
        Action::Record { .. } => 1,
        _ => 0,
    });
    progress.predicted = Some(steps + runs.sum::<usize>());
    progress.actions = Box::new(left.into_iter());
    let plan = match period.filter(|&period| period < steps) {
        Some(period) => Plan { light, ..Plan::new(Kind::Multistage { states, period }, steps) },
        None => Plan { light, ..Plan::new(Kind::Revolve { states: states.min(steps) }, steps) },
    };
    progress.words = Some(format!("{plan}, placed online"));
    Ok(Some(plan))
}
