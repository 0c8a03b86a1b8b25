//! The shapes that a formula describes.

use super::capsule::Capsule;
use super::cuboid::Cuboid;
use super::cylinder::Cylinder;
use super::ellipsoid::Ellipsoid;
use super::solid::Solid;
use super::sphere::Sphere;
use super::torus::Torus;
use crate::error::{Result, positive};
use crate::mesh::{ClosedMesh, Moments};

/// A shape with its centre of mass at the origin and its axis, if it has one, along z.
///
/// ```
/// use diffkern_sim::shape::{Primitive, Torus};
///
/// let ring = Primitive::Torus(Torus { radius: 0.1, tube: 0.03 });
/// assert!(ring.contains([0.1, 0.0, 0.02]) && !ring.contains([0.0; 3]));
/// let surface = ring.surface(0.01)?;
/// assert_eq!(surface.euler_characteristic(), 0);
/// let missing = 1.0 - surface.moments().volume / ring.moments()?.volume;
/// assert!(0.0 < missing && missing < 0.02);
/// # Ok::<(), diffkern_sim::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Primitive {
    /// A box.
    Cuboid(Cuboid),
    /// A sphere.
    Sphere(Sphere),
    /// An ellipsoid.
    Ellipsoid(Ellipsoid),
    /// A cylinder with half spheres at its ends.
    Capsule(Capsule),
    /// A cylinder.
    Cylinder(Cylinder),
    /// A ring.
    Torus(Torus),
}

impl Primitive {
    fn solid(&self) -> &dyn Solid {
        match self {
            Primitive::Cuboid(s) => s,
            Primitive::Sphere(s) => s,
            Primitive::Ellipsoid(s) => s,
            Primitive::Capsule(s) => s,
            Primitive::Cylinder(s) => s,
            Primitive::Torus(s) => s,
        }
    }

    /// Exact volume, centre and second moments.
    ///
    /// # Errors
    /// When a dimension is not positive, or the tube of a torus as thick as its ring.
    pub fn moments(&self) -> Result<Moments> {
        self.solid().check()?;
        let [x, y, z] = self.solid().second();
        let second = [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]];
        Ok(Moments { volume: self.solid().volume(), centroid: [0.0; 3], second })
    }

    /// A function that is negative inside, zero on the surface and positive outside \[m\]: the signed distance, but for
    /// ellipsoids, where it is the smallest half axis times `|x / radii| - 1`.
    pub fn level(&self, x: [f64; 3]) -> f64 {
        self.solid().level(x)
    }

    /// Whether `x` \[m\] is inside or on the surface.
    pub fn contains(&self, x: [f64; 3]) -> bool {
        self.level(x) <= 0.0
    }

    /// Lowest and highest corner of the box around it \[m\].
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        let extent = self.solid().extent();
        [extent.map(|x| -x), extent]
    }

    /// Triangles with vertices on the exact surface, and edges of at most `edge` \[m\].
    ///
    /// The triangles of a box enclose exactly its volume. Equilateral triangles of edge `e` on a sphere of radius `r` are on
    /// average `e^2 / 8r` below it, and miss `3/8 (e / r)^2` of its volume; here less, as most edges are shorter. For every
    /// shape what is missing, `moments()?.volume - surface(edge)?.moments().volume`, falls with the square of `edge`. (Near the
    /// hole of a torus triangles are outside of it, and what they add has been taken off.)
    ///
    /// # Errors
    /// When a dimension or `edge` is out of its range, or there would be more than 20 million triangles.
    pub fn surface(&self, edge: f64) -> Result<ClosedMesh> {
        self.solid().check()?;
        self.solid().surface(positive("longest edge of the surface", edge)?)
    }
}
