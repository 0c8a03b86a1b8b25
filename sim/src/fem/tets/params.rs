//! The physical parameters: arrays, so that they may have gradients.

use crate::contact::Contacts;
use crate::error::Result;
use crate::params::parameters;
use diffkern::prelude::*;

/// Parameters of an elastic solid. "Per element" arrays hold one element for all or one for each.
#[derive(Clone, Debug)]
pub struct Params<F: Float> {
    /// First Lamé parameter \[Pa\], per element.
    pub mu: Array<F>,
    /// Second Lamé parameter \[Pa\], per element.
    pub lambda: Array<F>,
    /// Density at rest \[kg/m^3\], per element.
    pub density: Array<F>,
    /// Rate at which velocities decay \[1/s\], one element.
    pub damping: Array<F>,
    /// Gravity \[m/s^2\], one element.
    pub gravity: Array<Vec3<F>>,
    /// Of the colliders, where there are any: by default as the colliders have them.
    pub contact: Option<Contacts<F>>,
}

parameters! {
    impl [F: Float] for Params<F> {
        mu: "material.mu", "Pa", Positive;
        lambda: "material.lambda", "Pa", Finite;
        density: "material.density", "kg/m^3", Positive;
        damping: "damping", "1/s", NonNegative;
        gravity: "gravity", "m/s^2", Finite;
    } and contact
}

impl<F: Float> Params<F> {
    /// One material for all elements, under `gravity` \[m/s^2\], without damping.
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
            contact: None,
        })
    }
}
