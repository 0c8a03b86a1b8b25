//! What is asked of a collider.

use super::{Collider, Contact, Surface};
use diffkern_sim::contact;

impl Collider {
    /// The coefficient of friction, where bodies slide with one.
    pub fn friction(&self) -> Option<f64> {
        match self.contact {
            Contact::Friction(friction) => Some(friction),
            Contact::Sticky | Contact::Slip => None,
        }
    }

    /// Whether it stands still.
    pub fn is_still(&self) -> bool {
        [self.velocity, self.angular_velocity] == [[0.0; 3]; 2]
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
