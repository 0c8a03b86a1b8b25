//! One search of the table, as it is kept.

use super::fit::{Found, Search};
use super::instance::{Instance, middles};
use super::observation::{Observation, Sought, densities};
use super::program::{Coordinates, Program};
use super::protocol::{Protocol, Range};
use crate::error::Result;
use crate::identify::{SIGMAS, TELLS};
use diffkern::Float;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::time::Instant;

/// How far off a number is, or the elements of a field in the mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Error {
    /// Which: `mass`, `mu` or `lambda`.
    pub quantity: String,
    /// What made the motion; of a field the mass of the body.
    pub truth: f64,
    /// What was found; of a field the mass of the body.
    pub found: f64,
    /// Relative error; of a field the mean over its elements.
    pub error: f64,
    /// The same of where the search began; of a field, of the middle of the range everywhere.
    pub before: f64,
    /// Of a field: the same of the true mass of the body spread evenly.
    pub even: Option<f64>,
    /// Whether the interval of the residuals covers less than half of the range.
    pub determined: bool,
}

/// One search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Number of the instance.
    pub instance: usize,
    /// Its kind.
    pub kind: String,
    /// What was observed and sought.
    pub observation: Observation,
    /// Elements of the search.
    pub elements: usize,
    /// Coordinates of the search.
    pub coordinates: usize,
    /// What came out.
    pub errors: Vec<Error>,
    /// Evaluations with derivatives.
    pub iterations: usize,
    /// Root of the mean square of the residuals, in metres or parts of a pixel.
    pub residual: f64,
    /// Time of the search \[s\], without that of making what it observes.
    pub seconds: f64,
}

impl Row {
    /// Draws an instance, observes it and searches in single precision.
    ///
    /// # Errors
    /// When a motion goes wrong, or the search is interrupted.
    pub fn search(protocol: &Protocol, seed: u64, number: usize, observation: Observation) -> Result<Self> {
        Self::search_in::<f32>(protocol, seed, number, observation)
    }

    /// The same in a precision.
    pub(super) fn search_in<F: Float>(
        protocol: &Protocol,
        seed: u64,
        number: usize,
        observation: Observation,
    ) -> Result<Self> {
        let instance = Instance::draw(protocol, seed, number);
        let seen = observation.of(protocol, &instance)?;
        let begun = Instant::now();
        let program = Program::<F>::new(protocol, &instance, observation.supervision, 1)?;
        let coordinates = Coordinates::new(protocol, &instance, &program, observation.sought);
        let search = Search {
            program: &program,
            coordinates: &coordinates,
            seen: &seen,
            sought: observation.sought,
            deviation: protocol.trust.deviation(observation.supervision),
            steps: Cell::new(1),
        };
        let found = search.run()?;
        let errors = match observation.sought {
            Sought::Numbers => numbers(protocol, &instance, &program, &coordinates, &found),
            Sought::Field => vec![field(protocol, &instance, &program, &coordinates, &found)],
        };
        are_finite(&errors, found.residual)?;
        Ok(Self {
            instance: number,
            kind: instance.kind.name.clone(),
            observation,
            elements: program.centres().len(),
            coordinates: found.at.len(),
            errors,
            iterations: found.iterations,
            residual: found.residual,
            seconds: begun.elapsed().as_secs_f64(),
        })
    }
}

/// Refuses what a motion that is not finite has led to.
fn are_finite(errors: &[Error], residual: f64) -> Result<()> {
    let wrong = errors.iter().find(|e| !(e.found.is_finite() && e.error.is_finite()));
    let (what, value) = match wrong {
        Some(error) => (error.quantity.as_str(), error.found),
        None if !residual.is_finite() => ("residual", residual),
        None => return Ok(()),
    };
    let problem = format!(
        "the {what} is {value}, expected a finite number: a smaller pace, or smaller loads (stress, bend, twist, push, speed and spin of the kind)"
    );
    Err(crate::error::Error::Compute(problem))
}

/// Whether the interval of a coordinate, which is a logarithm, tells anything.
fn determined(found: &Found, k: usize, (low, high): Range) -> bool {
    let n = found.at.len();
    let tells = |covariance: Vec<f64>| {
        2.0 * SIGMAS * covariance[k * n + k].max(0.0).sqrt() < TELLS * (high / low).ln() && found.at[k].is_finite()
    };
    found.normal.covariance().is_some_and(tells)
}

fn numbers<F: Float>(
    protocol: &Protocol,
    instance: &Instance,
    program: &Program<F>,
    coordinates: &Coordinates,
    found: &Found,
) -> Vec<Error> {
    let (truth, start, at) = (instance.truth, instance.start, coordinates.numbers(&found.at));
    let volume = program.volume();
    let all = [
        ("mass", truth.density * volume, start.density * volume, at.density * volume, protocol.density),
        ("mu", truth.mu, start.mu, at.mu, protocol.mu),
        ("lambda", truth.lambda, start.lambda, at.lambda, protocol.lambda),
    ];
    let error = |(k, (quantity, truth, start, found_number, range)): (usize, (&str, f64, f64, f64, Range))| Error {
        quantity: quantity.into(),
        truth,
        found: found_number,
        error: (found_number / truth - 1.0).abs(),
        before: (start / truth - 1.0).abs(),
        even: None,
        determined: determined(found, k, range),
    };
    all.into_iter().enumerate().map(error).collect()
}

fn field<F: Float>(
    protocol: &Protocol,
    instance: &Instance,
    program: &Program<F>,
    coordinates: &Coordinates,
    found: &Found,
) -> Error {
    let truth = densities(instance, program.centres());
    let own = coordinates.densities(&found.at, truth.len());
    let off = |of: &dyn Fn(usize) -> f64| {
        truth.iter().enumerate().map(|(e, t)| (of(e) / t - 1.0).abs()).sum::<f64>() / truth.len() as f64
    };
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let middle = middles(protocol).density;
    let volume = program.volume();
    Error {
        quantity: "mass".into(),
        truth: mean * volume,
        found: own.iter().sum::<f64>() / own.len() as f64 * volume,
        error: off(&|e| own[e]),
        before: off(&|_| middle),
        even: Some(off(&|_| mean)),
        determined: determined(found, 0, protocol.density),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_an_error_with_what_to_change() {
        let error = |found: f64, error: f64| Error {
            quantity: "mu".into(),
            truth: 1.0,
            found,
            error,
            before: 1.0,
            even: None,
            determined: true,
        };
        assert!(are_finite(&[error(1.0, 0.0)], 0.1).is_ok());
        for (errors, residual, expected) in [
            (error(1.0, 0.0), f64::NAN, "the residual is NaN"),
            (error(f64::INFINITY, f64::INFINITY), 0.1, "the mu is inf"),
        ] {
            let said = are_finite(&[errors], residual).map_err(|e| e.to_string());
            assert!(said.as_ref().is_err_and(|s| s.contains(expected) && s.contains("pace")), "{said:?}");
        }
    }
}
