//! One search of a table, as it is kept.

use super::fit::{Found, Search};
use super::influence;
use super::instance::Instance;
use super::method::Method;
use super::observation::Observation;
use super::program::Program;
use super::protocol::Protocol;
use super::quantity::Quantity;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// What came out for one unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// Which.
    pub quantity: Quantity,
    /// What made the motion.
    pub truth: f64,
    /// Where the search started.
    pub start: f64,
    /// What it found.
    pub found: f64,
    /// 95 % interval.
    #[serde(with = "interval")]
    pub interval: (f64, f64),
    /// Whether the interval tells anything.
    pub determined: bool,
}

impl Number {
    /// Relative error.
    pub fn error(&self) -> f64 {
        (self.found / self.truth - 1.0).abs()
    }

    /// Whether the truth is in the interval; rounding of 1e-12 is no error.
    pub fn holds(&self) -> bool {
        let ((from, to), room) = (self.interval, 1e-12 * self.truth);
        from - room <= self.truth && self.truth <= to + room
    }
}

/// JSON has no number for infinity: an interval without an upper end has none there either.
mod interval {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>((from, to): &(f64, f64), serializer: S) -> Result<S::Ok, S::Error> {
        (from, to.is_finite().then_some(to)).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(f64, f64), D::Error> {
        let (from, to) = <(f64, Option<f64>)>::deserialize(deserializer)?;
        Ok((from, to.unwrap_or(f64::INFINITY)))
    }
}

/// One search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Number of the instance.
    pub instance: usize,
    /// Its shape.
    pub shape: String,
    /// What was observed.
    pub observation: Observation,
    /// One for each unknown.
    pub numbers: Vec<Number>,
    /// Iterations over all starts.
    pub iterations: usize,
    /// Starts in all.
    pub starts: usize,
    /// Whether what is left may be errors of the observation.
    pub explained: bool,
    /// The largest residual.
    pub residual: f64,
    /// Time of the search \[s\].
    pub seconds: f64,
}

impl Row {
    /// Draws an instance, observes it and searches; what is without influence is refused before.
    ///
    /// # Errors
    /// When an unknown is without influence, steps are unstable, or the search is interrupted.
    pub fn search(
        protocol: &Protocol,
        seed: u64,
        number: usize,
        observation: Observation,
        method: Method,
        most: usize,
    ) -> Result<Self> {
        let instance = Instance::draw(protocol, seed, number)?;
        let program = Program::new(protocol, &instance, observation.supervision, 1)?;
        influence::check(protocol, &instance, observation.supervision)?;
        let observed = observation.of(protocol, &instance)?;
        let begun = Instant::now();
        let halved = (observation.finer > 1).then(|| Program::new(protocol, &instance, observation.supervision, 2));
        let halved = halved.transpose()?;
        let search = Search { program: &program, observed: &observed, protocol, most, halved: halved.as_ref() };
        let found = method.find(&search, &instance)?;
        let seconds = begun.elapsed().as_secs_f64();
        let lows = found.intervals.iter().map(|(low, _)| low);
        if found.values.iter().chain([&found.largest]).chain(lows).any(|x| !x.is_finite()) {
            let problem = format!(
                "{:?} was found with a largest residual of {}, expected finite numbers: more steps (frames.steps), or a smaller push, gravity, velocity or spin",
                found.values, found.largest
            );
            return Err(Error::Compute(problem));
        }
        Ok(Self::of(protocol, &instance, observation, found, seconds))
    }

    fn of(protocol: &Protocol, instance: &Instance, observation: Observation, found: Found, seconds: f64) -> Self {
        let number = |k: usize| Number {
            quantity: protocol.unknowns[k].quantity,
            truth: instance.truth[k],
            start: instance.start[k],
            found: found.values[k],
            interval: found.intervals[k],
            determined: found.determined[k],
        };
        Row {
            instance: instance.number,
            shape: instance.shape.clone(),
            observation,
            numbers: (0..protocol.unknowns.len()).map(number).collect(),
            iterations: found.iterations,
            starts: found.starts,
            explained: found.explained,
            residual: found.largest,
            seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_without_an_upper_end_survive_a_table() -> serde_json::Result<()> {
        for interval in [(0.0, f64::INFINITY), (0.25, 4.0)] {
            let (truth, start, found) = (1.0, 2.0, 3.0);
            let number = Number { quantity: Quantity::Mass, truth, start, found, interval, determined: false };
            let text = serde_json::to_string(&number)?;
            assert_eq!(serde_json::from_str::<Number>(&text)?, number, "{text}");
        }
        Ok(())
    }
}
