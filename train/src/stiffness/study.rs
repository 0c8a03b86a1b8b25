//! Draws moduli, makes what is seen, and finds them again.

use super::block::{Block, Frames};
use super::protocol::Protocol;
use crate::error::{Error, Result};
use crate::experiments::{normal, seeded};
use diffkern::prelude::*;
use diffkern_optim::dense::{Bounds, LevenbergMarquardt};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Most evaluations with derivatives.
const MOST: usize = 20;
/// Longest step of a logarithm.
const TRUST: f64 = 1.0;
/// Refused steps in a row that end the search.
const REFUSALS: usize = 5;
/// Falls of the value below this part of it end the search: the noise leaves far more.
const LEAST: f64 = 1e-4;

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// What was asked for.
    pub protocol: Protocol,
    /// Of what was drawn.
    pub seed: u64,
    /// Version of the program.
    pub version: String,
    /// Number of vertices.
    pub vertices: usize,
    /// Steps of each motion.
    pub steps: usize,
    /// Standard deviation of the noise of each loading \[m\].
    pub noise: [f64; 3],
    /// Modulus of each element \[Pa\].
    pub truth: Vec<f64>,
    /// The one that was found \[Pa\].
    pub found: Vec<f64>,
    /// Mean square of the residuals of the places in units of the noise: 1 where the noise alone is left.
    pub misfit: f64,
    /// Evaluations with derivatives.
    pub iterations: usize,
    /// Time of the search \[s\].
    pub seconds: f64,
}

impl Study {
    /// Runs it; `tell` gets the number of evaluations so far and the cost.
    ///
    /// # Errors
    /// When a motion goes wrong, or the search is interrupted.
    pub fn new(protocol: &Protocol, seed: u64, tell: &mut dyn FnMut(usize, f64) -> Result<()>) -> Result<Self> {
        let block = Block::new(protocol)?;
        let mut rng = seeded(seed, 0);
        let (low, high) = protocol.young;
        let truth: Vec<f64> = (0..block.elements).map(|_| low * (high / low).powf(rng.f64())).collect();
        let logarithms: Vec<f64> = truth.iter().map(|e| e.ln()).collect();
        let exact = block.observe(&block.array(&logarithms)?)?;
        let mut noise = [0.0; 3];
        let mut seen: Frames = Vec::new();
        for ((own, noise), axis) in exact.iter().zip(&mut noise).zip(["x", "y", "z"]) {
            *noise = protocol.noise * displacement(&block, own)?;
            is_finite(protocol, *noise, &format!("the motion along {axis}"))?;
            let noisy = |frame: &Array<Vec3<f64>>| -> Result<Array<Vec3<f64>>> {
                let mut places = frame.to_vec()?;
                for place in &mut places {
                    let mut one = || *noise * normal(&mut rng);
                    *place += Vec3::new(one(), one(), one());
                }
                block.places(&places)
            };
            seen.push(own.iter().map(noisy).collect::<Result<_>>()?);
        }
        let prior = [protocol.middle().ln(), protocol.spread()];
        let begun = Instant::now();
        let mut x = vec![prior[0]; block.elements];
        let bounds =
            Bounds { low: vec![f64::MIN; x.len()], high: vec![f64::MAX; x.len()], trust: vec![TRUST; x.len()] };
        let (mut here, mut rule, mut iterations) =
            (block.normal(&x, &seen, noise, prior)?, LevenbergMarquardt::default(), 1);
        is_finite(protocol, here.cost, "the cost of the middle of the range")?;
        while iterations < MOST && rule.refused < REFUSALS {
            tell(iterations, here.cost)?;
            let Some(step) = rule.propose(&here, &bounds, &x)? else { break };
            let there: Vec<f64> = x.iter().zip(&step.change).map(|(x, c)| x + c).collect();
            let found = block.normal(&there, &seen, noise, prior)?;
            iterations += 1;
            let fall = here.cost - found.cost;
            // Not `<=`: NaN is refused too.
            if fall.is_nan() || fall <= 0.0 {
                rule.refuse();
                continue;
            }
            let last = fall < LEAST * here.cost;
            (x, here) = (there, found);
            rule.accept();
            if last {
                break;
            }
        }
        let found: Vec<f64> = x.iter().map(|x| x.exp()).collect();
        if let Some(e) = found.iter().position(|e| !e.is_finite()) {
            return Err(Error::Compute(format!(
                "the modulus of element {e} is {}, expected a finite number",
                found[e]
            )));
        }
        let pulled: f64 = found.iter().map(|e| ((e.ln() - prior[0]) / prior[1]).powi(2)).sum();
        // What is held is seen with noise too.
        let residuals = (9 * block.rest.len() * protocol.frames) as f64;
        Ok(Self {
            protocol: protocol.clone(),
            seed,
            version: env!("CARGO_PKG_VERSION").into(),
            vertices: block.rest.len(),
            steps: block.steps(),
            noise,
            misfit: (here.cost - pulled) / residuals,
            truth,
            found,
            iterations,
            seconds: begun.elapsed().as_secs_f64(),
        })
    }

    /// Relative errors of all elements, the smallest first.
    pub fn errors(&self) -> Vec<f64> {
        let mut errors: Vec<f64> = self.truth.iter().zip(&self.found).map(|(t, f)| (f / t - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        errors
    }

    /// The same of the middle of the range.
    pub fn guessed(&self) -> Vec<f64> {
        let middle = self.protocol.middle();
        let mut errors: Vec<f64> = self.truth.iter().map(|t| (middle / t - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        errors
    }
}

/// Refuses a number that comes of a motion which its loads have torn apart.
fn is_finite(protocol: &Protocol, number: f64, what: &str) -> Result<()> {
    if number.is_finite() {
        return Ok(());
    }
    let problem = format!(
        "{} m/s^2, with which {what} is not finite; expected a smaller one, or a shorter duration",
        protocol.acceleration
    );
    Err(Error::Compute(format!("acceleration: {problem}")))
}

/// Root of the mean square displacement of the free vertices over some frames \[m\].
fn displacement(block: &Block, frames: &[Array<Vec3<f64>>]) -> Result<f64> {
    let mut sum = 0.0;
    for frame in frames {
        for (x, rest) in frame.to_vec()?.iter().zip(&block.rest) {
            sum += (*x - Vec3::from_array(*rest)).norm_squared();
        }
    }
    // Those that are held add nothing.
    let free = block.rest.len() - block.held.len();
    Ok((sum / (free * frames.len()) as f64).sqrt())
}
