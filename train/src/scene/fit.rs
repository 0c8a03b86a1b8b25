//! Parts of a scene that are found along with its unknowns, near what the scene says of them.

use super::document::Transform;
use super::row::Row;
use super::{Prior, Quantity, Range, Scale, Scene, Target};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// How many standard deviations a value may be off.
const WIDE: f64 = 4.0;
/// Standard deviation of each coordinate of where a body starts \[m\].
const PLACE: f64 = 0.02;
/// Standard deviation of friction, as a part of what the scene says.
const ROUGH: f64 = 0.1;
/// How often the range of a start that may lie inside of a floor is halved.
const HALVED: i32 = 5;

/// What of a scene may be a little off, and is found along with its unknowns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// Where bodies start, how fast they move and spin then.
    Start,
    /// Where cameras are, what they look at, and their field of view.
    Camera,
    /// The friction of what bodies slide on.
    Friction,
}

impl Fit {
    /// Whether a parameter is of this part.
    pub(crate) fn holds(self, target: Target) -> bool {
        self.quantities().iter().any(|(quantity, _)| *quantity == target.quantity)
    }

    /// What is found, with the standard deviation of what a scene says of it, of friction as a part of it.
    fn quantities(self) -> Vec<(Quantity, f64)> {
        let three = |of: fn(usize) -> Quantity, deviation: f64| [0, 1, 2].map(|a| (of(a), deviation));
        match self {
            Self::Start => [
                three(Quantity::StartPosition, PLACE),
                three(Quantity::Velocity, 0.2),
                three(Quantity::AngularVelocity, 1.0),
            ]
            .concat(),
            Self::Camera => {
                let places = [three(Quantity::Position, 0.02), three(Quantity::LookAt, 0.02)].concat();
                places.into_iter().chain([(Quantity::FieldOfView, 0.01)]).collect()
            }
            Self::Friction => vec![(Quantity::Friction, ROUGH)],
        }
    }
}

impl Scene {
    /// The same with more unknowns, which lie near what the scene says; those that it has already stay as they are.
    ///
    /// # Errors
    /// Where a clamp holds what is to be moved.
    pub(crate) fn fitted(mut self, parts: &[Fit]) -> Result<Self> {
        if parts.contains(&Fit::Start) && self.clamp.is_some() {
            let problem = "start, but a clamp holds the body in its place, expected camera alone";
            return Err(Error::argument("fit", problem));
        }
        for part in parts {
            let (takes, many) = match part {
                Fit::Start => (self.takes.len(), self.bodies.len()),
                Fit::Camera => (1, self.cameras.len()),
                Fit::Friction => (1, self.colliders.len()),
            };
            for (take, of) in (0..takes).flat_map(|take| (0..many).map(move |of| (take, of))) {
                self.fit(*part, take, of);
            }
        }
        Ok(self)
    }

    /// Adds what is found of one body in one take, of one camera, or of one collider if it is rough.
    fn fit(&mut self, part: Fit, take: usize, of: usize) {
        let share = match part {
            Fit::Start => (0..HALVED).map(|k| 0.5f64.powi(k)).find(|share| self.starts_outside(take, of, *share)),
            Fit::Camera | Fit::Friction => Some(1.0),
        };
        if share.is_none() {
            self.warnings.push(format!("{} starts on a floor, so that its place stays", self.bodies[of].name));
        }
        for (quantity, deviation) in part.quantities() {
            let target = Target { take, ..Target::new(of, quantity) };
            let share = if is_place(quantity) { share } else { Some(1.0) };
            let (Some(share), Some(center), None) = (share, self.known(target), self.range(target)) else { continue };
            let deviation = if part == Fit::Friction { deviation * center } else { deviation };
            if deviation == 0.0 {
                continue;
            }
            let (away, Row { bounds, scale, .. }) = (share * WIDE * deviation, quantity.row());
            let least = if scale == Scale::Any { -bounds.most } else { bounds.least };
            let range = Range {
                name: self.name_of(target),
                target,
                min: (center - away).max(least),
                max: (center + away).min(bounds.most),
                transform: Transform::Auto,
                prior: Some(Prior { center, deviation }),
            };
            self.unknowns.push(range);
        }
    }

