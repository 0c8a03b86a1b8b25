//! What is asked of a collider.

use super::{Collider, Contact, Scene, Surface};
use diffkern_sim::collision::Solid;
use diffkern_sim::contact;

impl Scene {
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
