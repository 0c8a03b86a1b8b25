//! Shapes of bodies.

use crate::error::Result;
use diffkern_sim::mesh::{ClosedMesh, Pose};
use diffkern_sim::rigid::Body;
use diffkern_sim::shape::{Bowl, Capsule, Cuboid, Cylinder, Ellipsoid, Frustum, Primitive, Prism, Sphere, Torus};
use serde::{Deserialize, Serialize};

/// A shape of a body, in any unit: bodies are scaled to the reach of their protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Shape {
    /// A box.
    Cuboid { size: (f64, f64, f64) },
    /// A sphere of triangles.
    Sphere { radius: f64 },
    /// A ball, touched by its exact surface.
    Ball { radius: f64 },
    /// An ellipsoid.
    Ellipsoid { radii: (f64, f64, f64) },
    /// A cylinder with half spheres at its ends.
    Capsule { radius: f64, length: f64 },
    /// A cylinder.
    Cylinder { radius: f64, height: f64 },
    /// A ring.
    Torus { radius: f64, tube: f64 },
    /// A cone, its tip cut off where `top` is not 0.
    Frustum { bottom: f64, top: f64, height: f64 },
    /// An L.
    Bracket { legs: (f64, f64), wall: f64, height: f64 },
    /// A T.
    Tee { bar: f64, stem: f64, wall: f64, height: f64 },
    /// A star.
    Star { points: usize, inner: f64, outer: f64, height: f64 },
    /// Half a spherical shell.
    Bowl { radius: f64, wall: f64 },
}

impl Shape {
    /// What has to be positive of it, by name.
    pub(super) fn lengths(&self) -> Vec<(&'static str, f64)> {
        match *self {
            Self::Cuboid { size: (x, y, z) } => vec![("size", x), ("size", y), ("size", z)],
            Self::Sphere { radius } | Self::Ball { radius } => vec![("radius", radius)],
            Self::Ellipsoid { radii: (x, y, z) } => vec![("radii", x), ("radii", y), ("radii", z)],
            Self::Capsule { radius, length } => vec![("radius", radius), ("length", length)],
            Self::Cylinder { radius, height } => vec![("radius", radius), ("height", height)],
            Self::Torus { radius, tube } => vec![("radius", radius), ("tube", tube)],
            // One end of a cone is 0.
            Self::Frustum { bottom: _, top: _, height } => vec![("height", height)],
            Self::Bracket { legs: (x, y), wall, height } => {
                vec![("legs", x), ("legs", y), ("wall", wall), ("height", height)]
            }
            Self::Tee { bar, stem, wall, height } => {
                vec![("bar", bar), ("stem", stem), ("wall", wall), ("height", height)]
            }
            Self::Star { points: _, inner, outer, height } => {
                vec![("inner", inner), ("outer", outer), ("height", height)]
            }
            Self::Bowl { radius, wall } => vec![("radius", radius), ("wall", wall)],
        }
    }
}

/// A shape with its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedShape {
    /// Its name.
    pub name: String,
    /// What it is.
    pub shape: Shape,
    /// Longest edge of its triangles, in the unit of the shape.
    pub edge: f64,
}

/// The body around its centre of mass, scaled so that its farthest vertex is `reach` \[m\] from there.
pub(super) fn body(shape: &NamedShape, reach: f64) -> Result<Body> {
    if let Shape::Ball { radius } = shape.shape {
        return Ok(Body::ball(reach, shape.edge * reach / radius)?);
    }
    let mesh = surface(&shape.shape, shape.edge)?;
    let centre = mesh.moments().centroid;
    let away = |v: &[f64; 3]| (0..3).map(|a| (v[a] - centre[a]).powi(2)).sum::<f64>().sqrt();
    let factor = reach / mesh.vertices().iter().map(away).fold(0.0, f64::max);
    let centred = mesh.placed(1.0, &Pose::at(centre.map(|x| -x)))?;
    Ok(Body::new(centred.placed(factor, &Pose::at([0.0; 3]))?))
}

fn surface(shape: &Shape, edge: f64) -> diffkern_sim::Result<ClosedMesh> {
    let primitive = |primitive: Primitive| primitive.surface(edge);
    match *shape {
        Shape::Cuboid { size: (x, y, z) } => primitive(Primitive::Cuboid(Cuboid { sides: [x, y, z] })),
        Shape::Sphere { radius } | Shape::Ball { radius } => primitive(Primitive::Sphere(Sphere { radius })),
        Shape::Ellipsoid { radii: (x, y, z) } => primitive(Primitive::Ellipsoid(Ellipsoid { radii: [x, y, z] })),
        Shape::Capsule { radius, length } => primitive(Primitive::Capsule(Capsule { radius, length })),
        Shape::Cylinder { radius, height } => primitive(Primitive::Cylinder(Cylinder { radius, height })),
        Shape::Torus { radius, tube } => primitive(Primitive::Torus(Torus { radius, tube })),
        Shape::Frustum { bottom, top, height } => Frustum { bottom, top, height }.surface(edge),
        Shape::Bracket { legs: (x, y), wall, height } => Prism::bracket([x, y], wall, height).surface(edge),
        Shape::Tee { bar, stem, wall, height } => Prism::tee(bar, stem, wall, height).surface(edge),
        Shape::Star { points, inner, outer, height } => Prism::star(points, inner, outer, height).surface(edge),
        Shape::Bowl { radius, wall } => Bowl { radius, wall }.surface(edge),
    }
}
