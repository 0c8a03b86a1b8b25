//! The schedule in use, chosen from what the user asked for.

use std::fmt;

use super::{Action, Blocked, Multistage, Revolve, Schedule, StoreAll};
use crate::error::{Error, Result};
use crate::memory::Bytes;

/// The schedule of a rollout and what it costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    pub(crate) kind: Kind,
    pub(crate) steps: usize,
    /// Launches are run again in `backward` instead of their results being kept.
    pub(crate) light: bool,
    /// Chosen to need at most so many bytes.
    pub(crate) bytes: Option<usize>,
    /// Share of a step's work that `backward` does again because of `light`, where it is known.
    pub(crate) share: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    StoreAll,
    /// So many kept states, the initial one included.
    Revolve {
        states: usize,
    },
    /// So many kept states, and the tapes of so many steps at a time.
    Blocked {
        states: usize,
        block: usize,
    },
    /// So many states in memory, and one in a file each so many steps.
    Multistage {
        states: usize,
        period: usize,
    },
}

/// What a step needs, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    pub(crate) state: usize,
    pub(crate) tape: usize,
    pub(crate) adjoints: usize,
    /// Positions times statements of its launches, where that was asked for.
    pub(crate) work: Option<f64>,
    /// With launches that are run again, where the user allows that.
    pub(crate) light: Option<Light>,
    /// A file's worth in steps, where there may be files.
    pub(crate) file: Option<f64>,
}

/// A step whose launches are run again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Light {
    pub(crate) tape: usize,
    /// The most that its reversal brings back.
    pub(crate) again: usize,
    /// Share of its work that is done again.
    pub(crate) share: f64,
}

impl Costs {
    /// Reversing a step takes its tape, its adjoints and the state that it starts from.
    fn fixed(&self) -> usize {
        self.state.saturating_add(self.tape).saturating_add(self.adjoints)
    }

    /// Kept states that fit beside that.
    fn states(&self, budget: usize) -> usize {
        budget.saturating_sub(self.fixed()) / self.state.max(1)
    }

    /// The same with the tapes of a block of steps.
    fn of_block(&self, block: usize) -> Costs {
        Costs { tape: self.tape.saturating_mul(block), ..*self }
    }

    /// The same with launches that are run again.
    fn lightened(&self, light: Light) -> Costs {
        Costs { tape: light.tape, adjoints: self.adjoints.saturating_add(light.again), ..*self }
    }

    /// The plan with the fewest steps run whose tapes and states fit.
    fn in_blocks(&self, budget: usize, steps: usize) -> Option<Plan> {
        let (states, block) = Blocked::best(steps, |block| self.of_block(block).states(budget))?;
        let kind = match block {
            1 => Kind::Revolve { states },
            _ => Kind::Blocked { states, block },
        };
        let bytes = self.of_block(block).fixed().saturating_add(states.saturating_mul(self.state));
        Some(Plan { bytes: Some(bytes), ..Plan::new(kind, steps) })
    }
}

impl Schedule {
    /// Bytes to stay within.
    pub(crate) fn budget(self) -> usize {
        match self {
            Schedule::Budget(bytes) => bytes,
            _ => 1 << 30,
        }
    }
}

impl Plan {
    pub(crate) fn new(kind: Kind, steps: usize) -> Plan {
        Plan { kind, steps, light: false, bytes: None, share: 0.0 }
    }

    /// The plan that was asked for by number of states, with files beyond those if there may be any.
    pub(crate) fn with_states(states: usize, steps: usize, file: Option<f64>) -> Plan {
        // Where all states fit, files never pay.
        let period = file.map_or(steps, |cost| Multistage::best_period(steps, states, cost));
        let kind = match period < steps {
            true => Kind::Multistage { states, period },
            false => Kind::Revolve { states: states.min(steps) },
        };
        Plan::new(kind, steps)
    }

