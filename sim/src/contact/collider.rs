//! Solids with what happens at their surface.

use super::Contact;
use crate::collision::{Pose, Solid};
use crate::error::{Error, Result, non_negative};
use diffkern::prelude::*;

/// A rigid body with a motion of its own, which nothing that it touches changes.
///
/// ```
/// use diffkern_sim::collision::Solid;
/// use diffkern_sim::contact::{Collider, Contact};
///
/// // A ball that rises, and is rough.
/// let ball = Collider::new(Solid::Sphere { radius: 0.2 }, Contact::Penalty { stiffness: 1e4 })
///     .at([0.0, 0.0, 0.5])
///     .moving([0.0, 0.0, 1.0], [0.0; 3])
///     .with_friction(0.4);
/// assert_eq!(ball.friction, 0.4);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Its shape.
    pub solid: Solid,
    /// Where it is at time 0, and how it moves.
    pub pose: Pose<f64>,
    /// What happens at its surface.
    pub contact: Contact,
    /// Coulomb's coefficient.
    pub friction: f64,
}

impl Collider {
    /// A collider at the origin, at rest, without friction.
    pub fn new(solid: Solid, contact: Contact) -> Collider {
        let pose =
            Pose { centre: Vec3::zero(), rotation: Quat::identity(), velocity: Vec3::zero(), spin: Vec3::zero() };
        Collider { solid, pose, contact, friction: 0.0 }
    }

    /// The half-space below the plane through `point`; `normal`, of any length but 0, points out of the solid.
    pub fn plane(point: [f64; 3], normal: [f64; 3], contact: Contact) -> Collider {
        let n = Vec3::from_array(normal).normalize();
        // The shortest turn from z to the normal; upside down it is about x.
        let turn = match n.z > -1.0 + 1e-12 {
            true => Quat::new(1.0 + n.z, -n.y, n.x, 0.0).normalize(),
            false => Quat::new(0.0, 1.0, 0.0, 0.0),
        };
        let collider = Collider::new(Solid::HalfSpace {}, contact).at(point);
        Collider { pose: Pose { rotation: turn, ..collider.pose }, ..collider }
    }

    /// The same with the origin of its frame at `centre` \[m\].
    #[must_use]
    pub fn at(self, centre: [f64; 3]) -> Collider {
        Collider { pose: Pose { centre: Vec3::from_array(centre), ..self.pose }, ..self }
    }

    /// The same turned by the rotation vector `turn` \[rad\] from the axes of the world.
    #[must_use]
    pub fn turned(self, turn: [f64; 3]) -> Collider {
        let rotation = Quat::from_rotation_vector(Vec3::from_array(turn));
        Collider { pose: Pose { rotation, ..self.pose }, ..self }
    }

    /// The same moving with this velocity \[m/s\] and angular velocity \[rad/s\].
    #[must_use]
    pub fn moving(self, velocity: [f64; 3], spin: [f64; 3]) -> Collider {
        let (velocity, spin) = (Vec3::from_array(velocity), Vec3::from_array(spin));
        Collider { pose: Pose { velocity, spin, ..self.pose }, ..self }
    }

    /// The same with Coulomb's coefficient `friction`.
    #[must_use]
    pub fn with_friction(self, friction: f64) -> Collider {
        Collider { friction, ..self }
    }

    /// Signed distance \[m\] of `x` from its surface at a time \[s\], negative inside.
    pub fn gap(&self, x: [f64; 3], time: f64) -> f64 {
        let Pose { centre, rotation, velocity, spin } = self.pose;
        let turned = Quat::from_rotation_vector(spin * time) * rotation;
        self.solid.distance(turned.conjugate().rotate(Vec3::from_array(x) - (centre + velocity * time)))
    }

    pub(crate) fn check(&self, index: usize) -> Result<()> {
        let of = format!("collider {index}");
        self.solid.check(&of)?;
        self.contact.check(&of)?;
        let Pose { centre, rotation, velocity, spin } = self.pose;
        for (what, v) in [("centre", centre), ("velocity", velocity), ("angular velocity", spin)] {
            if !v.to_array().iter().all(|x| x.is_finite()) {
                return Err(Error::invalid(format!("{what} of {of}"), format!("{v:?}"), "finite numbers"));
            }
        }
        let norm = rotation.norm();
        if norm.is_nan() || (norm - 1.0).abs() > 1e-6 {
            let expected = "a unit quaternion (a plane needs a normal other than zero)";
            return Err(Error::invalid(format!("rotation of {of}"), format!("{rotation:?}"), expected));
        }
        if self.contact == Contact::Sticky && self.friction != 0.0 {
            let expected = "0, as nothing slides on a sticky contact";
            return Err(Error::invalid(format!("friction of {of}"), self.friction, expected));
        }
        non_negative(&format!("friction of {of}"), self.friction)?;
        Ok(())
    }

    /// Its pose in the reals of a device.
    pub(crate) fn pose<F: Float>(&self) -> Pose<F> {
        let vec3 = |v: Vec3<f64>| Vec3::from_array(v.to_array().map(F::from_f64));
        let Pose { centre, rotation, velocity, spin } = self.pose;
        let rotation = Quat::from_array(rotation.to_array().map(F::from_f64));
        Pose { centre: vec3(centre), rotation, velocity: vec3(velocity), spin: vec3(spin) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_those_of_the_time() {
        let rod = Solid::Capsule { radius: 0.1, half_length: 0.5 };
        let turning = std::f64::consts::FRAC_PI_2;
        // After a second it lies along x.
        let rod = Collider::new(rod, Contact::Slip).at([1.0, 0.0, 0.0]).moving([0.0, 2.0, 0.0], [0.0, turning, 0.0]);
        assert!((rod.gap([1.0, 0.0, 0.8], 0.0) - 0.2).abs() < 1e-12);
        assert!((rod.gap([1.8, 2.0, 0.0], 1.0) - 0.2).abs() < 1e-12);
        assert!((rod.gap([1.0, 2.0, 0.8], 1.0) - 0.7).abs() < 1e-12);
    }
}
