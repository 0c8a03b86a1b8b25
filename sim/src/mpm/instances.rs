//! The kernels over a constitutive model, for each of the list and in both precisions.
//!
//! Kernels over a type are compiled where a crate first asks for that type. It is asked for here, so that they are compiled with
//! this crate, and a program that runs simulations finds them.

use super::lagrangian::particles::{stress_slope_2d, stress_slope_3d};
use super::p2g::{particles_to_grid_2d, particles_to_grid_3d};
use crate::material::{Law, with_law};

/// The bodies for the CPU, by model.
pub fn instances() -> impl Sized {
    Law::ALL.map(|law| {
        with_law!(law, M => [
            particles_to_grid_2d::<M>::native::<f32>(),
            particles_to_grid_2d::<M>::native::<f64>(),
            particles_to_grid_3d::<M>::native::<f32>(),
            particles_to_grid_3d::<M>::native::<f64>(),
            stress_slope_2d::<M>::native::<f32>(),
            stress_slope_2d::<M>::native::<f64>(),
            stress_slope_3d::<M>::native::<f32>(),
            stress_slope_3d::<M>::native::<f64>(),
        ])
    })
}
