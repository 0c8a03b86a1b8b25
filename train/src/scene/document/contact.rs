//! What happens where two things touch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens where two things touch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Contact {
    /// They slide without resistance and part freely.
    Frictionless,
    /// What touches stays where it first touched.
    Sticky,
    /// They slide without resistance and do not part.
    Slip,
    /// They slide against Coulomb friction of this coefficient, static and kinetic, and part freely.
    Friction(f64),
}