    /// The plan with the least work among those that fit.
    pub(crate) fn within(budget: usize, steps: usize, costs: Costs) -> Result<Plan> {
        let mut fitting = Vec::new();
        let all = steps.saturating_mul(costs.tape).saturating_add(costs.state + costs.adjoints);
        if all <= budget {
            fitting.push(Plan::new(Kind::StoreAll, steps));
        }
        if let Some(light) = costs.light {
            let again = light.again.saturating_add(costs.state + costs.adjoints);
            let all = steps.saturating_mul(light.tape).saturating_add(again);
            if all <= budget {
                let plan = Plan::new(Kind::StoreAll, steps);
                fitting.push(Plan { light: true, bytes: Some(all), share: light.share, ..plan });
            }
        }
        if let Some(plan) = costs.in_blocks(budget, steps) {
            fitting.push(plan);
        }
        if let Some((light, plan)) =
            costs.light.and_then(|light| Some((light, costs.lightened(light).in_blocks(budget, steps)?)))
        {
            fitting.push(Plan { light: true, share: light.share, ..plan });
        }
        let (fixed, state) = (costs.fixed(), costs.state);
        let states = costs.states(budget).min(steps);
        // The initial state stays in memory too.
        if let Some(cost) = costs.file.filter(|_| states > 1) {
            let bytes = Some(fixed + states * state);
            let states = states - 1;
            // Where files do not pay it writes none, and is no less work than the plan before it.
            let period = Multistage::best_period(steps, states, cost);
            fitting.push(Plan { bytes, ..Plan::new(Kind::Multistage { states, period }, steps) });
        }
        let work = |plan: &Plan| plan.factor() + plan.files() as f64 * costs.file.unwrap_or(0.0) / steps.max(1) as f64;
        fitting.into_iter().min_by(|a, b| work(a).total_cmp(&work(b))).ok_or_else(|| too_few(budget, costs))
    }

    pub(crate) fn actions(self) -> Box<dyn Iterator<Item = Action>> {
        match self.kind {
            Kind::StoreAll => Box::new(StoreAll::new(self.steps)),
            Kind::Revolve { states } => Box::new(Revolve::new(self.steps, states)),
            Kind::Blocked { states, block } => Box::new(Blocked::new(self.steps, states, block)),
            Kind::Multistage { states, period } => Box::new(Multistage::new(self.steps, states, period)),
        }
    }

    /// Whether every step's tape is kept, so that a second `backward` needs no step to be run.
    pub(crate) fn keeps_tapes(self) -> bool {
        self.kind == Kind::StoreAll
    }

    /// Steps of the rollout.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Steps run by recording and one `backward`, per step; launches that are run again count by their share of the
    /// work of a step (positions times statements).
    pub fn factor(&self) -> f64 {
        self.runs() as f64 / self.steps.max(1) as f64 + self.share
    }

    /// Steps that recording and one `backward` run.
    pub fn runs(&self) -> u128 {
        let advances = match self.kind {
            Kind::StoreAll => 0,
            Kind::Revolve { states } => Revolve::advances(self.steps, states),
            Kind::Blocked { states, block } => Blocked::advances(self.steps, states, block),
            Kind::Multistage { states, period } => Multistage::advances(self.steps, states, period),
        };
        advances + self.steps as u128
    }

    /// The bytes that tapes, states and adjoints need at most, where a byte budget was given and not all tapes fit.
    pub fn bytes(&self) -> Option<usize> {
        self.bytes
    }

    /// Files that recording and one `backward` write, and read.
    pub fn files(&self) -> usize {
        match self.kind {
            Kind::Multistage { period, .. } => Multistage::files(self.steps, period),
            _ => 0,
        }
    }

    /// Whether launches are run again in `backward` instead of their results being kept.
    pub fn recomputes(&self) -> bool {
        self.light
    }
}

fn too_few(budget: usize, costs: Costs) -> Error {
    let costs = costs.light.map(|light| costs.lightened(light)).filter(|l| l.fixed() < costs.fixed()).unwrap_or(costs);
    let fixed = costs.fixed();
    Error::Schedule(format!(
        "{} are too few: one step needs {} (tape {}, adjoints {}, its state {}) and one kept state {}; give at least {}",
        Bytes(budget),
        Bytes(fixed),
        Bytes(costs.tape),
        Bytes(costs.adjoints),
        Bytes(costs.state),
        Bytes(costs.state),
        Bytes(fixed + costs.state)
    ))
}

/// States that fit for a number of steps that is not known.
pub(crate) fn endless_states(budget: usize, costs: Costs) -> Result<usize> {
    match costs.states(budget) {
        0 => Err(too_few(budget, costs)),
        states => Ok(states),
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::StoreAll => f.write_str("all tapes kept")?,
            Kind::Revolve { states: 1 } => f.write_str("1 state kept")?,
            Kind::Revolve { states } => write!(f, "{states} states kept (revolve)")?,
            Kind::Blocked { states: 1, block } => write!(f, "1 state kept, tapes of {block} steps at a time")?,
            Kind::Blocked { states, block } => {
                write!(f, "{states} states kept (revolve), tapes of {block} steps at a time")?;
            }
            Kind::Multistage { states, period } => write!(f, "{states} states in memory, a file each {period} steps")?,
        }
        if self.light { f.write_str(", launches run again") } else { Ok(()) }
    }
}
