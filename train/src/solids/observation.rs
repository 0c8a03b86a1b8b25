//! What of a motion is observed, and what is sought in it.

use super::instance::Instance;
use super::program::{Program, Seen};
use super::protocol::Protocol;
use crate::error::Result;
use crate::experiments::Bits;
use serde::{Deserialize, Serialize};

/// What of a motion is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Supervision {
    /// Silhouettes.
    Image,
    /// Places of the vertices of the surface and of points inside.
    State,
}

/// What is sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sought {
    /// Mass, mu and lambda at once, of a body of one material.
    Numbers,
    /// The mass of each element, of a body whose moduli are known.
    Field,
}

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// What is sought.
    pub sought: Sought,
    /// What is observed.
    pub supervision: Supervision,
    /// Of images.
    pub bits: Bits,
}

impl Observation {
    /// The columns in the order in which they are run.
    pub const ALL: [Self; 6] = [
        Self::new(Sought::Numbers, Supervision::State, Bits::Float),
        Self::new(Sought::Numbers, Supervision::Image, Bits::Eight),
        Self::new(Sought::Field, Supervision::State, Bits::Float),
        Self::new(Sought::Field, Supervision::Image, Bits::Eight),
        Self::new(Sought::Numbers, Supervision::Image, Bits::Float),
        Self::new(Sought::Field, Supervision::Image, Bits::Float),
    ];

    const fn new(sought: Sought, supervision: Supervision, bits: Bits) -> Self {
        Self { sought, supervision, bits }
    }

    /// What is observed, as a table has it.
    pub fn name(&self) -> &'static str {
        match (self.supervision, self.bits) {
            (Supervision::State, _) => "state",
            (Supervision::Image, Bits::Eight) => "image, 8 bits",
            (Supervision::Image, Bits::Float) => "image, floats",
        }
    }

    /// The motion of an instance on the finer lattice, as it is observed.
    pub(super) fn of(&self, protocol: &Protocol, instance: &Instance) -> Result<Seen> {
        let program = Program::<f64>::new(protocol, instance, self.supervision, protocol.finer)?;
        let inputs = match self.sought {
            Sought::Numbers => program.numbers(instance.truth)?,
            Sought::Field => program.with_densities(instance.truth, &densities(instance, program.centres()))?,
        };
        let mut seen = program.seen(&inputs)?;
        if self.supervision == Supervision::Image && self.bits == Bits::Eight {
            seen.iter_mut().flatten().for_each(|pixel| *pixel = (*pixel * 255.0).round() / 255.0);
        }
        Ok(seen)
    }
}

/// The true densities at these centres of elements.
pub(super) fn densities(instance: &Instance, centres: &[[f64; 3]]) -> Vec<f64> {
    centres.iter().map(|&x| instance.truth.density * instance.waves.at(x).exp()).collect()
}
