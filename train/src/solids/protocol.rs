//! What the RON file says of the experiment.

use crate::error::{Error, Result};
use crate::experiments::{View, source};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The name by which it is asked for.
pub const NAME: &str = "solids";
/// Its text.
const TEXT: &str = include_str!("../../experiments/solids.ron");

/// From where to where a number is drawn.
pub type Range = (f64, f64);

/// A shape whose dimensions are drawn \[m\].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Family {
    /// A bar along x; the two sides of its section are drawn apart.
    Beam { length: Range, side: Range },
    /// A ball.
    Ball { radius: Range },
}

/// Bodies of one kind, how they begin and what acts on them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// What they are called.
    pub name: String,
    /// Their shape.
    pub shape: Family,
    /// Whether the lower end of the x axis is held.
    #[serde(default)]
    pub clamped: bool,
    /// Cells across the thinnest side, of the search.
    pub cells: usize,
    /// Length of the motion \[s\].
    pub duration: f64,
    /// Greatest peak of each normal stress that the known forces make of themselves, all of one sign, in parts of the reference modulus.
    pub stress: f64,
    /// Deflection by the forces that bend, of a beam of the reference modulus at rest, in parts of its length.
    #[serde(default)]
    pub bend: f64,
    /// Angle between the ends by the forces that twist, of the same \[rad\].
    #[serde(default)]
    pub twist: f64,
    /// Acceleration by the forces that push, of a body of the reference density \[m/s^2\].
    #[serde(default)]
    pub push: f64,
    /// Greatest component of the velocity of a throw, beside what keeps it in sight \[m/s\].
    #[serde(default)]
    pub speed: f64,
    /// Greatest component of its angular velocity \[rad/s\].
    #[serde(default)]
    pub spin: f64,
}

/// Logarithms of the densities of a field: a Gaussian one with a covariance of `deviation^2 exp(-r^2 / 2 l^2)` about a mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prior {
    /// Standard deviation.
    pub deviation: f64,
    /// `l` in parts of the longest side of the body.
    pub length: f64,
}

/// Standard deviations that residuals are taken to have in the search for a field: errors of the lattice and of rounding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trust {
    /// Of positions \[m\].
    pub state: f64,
    /// Of the share of a pixel.
    pub image: f64,
}

/// What others have reached: mean relative errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// From images.
    pub image: f64,
    /// From states.
    pub state: f64,
}

/// All of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllPublished {
    /// Of the masses of particles.
    pub mass: Published,
    /// Of the second Lamé parameter, the shear modulus.
    pub mu: Published,
    /// Of the first.
    pub lambda: Published,
}

/// The experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Solids")]
pub struct Protocol {
    /// What is found, for people.
    pub about: String,
    /// Kinds of bodies: instance `k` is of kind `k` modulo their number.
    pub kinds: Vec<Kind>,
    /// From where the second Lamé parameter is drawn, its logarithm evenly \[Pa\].
    pub mu: Range,
    /// From where the first is \[Pa\].
    pub lambda: Range,
    /// From where the density is, of a field its mean \[kg/m^3\].
    pub density: Range,
    /// Of densities by element.
    pub field: Prior,
    /// Gravity \[m/s^2\].
    pub gravity: (f64, f64, f64),
    /// Part of the motion in which the known forces act.
    pub acting: f64,
    /// Frames in the motion.
    pub frames: usize,
    /// Part of the longest stable step of the body at rest that is taken.
    pub pace: f64,
    /// Corrections of accelerations towards the consistent mass.
    pub corrections: usize,
    /// How many times as many cells along each axis the observed motion has; its steps are as much shorter as these ask for.
    pub finer: usize,
    /// What sees it.
    pub camera: View,
    /// What residuals are worth beside the prior.
    pub trust: Trust,
    /// Instances of a table.
    pub instances: usize,
    /// What others have reached.
    pub published: AllPublished,
}

impl Protocol {
    /// That of the program.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn own() -> Result<Self> {
        Self::parse(Path::new("solids.ron"), TEXT)
    }

    /// That of the program by its name, or that of a RON file that begins with `Solids(`; none where it is neither.
    ///
    /// # Errors
    /// When the file cannot be read, or is wrong.
    pub fn find(target: &Path) -> Result<Option<Self>> {
        let found = source(target, &[(NAME, TEXT)], "Solids")?;
        found.map(|(_, file, text)| Self::parse(&file, &text)).transpose()
    }

    /// Parses and checks the text of `file`.
    ///
    /// # Errors
    /// Names line, column or field, and what was expected.
    pub fn parse(file: &Path, text: &str) -> Result<Self> {
        let protocol: Self = crate::experiment::from_ron(file, text)?;
        protocol.check().map_err(|(field, problem)| Error::field(file, field, problem))?;
        Ok(protocol)
    }

    /// Young's modulus of the middles of the ranges \[Pa\].
    pub fn reference_modulus(&self) -> f64 {
        let [mu, lambda] = [self.mu, self.lambda].map(middle);
        mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu)
    }

    /// The first mistake, by its field.
    fn check(&self) -> std::result::Result<(), (String, String)> {
        let wrong = |field: String, problem: String| Err((field, problem));
        for (field, (low, high)) in [("mu", self.mu), ("lambda", self.lambda), ("density", self.density)] {
            if !(low > 0.0 && low < high && high.is_finite()) {
                return wrong(field.into(), format!("{low} to {high}, expected positive numbers in order"));
            }
        }
        if self.kinds.is_empty() {
            return wrong("kinds".into(), "none, expected at least one".into());
        }
        for (k, kind) in self.kinds.iter().enumerate() {
            let ranges = match kind.shape {
                Family::Beam { length, side } => vec![length, side],
                Family::Ball { radius } => vec![radius],
            };
            if let Some((low, high)) = ranges.into_iter().find(|(low, high)| !(*low > 0.0 && low <= high)) {
                let problem = format!("{low} to {high} m, expected positive numbers in order");
                return wrong(format!("kinds[{k}].shape"), problem);
            }
            if !(kind.duration > 0.0 && kind.duration.is_finite()) {
                return wrong(
                    format!("kinds[{k}].duration"),
                    format!("{} s, expected a positive number", kind.duration),
                );
            }
            if kind.cells == 0 || (kind.clamped && matches!(kind.shape, Family::Ball { .. })) {
                let problem = "no cells, or a ball that is clamped, expected cells, and a beam where something is held";
                return wrong(format!("kinds[{k}]"), problem.into());
            }
        }
        let parts = [("acting", self.acting), ("pace", self.pace), ("field.length", self.field.length)];
        if let Some((field, x)) = parts.into_iter().find(|(_, x)| !(*x > 0.0 && *x <= 1.0)) {
            return wrong(field.into(), format!("{x}, expected a number above 0, up to 1"));
        }
        let sizes = [
            ("field.deviation", self.field.deviation),
            ("trust.state", self.trust.state),
            ("trust.image", self.trust.image),
        ];
        if let Some((field, x)) = sizes.into_iter().find(|(_, x)| !(*x > 0.0 && x.is_finite())) {
            return wrong(field.into(), format!("{x}, expected a positive number"));
        }
        self.camera.check()?;
        let counts = [
            ("frames", self.frames),
            ("finer", self.finer),
            ("instances", self.instances),
            ("corrections", self.corrections),
        ];
        match counts.into_iter().find(|(_, n)| *n == 0) {
            Some((field, _)) => wrong(field.into(), "0, expected at least 1".into()),
            None => Ok(()),
        }
    }
}

/// The middle of a range by logarithms.
pub(super) fn middle((low, high): Range) -> f64 {
    (low * high).sqrt()
}
