//! Floors, walls and clamps.

use crate::contact::Contact;
use crate::error::{Error, Result, non_negative, positive};
use diffkern::Dimension;

/// A rigid body that fills `normal . x <= offset`; the normal points into the free side.
///
/// ```
/// use diffkern_sim::mpm::{Contact, Dim3, HalfSpace};
///
/// let floor = HalfSpace::<Dim3>::through([0.0; 3], [0.0, 0.0, 1.0], Contact::Separating).with_friction(0.3);
/// assert_eq!(floor.distance(&[5.0, 5.0, 2.0]), 2.0);
/// let held = HalfSpace::<Dim3>::clamp(0, 0.01); // all that has x <= 1 cm
/// assert_eq!(held.contact, Contact::Sticky);
/// ```
///
/// Coulomb friction acts for every contact but `Sticky`. On grid nodes contact begins about a cell early; a penalty does
/// not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace<D: Dimension> {
    /// Unit vector out of the solid.
    pub normal: D::Coords,
    /// Distance of the surface from the origin along the normal \[m\].
    pub offset: f64,
    /// Kind of contact.
    pub contact: Contact,
    /// Coulomb's coefficient. [`Params::friction`](super::Params::friction) takes its place where it should get a gradient.
    pub friction: f64,
}

impl<D: Dimension> HalfSpace<D> {
    /// The half-space below the plane through `point`; `normal` of any length but 0.
    pub fn through(point: D::Coords, normal: D::Coords, contact: Contact) -> HalfSpace<D> {
        let length = dot(normal.as_ref(), normal.as_ref()).sqrt();
        let mut unit = normal;
        unit.as_mut().iter_mut().for_each(|n| *n /= length);
        HalfSpace { normal: unit, offset: dot(unit.as_ref(), point.as_ref()), contact, friction: 0.0 }
    }

    /// Holds every node with `x_axis <= plane`, whenever it gets there; [`Model::with_material_clamps`](super::Model::with_material_clamps) holds those alone that begin there.
    pub fn clamp(axis: usize, plane: f64) -> HalfSpace<D> {
        let mut normal = D::Coords::default();
        if let Some(n) = normal.as_mut().get_mut(axis) {
            *n = 1.0;
        }
        HalfSpace { normal, offset: plane, contact: Contact::Sticky, friction: 0.0 }
    }

    /// The same with Coulomb's coefficient `friction`.
    #[must_use]
    pub fn with_friction(self, friction: f64) -> HalfSpace<D> {
        HalfSpace { friction, ..self }
    }

    /// Distance from the surface, positive on the free side \[m\].
    pub fn distance(&self, x: &D::Coords) -> f64 {
        dot(self.normal.as_ref(), x.as_ref()) - self.offset
    }

    /// Number by which the grid kernel selects the contact; penalties do not act there.
    pub(crate) fn kind(&self) -> Option<u32> {
        self.contact.projection()
    }

    pub(crate) fn check(&self, index: usize) -> Result<()> {
        let square = dot(self.normal.as_ref(), self.normal.as_ref());
        if square.is_nan() || (square - 1.0).abs() > 1e-6 {
            let what = format!("normal of half-space {index}");
            return Err(Error::invalid(what, format!("{:?}", self.normal), "a vector of length 1"));
        }
        if !self.offset.is_finite() {
            return Err(Error::invalid(format!("offset of half-space {index}"), self.offset, "a finite number"));
        }
        match self.contact {
            Contact::Penalty { stiffness } => {
                positive(&format!("stiffness of half-space {index}"), stiffness)?;
            }
            other if other.projection().is_some() => {}
            other => {
                let what = format!("contact of half-space {index}");
                let expected = "sticky, slip, separating or a penalty; colliders have the others";
                return Err(Error::invalid(what, format!("{other:?}"), expected));
            }
        }
        let friction = format!("friction of half-space {index}");
        if self.contact == Contact::Sticky && self.friction != 0.0 {
            return Err(Error::invalid(friction, self.friction, "0, as nothing slides on a sticky contact"));
        }
        non_negative(&friction, self.friction)?;
        Ok(())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
