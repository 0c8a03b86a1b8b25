//! What a scene takes, before anything of it is made.

use super::body::Counts;
use super::extent::Extent;
use crate::error::{Error, Result};
use crate::mpm::blocks::FEW_NODES;
use crate::mpm::{Blocks, Dim3, Grid};
use diffkern::Device;

/// Most steps of a frame: beyond, their number as a real is no longer exact in what is computed from it.
const MOST_STEPS: f64 = 1e15;
/// Nodes that the stencils of a row of particles need beyond its cells, with those that fill its blocks.
const RIM: f64 = 7.0;
/// Reals of a particle: three states, those that are checked on the host, a sorted copy, the packed material.
const PARTICLE_REALS: f64 = 120.0;
/// The same where nodes move with the body: states have their phase, and a step what particles see of the nodes.
const LASTING_PARTICLE_REALS: f64 = 180.0;
/// Reals of an active node: momentum and mass in as many copies as threads usually add into, and velocity.
const NODE_REALS: f64 = 15.0;
/// The same of one that moves with the body: velocity, displacement and force of three states, and where it was.
const LASTING_NODE_REALS: f64 = 50.0;
/// Bytes of a node, active or not: the half-spaces that it is in, on the host and on the device, and its share of a block.
const NODE_BYTES: f64 = 8.5;
/// Bytes of a vertex of the surface beside its reals: indices and weights on host and device, triangles, normals.
const VERTEX_BYTES: f64 = 500.0;

/// How many particles, nodes and steps a [`BodiesSpec`](super::BodiesSpec) takes. Of bodies that are no blocks, particles and
/// vertices are estimates. Counts are reals, because they may be more
/// than any integer holds.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Per body.
    pub(super) counts: Vec<Counts>,
    /// Edge of a cube of the smallest particle's volume \[m\].
    pub(super) apart: f64,
    /// Time step \[s\].
    pub dt: f64,
    /// Steps from one frame to the next.
    pub steps_per_frame: f64,
    /// How far a particle may get in a frame \[m\].
    pub(super) reach: f64,
    /// Node distance \[m\].
    pub dx: f64,
    pub(super) extent: Extent,
    /// Whether nodes move with the body, all the time or for some steps: [`Transfer::Lagrangian`](crate::mpm::Transfer::Lagrangian).
    pub lasting: bool,
}

impl Plan {
    /// Most particles and most nodes: kernels count them in 32 bits.
    pub const MOST: f64 = i32::MAX as f64;

    /// Reals of an active node.
    pub fn node_reals(&self) -> f64 {
        if self.lasting { LASTING_NODE_REALS } else { NODE_REALS }
    }

    /// Number of particles.
    pub fn particles(&self) -> f64 {
        self.counts.iter().map(|body| body.particles).sum()
    }

    /// Nodes of the grid.
    pub fn nodes(&self) -> f64 {
        self.extent.nodes.iter().product()
    }

    /// Nodes that the particles may reach in a frame, at most.
    pub fn near_nodes(&self) -> f64 {
        let along = |body: &Counts, a: usize| {
            let near = (0.5 * body.cells[a] + 2.0 * self.reach / self.dx).ceil() + RIM + 2.0;
            near.min(self.extent.nodes[a])
        };
        let near: f64 = self.counts.iter().map(|body| (0..3).map(|a| along(body, a)).product::<f64>()).sum();
        near.min(self.nodes())
    }

    /// Nodes that a step on `device` works on while the block has about its shape.
    pub fn active_nodes(&self, device: &Device) -> f64 {
        let near = self.near_nodes();
        if !self.lasting && !Blocks::Auto.sparse(device, near as usize, self.particles() as usize) {
            return near;
        }
        let of = |body: &Counts| body.cells.iter().map(|n| 0.5 * n + RIM).product::<f64>();
        self.counts.iter().map(of).sum::<f64>().min(near)
    }

    /// Nodes that a step may work on before it looks for the occupied ones, or while the block has about its shape.
    pub fn allowed_nodes(&self, device: &Device) -> f64 {
        self.active_nodes(device) + FEW_NODES as f64 + 2.0 * self.particles()
    }

    /// Vertices of the surface.
    pub fn vertices(&self) -> f64 {
        self.counts.iter().map(|body| body.vertices).sum()
    }

    /// Memory that a run on `device` needs at its peak, without pictures, with reals of `real` bytes and `tangents` directions
    /// of forward mode \[bytes\]. Particles that scatter need more nodes than this counts.
    pub fn bytes(&self, device: &Device, real: f64, tangents: f64) -> f64 {
        let nodes = self.node_reals() * self.active_nodes(device);
        let particle = if self.lasting { LASTING_PARTICLE_REALS } else { PARTICLE_REALS };
        let reals = particle * self.particles() + nodes + 6.0 * self.vertices();
        real * (1.0 + tangents) * reals
            + NODE_BYTES * (self.nodes() + self.near_nodes())
            + VERTEX_BYTES * self.vertices()
    }

    /// The grid.
    pub(super) fn grid(&self) -> Result<Grid<Dim3>> {
        self.extent.grid()
    }

    /// Refuses what kernels cannot count.
    pub(super) fn check(&self) -> Result<()> {
        let particles = self.particles();
        if particles.is_nan() || particles > Plan::MOST {
            let expected = "at most 2^31; fewer cells, or a block less long for its thickness, needs fewer";
            return Err(Error::invalid("number of particles", format!("{particles:.2e}"), expected));
        }
        if self.steps_per_frame.is_nan() || self.steps_per_frame > MOST_STEPS {
            let expected = "at most 1e15; a softer, denser or slower block, or more frames a second, needs fewer";
            return Err(Error::invalid("steps of a frame", format!("{:.2e}", self.steps_per_frame), expected));
        }
        Ok(())
    }
}
