//! Bodies of any shape: what they are, and the particles that fill them.
//!
//! Surfaces of boxes (plates and rods among them), spheres, ellipsoids, capsules, cylinders and tori are those of a [`Primitive`]; of cones
//! and frustums those of a [`Frustum`]; of brackets, tees and stars those of a [`Prism`]; of bowls those of a [`Bowl`].

mod solid;
mod revolve;
mod refine;
mod cuboid;
mod sphere;
mod ellipsoid;
mod capsule;
mod cylinder;
mod torus;
mod frustum;
mod prism;
mod bowl;
mod primitive;
mod clip;
mod lattice;
mod merge;
mod fill;
mod body;

pub use body::{Body, FilledBody, Shape};
pub use bowl::Bowl;
pub use capsule::Capsule;
pub use cuboid::Cuboid;
pub use cylinder::Cylinder;
pub use ellipsoid::Ellipsoid;
pub use fill::{Particles, fill};
pub use frustum::Frustum;
pub use lattice::Lattice;
pub use merge::LIGHTEST;
pub use primitive::Primitive;
pub use prism::Prism;
pub use sphere::Sphere;
pub use torus::Torus;

pub(crate) use fill::parts;
pub(crate) use merge::Fragment;
