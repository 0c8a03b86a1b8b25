//! What a RON file says of an experiment.

use super::quantity::{Quantity, Unknown};
use super::shape::NamedShape;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// From where to where each component of a vector is drawn.
pub type Between = ((f64, f64, f64), (f64, f64, f64));

/// How a body begins. Orientations are any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Of the centre of mass \[m\].
    pub position: Between,
    /// Of the centre of mass \[m/s\].
    #[serde(default)]
    pub velocity: Between,
    /// Angular velocity \[rad/s\].
    #[serde(default)]
    pub spin: Between,
}

/// Where a push may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Anywhere.
    Any,
    /// Along x and y.
    Horizontal,
}

/// A known force at a vertex, which is drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// Its size \[N\].
    pub force: f64,
    /// Begin and end \[s\].
    pub interval: (f64, f64),
    /// From where its direction is drawn.
    pub direction: Direction,
}

/// A plane through the origin, with compliant contact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    /// Direction out of it, of any length.
    pub normal: (f64, f64, f64),
    /// Stiffness, unless it is to be found \[N/m\].
    #[serde(default = "thousand")]
    pub ke: f64,
    /// Damping, unless it is to be found \[N s/m\].
    #[serde(default)]
    pub kd: f64,
    /// Friction per sliding speed, unless it is to be found \[N s/m\].
    #[serde(default = "thousand")]
    pub kf: f64,
    /// Coefficient of friction, unless it is to be found.
    #[serde(default = "half")]
    pub mu: f64,
}

/// When the motion is observed: from one frame after its beginning on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// How many frames.
    pub count: usize,
    /// Frames a second.
    pub rate: f64,
    /// Steps of the simulator from frame to frame.
    pub steps: usize,
}

/// A camera by its angles \[degree\].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// From the point that it looks at \[m\].
    pub distance: f64,
    /// Above the horizon.
    pub elevation: f64,
    /// About z, from x on.
    pub azimuth: f64,
    /// What it looks at \[m\].
    #[serde(default)]
    pub look_at: (f64, f64, f64),
    /// Vertical field of view.
    pub field_of_view: f64,
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// What of a picture is compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Picture {
    /// The share of each pixel that the body covers.
    #[default]
    Silhouette,
    /// The brightness of a body whose vertices have different colours, which shows how it is turned.
    Brightness,
}

/// Relative errors of others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Of which number.
    pub quantity: Quantity,
    /// Of the average of the range.
    pub average: f64,
    /// Of a random value.
    pub random: f64,
    /// Of a recurrent network.
    pub conv_lstm: f64,
    /// Of PyBullet with REINFORCE.
    #[serde(default)]
    pub reinforce: Option<f64>,
    /// Of gradSim from images.
    pub image: f64,
    /// Of gradSim from states.
    pub state: f64,
    /// The error of gradSim from images in SI units.
    #[serde(default)]
    pub image_absolute: Option<f64>,
    /// The error of gradSim from states in SI units.
    #[serde(default)]
    pub state_absolute: Option<f64>,
}

/// An experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// What is found, for people.
    pub about: String,
    /// Shapes of the bodies: instance `k` has the shape `k` modulo their number.
    pub shapes: Vec<NamedShape>,
    /// Distance of the farthest vertex from the centre of mass, to which bodies are scaled \[m\].
    pub reach: f64,
    /// Gravity \[m/s^2\].
    #[serde(default)]
    pub gravity: (f64, f64, f64),
    /// How bodies begin.
    pub start: Start,
    /// What pushes them.
    #[serde(default)]
    pub push: Option<Push>,
    /// Where they land.
    #[serde(default)]
    pub floor: Option<Floor>,
    /// Mass, unless it is to be found \[kg\].
    #[serde(default)]
    pub mass: Option<f64>,
    /// What is to be found.
    pub unknowns: Vec<Unknown>,
    /// When the motion is observed.
    pub frames: Frames,
    /// So many of the first frames count, one after the other; the last number is that of all.
    pub horizons: Vec<usize>,
    /// What sees it.
    pub camera: View,
    /// What is compared of its pictures.
    #[serde(default)]
    pub picture: Picture,
    /// Instances of a table.
    pub instances: usize,
    /// What others have reached.
    #[serde(default)]
    pub published: Vec<Published>,
}

impl Protocol {
    /// Parses and checks the text of `file`.
    ///
    /// # Errors
    /// Names line, column or field, and what was expected.
    pub fn parse(file: &Path, text: &str) -> Result<Self> {
        let protocol: Self = crate::experiment::from_ron(file, text)?;
        let checked = protocol.check().and_then(|()| protocol.check_bodies());
        checked.map_err(|(field, problem)| Error::field(file, field, problem))?;
        Ok(protocol)
    }

    /// Only these of its unknowns are to be found; the others must be known.
    ///
    /// # Errors
    /// Names what is missing.
    pub fn with_unknowns(mut self, asked: &[Quantity]) -> Result<Self> {
        if asked.is_empty() {
            return Ok(self);
        }
        let pick = |q: &Quantity| {
            let found = self.unknowns.iter().find(|u| u.quantity == *q).copied();
            found.ok_or_else(|| {
                let names: Vec<&str> = self.unknowns.iter().map(|u| u.quantity.name()).collect();
                let problem = format!(
                    "{} is without influence: nothing of this experiment depends on it; expected some of {}",
                    q.name(),
                    names.join(", ")
                );
                Error::argument("unknown", problem)
            })
        };
        self.unknowns = asked.iter().map(pick).collect::<Result<_>>()?;
        self.check().map_err(|(field, problem)| Error::argument(format!("unknown: {field}"), problem))?;
        Ok(self)
    }

    /// Whether it is to be found.
    pub fn is_unknown(&self, quantity: Quantity) -> bool {
        self.unknowns.iter().any(|unknown| unknown.quantity == quantity)
    }
}

fn thousand() -> f64 {
    1e3
}

fn half() -> f64 {
    0.5
}
