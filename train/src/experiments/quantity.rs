//! What can be found, and from where it is drawn.

use serde::{Deserialize, Serialize};

/// A number that a motion depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Mass \[kg\], spread evenly.
    Mass,
    /// Damping of contact \[N s/m\].
    Kd,
    /// Stiffness of contact \[N/m\].
    Ke,
    /// Friction per sliding speed \[N s/m\], up to Coulomb's.
    Kf,
    /// Coulomb's coefficient of friction.
    Mu,
}

impl Quantity {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mass => "mass",
            Self::Kd => "kd",
            Self::Ke => "ke",
            Self::Kf => "kf",
            Self::Mu => "mu",
        }
    }

    /// SI unit, empty for a pure number.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Mass => "kg",
            Self::Kd | Self::Kf => "N s/m",
            Self::Ke => "N/m",
            Self::Mu => "",
        }
    }

    /// Whether it is of the contact with the floor.
    pub fn is_of_contact(self) -> bool {
        self != Self::Mass
    }
}

/// How values are drawn from a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawn {
    /// All values alike.
    Uniform,
    /// All logarithms alike.
    Log,
}

/// What is to be found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unknown {
    /// Which number.
    pub quantity: Quantity,
    /// From where truth and start are drawn.
    pub range: (f64, f64),
    /// How.
    pub drawn: Drawn,
}
