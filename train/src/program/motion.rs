//! Why a motion does not come to its end, in words of its scene.

use super::bodies::Runaway;
use super::setup::norm;
use crate::error::{Error, advice, what};
use crate::scene::{Body, Scene, Surface};
use crate::text::quoted;
use diffkern_sim::Error as Sim;

/// Part of gravity that has to pull along an axis for its ends to be above and below.
const ALONG: f64 = 0.5;
/// What of a scene of rigid bodies makes them run away.
const RIGID: &str = "expected more steps a frame (--cells), masses that differ less, or smaller velocities, pushes and motions of colliders";

/// What messages about a motion need of its scene.
pub(super) struct Diagnosis {
    bodies: Vec<Named>,
    rigid: bool,
    gravity: [f64; 3],
    /// Names of half-spaces, and their normals.
    half_spaces: Vec<(String, [f64; 3])>,
}

/// A body, and what the file calls its material and that which moves it most as it begins.
struct Named {
    name: String,
    material: String,
    begins: String,
}

/// A particle that is no longer on the grid.
struct Outside {
    particle: usize,
    step: usize,
    axis: char,
    value: f64,
    low: f64,
    high: f64,
}

impl Diagnosis {
    /// Of a take.
    pub(super) fn of(scene: &Scene, take: usize) -> Self {
        let named = |(k, body): (usize, &Body)| {
            let start = &body.starts[take];
            let turning = 0.5 * norm(start.angular_velocity) * norm(start.shape.sides());
            let begins = if turning > norm(start.velocity) { "angular_velocity" } else { "velocity" };
            let field = |quantity: &str| scene.field(&scene.path(k, quantity)).to_owned();
            Named { name: body.name.clone(), material: field("material"), begins: field(begins) }
        };
        let half_spaces = scene.colliders.iter().filter_map(|collider| match collider.surface {
            Surface::HalfSpace { normal, .. } => Some((collider.name.clone(), normal)),
            Surface::Solid { .. } => None,
        });
        Self {
            bodies: scene.bodies.iter().enumerate().map(named).collect(),
            rigid: scene.is_rigid(),
            gravity: scene.gravity,
            half_spaces: half_spaces.collect(),
        }
    }

    /// An error of the simulator, which is about a body if that is known; as it is where no motion is to blame.
    pub(super) fn error(&self, error: Sim, body: Option<usize>) -> Error {
        if !error.is_of_the_motion() {
            return error.into();
        }
        let Some(named) = body.and_then(|body| self.bodies.get(body)) else {
            let (field, advice) = advice(&error);
            return Error::motion(field, format!("{}; {advice}", what(&error)));
        };
        let whose = match self.bodies.len() {
            1 => String::new(),
            _ => format!(" of the body {}", quoted(&named.name)),
        };
        let happened = match error {
            Sim::Outside { particle, step, axis, value, low, high } => {
                return self.outside(named, &whose, Outside { particle, step, axis, value, low, high });
            }
            Sim::NotFinite { field, step, value, .. } if self.rigid => {
                let happened = format!("{field} of the body {} is {value} after step {step}", quoted(&named.name));
                return Error::motion(format!("bodies.{}", named.name), format!("{happened}; {RIGID}"));
            }
            Sim::NotFinite { field, what, index, step, value } => {
                format!("{field} of {what} {index}{whose} is {value} after step {step}")
            }
            Sim::Inverted { what, index, step, det } => {
                format!("{what} {index}{whose} is inverted after step {step}: det F = {det}, expected > 0")
            }
            Sim::TooFast { particle, step, cells, speed, limit } => format!(
                "particle {particle}{whose} moves {cells} cells in one step after step {step}: its speed is {speed} m/s, the limit \
                 at this grid {limit} m/s"
            ),
            ref other => what(other),
        };
        Error::motion(named.material.clone(), format!("{happened}; {}", advice(&error).1))
    }

