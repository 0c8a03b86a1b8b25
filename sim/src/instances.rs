//! The kernels over a constitutive model, a contact or a shape, for each of the lists and in both precisions.
//!
//! Kernels over a type are compiled where a crate first asks for that type. It is asked for here, so that they are compiled with
//! this crate, and a program that runs simulations finds them.

use crate::collision;
use crate::contact::each_contact;
use crate::contact::kernels::contact_force;
use crate::fem::lattice::press::{press, press_points};
use crate::fem::stress::stress;
use crate::fem::tets::curvature::elastic_modes;
use crate::fem::tets::kernels::{elastic_energies, elastic_forces};
use crate::material::{Law, with_law};
use crate::mpm::lagrangian::particles::{stress_slope_2d, stress_slope_3d};
use crate::mpm::p2g::{particles_to_grid_2d, particles_to_grid_3d};
use crate::rigid::between::press_body;
use crate::rigid::contact::{add_contact, add_plane_contact};

/// An array of the bodies for the CPU of kernels over `$over`, in both precisions.
macro_rules! bodies {
    ($over:ident: $($kernel:ident),+) => {
        [$($kernel::<$over>::native::<f32>(), $kernel::<$over>::native::<f64>()),+]
    };
}

/// The bodies for the CPU, by model, contact and shape.
pub fn instances() -> impl Sized {
    let models = Law::ALL.map(|law| {
        with_law!(law, M => bodies![
            M: particles_to_grid_2d, particles_to_grid_3d, stress_slope_2d, stress_slope_3d,
            stress, elastic_energies, elastic_forces, elastic_modes
        ])
    });
    let contacts = each_contact!(L => bodies![
        L: contact_force, press, press_points, add_contact, add_plane_contact, press_body
    ]);
    (models, contacts, collision::instances())
}
