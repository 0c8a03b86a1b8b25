//! What is asked of a collider.

use super::{Collider, Contact, Name, Quantity, Scene, Start, Surface, Target};
use crate::text::{quoted, rounded};
use diffkern_sim::collision::Solid;
use diffkern_sim::contact;

/// Share of the thinnest side by which a body may begin inside of a collider.
pub(crate) const INSIDE: f64 = 0.01;

impl Scene {
    /// Refuses values with which a body begins inside of a half-space; says which.
    pub(crate) fn begins_outside(&self, value: impl Fn(&Name) -> Option<f64>) -> Result<(), String> {
        for (take, body) in (0..self.takes.len()).flat_map(|take| (0..self.bodies.len()).map(move |body| (take, body)))
        {
            let start = &self.bodies[body].starts[take];
            let names =
                [0, 1, 2].map(|a| self.name_of(Target { take, ..Target::new(body, Quantity::StartPosition(a)) }));
            let given = names.each_ref().map(&value);
            let from = start.position();
            let place = [0, 1, 2].map(|a| given[a].unwrap_or(from[a]));
            let Some(name) = names.iter().zip(given).find_map(|(name, value)| value.map(|_| name)) else { continue };
            for collider in &self.colliders {
                if let Some(depth) = collider.depth(start, place) {
                    let (depth, of) = (rounded(depth), quoted(&collider.name));
                    return Err(format!(
                        "with {name} the body starts {depth} m inside the collider {of}, expected outside of it"
                    ));
                }
            }
        }
        Ok(())
    }

    /// The coefficient of friction of bodies with each other, where they rub.
    pub(crate) fn friction_between(&self) -> Option<f64> {
        match self.between {
            Some(Contact::Friction(friction)) if friction > 0.0 => Some(friction),
            Some(Contact::Friction(_) | Contact::Sticky | Contact::Slip) | None => None,
        }
    }
}

impl Collider {
    /// The coefficient of friction, where bodies slide with one.
    pub fn friction(&self) -> Option<f64> {
        match self.contact {
            Contact::Friction(friction) => Some(friction),
            Contact::Sticky | Contact::Slip => None,
        }
    }

    /// Whether it stands still, whatever is searched for.
    pub fn is_still(&self) -> bool {
        !self.driven && [self.velocity, self.angular_velocity] == [[0.0; 3]; 2]
    }

    /// How deep inside of this, if it is a half-space, a body would begin that has the origin of its shape at `place` \[m\].
    pub(crate) fn depth(&self, start: &Start, place: [f64; 3]) -> Option<f64> {
        let Surface::HalfSpace { point, normal } = self.surface else { return None };
        let from = start.position();
        let beyond = (0..3).map(|a| normal[a] * (place[a] - from[a] - point[a])).sum::<f64>();
        let depth = -(start.shape.span(normal)[0] + beyond);
        let size = start.shape.sides().into_iter().fold(f64::MAX, f64::min);
        (depth > INSIDE * size).then_some(depth)
    }

    /// The same wherever in a box the origin is, whose least and greatest coordinates `ranges` has \[m\].
    pub(crate) fn deepest(&self, start: &Start, ranges: [(f64, f64); 3]) -> Option<f64> {
        let Surface::HalfSpace { normal, .. } = self.surface else { return None };
        self.depth(start, [0, 1, 2].map(|a| if normal[a] > 0.0 { ranges[a].0 } else { ranges[a].1 }))
    }

    /// Least width \[m\], without end of a half-space.
    pub(crate) fn thickness(&self) -> f64 {
        match &self.surface {
            Surface::HalfSpace { .. } => f64::INFINITY,
            Surface::Solid { solid, .. } => match solid {
                Solid::Sphere { radius } | Solid::Capsule { radius, .. } => 2.0 * radius,
                Solid::Cuboid { half_x, half_y, half_z } => 2.0 * half_x.min(*half_y).min(*half_z),
                Solid::Torus { tube, .. } => 2.0 * tube,
                Solid::HalfSpace {} | Solid::Grid(_) => f64::INFINITY,
            },
        }
    }

    /// The same for the simulator, without friction.
    pub(crate) fn rigid(&self, contact: contact::Contact) -> contact::Collider {
        let rigid = match &self.surface {
            Surface::HalfSpace { point, normal } => contact::Collider::plane(*point, *normal, contact),
            Surface::Solid { solid, position, rotation } => {
                contact::Collider::new(solid.clone(), contact).at(*position).turned(*rotation)
            }
        };
        rigid.moving(self.velocity, self.angular_velocity)
    }
}
