//! Checks of what bodies touch.

use super::contact;
use super::numbers::{at_most, dot, rounded, unit, within, wrong};
use super::shape::{called, cuboid};
use super::takes;
use crate::scene::collider::INSIDE;
use crate::scene::document::{self, BoxShape, ColliderShape, Document, HalfSpace, Motion, Pose};
use crate::scene::tree::Fault;
use crate::scene::{Body, Collider, Start, Surface, bounds};
use crate::text::quoted;
use diffkern_sim::collision::Solid;
use diffkern_sim::contact::Contact as Rigid;

/// Most half-spaces that stand still: the simulator has a bit for each and for a clamp.
const HALF_SPACES: usize = 31;
/// Points along the longest side of a body that are looked for in colliders.
const PIECES: usize = 16;

pub(super) fn colliders(document: &Document) -> Result<Vec<Collider>, Fault> {
    let all =
        document.colliders.iter().map(|(name, of)| collider(document, name, of)).collect::<Result<Vec<_>, _>>()?;
    let still = |c: &&Collider| c.is_still() && matches!(c.surface, Surface::HalfSpace { .. });
    match all.iter().filter(still).nth(HALF_SPACES) {
        None => Ok(all),
        Some(more) => {
            let problem = format!("is one half-space more than this version simulates, expected at most {HALF_SPACES}");
            wrong(&format!("colliders.{}", more.name), problem)
        }
    }
}

fn collider(document: &Document, name: &str, of: &document::Collider) -> Result<Collider, Fault> {
    let at = format!("colliders.{name}");
    let Motion { velocity, angular_velocity } = of.motion;
    let contact = contact::checked(&format!("{at}.contact"), of.contact)?;
    at_most(&format!("{at}.motion.velocity"), velocity, &bounds::SPEED)?;
    at_most(&format!("{at}.motion.angular_velocity"), angular_velocity, &bounds::SPIN)?;
    Ok(Collider {
        name: name.into(),
        surface: surface(&at, of)?,
        velocity,
        angular_velocity,
        driven: document.unknowns.keys().any(|path| path.starts_with(&format!("{at}.motion."))),
        contact,
        restitution: of.restitution,
    })
}

fn surface(at: &str, of: &document::Collider) -> Result<Surface, Fault> {
    let length = |path: &str, value: f64| within(&format!("{at}.shape.{path}"), value, &bounds::SIDE);
    let Pose { mut position, rotation } = of.pose;
    at_most(&format!("{at}.pose.position"), position, &bounds::PLACE)?;
    at_most(&format!("{at}.pose.rotation"), rotation, &bounds::TURN)?;
    let solid = match &of.shape {
        ColliderShape::HalfSpace(plane) => return half_space(at, plane, &of.pose),
        ColliderShape::Box(shape) => {
            cuboid(&format!("{at}.shape.box"), shape, &of.pose)?;
            let [min, max] = ends(shape);
            position = [0, 1, 2].map(|a| position[a] + 0.5 * (min[a] + max[a]));
            let [half_x, half_y, half_z] = [0, 1, 2].map(|a| 0.5 * (max[a] - min[a]));
            Solid::Cuboid { half_x, half_y, half_z }
        }
        ColliderShape::Sphere(sphere) => {
            length("sphere.radius", sphere.radius)?;
            Solid::Sphere { radius: sphere.radius }
        }
        ColliderShape::Capsule(capsule) => {
            length("capsule.radius", capsule.radius)?;
            length("capsule.length", capsule.length)?;
            Solid::Capsule { radius: capsule.radius, half_length: 0.5 * capsule.length }
        }
    };
    Ok(Surface::Solid { solid, position, rotation })
}

/// Lowest and highest corner of a box that has been checked, in its own frame where that has its size.
fn ends(shape: &BoxShape) -> [[f64; 3]; 2] {
    let half = shape.size.unwrap_or_default().map(|side| 0.5 * side);
    [shape.min.unwrap_or(half.map(|x| 0.0 - x)), shape.max.unwrap_or(half)]
}

fn half_space(at: &str, HalfSpace { normal, point }: &HalfSpace, pose: &Pose) -> Result<Surface, Fault> {
    if *pose != Pose::default() {
        return wrong(&format!("{at}.pose"), "a half-space has none, expected its point and normal alone");
    }
    let normal = unit(&format!("{at}.shape.half_space.normal"), *normal)?;
    at_most(&format!("{at}.shape.half_space.point"), *point, &bounds::PLACE)?;
    Ok(Surface::HalfSpace { point: *point, normal })
}

/// No body begins inside of a collider; `bodies` are those of the document.
pub(super) fn outside(collider: &Collider, document: &Document, bodies: &[Body]) -> Result<(), Fault> {
    for (body, placed) in document.bodies.values().zip(bodies) {
        for (take, start) in placed.starts.iter().enumerate() {
            let field = match &body.shape {
                document::BodyShape::Box(BoxShape { min: Some(_), .. }) => "shape.box.min",
                _ => "pose.position",
            };
            let path = takes::path(document, take, &placed.name, field);
            let gap = gap(collider, start).map_err(|problem| Fault::new(path.clone(), problem))?;
            let size = start.shape.sides().into_iter().fold(f64::MAX, f64::min);
            if gap < -INSIDE * size {
                let (what, name) = (called(&start.shape), quoted(&collider.name));
                let depth = rounded(-gap);
                return wrong(
                    &path,
                    format!("{what} starts {depth} m inside the collider {name}, expected outside of it"),
                );
            }
        }
    }
    Ok(())
}

/// Least distance of a body from a collider \[m\]: of points of it, where the collider is no half-space.
fn gap(collider: &Collider, start: &Start) -> Result<f64, String> {
    if let Surface::HalfSpace { point, normal } = collider.surface {
        return Ok(start.shape.span(normal)[0] - dot(normal, point));
    }
    let rigid = collider.rigid(Rigid::Sticky);
    let [min, max] = start.shape.bounds();
    let [middle, half] = [0.5, -0.5].map(|sign| [0, 1, 2].map(|a| 0.5 * max[a] + sign * min[a]));
    let apart = rigid.gap(middle, 0.0) - dot(half, half).sqrt();
    if apart > 0.0 {
        return Ok(apart);
    }
    let points = start.shape.samples(PIECES).map_err(|error| error.to_string())?;
    Ok(points.into_iter().map(|x| rigid.gap(x, 0.0)).fold(f64::INFINITY, f64::min))
}
