//! A triangle mesh whose vertices follow particles.

use super::block::BlockLattice;
use super::closed::ClosedMesh;
use super::stencil::{CARRIERS, stencils};
use crate::error::{Error, Result};
use diffkern::memory::{collect, filled};
use diffkern::prelude::*;

/// `out_i = sum_k weight_(8 i + k) x_(index_(8 i + k))`, eight particles a vertex.
#[diff_kernel]
pub fn interpolate_3d<F: Float>(x: &Array<Vec3<F>>, index: &Array<u32>, weight: &Array<F>, out: &mut Array<Vec3<F>>) {
    let i = ABSOLUTE_POS;
    let mut sum = Vec3::zero();
    for k in 0..8 {
        let at = i * 8 + k;
        sum = sum + x[index[at] as usize] * weight[at];
    }
    out[i] = sum;
}

/// The boundary of a body of particles. Its vertices are linear in the particle positions, so their gradient is exact.
#[derive(Clone, Debug)]
pub struct Surface<F: Float> {
    /// Vertex indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// The side of the body that each triangle is on; for a block -x, +x, -y, +y, -z, +z, for other bodies 0.
    pub sides: Vec<u32>,
    index: Array<u32>,
    weight: Array<F>,
    particles: usize,
}

impl<F: Float> Surface<F> {
    /// The boundary of a block of particles, with every `stride`-th corner of its lattice as a vertex.
    ///
    /// # Errors
    /// When the block has no particles or memory is short.
    pub fn of_block(device: &Device, lattice: &BlockLattice, stride: usize) -> Result<Surface<F>> {
        if lattice.is_empty() {
            return Err(Error::invalid(
                "particles of the block",
                format!("{:?}", lattice.counts),
                "at least 1 an axis",
            ));
        }
        let boundary = lattice.boundary(stride)?;
        let weights: Vec<F> = collect(boundary.weights.iter().map(|&w| F::from_f64(w)))?;
        Ok(Surface {
            triangles: boundary.triangles,
            sides: boundary.sides,
            index: device.array(&boundary.particles)?,
            weight: device.array(&weights)?,
            particles: lattice.len(),
        })
    }

    /// The surface `mesh` carried by the particles of the body that it encloses, at `positions` \[m\] now. Each vertex is a
    /// combination of eight particles near it, with the weights of moving least squares: it is where it is in `mesh` at
    /// rest, and follows every affine motion exactly. [`sides`](Surface::sides) are all 0.
    ///
    /// # Errors
    /// When all particles near a vertex are in one plane, from which the vertex would not follow, or memory is short.
    pub fn of_body(device: &Device, mesh: &ClosedMesh, positions: &[[f64; 3]]) -> Result<Surface<F>> {
        if positions.is_empty() {
            return Err(Error::invalid("particles of the body", 0, "at least 4"));
        }
        let spacing = (mesh.moments().volume / positions.len() as f64).cbrt();
        let carried = stencils(mesh.vertices(), positions, spacing)?;
        let weights: Vec<F> = collect(carried.weights.iter().map(|&w| F::from_f64(w)))?;
        Ok(Surface {
            triangles: collect(mesh.triangles().iter().copied())?,
            sides: filled(mesh.triangles().len(), 0)?,
            index: device.array(&carried.particles)?,
            weight: device.array(&weights)?,
            particles: positions.len(),
        })
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.index.len() / CARRIERS
    }

    /// Positions of the vertices \[m\] when the particles are at `x`; differentiable.
    ///
    /// # Errors
    /// When `x` is not of this body, or the launch fails.
    pub fn vertices(&self, x: &Array<Vec3<F>>) -> Result<Array<Vec3<F>>> {
        if x.len() != self.particles {
            return Err(Error::invalid("number of particles", x.len(), format!("{}, as in the body", self.particles)));
        }
        let out = x.device().uninit::<Vec3<F>>(self.vertex_count())?;
        interpolate_3d(self.vertex_count(), x, &self.index, &self.weight, &out)?;
        Ok(out)
    }
}
