//! The shapes of rigid bodies about their centres of mass.

use crate::error::Result;
use crate::program::setup::norm;
use diffkern::prelude::*;
use diffkern_sim::collision::{Pose, Solid};
use diffkern_sim::mesh::{self, ClosedMesh};
use diffkern_sim::rigid::Body;
use diffkern_sim::scene::BodyShape;
use diffkern_sim::shape::{Capsule, Cuboid, Primitive, Shape, Sphere, Torus};

/// Pieces along the longest side of a curved primitive.
const PIECES: f64 = 24.0;
/// Pieces along the longest side of a box that other bodies may touch: its edges have vertices, by which they press on those of others.
const EDGE_PIECES: f64 = 4.0;
/// Part of the longest side within which points touch a plane together.
const TOGETHER: f64 = 1e-3;
/// Most triangles that are looked at for that.
const LOOKED_AT: usize = 1000;

/// A shape about its centre of mass, in its own frame, and where it begins.
pub(super) struct Form {
    /// What has mass and is drawn, its centroid at the origin.
    pub(super) mesh: ClosedMesh,
    /// Radius of a sphere \[m\].
    radius: Option<f64>,
    /// What other bodies touch; of none the mesh.
    solid: Option<Solid>,
    /// Whether it is drawn without edges.
    pub(super) smooth: bool,
    /// Of the mesh in the frame that it came from \[m\].
    pub(super) centroid: [f64; 3],
    pub(super) volume: f64,
    pub(super) thinnest: f64,
    /// Of its farthest vertex from the centre of mass \[m\].
    pub(super) reach: f64,
    /// Largest reciprocal of the moments of inertia of a mass of one, at most \[1/m^2\].
    pub(super) looseness: f64,
    /// Points that may touch at once, and what a unit force on one accelerates it by, of a mass of one, at most.
    pub(super) touching: f64,
    pub(super) mobility: f64,
    pose: Pose<f64>,
}

impl Form {
    /// Of a body in its place, alone or one of `several`.
    pub(super) fn new(shape: &BodyShape, several: bool) -> Result<Self> {
        let (own, pose) = shape.placed();
        let mut solid = None;
        let (mesh, radius, smooth) = match own {
            Shape::Primitive(primitive) => {
                solid = exact(&primitive);
                let [low, high] = primitive.bounds();
                let longest = (0..3).map(|a| high[a] - low[a]).fold(0.0, f64::max);
                let (edge, radius, smooth) = match &primitive {
                    Primitive::Cuboid(_) if several => (longest / EDGE_PIECES, None, false),
                    // Corners alone.
                    Primitive::Cuboid(_) => (2.0 * longest, None, false),
                    Primitive::Sphere(sphere) => (longest / PIECES, Some(sphere.radius), true),
                    _ => (longest / PIECES, None, true),
                };
                (primitive.surface(edge)?, radius, smooth)
            }
            Shape::Mesh(mesh) => (mesh, None, false),
            Shape::File { path, scale } => (mesh::read(&path, scale)?, None, false),
            // Shapes of a later version of the simulator.
            other => {
                return Err(diffkern_sim::Error::Invalid {
                    what: "shape of a rigid body".into(),
                    value: format!("{other:?}"),
                    expected: "a primitive or a mesh".into(),
                }
                .into());
            }
        };
        let moments = mesh.moments();
        let mesh = mesh.placed(1.0, &mesh::Pose::at(moments.centroid.map(|x| 0.0 - x)))?;
        let [low, high] = mesh.bounds();
        let sides = [0, 1, 2].map(|a| high[a] - low[a]);
        // The least moment of inertia is the trace less the largest eigenvalue, which is at most the norm.
        let second = moments.second.as_flattened();
        let least =
            (0..3).map(|a| moments.second[a][a]).sum::<f64>() - second.iter().map(|x| x * x).sum::<f64>().sqrt();
        let looseness = moments.volume / least;
        let reach = mesh.vertices().iter().map(|v| norm(*v)).fold(0.0, f64::max);
        let touching = if radius.is_some() { 1 } else { together(&mesh, sides) };
        let rotation = Quat::from_rotation_vector(Vec3::from_array(pose.rotation));
        Ok(Self {
            radius,
            solid,
            smooth,
            centroid: moments.centroid,
            volume: moments.volume,
            thinnest: sides.into_iter().fold(f64::INFINITY, f64::min),
            reach,
            looseness,
            touching: touching as f64,
            mobility: 1.0 + reach * reach * looseness,
            pose: Pose {
                centre: Vec3::from_array(pose.apply(moments.centroid)),
                rotation,
                velocity: Vec3::zero(),
                spin: Vec3::zero(),
            },
            mesh,
        })
    }

    /// For the simulator.
    pub(super) fn body(&self) -> Result<Body> {
        let body = match self.radius {
            Some(radius) => Body::ball(radius, 2.0 * radius / PIECES)?,
            None => Body::new(self.mesh.clone()),
        };
        Ok(match &self.solid {
            Some(solid) => body.with_solid(solid.clone()),
            None => body,
        })
    }

    /// Acceleration of all points that may touch at once by a unit force on each, of a mass of one, at most.
    pub(super) fn compliance(&self) -> f64 {
        self.touching * self.mobility
    }

    /// Points that touch.
    pub(super) fn points(&self) -> usize {
        if self.radius.is_some() { 1 } else { self.mesh.vertices().len() }
    }

