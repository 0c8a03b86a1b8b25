//! The physical parameters: arrays, so that they may have gradients.

use super::between::Surfaces;
use crate::contact::Contacts;
use crate::error::Result;
use crate::fem::relaxation::Relaxation;
use crate::params::parameters;
use diffkern::prelude::*;

/// Parameters of an elastic solid. "Per cell" arrays hold one element for all or one for each.
#[derive(Clone, Debug)]
pub struct Params<F: Float> {
    /// First Lamé parameter \[Pa\], per cell.
    pub mu: Array<F>,
    /// Second Lamé parameter \[Pa\], per cell.
    pub lambda: Array<F>,
    /// Density at rest \[kg/m^3\], per cell.
    pub density: Array<F>,
    /// Rate at which velocities decay \[1/s\], Rayleigh's damping by mass: one element, or one for each control point. Clamps that move are not slowed.
    pub damping: Array<F>,
    /// Gravity \[m/s^2\], one element.
    pub gravity: Array<Vec3<F>>,
    /// Newtonian viscosity \[Pa s\], per cell; none costs nothing.
    pub viscosity: Option<Array<F>>,
    /// A Maxwell branch beside the law, where there is one: the [state](super::State::memory) has a memory then.
    pub relaxation: Option<Relaxation<F>>,
    /// Directions of fibres at rest, per cell, which [`Control::activation`](super::Control::activation) pulls along; unit vectors, unless some pull more.
    pub fibres: Option<Array<Vec3<F>>>,
    /// Point masses that hang on the bodies \[kg\], one for each point of [`Model::with_loads`](super::Model::with_loads); none without any.
    pub loads: Option<Array<F>>,
    /// Of the colliders, where there are any: by default as the colliders have them. Stiffnesses are pressures per depth \[Pa/m\].
    pub contact: Option<Contacts<F>>,
    /// Of the surfaces of bodies that touch each other, where they do: by default as the model has them.
    pub surfaces: Option<Surfaces<F>>,
}

parameters! {
    impl [F: Float] for Params<F> {
        mu: "material.mu", "Pa", Positive;
        lambda: "material.lambda", "Pa", Finite;
        density: "material.density", "kg/m^3", Positive;
        damping: "damping", "1/s", NonNegative;
        gravity: "gravity", "m/s^2", Finite;
        [viscosity: "material.viscosity", "Pa s", NonNegative;]
        [fibres: "material.fibres", "", Finite;]
        [loads: "load.mass", "kg", NonNegative;]
    } and relaxation, contact, surfaces
}

impl<F: Float> Params<F> {
    /// One material for all cells, under `gravity` \[m/s^2\], without damping or viscosity.
    ///
    /// # Errors
    /// When memory is short.
    pub fn uniform(device: &Device, mu: f64, lambda: f64, density: f64, gravity: [f64; 3]) -> Result<Params<F>> {
        let one = |x: f64| device.array(&[F::from_f64(x)]);
        Ok(Params {
            mu: one(mu)?,
            lambda: one(lambda)?,
            density: one(density)?,
            damping: one(0.0)?,
            gravity: device.array(&[Vec3::from_array(gravity.map(F::from_f64))])?,
            viscosity: None,
            relaxation: None,
            fibres: None,
            loads: None,
            contact: None,
            surfaces: None,
        })
    }
}
