//! What a run takes, from its scene alone.
//!
//! Work is in what a step of one particle or one cell costs, which is measured; all other costs are parts of it, found by timing.

use super::super::setup;
use super::elements;
use super::stepping::{RigidPlan, Spec};
use crate::error::Result;
use crate::job::{Simulator, Values};
use crate::program::GridOptions;
use crate::scene::Scene;
use diffkern::Device;
use diffkern_sim::scene::{self, ElasticPlan};

/// Work of a step beside its particles: the launches themselves.
const LAUNCHES: f64 = 500.0;
/// Work of a node that a step works on, and of one that a frame may reach: whether it is in an obstacle.
const NODE: f64 = 0.1;
const NEAR_NODE: f64 = 0.4;
/// Share of a step in a node that is not worked on: its block is looked at.
const IDLE_NODE: f64 = 0.004;
/// Work of a frame for each particle (is the state sound?), vertex and pixel.
const CHECKED: f64 = 3.0;
const VERTEX: f64 = 8.0;
const PIXEL: f64 = 1.2;
/// Particles of which a step costs what that of a cell of finite elements does.
const CELL: f64 = 8.0;
/// Work of a step beside its cells, and of a point of contact.
const CELL_LAUNCHES: f64 = 150.0;
const CONTACT: f64 = 0.06;
/// The same of a step of rigid bodies, beside its points.
const RIGID_LAUNCHES: f64 = 300.0;
/// Reals of a step that a tape keeps of each point of a rigid body: sweeps over its impulses.
const RIGID_TAPED: f64 = 100.0;
/// Reals of a step that a tape keeps, for each particle and node, or each cell and vertex.
const TAPED: [f64; 2] = [24.0, 7.0];
/// Work of a step of a particle where the nodes of MPM move with the body.
const LASTING: f64 = 1.5;
const CELL_TAPED: [f64; 2] = [220.0, 10.0];
/// The same of a cell with a memory, beside these: what it was, and what it is.
const MEMORY_TAPED: f64 = 150.0;

/// What a run takes.
pub(crate) enum Plan {
    Mpm(scene::Plan),
    Fem(ElasticPlan),
    Rigid(RigidPlan),
}

impl Plan {
    /// Of a take.
    ///
    /// # Errors
    /// When the simulator refuses a value of the scene.
    pub(crate) fn of(scene: &Scene, take: usize, known: &Values, options: &GridOptions) -> Result<Self> {
        match options.simulator {
            Simulator::Mpm | Simulator::Tlmpm => Ok(Self::Mpm(setup::spec(scene, take, known, options).plan()?)),
            Simulator::Fem => Ok(Self::Fem(elements::spec(scene, take, known, options).plan()?)),
            Simulator::Rigid => Ok(Self::Rigid(Spec::new(scene, take, known, options)?.plan())),
        }
    }

    /// A rigid box, step by step.
    pub(crate) fn of_box() -> Self {
        Self::Rigid(RigidPlan { steps_per_frame: 1.0, points: 8.0, vertices: 8.0 })
    }

    pub(crate) fn steps_per_frame(&self) -> f64 {
        match self {
            Self::Mpm(plan) => plan.steps_per_frame,
            Self::Fem(plan) => plan.steps_per_frame,
            Self::Rigid(plan) => plan.steps_per_frame,
        }
    }

    /// Particles or cells.
    pub(crate) fn elements(&self) -> f64 {
        match self {
            Self::Mpm(plan) => plan.particles(),
            Self::Fem(plan) => plan.cells,
            Self::Rigid(plan) => plan.points,
        }
    }

    /// Nodes of the grid, or control points.
    pub(crate) fn nodes(&self) -> f64 {
        match self {
            Self::Mpm(plan) => plan.nodes(),
            Self::Fem(plan) => plan.nodes,
            Self::Rigid(plan) => plan.vertices,
        }
    }

    /// Nodes that are thought to be worked on, or may be without harm.
    pub(crate) fn allowed_nodes(&self, device: &Device) -> f64 {
        match self {
            Self::Mpm(plan) => plan.allowed_nodes(device),
            Self::Fem(plan) => plan.nodes,
            Self::Rigid(plan) => plan.vertices,
        }
    }

    /// Reals of such a node.
    pub(crate) fn node_reals(&self) -> f64 {
        match self {
            Self::Mpm(plan) => plan.node_reals(),
            // Of these no step looks for nodes.
            Self::Fem(_) | Self::Rigid(_) => 1.0,
        }
    }

    /// Most particles and nodes.
    pub(crate) fn most() -> f64 {
        scene::Plan::MOST
    }

    /// Memory at its peak, without pictures, with reals of `real` bytes and `tangents` directions of forward mode \[bytes\].
    pub(crate) fn bytes(&self, device: &Device, real: f64, tangents: f64) -> f64 {
        match self {
            Self::Mpm(plan) => plan.bytes(device, real, tangents),
            Self::Fem(plan) => plan.bytes(real, tangents),
            Self::Rigid(plan) => real * (1.0 + tangents) * RIGID_TAPED * (plan.points + plan.vertices),
        }
    }

    /// Memory of a step on a tape \[bytes\].
    pub(crate) fn taped(&self, device: &Device, real: f64) -> f64 {
        match self {
            // No search goes by nodes that move with the body, so no tape is planned for.
            Self::Mpm(plan) => real * (TAPED[0] * plan.particles() + TAPED[1] * plan.active_nodes(device)),
            Self::Fem(plan) => {
                let memory = if plan.relaxes { MEMORY_TAPED } else { 0.0 };
                real * ((CELL_TAPED[0] + memory) * plan.cells + CELL_TAPED[1] * (plan.nodes + plan.vertices))
            }
            Self::Rigid(plan) => real * RIGID_TAPED * (1.0 + plan.points),
        }
    }

    /// Work of a step.
    pub(crate) fn step(&self, device: &Device) -> f64 {
        match self {
            Self::Mpm(plan) => {
                let particle = if plan.lasting { LASTING } else { 1.0 };
                LAUNCHES
                    + particle * plan.particles()
                    + NODE * plan.active_nodes(device)
                    + IDLE_NODE * plan.near_nodes()
            }
            Self::Fem(plan) => CELL_LAUNCHES + plan.cells + CONTACT * plan.vertices,
            Self::Rigid(plan) => RIGID_LAUNCHES + plan.points,
        }
    }

    /// Work of a frame of `pixels` pixels beside its steps.
    pub(crate) fn frame(&self, pixels: f64) -> f64 {
        match self {
            Self::Mpm(plan) => {
                NEAR_NODE * plan.near_nodes() + CHECKED * plan.particles() + VERTEX * plan.vertices() + PIXEL * pixels
            }
            Self::Fem(plan) => plan.cells + (VERTEX * plan.vertices + PIXEL * pixels) / CELL,
            Self::Rigid(plan) => VERTEX * plan.vertices + PIXEL * pixels,
        }
    }

    /// Work of drawing colours too, and of writing them.
    pub(crate) fn drawing(&self, pixels: f64) -> f64 {
        match self {
            Self::Mpm(_) | Self::Rigid(_) => 3.0 * PIXEL * pixels,
            Self::Fem(_) => 3.0 * PIXEL * pixels / CELL,
        }
    }
}
