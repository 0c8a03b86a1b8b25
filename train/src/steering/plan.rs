//! What a RON file says of a scene that is steered, and those in the program.

use super::billiards::{Billiards, Table};
use super::descent::Descent;
use super::rigid_robot::{March, RigidRobot};
use super::robot::{Robot, Walk};
use super::scene::{Scene, Twin};
use super::triangle::{Growth, Triangle};
use crate::error::{Error, Result};
use crate::experiments::source;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Which scene.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Kind {
    /// A shot at balls.
    Billiards(Billiards),
    /// A robot of springs that walks.
    Robot(Robot),
    /// A robot of rigid bodies that walks.
    RigidRobot(RigidRobot),
    /// Three springs.
    Triangle(Triangle),
}

/// A scene, and how what steers it is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steering {
    /// What is found, for people.
    pub about: String,
    /// The scene.
    pub scene: Kind,
    /// How steps are taken.
    pub descent: Descent,
    /// Evaluations with a gradient after the first.
    pub iterations: usize,
    /// Number of searches, each from other controls.
    pub seeds: u64,
    /// Who published it, with what.
    pub source: String,
}

/// A scene with the name by which it is asked for.
#[derive(Debug, Clone)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// What it is.
    pub plan: Steering,
}

/// Name and text of each.
const ALL: [(&str, &str); 4] = [
    ("billiards", include_str!("../../experiments/billiards.ron")),
    ("spring_robot", include_str!("../../experiments/spring_robot.ron")),
    ("rigid_robot", include_str!("../../experiments/rigid_robot.ron")),
    ("three_springs", include_str!("../../experiments/three_springs.ron")),
];

/// All that are in the program.
///
/// # Errors
/// Where one is wrong.
pub fn catalogue() -> Result<Vec<Named>> {
    ALL.iter().map(|(name, text)| named(name, Path::new(&format!("{name}.ron")), text)).collect()
}

/// The scene of a name, or of a RON file that says `Steering`; none where it is something else.
///
/// # Errors
/// When the file cannot be read, or is wrong.
pub fn find(target: &Path) -> Result<Option<Named>> {
    let found = source(target, &ALL, "Steering")?;
    found.map(|(name, file, text)| named(&name, &file, &text)).transpose()
}

fn named(name: &str, file: &Path, text: &str) -> Result<Named> {
    let plan: Steering = crate::experiment::from_ron(file, text)?;
    plan.check().map_err(|(field, problem)| Error::field(file, field, problem))?;
    Ok(Named { name: name.to_owned(), plan })
}

impl Steering {
    /// The first mistake, by its field.
    fn check(&self) -> std::result::Result<(), (String, String)> {
        self.descent.check().map_err(|problem| ("descent".to_owned(), problem))?;
        for (field, count) in [("iterations", self.iterations as u64), ("seeds", self.seeds)] {
            if !(1..=10_000).contains(&count) {
                return Err((field.into(), format!("{count}, expected 1 to 10000")));
            }
        }
        let checked = match &self.scene {
            Kind::Billiards(game) => game.check(),
            Kind::Robot(robot) => robot.check(),
            Kind::RigidRobot(robot) => robot.check(),
            Kind::Triangle(triangle) => triangle.check(),
        };
        checked.map_err(|(field, problem)| (format!("scene.{field}"), problem))
    }

    /// The scene with its impacts taken so.
    pub(super) fn scene(&self, twin: Twin) -> Result<Box<dyn Scene>> {
        Ok(match &self.scene {
            Kind::Billiards(game) => Box::new(Table::new(game, twin)?),
            Kind::Robot(robot) => Box::new(Walk::new(robot, twin)?),
            Kind::RigidRobot(robot) => Box::new(March::new(robot, twin)?),
            Kind::Triangle(triangle) => Box::new(Growth::new(triangle)?),
        })
    }

    /// The controls from which the search of a seed begins.
    pub(super) fn begin(&self, seed: u64) -> Vec<f64> {
        // Neighbouring seeds are far apart (the constant of Weyl's sequence).
        let mut rng = fastrand::Rng::with_seed((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        match &self.scene {
            Kind::Billiards(game) => game.begin(&mut rng),
            Kind::Robot(robot) => robot.begin(&mut rng),
            Kind::RigidRobot(robot) => robot.begin(&mut rng),
            Kind::Triangle(triangle) => triangle.begin(&mut rng),
        }
    }

    /// How impacts may be taken: without any, one twin stands for both.
    pub(super) fn twins(&self) -> &'static [Twin] {
        match &self.scene {
            Kind::Billiards(_) | Kind::Robot(_) | Kind::RigidRobot(_) => &[Twin::TimeOfImpact, Twin::Naive],
            Kind::Triangle(_) => &[Twin::TimeOfImpact],
        }
    }

    /// What its curves show, its unit, and whether more of it is better.
    pub(super) fn outcome(&self) -> (&'static str, &'static str, bool) {
        match &self.scene {
            Kind::Billiards(_) => ("distance of the last ball from its goal [m]", "m", false),
            Kind::Robot(_) => ("how far the head has come [m]", "m", true),
            Kind::RigidRobot(_) => ("distance of the body from its goal [m]", "m", false),
            Kind::Triangle(_) => ("error of the area relative to the goal [%]", "%", false),
        }
    }

    /// Names of controls that a landscape may be drawn over, with their places, units and ranges.
    pub(super) fn named_controls(&self) -> Vec<(&'static str, &'static str, (f64, f64))> {
        match &self.scene {
            Kind::Billiards(game) => {
                let (from, speed, [wide, fast]) = (game.from, game.velocity, [0.1, 0.1]);
                let around = |x: f64, by: f64| (x - by, x + by);
                vec![
                    ("place_x", "m", around(from.0, wide)),
                    ("place_y", "m", around(from.1, wide)),
                    ("velocity_x", "m/s", around(speed.0, fast)),
                    ("velocity_y", "m/s", around(speed.1, fast)),
                ]
            }
            Kind::Robot(_) | Kind::RigidRobot(_) => Vec::new(),
            Kind::Triangle(triangle) => triangle.named(),
        }
    }
}
