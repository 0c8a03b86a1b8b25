//! What was observed of an instance, made with known values.

use super::instance::Instance;
use super::program::{Linear, Program, Seen, Supervision};
use super::protocol::Protocol;
use crate::error::Result;
use diffkern_optim::dense::NormalEquations;
use serde::{Deserialize, Serialize};

/// In how many bits frames are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Bits {
    /// As those of a video: whole 255ths.
    #[default]
    #[value(name = "8")]
    Eight,
    /// As they were computed.
    Float,
}

/// How a motion is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// What of it.
    pub supervision: Supervision,
    /// Of images.
    pub bits: Bits,
    /// How many times as many steps the observed motion takes as that of the search.
    pub finer: usize,
}

impl Observation {
    /// What it is called in a table.
    pub fn name(&self) -> String {
        let bits = match (self.supervision, self.bits) {
            (Supervision::Image, Bits::Float) => ", floats",
            (Supervision::Image, Bits::Eight) | (Supervision::State | Supervision::Com, _) => "",
        };
        let finer = if self.finer > 1 { format!(", step / {}", self.finer) } else { String::new() };
        format!("{}{bits}{finer}", self.supervision.name())
    }

    /// What is observed of an instance.
    ///
    /// # Errors
    /// When its motion goes wrong.
    pub(super) fn of(&self, protocol: &Protocol, instance: &Instance) -> Result<Observed> {
        Ok(Observed { seen: self.frames(protocol, instance)?, tolerance: self.tolerance() })
    }

    /// What is observed of an instance, frame by frame.
    ///
    /// # Errors
    /// When its motion goes wrong.
    pub(super) fn frames(&self, protocol: &Protocol, instance: &Instance) -> Result<Seen> {
        let program = Program::new(protocol, instance, self.supervision, self.finer)?;
        let mut seen = program.seen(&instance.truth, protocol.frames.count)?;
        if self.supervision == Supervision::Image && self.bits == Bits::Eight {
            seen.iter_mut().flatten().for_each(|pixel| *pixel = (*pixel * 255.0).round() / 255.0);
        }
        Ok(seen)
    }

    /// A residual that is larger shows that a search has ended elsewhere: twice what rounding to 8 bits may change, hardly anything where
    /// nothing is rounded, and room for the error of the steps where the observed ones are finer.
    fn tolerance(&self) -> f64 {
        match (self.finer > 1, self.supervision, self.bits) {
            (true, _, _) => 0.1,
            (false, Supervision::Image, Bits::Eight) => 1.0 / 255.0,
            (false, _, _) => 1e-6,
        }
    }
}

/// What was observed.
pub(super) struct Observed {
    seen: Seen,
    tolerance: f64,
}

/// How far a program is from what was observed.
pub(super) struct Misfit {
    pub(super) normal: NormalEquations,
    /// The largest residual.
    pub(super) largest: f64,
}

impl Observed {
    /// A motion as another program has it.
    pub(super) fn of_motion(seen: Seen) -> Self {
        Self { seen, tolerance: 0.0 }
    }

    /// Residuals with their derivatives; the frames are the blocks.
    pub(super) fn misfit(&self, linear: &Linear) -> Result<Misfit> {
        let mut normal = NormalEquations::new(linear.derivatives.len());
        let mut largest = 0.0f64;
        for (frame, (model, seen)) in linear.seen.iter().zip(&self.seen).enumerate() {
            // What neither differs nor depends on anything, as most pixels, says nothing.
            let tells = |&at: &usize| model[at] != seen[at] || linear.derivatives.iter().any(|d| d[frame][at] != 0.0);
            let places: Vec<usize> = (0..model.len()).filter(tells).collect();
            let residual: Vec<f64> = places.iter().map(|&at| model[at] - seen[at]).collect();
            let of = |d: &Seen| places.iter().map(|&at| d[frame][at]).collect();
            let derivatives: Vec<Vec<f64>> = linear.derivatives.iter().map(of).collect();
            largest = residual.iter().fold(largest, |most, r| most.max(r.abs()));
            normal.add(&residual, &derivatives)?;
        }
        // The largest of numbers leaves out what is none, the sum of their squares does not.
        let largest = if normal.cost.is_finite() { largest } else { f64::NAN };
        Ok(Misfit { normal, largest })
    }

    /// Mean squared residual.
    pub(super) fn mean_square(&self, seen: &Seen) -> f64 {
        let pairs = seen.iter().zip(&self.seen).flat_map(|(model, seen)| model.iter().zip(seen));
        let (sum, count) = pairs.fold((0.0, 0usize), |(sum, count), (a, b)| (sum + (a - b).powi(2), count + 1));
        sum / count.max(1) as f64
    }

    /// Whether what is left may be errors of the observation.
    pub(super) fn explained_by(&self, misfit: &Misfit) -> bool {
        misfit.largest <= self.tolerance
    }
}
