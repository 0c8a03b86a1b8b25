//! Unknowns that nothing observed depends on, found before any search.

use super::instance::Instance;
use super::program::{Linear, Program, Seen, Supervision};
use super::protocol::Protocol;
use super::quantity::{Quantity, Unknown};
use crate::error::{Error, Result};

/// A derivative by a logarithm of at most this part of what is observed is rounding. A step rounds by 1e-16, over the most steps that a protocol may have (1e9) that
/// adds up at random to 3e-12, and edges in pictures show it a hundredfold. An influence as small as that is a millionth of what rounding to 8 bits hides.
const ROUNDING: f64 = 1e-9;

/// Refuses an unknown whose derivative is zero at all frames, but for rounding: at the start and in three places over the ranges.
///
/// # Errors
/// Names the unknowns.
pub fn check(protocol: &Protocol, instance: &Instance, supervision: Supervision) -> Result<()> {
    let program = Program::new(protocol, instance, supervision, 1)?;
    let frames = protocol.frames.count;
    let mut silent: Vec<usize> = (0..protocol.unknowns.len()).collect();
    for part in [None, Some(0.5), Some(0.1), Some(0.9)] {
        if silent.is_empty() {
            return Ok(());
        }
        let at = part.map_or_else(|| instance.start.clone(), |part| within(&protocol.unknowns, part));
        let linear = program.linearise(&at, frames)?;
        silent.retain(|&k| is_rounding(&linear, k));
    }
    if silent.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = silent.iter().map(|&k| protocol.unknowns[k].quantity.name()).collect();
    let why = match silent.iter().any(|&k| protocol.unknowns[k].quantity == Quantity::Mass) {
        true => "in free fall all masses move alike: expected a push of a known force, or another unknown",
        false => "expected a motion that depends on it, such as one that touches the floor, or other unknowns",
    };
    let problem = format!(
        "{} not identifiable: the derivative of all that is observed is zero, but for rounding, at the start and in three other places of the ranges; {why}",
        names.join(", ")
    );
    Err(Error::Compute(problem))
}

fn is_rounding(linear: &Linear, k: usize) -> bool {
    root_mean_square(&linear.derivatives[k]) <= ROUNDING * root_mean_square(&linear.seen)
}

fn root_mean_square(of: &Seen) -> f64 {
    let count: usize = of.iter().map(Vec::len).sum();
    (of.iter().flatten().map(|x| x * x).sum::<f64>() / count.max(1) as f64).sqrt()
}

fn within(unknowns: &[Unknown], part: f64) -> Vec<f64> {
    unknowns.iter().map(|u| u.range.0 * (u.range.1 / u.range.0).powf(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::protocol::{Direction, Push};
    use super::*;
    use std::path::Path;

    /// A ball with spin that touches nothing: all masses move alike.
    const FREE: &str = "Protocol(
        about: \"free fall\",
        shapes: [(name: \"ball\", shape: Ball(radius: 1.0), edge: 0.5)],
        reach: 0.35,
        gravity: (0.0, 0.0, -9.81),
        start: (
            position: ((-0.1, -0.1, 0.5), (0.1, 0.1, 0.7)),
            spin: ((-3.0, -3.0, -3.0), (3.0, 3.0, 3.0)),
        ),
        unknowns: [(quantity: mass, range: (3.16, 31.6), drawn: log)],
        frames: (count: 3, rate: 30.0, steps: 10),
        horizons: [3],
        camera: (distance: 3.0, elevation: 20.0, azimuth: -90.0, look_at: (0.3, 0.0, 0.3), field_of_view: 45.0, width: 24, height: 24),
        instances: 1,
    )";

    #[test]
    fn what_rounding_alone_depends_on_is_not_identifiable() -> Result<()> {
        let free = Protocol::parse(Path::new("free.ron"), FREE)?;
        let instance = Instance::draw(&free, 0, 0)?;
        for supervision in [Supervision::State, Supervision::Image, Supervision::Com] {
            let said = check(&free, &instance, supervision).map_err(|error| (error.exit_code(), error.to_string()));
            assert!(
                said.as_ref().is_err_and(|(code, s)| *code == 1 && s.contains("mass not identifiable")),
                "{said:?}"
            );
        }
        // Otherwise there is no rounding to be told from an influence.
        let linear = Program::new(&free, &instance, Supervision::State, 1)?.linearise(&instance.start, 3)?;
        assert!(linear.derivatives[0].iter().flatten().any(|d| *d != 0.0), "{linear:?}");

        let push = Push { force: 10.0, interval: (0.0, 0.1), direction: Direction::Any };
        let pushed = Protocol { push: Some(push), ..free };
        let instance = Instance::draw(&pushed, 0, 0)?;
        for supervision in [Supervision::State, Supervision::Image, Supervision::Com] {
            check(&pushed, &instance, supervision)?;
        }
        Ok(())
    }
}
