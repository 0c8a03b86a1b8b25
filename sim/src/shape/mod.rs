//! Bodies of any shape: what they are, and the particles that fill them.

mod solid;
mod revolve;
mod cuboid;
mod sphere;
mod ellipsoid;
mod capsule;
mod cylinder;
mod torus;
mod primitive;
mod clip;
mod lattice;
mod merge;
mod fill;
mod body;

pub use body::{Body, FilledBody, Shape};
pub use capsule::Capsule;
pub use cuboid::Cuboid;
pub use cylinder::Cylinder;
pub use ellipsoid::Ellipsoid;
pub use fill::{Particles, fill};
pub use lattice::Lattice;
pub use merge::LIGHTEST;
pub use primitive::Primitive;
pub use sphere::Sphere;
pub use torus::Torus;

pub(crate) use fill::parts;
pub(crate) use merge::Fragment;
