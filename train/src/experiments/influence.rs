//! Unknowns that nothing observed depends on, found before any search.

use super::instance::Instance;
use super::program::{Linear, Program, Supervision};
use super::protocol::Protocol;
use super::quantity::{Quantity, Unknown};
use crate::error::{Error, Result};

/// Refuses an unknown whose derivative is zero, not small, at all frames: at the start and in three places over the ranges.
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
        silent.retain(|&k| is_zero(&linear, k));
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
        "{} not identifiable: the derivative of all that is observed is zero at the start and in three other places of the ranges; {why}",
        names.join(", ")
    );
    Err(Error::Compute(problem))
}

fn is_zero(linear: &Linear, k: usize) -> bool {
    linear.derivatives[k].iter().flatten().all(|d| *d == 0.0)
}

fn within(unknowns: &[Unknown], part: f64) -> Vec<f64> {
    unknowns.iter().map(|u| u.range.0 * (u.range.1 / u.range.0).powf(part)).collect()
}
