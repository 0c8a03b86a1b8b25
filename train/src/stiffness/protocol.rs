//! What the RON file says of the experiment.

use crate::error::{Error, Result};
use crate::experiments::source;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The name by which it is asked for.
pub const NAME: &str = "stiffness_field";
/// Its text.
const TEXT: &str = include_str!("../../experiments/stiffness_field.ron");

/// Most memory \[GiB\] of the derivatives of all places by all moduli, which are held at once.
const LARGEST: f64 = 8.0;

/// The experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "StiffnessField")]
pub struct Protocol {
    /// What is found, for people.
    pub about: String,
    /// Cells along each axis, of six tetrahedra each.
    pub cells: [usize; 3],
    /// Sides of the block \[m\]; the side at the lower end of x is held.
    pub sides: [f64; 3],
    /// From where moduli are drawn, the logarithm of each element evenly and apart from all others \[Pa\].
    pub young: (f64, f64),
    /// Poisson's ratio of all.
    pub poisson: f64,
    /// Density \[kg/m^3\].
    pub density: f64,
    /// Acceleration of the side that is held, of one loading along each axis \[m/s^2\].
    pub acceleration: f64,
    /// Length of each motion \[s\].
    pub duration: f64,
    /// Frames of each, at which the places of the vertices are known.
    pub frames: usize,
    /// Standard deviation of the noise of each coordinate, in parts of the root of the mean square displacement of the free vertices in the frames of the loading.
    pub noise: f64,
}

impl Protocol {
    /// That of the program.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn own() -> Result<Self> {
        Self::parse(Path::new("stiffness_field.ron"), TEXT)
    }

    /// That of the program by its name, or that of a RON file that begins with `StiffnessField(`; none where it is neither.
    ///
    /// # Errors
    /// When the file cannot be read, or is wrong.
    pub fn find(target: &Path) -> Result<Option<Self>> {
        let found = source(target, &[(NAME, TEXT)], "StiffnessField")?;
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

    fn check(&self) -> std::result::Result<(), (String, String)> {
        let wrong = |field: &str, problem: String| Err((field.to_owned(), problem));
        let positive = [
            ("young", self.young.0),
            ("density", self.density),
            ("acceleration", self.acceleration),
            ("duration", self.duration),
            ("noise", self.noise),
        ];
        if let Some((field, x)) = positive.into_iter().find(|(_, x)| !(*x > 0.0 && x.is_finite())) {
            return wrong(field, format!("{x}, expected a positive number"));
        }
        if self.sides.iter().any(|side| !(*side > 0.0 && side.is_finite())) {
            return wrong("sides", format!("{:?} m, expected positive lengths", self.sides));
        }
        if self.cells.contains(&0) {
            return wrong("cells", format!("{:?}, expected at least 1 along each axis", self.cells));
        }
        let (low, high) = self.young;
        if !(low < high && high.is_finite()) {
            return wrong("young", format!("{low} to {high} Pa, expected positive numbers in order"));
        }
        if !(self.poisson > -1.0 && self.poisson < 0.5) {
            return wrong("poisson", format!("{}, expected a number above -1 and below 0.5", self.poisson));
        }
        if self.frames == 0 || self.frames > 1000 {
            return wrong("frames", format!("{}, expected 1 to 1000", self.frames));
        }
        let memory = self.memory();
        if memory > LARGEST {
            let problem = format!(
                "{:?}, whose derivatives take {memory:.1} GiB, expected at most {LARGEST} GiB, by fewer cells or frames",
                self.cells
            );
            return wrong("cells", problem);
        }
        Ok(())
    }

    /// Memory of the derivatives \[GiB\]: of three coordinates of each vertex at each frame of three loadings, by the modulus of each of six elements in a cell.
    fn memory(&self) -> f64 {
        let product = |more: f64| self.cells.iter().map(|n| *n as f64 + more).product::<f64>();
        let (elements, numbers) = (6.0 * product(0.0), 9.0 * product(1.0) * self.frames as f64);
        8.0 * elements * numbers / 2f64.powi(30)
    }

    /// The middle of the range, by logarithms \[Pa\].
    pub(super) fn middle(&self) -> f64 {
        (self.young.0 * self.young.1).sqrt()
    }

    /// Standard deviation of the logarithms in the range.
    pub(super) fn spread(&self) -> f64 {
        (self.young.1 / self.young.0).ln() / 12f64.sqrt()
    }
}
