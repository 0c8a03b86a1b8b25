//! The physical parameters: arrays, so that they may have gradients.

use crate::contact::Contacts;
use crate::error::Result;
use crate::params::{Bounds, Group, unknown};
use crate::rigid::between::Between;
use crate::rigid::impact::ImpactParams;
use crate::rigid::joints::JointParams;
use crate::rigid::springs::SpringParams;
use diffkern::AnyArray;
use diffkern::prelude::*;

/// What says how heavy bodies are: one element for all or one for each.
#[derive(Clone, Debug)]
pub enum Mass<F: Float> {
    /// Densities \[kg/m^3\].
    Density(Array<F>),
    /// Masses \[kg\], spread evenly: inertia follows.
    Total(Array<F>),
}

/// Parameters of rigid bodies.
#[derive(Clone, Debug)]
pub struct Params<F: Float> {
    /// Their masses, or densities; to [replace](crate::Params::replace) the other is to choose it.
    pub mass: Mass<F>,
    /// Inertias about the centres of mass along the axes of the frames of the surfaces \[kg m^2\], one for each body; `None` for those of
    /// the surfaces.
    pub inertia: Option<Array<Mat3<F>>>,
    /// Vertices of the surfaces in the frames of the bodies \[m\], one body after the other.
    pub vertices: Array<Vec3<F>>,
    /// Gravity \[m/s^2\], one element.
    pub gravity: Array<Vec3<F>>,
    /// Of the colliders that act by forces, where there are any: by default as they have them.
    pub contact: Option<Contacts<F>>,
    /// Friction per sliding speed of contacts by forces \[N s/m\], up to Coulomb's: one element.
    pub grip: Array<F>,
    /// Coefficient of restitution of balls that collide, where they do: one element.
    pub pairs: Option<Array<F>>,
    /// Of the planes that bodies bounce off, where there are any.
    pub impact: Option<ImpactParams<F>>,
    /// Of the joints, where there are any.
    pub joints: Option<JointParams<F>>,
    /// Of the contact of bodies with each other, where they touch: by default as the model has it.
    pub between: Option<Between<F>>,
    /// Of the springs, where there are any.
    pub springs: Option<SpringParams<F>>,
}

impl<F: Float> Params<F> {
    fn own(&self) -> Vec<(&'static str, &'static str, Bounds, &AnyArray)> {
        let mut rows = vec![match &self.mass {
            Mass::Density(density) => ("material.density", "kg/m^3", Bounds::Positive, density.as_any()),
            Mass::Total(mass) => ("mass", "kg", Bounds::Positive, mass.as_any()),
        }];
        rows.extend(self.inertia.iter().map(|i| ("inertia", "kg m^2", Bounds::Finite, i.as_any())));
        rows.push(("surface.vertices", "m", Bounds::Finite, self.vertices.as_any()));
        rows.push(("gravity", "m/s^2", Bounds::Finite, self.gravity.as_any()));
        let touch = self.contact.is_some() || self.between.is_some();
        rows.extend(touch.then(|| ("contact.grip", "N s/m", Bounds::NonNegative, self.grip.as_any())));
        rows.extend(self.pairs.iter().map(|e| ("pairs.restitution", "", Bounds::NonNegative, e.as_any())));
        rows
    }
}

impl<F: Float> crate::params::Params for Params<F> {
    fn groups(&self) -> Vec<Group<'_>> {
        let row =
            |(path, unit, bounds, array): (&'static str, _, _, _)| Group { path: path.into(), unit, bounds, array };
        let own = self.own().into_iter().map(row);
        let contact = self.contact.iter().flat_map(crate::params::Params::groups);
        let impact = self.impact.iter().flat_map(crate::params::Params::groups);
        let joints = self.joints.iter().flat_map(crate::params::Params::groups);
        let between = self.between.iter().flat_map(crate::params::Params::groups);
        let springs = self.springs.iter().flat_map(crate::params::Params::groups);
        own.chain(contact).chain(impact).chain(joints).chain(between).chain(springs).collect()
    }

    fn replace(&mut self, path: &str, array: AnyArray) -> Result<()> {
        if let Some(contact) = self.contact.as_mut().filter(|c| c.group(path).is_ok()) {
            return contact.replace(path, array);
        }
        if let Some(impact) = self.impact.as_mut().filter(|i| i.group(path).is_ok()) {
            return impact.replace(path, array);
        }
        if let Some(joints) = self.joints.as_mut().filter(|j| j.group(path).is_ok()) {
            return joints.replace(path, array);
        }
        if let Some(between) = self.between.as_mut().filter(|b| b.group(path).is_ok()) {
            return between.replace(path, array);
        }
        if let Some(springs) = self.springs.as_mut().filter(|s| s.group(path).is_ok()) {
            return springs.replace(path, array);
        }
        match path {
            "material.density" => self.mass = Mass::Density(Array::try_from(array)?),
            "mass" => self.mass = Mass::Total(Array::try_from(array)?),
            "inertia" => self.inertia = Some(Array::try_from(array)?),
            "surface.vertices" => self.vertices = Array::try_from(array)?,
            "gravity" => self.gravity = Array::try_from(array)?,
            "pairs.restitution" => self.pairs = Some(Array::try_from(array)?),
            "contact.grip" => self.grip = Array::try_from(array)?,
            _ => return Err(unknown(path, &self.groups())),
        }
        Ok(())
    }
}
