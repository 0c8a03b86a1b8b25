//! A document in SI units, in right-handed axes with z up.

mod quantity;
mod path;
mod turn;
mod parts;

pub(super) use path::target;
pub(super) use quantity::Quantity;

use super::document::{Axes, Document, Prior, Range, Units, Unknown, Up, Vector};
use super::tree::Fault;

/// The same scene in SI units and axes with z up.
///
/// # Errors
/// When an unknown is of nothing that the document has.
pub(super) fn to_si(document: &Document) -> Result<Document, Fault> {
    let to = Conversion { units: document.units, up: document.axes.up };
    let unknowns = document.unknowns.iter().map(|(path, unknown)| {
        let target = target(document, path)?;
        Ok((path.clone(), to.unknown(unknown, target.quantity)))
    });
    Ok(Document {
        units: Units::default(),
        axes: Axes::default(),
        gravity: to.vector(Quantity::Acceleration, document.gravity),
        bodies: document.bodies.iter().map(|(name, body)| (name.clone(), to.body(body))).collect(),
        colliders: document.colliders.iter().map(|(name, c)| (name.clone(), to.collider(c))).collect(),
        cameras: document.cameras.iter().map(|(name, camera)| (name.clone(), to.camera(camera))).collect(),
        lights: document.lights.iter().map(|(name, light)| (name.clone(), to.light(light))).collect(),
        unknowns: unknowns.collect::<Result<_, Fault>>()?,
        ..document.clone()
    })
}

/// From units and axes to SI units with z up.
struct Conversion {
    units: Units,
    up: Up,
}

impl Conversion {
    fn number(&self, quantity: Quantity, value: f64) -> f64 {
        quantity.si(value, &self.units)
    }

    fn vector(&self, quantity: Quantity, v: Vector) -> Vector {
        self.direction(v.map(|x| self.number(quantity, x)))
    }

    fn direction(&self, v: Vector) -> Vector {
        match self.up {
            Up::Z => v,
            Up::Y => turn::upright(v),
        }
    }

    /// Lengths along the axes, which have no sign.
    fn lengths(&self, v: Vector) -> Vector {
        let [x, y, z] = v.map(|x| self.number(Quantity::Length, x));
        match self.up {
            Up::Z => [x, y, z],
            Up::Y => [x, z, y],
        }
    }

    fn unknown(&self, unknown: &Unknown, quantity: Quantity) -> Unknown {
        let number = |x| self.number(quantity, x);
        let range = match unknown.range {
            Range::Number(pair) => Range::Number(pair.map(number)),
            Range::Vector(pairs) => {
                let [low, high] = [0, 1].map(|end| self.vector(quantity, pairs.map(|pair| pair[end])));
                self.in_order(Range::vector(low, high))
            }
        };
        let prior = unknown.prior.map(|prior| match prior {
            Prior::Normal(mut normal) => {
                (normal.mean, normal.deviation) = (number(normal.mean), number(normal.deviation));
                Prior::Normal(normal)
            }
            Prior::LogNormal(mut normal) => {
                normal.median = number(normal.median);
                Prior::LogNormal(normal)
            }
        });
        Unknown { range, prior, ..unknown.clone() }
    }

    /// With the ends changed of the component whose sign the turn has changed.
    fn in_order(&self, range: Range) -> Range {
        match (self.up, range) {
            (Up::Y, Range::Vector([x, [low, high], z])) => Range::Vector([x, [high, low], z]),
            (Up::Z | Up::Y, range) => range,
        }
    }
}
