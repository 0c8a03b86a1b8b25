//! The physical parameters: arrays, so that they may have gradients.

use crate::contact::Contacts;
use crate::error::Result;
use crate::params::parameters;
use diffkern::prelude::*;

/// Parameters of a network of springs. "Per spring" and "per vertex" arrays hold one element for all or one for each.
#[derive(Clone, Debug)]
pub struct Params<F: Float> {
    /// Stiffness \[N/m\], per spring.
    pub stiffness: Array<F>,
    /// Damping along the spring \[N s/m\], per spring.
    pub spring_damping: Array<F>,
    /// Length at rest \[m\], per spring.
    pub rest: Array<F>,
    /// Mass \[kg\], per vertex.
    pub mass: Array<F>,
    /// Rate at which velocities decay \[1/s\], one element.
    pub damping: Array<F>,
    /// Gravity \[m/s^2\], one element.
    pub gravity: Array<Vec3<F>>,
    /// Of the colliders, where there are any: by default as the colliders have them.
    pub contact: Option<Contacts<F>>,
}

parameters! {
    impl [F: Float] for Params<F> {
        stiffness: "springs.stiffness", "N/m", Positive;
        spring_damping: "springs.damping", "N s/m", NonNegative;
        rest: "springs.rest", "m", NonNegative;
        mass: "mass", "kg", Positive;
        damping: "damping", "1/s", NonNegative;
        gravity: "gravity", "m/s^2", Finite;
    } and contact
}

impl<F: Float> Params<F> {
    /// One `stiffness` \[N/m\], `rest` length \[m\] and `mass` \[kg\] for all, under `gravity` \[m/s^2\], without damping.
    ///
    /// # Errors
    /// When memory is short.
    pub fn uniform(device: &Device, stiffness: f64, rest: f64, mass: f64, gravity: [f64; 3]) -> Result<Params<F>> {
        let one = |x: f64| device.array(&[F::from_f64(x)]);
        Ok(Params {
            stiffness: one(stiffness)?,
            spring_damping: one(0.0)?,
            rest: one(rest)?,
            mass: one(mass)?,
            damping: one(0.0)?,
            gravity: device.array(&[Vec3::from_array(gravity.map(F::from_f64))])?,
            contact: None,
        })
    }
}
