//! A triangle mesh whose vertices follow particles.

use super::block::BlockLattice;
use super::closed::ClosedMesh;
use super::stencil::{CARRIERS, stencils};
use super::vector::{norm, sub};
use crate::error::{Error, Result};
use diffkern::memory::{collect, filled, with_room};
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

/// Triangles whose vertices follow particles, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// Vertex indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// The side of the body that each triangle is on.
    pub sides: Vec<u32>,
    /// Eight a vertex.
    index: Vec<u32>,
    weights: Vec<f64>,
    particles: usize,
}

/// Spacings that a point may be away from the particles that carry it.
const FARTHEST: f64 = 4.0;
/// Sides of a block.
const SIDES: u32 = 6;

impl Carried {
    /// The boundary of a block of particles, see [`Surface::of_block`].
    ///
    /// # Errors
    /// When the block has no particles or memory is short.
    pub fn of_block(lattice: &BlockLattice, stride: usize) -> Result<Carried> {
        if lattice.is_empty() {
            return Err(Error::invalid(
                "particles of the block",
                format!("{:?}", lattice.counts),
                "at least 1 an axis",
            ));
        }
        let boundary = lattice.boundary(stride)?;
        Ok(Carried {
            triangles: boundary.triangles,
            sides: boundary.sides,
            index: boundary.particles,
            weights: boundary.weights,
            particles: lattice.len(),
        })
    }

    /// The surface `mesh` carried by particles at `positions` \[m\], see [`Surface::of_body`].
    ///
    /// # Errors
    /// When all particles near a vertex are in one plane, from which the vertex would not follow, or memory is short.
    pub fn of_body(mesh: &ClosedMesh, positions: &[[f64; 3]]) -> Result<Carried> {
        if positions.is_empty() {
            return Err(Error::invalid("particles of the body", 0, "at least 4"));
        }
        let spacing = (mesh.moments().volume / positions.len() as f64).cbrt();
        let carried = stencils(mesh.vertices(), positions, spacing)?;
        Ok(Carried {
            triangles: collect(mesh.triangles().iter().copied())?,
            sides: filled(mesh.triangles().len(), 0)?,
            index: carried.particles,
            weights: carried.weights,
            particles: positions.len(),
        })
    }

    /// Points without triangles, carried by the particles `own` of those at `positions` \[m\], `spacing` \[m\] apart.
    ///
    /// # Errors
    /// When a point is farther than four spacings from them (markers stand on a surface), all particles near it are in one plane, or memory is short.
    pub fn of_points(
        points: &[[f64; 3]],
        positions: &[[f64; 3]],
        own: std::ops::Range<usize>,
        spacing: f64,
    ) -> Result<Carried> {
        let near = &positions[own.clone()];
        for (k, point) in points.iter().enumerate() {
            let away = near.iter().map(|x| norm(sub(*x, *point))).fold(f64::INFINITY, f64::min);
            if away.is_nan() || away > FARTHEST * spacing {
                let what = format!("distance of point {k} at {point:?} from the body");
                return Err(Error::invalid(what, away, format!("at most {}", FARTHEST * spacing)));
            }
        }
        let carried = stencils(points, near, spacing)?;
        Ok(Carried {
            triangles: Vec::new(),
            sides: Vec::new(),
            index: collect(carried.particles.iter().map(|i| i + own.start as u32))?,
            weights: carried.weights,
            particles: positions.len(),
        })
    }

    /// The surfaces of several bodies as one, of their particles one after the other. Sides of different bodies are different.
    ///
    /// # Errors
    /// When memory is short.
    pub fn join(parts: &[Carried]) -> Result<Carried> {
        let room = |count: fn(&Carried) -> usize| parts.iter().map(count).sum::<usize>();
        let mut all = Carried {
            triangles: with_room(room(|p| p.triangles.len()))?,
            sides: with_room(room(|p| p.sides.len()))?,
            index: with_room(room(|p| p.index.len()))?,
            weights: with_room(room(|p| p.weights.len()))?,
            particles: 0,
        };
        for (k, part) in parts.iter().enumerate() {
            let (vertices, particles) = (all.vertex_count() as u32, all.particles as u32);
            all.triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + vertices)));
            all.sides.extend(part.sides.iter().map(|side| side + SIDES * k as u32));
            all.index.extend(part.index.iter().map(|i| i + particles));
            all.weights.extend(&part.weights);
            all.particles += part.particles;
        }
        Ok(all)
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.index.len() / CARRIERS
    }
}

/// The boundary of bodies of particles, or points of them. Its vertices are linear in the particle positions, so their gradient is exact.
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
    /// On a device.
    ///
    /// # Errors
    /// When memory is short.
    pub fn new(device: &Device, carried: Carried) -> Result<Surface<F>> {
        let weights: Vec<F> = collect(carried.weights.iter().map(|&w| F::from_f64(w)))?;
        Ok(Surface {
            triangles: carried.triangles,
            sides: carried.sides,
            index: device.array(&carried.index)?,
            weight: device.array(&weights)?,
            particles: carried.particles,
        })
    }

    /// The boundary of a block of particles, with every `stride`-th corner of its lattice as a vertex.
    ///
    /// # Errors
    /// When the block has no particles or memory is short.
    pub fn of_block(device: &Device, lattice: &BlockLattice, stride: usize) -> Result<Surface<F>> {
        Surface::new(device, Carried::of_block(lattice, stride)?)
    }

    /// The surface `mesh` carried by the particles of the body that it encloses, at `positions` \[m\] now. Each vertex is a
    /// combination of eight particles near it, with the weights of moving least squares: it is where it is in `mesh` at
    /// rest, and follows every affine motion exactly. [`sides`](Surface::sides) are all 0.
    ///
    /// # Errors
    /// When all particles near a vertex are in one plane, from which the vertex would not follow, or memory is short.
    pub fn of_body(device: &Device, mesh: &ClosedMesh, positions: &[[f64; 3]]) -> Result<Surface<F>> {
        Surface::new(device, Carried::of_body(mesh, positions)?)
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
