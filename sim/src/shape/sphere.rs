//! A sphere, and the triangulation of the unit sphere.

use super::solid::{Solid, affordable};
use crate::error::{Result, positive};
use crate::mesh::{ClosedMesh, Point, add, norm, scale};
use std::collections::HashMap;
use std::f64::consts::PI;

/// A sphere around the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Radius \[m\].
    pub radius: f64,
}

impl Solid for Sphere {
    fn check(&self) -> Result<()> {
        positive("radius of the sphere", self.radius).map(drop)
    }

    fn volume(&self) -> f64 {
        4.0 / 3.0 * PI * self.radius.powi(3)
    }

    fn second(&self) -> [f64; 3] {
        [self.volume() * self.radius * self.radius / 5.0; 3]
    }

    fn level(&self, x: Point) -> f64 {
        norm(x) - self.radius
    }

    fn extent(&self) -> Point {
        [self.radius; 3]
    }

    fn surface(&self, edge: f64) -> Result<ClosedMesh> {
        unit([self.radius; 3], edge)
    }
}

/// Faces of the icosahedron.
const FACES: [[u32; 3]; 20] = [
    [0, 4, 8],
    [0, 10, 5],
    [2, 9, 4],
    [2, 5, 11],
    [1, 8, 6],
    [1, 7, 10],
    [3, 6, 9],
    [3, 11, 7],
    [0, 8, 10],
    [1, 10, 8],
    [2, 11, 9],
    [3, 9, 11],
    [4, 0, 2],
    [5, 2, 0],
    [6, 3, 1],
    [7, 1, 3],
    [8, 4, 6],
    [9, 6, 4],
    [10, 7, 5],
    [11, 5, 7],
];
/// Edge of the icosahedron in the unit sphere over the radius of the sphere in it: as long a piece can get when it is moved
/// from the icosahedron onto the sphere, on which it lies no nearer to the centre than that.
const STRETCH: f64 = 1.323_169;

/// The unit sphere stretched by `radii`: faces of the icosahedron in equal parts, moved onto the sphere. Edges are at most
/// `edge`.
pub(super) fn unit(radii: Point, edge: f64) -> Result<ClosedMesh> {
    let largest = radii.iter().fold(0.0f64, |m, &r| m.max(r));
    let parts = (STRETCH * largest / edge).ceil().max(2.0);
    affordable(20.0 * parts * parts, edge)?;
    let n = parts as u32;
    let corners = icosahedron();
    let (mut vertices, mut triangles, mut number) = (Vec::new(), Vec::new(), HashMap::new());
    // A vertex by its parts of the corners of a face, in the order of the corners: the same from all faces.
    let mut vertex = |face: [u32; 3], parts: [u32; 3]| {
        let mut key = [0, 1, 2].map(|k| (if parts[k] == 0 { u32::MAX } else { face[k] }, parts[k]));
        key.sort_unstable();
        *number.entry(key).or_insert_with(|| {
            let of = key.iter().filter(|(_, part)| *part > 0);
            let sum = of.fold([0.0; 3], |sum, &(c, part)| add(sum, scale(corners[c as usize], f64::from(part))));
            let length = norm(sum);
            vertices.push([0, 1, 2].map(|a| radii[a] * sum[a] / length));
            vertices.len() as u32 - 1
        })
    };
    for face in FACES {
        for i in 0..n {
            for j in 0..n - i {
                let mut at = |i: u32, j: u32| vertex(face, [n - i - j, i, j]);
                triangles.push([at(i, j), at(i + 1, j), at(i, j + 1)]);
                if i + j + 1 < n {
                    triangles.push([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
                }
            }
        }
    }
    Ok(ClosedMesh::trusted(vertices, triangles))
}

/// Corners of three golden rectangles.
fn icosahedron() -> [Point; 12] {
    let golden = 0.5 * (1.0 + 5.0f64.sqrt());
    std::array::from_fn(|k| {
        let (axis, u, v) = (k / 4, if k & 2 == 0 { 1.0 } else { -1.0 }, if k & 1 == 0 { 1.0 } else { -1.0 });
        let mut at = [0.0; 3];
        (at[axis], at[(axis + 1) % 3]) = (u, v * golden);
        at
    })
}