    /// Whether a body is outside of all half-spaces wherever it may start: within a share of what is fitted, or in a range that the scene has.
    fn starts_outside(&self, take: usize, body: usize, share: f64) -> bool {
        let start = &self.bodies[body].starts[take];
        let places = [0, 1, 2].map(|a| {
            let (center, away) = (start.position()[a], share * WIDE * PLACE);
            let own = self.range(Target { take, ..Target::new(body, Quantity::StartPosition(a)) });
            own.map_or((center - away, center + away), |range| (range.min, range.max))
        });
        self.colliders.iter().all(|collider| collider.deepest(start, places).is_none())
    }
}

fn is_place(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::StartPosition(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Contact, Surface};
    use diffkern_sim::scene::BodyShape;
    use std::path::Path;

    /// The sample, with its body so far above the floor \[m\].
    fn above(height: f64) -> Scene {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a");
        let mut scene = Scene::read(&sample).unwrap();
        let Surface::HalfSpace { point, .. } = scene.colliders[0].surface else { panic!("the sample has a floor") };
        match &mut scene.bodies[0].starts[0].shape {
            BodyShape::Block { min, max } => {
                let lift = point[2] + height - min[2];
                (min[2], max[2]) = (min[2] + lift, max[2] + lift);
            }
            other => panic!("the sample is a block, not {other:?}"),
        }
        scene
    }

    #[test]
    fn friction_lies_within_four_tenths_of_what_the_scene_says() {
        let of = |friction: f64| {
            let mut scene = above(0.1);
            scene.colliders[0].contact = Contact::Friction(friction);
            scene.fitted(&[Fit::Friction]).unwrap()
        };
        let scene = of(0.4);
        let found = scene.range(Target::new(0, Quantity::Friction)).unwrap();
        let Some(Prior { center, deviation }) = found.prior else { panic!("it has a prior") };
        assert!((center - 0.4).abs() < 1e-12 && (deviation - 0.04).abs() < 1e-12, "{center} {deviation}");
        assert!((found.min - 0.24).abs() < 1e-12 && (found.max - 0.56).abs() < 1e-12, "{found:?}");
        assert_eq!(range(&of(0.0), Quantity::Friction), None, "nothing rubs");
    }

    fn range(scene: &Scene, quantity: Quantity) -> Option<(f64, f64)> {
        scene.range(Target::new(0, quantity)).map(|range| (range.min, range.max))
    }

    #[test]
    fn starts_are_looked_for_outside_of_floors() {
        for (height, away) in [(0.3, Some(0.08)), (0.05, Some(0.04)), (0.012, Some(0.01)), (1e-4, None)] {
            let scene = above(height).fitted(&[Fit::Start]).unwrap();
            let [x, y, z] = scene.bodies[0].starts[0].position();
            for (axis, center) in [x, y, z].into_iter().enumerate() {
                let found = range(&scene, Quantity::StartPosition(axis));
                let near = |(low, high): (f64, f64)| {
                    away.is_some_and(|away| {
                        (low - (center - away)).abs() < 1e-12 && (high - (center + away)).abs() < 1e-12
                    })
                };
                assert!(found.map_or(away.is_none(), near), "{height} {axis}: {found:?}, {center}");
            }
            assert_eq!(scene.warnings.iter().any(|warning| warning.contains("on a floor")), away.is_none());
            assert!(
                range(&scene, Quantity::Velocity(2)).is_some() && range(&scene, Quantity::AngularVelocity(0)).is_some()
            );
        }
    }

    #[test]
    fn unknowns_stay_and_the_others_are_near_the_scene() {
        let mut scene = above(0.3);
        let target = Target::new(0, Quantity::Position(1));
        let own =
            Range { target, name: "position.y".parse().unwrap(), min: -2.0, max: 0.5, ..scene.unknowns[0].clone() };
        scene.unknowns.push(own.clone());
        let before = scene.unknowns.len();
        let scene = scene.fitted(&[Fit::Camera]).unwrap();
        assert_eq!(scene.unknowns.len(), before + 6);
        assert_eq!(scene.range(target), Some(&own));
        for range in &scene.unknowns[before..] {
            let center = scene.known(range.target).unwrap();
            let prior = range.prior.unwrap();
            assert!(prior.center == center && (range.max - center - 4.0 * prior.deviation).abs() < 1e-12, "{range:?}");
            assert!(Fit::Camera.holds(range.target) && !Fit::Start.holds(range.target));
        }
    }
}
