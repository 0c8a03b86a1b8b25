//! One instance of an experiment, for people.

use super::catalogue::{Named, find};
use super::fit::MOST;
use super::method::Method;
use super::observation::{Bits, Observation};
use super::program::Supervision;
use super::quantity::Quantity;
use super::row::{Number, Row};
use crate::error::{Error, Result};
use crate::experiment::{Console, Ended};
use crate::report::table::{columns, number};
use std::path::Path;

/// Options of a run.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
pub struct Trial {
    /// What is observed: image, state or com [default: image]; of an experiment.
    #[arg(long, value_name = "WHAT")]
    pub supervision: Option<Supervision>,
    /// Bits of images: 8 or float [default: 8]; of an experiment.
    #[arg(long, value_name = "BITS")]
    pub bits: Option<Bits>,
    /// Observe a motion with N times as many steps [default: 1]; of an experiment.
    #[arg(long, value_name = "N")]
    pub finer: Option<usize>,
    /// Seed of what is drawn [default: 0]; of an experiment.
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Number of the instance [default: 0]; of an experiment.
    #[arg(long, value_name = "K")]
    pub instance: Option<usize>,
    /// Unknowns to find [default: all of the experiment]; of an experiment.
    #[arg(long = "unknown", value_name = "NAME", value_delimiter = ',')]
    pub unknowns: Vec<Quantity>,
    /// How the answer is found: lm, or average, random or cmaes to compare with [default: lm]; of an experiment.
    #[arg(long, value_name = "METHOD")]
    pub method: Option<Method>,
    /// Most iterations [default: 100]; of an experiment.
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<usize>,
}

impl Trial {
    /// Whether an option was given.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }

    fn observation(&self) -> Result<Observation> {
        let finer = self.finer.unwrap_or(1);
        if !(1..=64).contains(&finer) {
            return Err(Error::argument("finer", format!("{finer}, expected 1 to 64")));
        }
        Ok(Observation {
            supervision: self.supervision.unwrap_or(Supervision::Image),
            bits: self.bits.unwrap_or_default(),
            finer,
        })
    }

    /// Runs an instance of the experiment of a name or a file.
    ///
    /// # Errors
    /// When there is no such experiment, an unknown is not identifiable, or a computation fails.
    pub fn run(&self, target: &Path, console: &mut dyn Console) -> Result<Ended> {
        let Named { name, protocol } = find(target)?;
        let protocol = protocol.with_unknowns(&self.unknowns)?;
        let (observation, most) = (self.observation()?, self.max_iterations.unwrap_or(MOST));
        let method = self.method.unwrap_or_default();
        let (seed, instance) = (self.seed.unwrap_or(0), self.instance.unwrap_or(0));
        let row = match Row::search(&protocol, seed, instance, observation, method, most) {
            Err(Error::Interrupted) => return Ok(Ended::Interrupted),
            row => row?,
        };
        console.print(&format!("{name}, instance {instance}: a {}; observed: {}", row.shape, observation.name()));
        lines(&row).iter().for_each(|line| console.print(line));
        Ok(Ended::Done)
    }
}

fn lines(row: &Row) -> Vec<String> {
    let head = ["unknown", "unit", "truth", "start", "found", "relative error", "95 % interval"].map(str::to_owned);
    let of = |n: &Number| {
        let (from, to) = n.interval;
        let interval = match n.determined {
            true => format!("found -{:.1e} +{:.1e}", n.found - from, to - n.found),
            false => format!("{} to {}: not determined", number(from), number(to)),
        };
        let [truth, start, found] = [n.truth, n.start, n.found].map(number);
        [
            n.quantity.name().into(),
            n.quantity.unit().into(),
            truth,
            start,
            found,
            format!("{:.2e}", n.error()),
            interval,
        ]
    };
    let mut lines = columns(&std::iter::once(head).chain(row.numbers.iter().map(of)).collect::<Vec<_>>());
    let starts = if row.starts > 1 { format!(" from {} starts", row.starts) } else { String::new() };
    lines.push(format!(
        "{} iterations{starts}, {:.2} s, largest residual {:.1e}",
        row.iterations, row.seconds, row.residual
    ));
    if !row.explained {
        lines.push("what was found does not explain what was observed: the search has ended elsewhere".into());
    }
    lines
}
