//! Triangles that enclose a body.

use super::moments::Moments;
use super::pose::Pose;
use super::vector::{Point, bounds, cross, norm, scale, sub};
use super::{crossing, nesting, topology};
use crate::error::{Result, positive};
use crate::fault::MeshFault;
use diffkern::memory::collect;

/// The surface of a body: closed, oriented triangles that do not cross, counter-clockwise seen from outside.
///
/// It may have several parts, and cavities, whose faces point into the cavity.
///
/// ```
/// use diffkern_sim::mesh::ClosedMesh;
///
/// // A corner of a cube, 1 m along each axis.
/// let vertices = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let corner = ClosedMesh::new(vertices.clone(), vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])?;
/// assert!((corner.moments().volume - 1.0 / 6.0).abs() < 1e-15);
///
/// let open = ClosedMesh::new(vertices, vec![[0, 2, 1], [0, 1, 3], [1, 2, 3]]).unwrap_err();
/// assert!(open.to_string().starts_with("the surface has a hole: the edge from vertex 0 to 2 is of face 0 alone"), "{open}");
/// # Ok::<(), diffkern_sim::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedMesh {
    vertices: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    edges: usize,
}

impl ClosedMesh {
    /// Checks that the triangles over `vertices` \[m\] enclose a body. Nothing is repaired. Whether faces cross is
    /// decided exactly, in `n log n` time for `n` faces of about one size.
    ///
    /// # Errors
    /// On the first [`MeshFault`], with the indices of what to change; when memory is short.
    pub fn new(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Result<ClosedMesh> {
        topology::check_faces(&vertices, &triangles)??;
        let edges = topology::edges(&triangles)??;
        let parts = topology::parts(triangles.len(), &edges)?;
        if let Some(faces) = crossing::find(&vertices, &triangles)? {
            return Err(MeshFault::Crossing { faces }.into());
        }
        nesting::check(&vertices, &triangles, &parts)??;
        Ok(ClosedMesh { vertices, triangles, edges: edges.len() })
    }

    /// Positions of the vertices \[m\].
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.vertices
    }

    /// Three vertices a face, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Enclosed volume, its centre and second moments; exact to rounding.
    pub fn moments(&self) -> Moments {
        let [low, high] = self.bounds();
        Moments::enclosed(&self.vertices, &self.triangles, [0, 1, 2].map(|a| 0.5 * (low[a] + high[a])))
    }

    /// Area of the surface \[m^2\].
    pub fn area(&self) -> f64 {
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| self.vertices[i as usize]);
            0.5 * norm(cross(sub(b, a), sub(c, a)))
        };
        self.triangles.iter().map(area).sum()
    }

    /// Lowest and highest corner of the box around it \[m\].
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        bounds(self.vertices.iter().copied())
    }

    /// Vertices less edges plus faces: 2 a part for spheres, 0 for a torus, 2 less a hole through it.
    pub fn euler_characteristic(&self) -> i64 {
        self.vertices.len() as i64 - self.edges as i64 + self.triangles.len() as i64
    }

    /// The same `factor` times as large about the origin, then moved by `pose`. Checked again, as rounding may make faces
    /// touch.
    ///
    /// # Errors
    /// When a value is out of its range, faces touch, or memory is short.
    pub fn placed(&self, factor: f64, pose: &Pose) -> Result<ClosedMesh> {
        positive("scale of the mesh", factor)?;
        pose.check()?;
        if factor == 1.0 && *pose == Pose::default() {
            return Ok(self.clone());
        }
        let vertices = collect(self.vertices.iter().map(|&v| pose.apply(scale(v, factor))))?;
        ClosedMesh::new(vertices, collect(self.triangles.iter().copied())?)
    }

    /// Of triangles that are closed and do not cross by construction.
    pub(crate) fn trusted(vertices: Vec<Point>, triangles: Vec<[u32; 3]>) -> ClosedMesh {
        let edges = triangles.len() / 2 * 3;
        ClosedMesh { vertices, triangles, edges }
    }

    /// The same `factor` times as large about the origin, then moved by `pose`, where that is known to keep it closed.
    pub(crate) fn moved(self, factor: f64, pose: &Pose) -> ClosedMesh {
        let vertices = self.vertices.into_iter().map(|v| pose.apply(scale(v, factor))).collect();
        ClosedMesh { vertices, ..self }
    }
}