    /// Where it begins.
    pub(super) fn pose<F: Float>(&self) -> Pose<F> {
        let vector = |v: Vec3<f64>| Vec3::from_array(v.to_array().map(F::from_f64));
        let Quat { w, x, y, z } = self.pose.rotation;
        let [w, x, y, z] = [w, x, y, z].map(F::from_f64);
        let (centre, velocity, spin) = (vector(self.pose.centre), Vec3::zero(), Vec3::zero());
        Pose { centre, rotation: Quat::new(w, x, y, z), velocity, spin }
    }

    /// Where a point of it begins.
    pub(super) fn at(&self, point: [f64; 3]) -> [f64; 3] {
        (self.pose.centre + self.pose.rotation.rotate(Vec3::from_array(point))).to_array()
    }
}

/// A primitive whose distance has a formula.
fn exact(primitive: &Primitive) -> Option<Solid> {
    match *primitive {
        Primitive::Cuboid(Cuboid { sides }) => {
            let [half_x, half_y, half_z] = sides.map(|side| 0.5 * side);
            Some(Solid::Cuboid { half_x, half_y, half_z })
        }
        Primitive::Sphere(Sphere { radius }) => Some(Solid::Sphere { radius }),
        Primitive::Capsule(Capsule { radius, length }) => Some(Solid::Capsule { radius, half_length: 0.5 * length }),
        Primitive::Torus(Torus { radius, tube }) => Some(Solid::Torus { radius, tube }),
        _ => None,
    }
}

/// Most vertices that lie in a plane beside the body, of planes along its faces.
fn together(mesh: &ClosedMesh, sides: [f64; 3]) -> usize {
    let (vertices, triangles) = (mesh.vertices(), mesh.triangles());
    let near = TOGETHER * sides.into_iter().fold(0.0, f64::max);
    let corner = |k: u32| Vec3::from_array(vertices[k as usize]);
    let most = triangles.iter().step_by(triangles.len().div_ceil(LOOKED_AT)).map(|triangle| {
        let [a, b, c] = triangle.map(corner);
        let normal = (b - a).cross(c - a).normalize();
        let highest = vertices.iter().map(|v| normal.dot(Vec3::from_array(*v))).fold(f64::NEG_INFINITY, f64::max);
        vertices.iter().filter(|v| normal.dot(Vec3::from_array(**v)) > highest - near).count()
    });
    most.max().unwrap_or(1).max(1)
}

/// Four points that are far from one plane.
pub(super) fn anchors(points: &[[f64; 3]]) -> [usize; 4] {
    let at = |k: usize| Vec3::from_array(points[k]);
    let farthest = |measure: &dyn Fn(Vec3<f64>) -> f64| {
        (0..points.len()).fold(0, |best, k| if measure(at(k)) > measure(at(best)) { k } else { best })
    };
    let first = farthest(&|x| (x - at(0)).norm());
    let second = farthest(&|x| (x - at(first)).norm());
    let edge = at(second) - at(first);
    let third = farthest(&|x| edge.cross(x - at(first)).norm());
    let normal = edge.cross(at(third) - at(first));
    [first, second, third, farthest(&|x| normal.dot(x - at(first)).abs())]
}

/// The weights of four points of which a point is the sum; together they are 1.
pub(super) fn weights(corners: [[f64; 3]; 4], point: [f64; 3]) -> [f64; 4] {
    let [a, b, c, d] = corners.map(Vec3::from_array);
    let x = Vec3::from_array(point);
    let volume = |u: Vec3<f64>, v: Vec3<f64>, w: Vec3<f64>| u.dot(v.cross(w));
    let all = volume(b - a, c - a, d - a);
    let of_b = volume(x - a, c - a, d - a) / all;
    let of_c = volume(b - a, x - a, d - a) / all;
    let of_d = volume(b - a, c - a, x - a) / all;
    [1.0 - of_b - of_c - of_d, of_b, of_c, of_d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use diffkern_sim::shape::Prism;

    #[test]
    fn points_follow_from_four_of_a_body() {
        let mesh = Prism::bracket([0.4, 0.3], 0.1, 0.12).surface(10.0).unwrap();
        let corners = anchors(mesh.vertices()).map(|k| mesh.vertices()[k]);
        for point in [[0.03, -0.2, 0.7], corners[2], [0.0; 3]] {
            let weights = weights(corners, point);
            let found = [0, 1, 2].map(|a| (0..4).map(|k| weights[k] * corners[k][a]).sum::<f64>());
            assert!((0..3).all(|a| (found[a] - point[a]).abs() < 1e-12), "{found:?} {point:?}");
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn as_many_points_touch_together_as_lie_in_a_face() {
        let form = |sides: [f64; 3]| {
            Form::new(&BodyShape::Block { min: [0.1; 3], max: [0, 1, 2].map(|a| 0.1 + sides[a]) }, false).unwrap()
        };
        let block = form([0.3, 0.2, 0.1]);
        let reach = 0.25 * (0.3f64.powi(2) + 0.2f64.powi(2) + 0.1f64.powi(2));
        assert!((block.compliance() / (4.0 * (1.0 + reach * block.looseness)) - 1.0).abs() < 1e-12);
        // The least moment of inertia of a mass of one, from below.
        let least = (0.2f64.powi(2) + 0.1f64.powi(2)) / 12.0;
        assert!(block.looseness >= 1.0 / least && block.looseness < 2.0 / least);
        assert_eq!(block.at([0.0; 3]), [0.25, 0.2, 0.15000000000000002]);
    }
}
