//! From the shape of a protocol to a body.

use super::protocol::{NamedShape, Shape};
use crate::error::Result;
use diffkern_sim::mesh::{ClosedMesh, Pose};
use diffkern_sim::rigid::Body;
use diffkern_sim::shape::{Bowl, Capsule, Cuboid, Cylinder, Ellipsoid, Frustum, Primitive, Prism, Sphere, Torus};

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
