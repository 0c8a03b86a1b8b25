//! The misfit over one or two unknowns, the others at the truth.

use super::catalogue::{Named, find};
use super::instance::Instance;
use super::observation::{Bits, Observation};
use super::program::{Program, Supervision};
use super::protocol::Protocol;
use super::quantity::{Drawn, Unknown};
use crate::error::{Error, Result};
use crate::experiment::{Console, Ended};
use crate::job::Flow;
use crate::report::landscape::{Side, curve, map};
use crate::{files, text};
use std::path::PathBuf;
use std::time::Instant;

/// A picture of a misfit.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct Landscape {
    /// Name of the experiment, or its RON file.
    pub name: PathBuf,
    /// One or two unknowns, or controls of a scene that is steered.
    #[arg(long, value_name = "NAME", value_delimiter = ',', required = true)]
    pub over: Vec<String>,
    /// Points along each.
    #[arg(long, value_name = "N", default_value_t = 41)]
    pub points: usize,
    /// What is observed: image, state or com.
    #[arg(long, value_name = "WHAT", default_value = "image")]
    pub supervision: Supervision,
    /// Seed of what is drawn.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Number of the instance.
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub instance: usize,
    /// Folder of the picture and its numbers.
    #[arg(long, value_name = "DIR", default_value = "out/landscapes")]
    pub out: PathBuf,
}

impl Landscape {
    /// Draws it, as `NAME_a_b.png` and `.csv`.
    ///
    /// # Errors
    /// When there is no such experiment or unknown, a motion cannot be simulated, or a file cannot be written.
    pub fn run(&self, console: &mut dyn Console) -> Result<Ended> {
        let Named { name, protocol } = find(&self.name)?;
        let places = self.places(&protocol)?;
        if !(2..=1000).contains(&self.points) {
            return Err(Error::argument("points", format!("{}, expected 2 to 1000", self.points)));
        }
        let instance = Instance::draw(&protocol, self.seed, self.instance)?;
        let observation = Observation { supervision: self.supervision, bits: Bits::Float, finer: 1 };
        let program = Program::new(&protocol, &instance, self.supervision, 1)?;
        let observed = observation.of(&protocol, &instance)?;
        let sides: Vec<Side> =
            places.iter().map(|&k| side(&protocol.unknowns[k], instance.truth[k], self.points)).collect();
        let begun = Instant::now();
        let count: usize = sides.iter().map(|side| side.values.len()).product();
        let mut costs = Vec::with_capacity(count);
        for at in 0..count {
            let mut values = instance.truth.clone();
            let mut rest = at;
            for (side, &k) in sides.iter().zip(&places) {
                values[k] = side.values[rest % side.values.len()];
                rest /= side.values.len();
            }
            match program.seen(&values, protocol.frames.count) {
                Ok(seen) => costs.push(observed.mean_square(&seen)),
                Err(Error::Interrupted) => return Ok(Ended::Interrupted),
                Err(error) if error.is_of_the_motion() => costs.push(f64::NAN),
                Err(error) => return Err(error),
            }
            let part = costs.len() as f64 / count as f64;
            if console.fraction(part, begun.elapsed().as_secs_f64()) == Flow::Stop {
                return Ok(Ended::Interrupted);
            }
        }
        console.finish();
        let title = format!("{name}, instance {}: mean squared residual ({})", self.instance, self.supervision.name());
        let picture = match sides.as_slice() {
            [x, y] => map(&title, x, y, &costs)?,
            _ => curve(&title, &sides[0], &costs)?,
        };
        let names: Vec<&str> = self.over.iter().map(String::as_str).collect();
        let [png, csv] = ["png", "csv"].map(|end| self.out.join(format!("{name}_{}.{end}", names.join("_"))));
        files::write(&png, &picture)?;
        files::write(&csv, numbers(&names, &sides, &costs).as_bytes())?;
        console.say(&format!("wrote {} and {}", text::path(&png), text::path(&csv)));
        Ok(Ended::Done)
    }

    /// Which unknowns of the protocol.
    fn places(&self, protocol: &Protocol) -> Result<Vec<usize>> {
        let twice = self.over.len() == 2 && self.over[0] == self.over[1];
        if self.over.len() > 2 || twice {
            return Err(Error::argument("over", format!("{} names, expected one or two, each once", self.over.len())));
        }
        let place = |asked: &String| {
            let found = protocol.unknowns.iter().position(|unknown| unknown.quantity.name() == asked);
            found.ok_or_else(|| {
                let names: Vec<&str> = protocol.unknowns.iter().map(|u| u.quantity.name()).collect();
                Error::argument("over", format!("{}, expected some of {}", text::shown(asked), names.join(", ")))
            })
        };
        self.over.iter().map(place).collect()
    }
}

fn side(unknown: &Unknown, truth: f64, points: usize) -> Side {
    let ((low, high), unit) = (unknown.range, unknown.quantity.unit());
    let value = |k: usize| {
        let part = k as f64 / (points - 1) as f64;
        match unknown.drawn {
            Drawn::Uniform => low + part * (high - low),
            Drawn::Log => low * (high / low).powf(part),
        }
    };
    let label =
        if unit.is_empty() { unknown.quantity.name().into() } else { format!("{} [{unit}]", unknown.quantity.name()) };
    Side { label, values: (0..points).map(value).collect(), truth, log: unknown.drawn == Drawn::Log }
}

fn numbers(names: &[&str], sides: &[Side], costs: &[f64]) -> String {
    let mut text = format!("{},mean_squared_residual\n", names.join(","));
    for (at, cost) in costs.iter().enumerate() {
        let mut rest = at;
        for side in sides {
            text += &format!("{},", side.values[rest % side.values.len()]);
            rest /= side.values.len();
        }
        text += &format!("{cost:e}\n");
    }
    text
}
