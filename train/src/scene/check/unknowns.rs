//! Checks of what is to be found.

use super::bounds;
use super::numbers::{at_most, rounded, share, within, wrong};
use crate::scene::convert::COMPONENTS;
use crate::scene::document::{self, Document, Transform, Unknown};
use crate::scene::import::Fields;
use crate::scene::tree::Fault;
use crate::scene::{Name, Quantity, Range, Scene};
use crate::text::shown;

/// The ranges of all numbers that are to be found, by the names that the file has for them.
pub(super) fn ranges(document: &Document, scene: &Scene, fields: &Fields) -> Result<Vec<Range>, Fault> {
    let mut ranges: Vec<Range> = Vec::new();
    for (path, unknown) in &document.unknowns {
        let at = format!("unknowns.{}", shown(path));
        let told = fields.told(&at);
        let written = told.strip_prefix("unknowns.").unwrap_or(path);
        let named: Vec<(String, [f64; 2])> = match unknown.range {
            document::Range::Number(pair) => vec![(written.to_owned(), pair)],
            document::Range::Vector(pairs) => {
                COMPONENTS.iter().zip(pairs).map(|(end, pair)| (format!("{written}{end}"), pair)).collect()
            }
        };
        for (name, ends) in named {
            let range = range(&at, &name, ends, unknown, scene)?;
            if let Some(other) = ranges.iter().find(|other| other.target == range.target) {
                return wrong(&at, format!("is the same as {}, expected one of both", other.name));
            }
            ranges.push(range);
        }
    }
    Ok(ranges)
}

fn range(at: &str, name: &str, [min, max]: [f64; 2], unknown: &Unknown, scene: &Scene) -> Result<Range, Fault> {
    let found = name.parse::<Name>().and_then(|name| scene.target(&name).map(|target| (name, target)));
    let (name, target) =
        found.map_err(|problem| Fault::new(at, format!("cannot be found by this version: {problem}")))?;
    if unknown.prior.is_some() {
        return wrong(&format!("{at}.prior"), "is not heeded by this version, expected none");
    }
    let (own, searched) = match target.quantity.is_positive() {
        true => (Transform::Log, "its logarithm, expected \"auto\" or \"log\""),
        false => (Transform::Linear, "the value itself, expected \"auto\" or \"linear\""),
    };
    if unknown.transform != Transform::Auto && unknown.transform != own {
        return wrong(&format!("{at}.transform"), format!("this version searches for {searched}"));
    }
    let field = format!("{at}.range");
    for end in [min, max] {
        match target.quantity {
            Quantity::Mu | Quantity::Lambda => within(&field, end, &bounds::MODULUS)?,
            Quantity::Density => within(&field, end, &bounds::DENSITY)?,
            Quantity::Viscosity => share(&field, end, &bounds::VISCOSITY)?,
            Quantity::Friction => share(&field, end, &bounds::FRICTION)?,
            Quantity::Velocity(_) => at_most(&field, [end; 3], &bounds::SPEED)?,
            Quantity::AngularVelocity(_) => at_most(&field, [end; 3], &bounds::SPIN)?,
            Quantity::Gravity(_) => at_most(&field, [end; 3], &bounds::GRAVITY)?,
            Quantity::Camera(_) => at_most(&field, [end; 3], &bounds::DISTANCE)?,
        }
    }
    match max > min {
        true => Ok(Range { name, target, min, max }),
        false => {
            let problem = format!("[{}, {}], expected the greater value last", rounded(min), rounded(max));
            wrong(&field, problem)
        }
    }
}
