//! A document in SI units, in right-handed axes with z up.

mod path;
mod turn;
mod parts;

pub(super) use path::{Part, target};

use super::document::{Axes, Document, LogNormal, Normal, Prior, Range, Units, Unknown, Up, Vector};
use super::measure::Measure;
use super::quantity::AXES;
use super::tree::Fault;
use crate::text::shown;
use path::Target;

/// The same scene in SI units and axes with z up.
///
/// # Errors
/// When an unknown is of nothing that the document has.
pub(super) fn to_si(document: &Document) -> Result<Document, Fault> {
    let to = Conversion::of(document);
    let unknowns = document.unknowns.iter().map(|(path, unknown)| {
        let target = target(document, path)?;
        fits(path, unknown, target)?;
        Ok(to.unknown(path, unknown, target))
    });
    Ok(Document {
        units: Units::default(),
        axes: Axes::default(),
        gravity: to.vector(Measure::Acceleration, document.gravity),
        bodies: document.bodies.iter().map(|(name, body)| (name.clone(), to.body(body))).collect(),
        colliders: document.colliders.iter().map(|(name, c)| (name.clone(), to.collider(c))).collect(),
        pushes: document.pushes.iter().map(|(name, push)| (name.clone(), to.push(push, document))).collect(),
        cameras: document.cameras.iter().map(|(name, camera)| (name.clone(), to.camera(camera))).collect(),
        lights: document.lights.iter().map(|(name, light)| (name.clone(), to.light(light))).collect(),
        observations: document.observations.iter().map(|(name, o)| (name.clone(), to.observation(o))).collect(),
        videos: document.videos.iter().map(|(name, video)| (name.clone(), to.video(video))).collect(),
        takes: document.takes.iter().map(|(name, take)| (name.clone(), to.take(take, document))).collect(),
        unknowns: unknowns.collect::<Result<_, Fault>>()?,
        ..document.clone()
    })
}

/// A vector has a range for each component, and a number one.
fn fits(path: &str, unknown: &Unknown, target: Target) -> Result<(), Fault> {
    let path = shown(path);
    let problem = match (target.part, unknown.range) {
        (Part::Vector, Range::Number(_)) => {
            format!(
                "one range, but it is a vector, expected three of them, or unknowns {path}.x, {path}.y and {path}.z"
            )
        }
        (Part::Number | Part::Component(_), Range::Vector(_)) => {
            "three ranges, but it is a number, expected [least, greatest]".into()
        }
        (Part::Vector, Range::Vector(_)) | (Part::Number | Part::Component(_), Range::Number(_)) => return Ok(()),
    };
    Err(Fault::new(format!("unknowns.{path}.range"), problem))
}

/// From units and axes to SI units with z up.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Conversion {
    units: Units,
    up: Up,
}

impl Conversion {
    /// From what a document is in.
    pub(crate) fn of(document: &Document) -> Self {
        Self { units: document.units, up: document.axes.up }
    }

    /// A position in SI units and axes with z up.
    pub(crate) fn position(&self, v: Vector) -> Vector {
        self.vector(Measure::Length, v)
    }

    /// A position in SI units as the document would have it.
    pub(crate) fn written(&self, v: Vector) -> Vector {
        let unit = self.number(Measure::Length, 1.0);
        let [x, y, z] = v.map(|x| x / unit);
        match self.up {
            Up::Z => [x, y, z],
            Up::Y => [x, z, 0.0 - y],
        }
    }

    fn number(&self, measure: Measure, value: f64) -> f64 {
        measure.si(value, &self.units)
    }

    fn vector(&self, measure: Measure, v: Vector) -> Vector {
        self.direction(v.map(|x| self.number(measure, x)))
    }

    fn direction(&self, v: Vector) -> Vector {
        match self.up {
            Up::Z => v,
            Up::Y => turn::upright(v),
        }
    }

    /// Lengths along the axes, which have no sign.
    fn lengths(&self, v: Vector) -> Vector {
        let [x, y, z] = v.map(|x| self.number(Measure::Length, x));
        match self.up {
            Up::Z => [x, y, z],
            Up::Y => [x, z, y],
        }
    }

    fn unknown(&self, path: &str, unknown: &Unknown, target: Target) -> (String, Unknown) {
        let number = |x| self.number(target.measure, x);
        let unit = |unknown: &Unknown| Unknown {
            range: match unknown.range {
                Range::Number(pair) => Range::Number(pair.map(number)),
                Range::Vector(pairs) => Range::Vector(pairs.map(|pair| pair.map(number))),
            },
            prior: unknown.prior.map(|prior| match prior {
                Prior::Normal(Normal { mean, deviation }) => {
                    Prior::Normal(Normal { mean: number(mean), deviation: number(deviation) })
                }
                Prior::LogNormal(LogNormal { median, deviation }) => {
                    Prior::LogNormal(LogNormal { median: number(median), deviation })
                }
            }),
            // Pieces lie along the axes.
            field: unknown.field.map(|[x, y, z]| match self.up {
                Up::Z => [x, y, z],
                Up::Y => [x, z, y],
            }),
            ..unknown.clone()
        };
        let (here, unknown) = (path.to_owned(), unit(unknown));
        match (self.up, target.part, unknown.range) {
            (Up::Y, Part::Vector, Range::Vector([x, y, z])) => {
                (here, Unknown { range: Range::Vector([x, mirrored(z), y]), ..unknown })
            }
            (Up::Y, Part::Component(1), _) => (renamed(path, 2), unknown),
            (Up::Y, Part::Component(2), Range::Number(pair)) => {
                let prior = unknown.prior.map(|prior| match prior {
                    Prior::Normal(Normal { mean, deviation }) => Prior::Normal(Normal { mean: 0.0 - mean, deviation }),
                    other @ Prior::LogNormal(_) => other,
                });
                (renamed(path, 1), Unknown { range: Range::Number(mirrored(pair)), prior, ..unknown })
            }
            (Up::Z | Up::Y, Part::Number | Part::Vector | Part::Component(_), _) => (here, unknown),
        }
    }
}

/// The range of what has changed its sign.
fn mirrored([low, high]: [f64; 2]) -> [f64; 2] {
    [0.0 - high, 0.0 - low]
}

/// The path of another component of the same vector.
fn renamed(path: &str, component: usize) -> String {
    let (vector, _) = path.rsplit_once('.').unwrap_or((path, ""));
    format!("{vector}.{}", AXES[component])
}
