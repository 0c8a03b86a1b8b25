//! How an answer is found: least squares, or something to compare it with.

use super::cmaes::Cmaes;
use super::fit::{Found, Place, Search};
use super::instance::Instance;
use super::quantity::{Drawn, Unknown};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// A way to an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Least squares with exact derivatives.
    #[default]
    Lm,
    /// The mean of what is drawn, whatever was observed.
    Average,
    /// What is drawn, whatever was observed.
    Random,
    /// CMA-ES, which needs no derivatives.
    Cmaes,
}

/// A generation of CMA-ES is no longer than this in any direction at its end, of logarithms.
const SHORTEST: f64 = 1e-9;
/// Its first deviation, in parts of the range of logarithms.
const FIRST: f64 = 0.3;

impl Method {
    /// The answer for an instance.
    ///
    /// # Errors
    /// When no motion can be simulated, or the search is interrupted.
    pub(super) fn find(self, search: &Search<'_>, instance: &Instance) -> Result<Found> {
        let unknowns = &search.protocol.unknowns;
        match self {
            Self::Lm => search.run(instance),
            Self::Average => guess(search, &unknowns.iter().map(mean).collect::<Vec<_>>(), 0),
            Self::Random => guess(search, &instance.clone().other_start(unknowns), 0),
            Self::Cmaes => by_generations(search, instance),
        }
    }
}

/// Values that were not found by derivatives; their interval is that of least squares there.
fn guess(search: &Search<'_>, values: &[f64], iterations: usize) -> Result<Found> {
    let at: Vec<f64> = values.iter().map(|x| x.ln()).collect();
    let misfit = search.evaluate(&at, search.protocol.frames.count)?;
    Ok(search.answer(&Place { at, misfit }, None, iterations, 1))
}

/// Mean of what is drawn from a range.
pub(super) fn mean(unknown: &Unknown) -> f64 {
    let (low, high) = unknown.range;
    match unknown.drawn {
        Drawn::Uniform => 0.5 * (low + high),
        Drawn::Log => (high - low) / (high / low).ln(),
    }
}

fn by_generations(search: &Search<'_>, instance: &Instance) -> Result<Found> {
    let unknowns = &search.protocol.unknowns;
    let widths: Vec<f64> = unknowns.iter().map(|u| FIRST * (u.range.1 / u.range.0).ln()).collect();
    let start: Vec<f64> = instance.start.iter().map(|x| x.ln()).collect();
    let mut cma = Cmaes::new(&start, &widths, instance.number as u64);
    let (mut generations, mut best) = (0, (f64::INFINITY, start));
    while generations < search.most && cma.longest() > SHORTEST {
        let mut drawn = Vec::new();
        for place in cma.ask() {
            let at: Vec<f64> =
                place.iter().zip(unknowns).map(|(x, u)| x.clamp(u.range.0.ln(), u.range.1.ln())).collect();
            let cost = match search.cost(&at) {
                Err(error) if error.is_of_the_motion() => f64::INFINITY,
                cost => cost?,
            };
            // What is outside counts more than its image on the border, by how far it is outside.
            let outside: f64 = place.iter().zip(&at).map(|(x, y)| (x - y).powi(2)).sum();
            if cost < best.0 {
                best = (cost, at);
            }
            drawn.push((cost * (1.0 + outside), place));
        }
        cma.tell(drawn);
        generations += 1;
    }
    let values: Vec<f64> = best.1.iter().map(|x| x.exp()).collect();
    guess(search, &values, generations)
}