    /// A particle has left the region of the grid: what is beside or above it is no floor's fault.
    fn outside(&self, named: &Named, whose: &str, left: Outside) -> Error {
        let Outside { particle, step, axis, value, low, high } = left;
        let side = if value < low { -1.0 } else { 1.0 };
        let along = ['x', 'y', 'z'].iter().position(|own| *own == axis);
        let (down, pull) = (along.map_or(0.0, |a| side * self.gravity[a]), norm(self.gravity));
        let falls = down > ALONG * pull;
        let way = if falls {
            "downwards"
        } else if down < -ALONG * pull {
            "upwards"
        } else {
            "sideways"
        };
        let [value, low, high] = [value, low, high].map(about);
        let happened = format!(
            "particle {particle}{whose} left the region of the grid {way} after step {step}: its {axis} is {value} m, the region \
             reaches from {low} m to {high} m"
        );
        let limited = "the region is what the flight of the bodies was thought to take";
        if !falls {
            let advice = "expected smaller velocities, stiffer values (material, unknowns, --set), more cells (--cells) or fewer frames";
            return Error::motion(named.begins.clone(), format!("{happened}; {advice}: {limited}"));
        }
        let bears = |(_, normal): &&(String, [f64; 3])| {
            (0..3).map(|a| normal[a] * self.gravity[a]).sum::<f64>() < -ALONG * pull
        };
        match self.half_spaces.iter().find(bears) {
            Some((floor, _)) => {
                let advice = "expected slower or stiffer bodies, more cells (--cells) or fewer frames: it is through the half-space, or far \
                              down along it";
                Error::motion(format!("colliders.{floor}"), format!("{happened}; {advice}"))
            }
            None => {
                let advice = "expected a half-space below the bodies, smaller velocities or fewer frames";
                Error::motion("colliders", format!("{happened}; {advice}: {limited}"))
            }
        }
    }

    /// A rigid body that runs away.
    pub(super) fn runaway(&self, found: &Runaway) -> Error {
        let Runaway { body, step, away, speed, sides, expected } = *found;
        let name = self.bodies.get(body).map_or("", |named| named.name.as_str());
        let [away, speed, sides] = [away, speed, sides].map(about);
        let beyond = match expected {
            Some(most) => format!(", where nothing in the scene makes it faster than about {} m/s", about(most)),
            None => String::new(),
        };
        let happened = format!(
            "the body {} runs away: after step {step} it is {away} m from the origin and moves at {speed} m/s, by {sides} of its \
             thinnest side in a step{beyond}",
            quoted(name)
        );
        Error::motion(format!("bodies.{name}"), format!("{happened}; {RIGID}"))
    }
}

/// A number to four digits: what is found by simulation or search has no more.
pub(super) fn about(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Two bodies over a floor that is called a table.
    fn table() -> Scene {
        let mut scene = Scene::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a")).unwrap();
        scene.colliders[0].name = "table".into();
        let mut second = scene.bodies[0].clone();
        second.name = "second".into();
        second.starts[0].angular_velocity = [0.0, 0.0, 900.0];
        scene.bodies.push(second);
        scene
    }

    fn left(axis: char, value: f64) -> Sim {
        Sim::Outside { particle: 7, step: 30, axis, value, low: -0.2, high: 0.4 }
    }

    #[test]
    fn the_body_at_fault_is_named_where_there_are_several() {
        let mut scene = table();
        let inverted = || Sim::Inverted { what: "cell", index: 33, step: 88, det: -0.5 };
        let told = Diagnosis::of(&scene, 0).error(inverted(), Some(1)).to_string();
        assert!(told.starts_with("bodies.second.material: cell 33 of the body \"second\" is inverted after"), "{told}");
        assert!(told.contains("expected stiffer values"), "{told}");
        scene.bodies.pop();
        let told = Diagnosis::of(&scene, 0).error(inverted(), Some(0)).to_string();
        // As the file calls it.
        assert!(
            told.starts_with("material: cell 33 is inverted after step 88: det F = -0.5, expected > 0; "),
            "{told}"
        );
    }

    #[test]
    fn a_floor_is_blamed_for_what_is_below_it_alone() {
        let mut scene = table();
        let told =
            |scene: &Scene, axis, value, body| Diagnosis::of(scene, 0).error(left(axis, value), Some(body)).to_string();
        let below = told(&scene, 'z', -0.25, 0);
        assert!(below.starts_with("colliders.table: particle 7 of the body") && below.contains("downwards"), "{below}");
        let above = told(&scene, 'z', 0.45, 0);
        assert!(above.starts_with("object.initial_velocity: ") && above.contains("upwards"), "{above}");
        let beside = told(&scene, 'y', -0.25, 1);
        assert!(beside.starts_with("bodies.second.angular_velocity: ") && beside.contains("sideways"), "{beside}");
        scene.colliders.clear();
        let fallen = told(&scene, 'z', -0.25, 0);
        assert!(fallen.starts_with("colliders: ") && fallen.contains("half-space below the bodies"), "{fallen}");
        assert!(![above, beside].iter().any(|text| text.contains("table") || text.contains("half-space")));
    }

    #[test]
    fn errors_that_no_motion_is_to_blame_for_stay_as_they_are() {
        let invalid = Sim::Invalid { what: "step".into(), value: "0".into(), expected: "more".into() };
        assert!(matches!(Diagnosis::of(&table(), 0).error(invalid, None), Error::Simulator(_)));
    }
}
