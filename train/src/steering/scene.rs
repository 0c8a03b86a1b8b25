//! What all scenes have in common: numbers that steer them, and a loss with its gradient.

use crate::error::{Error, Result};
use diffkern_sim::Model;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// How impacts are taken: with right values and gradients, or as if they lasted whole steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Twin {
    /// At their time.
    TimeOfImpact,
    /// For whole steps: velocities are right, and the derivative of places by what was before the impact is not.
    Naive,
}

impl Twin {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::TimeOfImpact => "time of impact",
            Self::Naive => "naive",
        }
    }
}

/// A scene with these controls.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Evaluated {
    /// What is to be small.
    pub(super) loss: f64,
    /// By the controls.
    pub(super) gradient: Vec<f64>,
    /// What people want to know, in the unit of the scene.
    pub(super) outcome: f64,
}

/// Something that numbers steer.
pub(super) trait Scene {
    /// Loss and gradient at these controls.
    ///
    /// # Errors
    /// When a launch fails.
    fn evaluate(&self, controls: &[f64]) -> Result<Evaluated>;
}

/// Refuses steps \[s\] beyond twice what models take for springs, by bounds of linear theory: about the longest that are stable.
pub(super) fn check_step<M: Model>(model: &M, params: &M::Params, state: &M::State, step: f64) -> Result<()> {
    let most = 2.0 * model.max_dt(params, state)?;
    match step <= most {
        true => Ok(()),
        false => Err(Error::scene(
            "scene.step",
            format!("{step} s, expected at most {most:.3e} s, about the longest stable step of the springs"),
        )),
    }
}

/// A standard normal number (Box and Muller 1958).
pub(super) fn normal(rng: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (TAU * rng.f64()).cos()
}
