//! The physical parameters: arrays, so that they may have gradients.

use crate::contact::Contacts;
use crate::error::{Error, Result};
use crate::params::parameters;
use diffkern::prelude::*;

/// Parameters of a simulation. Call `requires_grad` on the arrays that should get a gradient.
///
/// "Per particle" arrays hold one element for all particles or one for each.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern_sim::mpm::{Dim3, Params};
///
/// let device = Device::cpu();
/// let uniform = Params::<Dim3, f32>::uniform(&device, 5e3, 1e4, 1e3, 1e-6, [0.0, 0.0, -9.81])?;
/// let softer_above: Vec<f32> = (0..64).map(|p| if p < 32 { 5e3 } else { 2e3 }).collect();
/// let params = Params { mu: device.array(&softer_above)?.requires_grad(), ..uniform };
/// assert_eq!((params.mu.len(), params.lambda.len()), (64, 1));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Params<D: Dimension, F: Float> {
    /// First Lamé parameter, the shear modulus \[Pa\], per particle.
    pub mu: Array<F>,
    /// Second Lamé parameter \[Pa\], per particle.
    pub lambda: Array<F>,
    /// Density at rest \[kg/m^3\] (\[kg/m^2\] in the plane), per particle.
    pub density: Array<F>,
    /// Newtonian viscosity \[Pa s\], per particle.
    pub viscosity: Array<F>,
    /// Volume at rest \[m^3\] (\[m^2\] in the plane), per particle.
    pub volume: Array<F>,
    /// Rate at which velocities decay \[1/s\], one element.
    pub damping: Array<F>,
    /// Gravity \[m/s^2\], one element.
    pub gravity: Array<D::Vector<F>>,
    /// Coulomb's coefficient of each half-space, in their order, or one for all of them: in place of
    /// [`HalfSpace::friction`](super::HalfSpace::friction), which is then 0 for all, where it should get a gradient.
    pub friction: Option<Array<F>>,
    /// Stiffness \[Pa/m\] of each half-space that is a [penalty](crate::contact::Contact::Penalty), in the order of all, or one for all of them: in place of
    /// what the half-spaces say. The stable step counts it.
    pub stiffness: Option<Array<F>>,
    /// Of the colliders, where there are any: by default as the colliders have them.
    pub contact: Option<Contacts<F>>,
}

parameters! {
    impl [D: Dimension, F: Float] for Params<D, F> {
        mu: "material.mu", "Pa", Positive;
        lambda: "material.lambda", "Pa", Finite;
        density: "material.density", "kg/m^3", Positive;
        viscosity: "material.viscosity", "Pa s", NonNegative;
        volume: "volume", "m^3", Positive;
        damping: "damping", "1/s", NonNegative;
        gravity: "gravity", "m/s^2", Finite;
        [friction: "half_spaces.friction", "", NonNegative;]
        [stiffness: "half_spaces.stiffness", "Pa/m", NonNegative;]
    } and contact
}

impl<D: Dimension, F: Float> Params<D, F> {
    /// One material for all particles, under `gravity` \[m/s^2\]; no viscosity or damping, friction as the half-spaces have it.
    ///
    /// # Errors
    /// When memory is short.
    pub fn uniform(
        device: &Device,
        mu: f64,
        lambda: f64,
        density: f64,
        volume: f64,
        gravity: D::Coords,
    ) -> Result<Self> {
        let one = |x: f64| device.array(&[F::from_f64(x)]);
        Ok(Params {
            mu: one(mu)?,
            lambda: one(lambda)?,
            density: one(density)?,
            viscosity: one(0.0)?,
            volume: one(volume)?,
            damping: one(0.0)?,
            gravity: device.array(&[D::vector::<F>(&gravity)])?,
            friction: None,
            stiffness: None,
            contact: None,
        })
    }

    pub(crate) fn check(&self, particles: usize) -> Result<()> {
        let per_particle = [
            ("mu", &self.mu),
            ("lambda", &self.lambda),
            ("density", &self.density),
            ("viscosity", &self.viscosity),
            ("volume", &self.volume),
        ];
        match per_particle.iter().find(|(_, a)| a.len() != 1 && a.len() != particles) {
            Some((name, a)) => {
                Err(Error::invalid(format!("length of {name}"), a.len(), format!("1 or {particles}, one a particle")))
            }
            None => Ok(()),
        }
    }
}
