//! An elastic block.

use super::bodies::{BodiesScene, BodiesSpec};
use super::body::{BodyShape, BodySpec};
use super::plan::Plan;
use crate::error::{Error, Result};
use crate::mesh::{BlockLattice, Surface};
use crate::mpm::{Dim3, HalfSpace, Law, Model, Params, State, Transfer};
use diffkern::prelude::*;

/// Description of a scene with one block of elastic material, stress free at the start.
///
/// Ranges are `[smallest, largest]`; a known value is a range of width 0. See [the crate](crate) for an example.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockSpec {
    /// Corner with the smallest coordinates \[m\].
    pub min: [f64; 3],
    /// Corner with the largest coordinates \[m\].
    pub max: [f64; 3],
    /// Initial velocity of the centre \[m/s\].
    pub velocity: [f64; 3],
    /// Initial angular velocity about the centre \[rad/s\].
    pub angular_velocity: [f64; 3],
    /// Elastic law.
    pub law: Law,
    /// First Lamé parameter \[Pa\].
    pub mu: [f64; 2],
    /// Second Lamé parameter \[Pa\].
    pub lambda: [f64; 2],
    /// Density at rest \[kg/m^3\].
    pub density: [f64; 2],
    /// Viscosity \[Pa s\].
    pub viscosity: [f64; 2],
    /// Rate at which velocities decay \[1/s\].
    pub damping: [f64; 2],
    /// Gravity \[m/s^2\]; there is none by default.
    pub gravity: [f64; 3],
    /// Floors, walls and clamps.
    pub half_spaces: Vec<HalfSpace<Dim3>>,
    /// Time to simulate \[s\].
    pub duration: f64,
    /// Frames a second \[1/s\].
    pub frame_rate: f64,
    /// Grid cells across the thinnest side, two particles a cell and axis.
    pub cells: usize,
    /// See [`Stability::cfl`](crate::mpm::Stability::cfl).
    pub cfl: f64,
    /// How velocities pass between particles and grid.
    pub transfer: Transfer,
    /// Room on the grid beyond the predicted motion \[m\].
    pub reach: f64,
}

impl Default for BlockSpec {
    /// A 10 cm cube of soft gel that floats weightless for a second.
    fn default() -> BlockSpec {
        BlockSpec {
            min: [0.0; 3],
            max: [0.1; 3],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            law: Law::NeoHookean,
            mu: [5e3; 2],
            lambda: [1e4; 2],
            density: [1e3; 2],
            viscosity: [0.0; 2],
            damping: [0.0; 2],
            gravity: [0.0; 3],
            half_spaces: Vec::new(),
            duration: 1.0,
            frame_rate: 32.0,
            cells: 5,
            cfl: 0.3,
            transfer: Transfer::Apic,
            reach: 0.0,
        }
    }
}

/// A block ready to run.
#[derive(Clone, Debug)]
pub struct BlockScene<F: Float> {
    /// Grid, time step, law, obstacles.
    pub model: Model<Dim3, F>,
    /// State at time 0.
    pub state: State<Dim3, F>,
    /// Boundary of the block.
    pub surface: Surface<F>,
    /// Lattice of the particles at rest.
    pub lattice: BlockLattice,
    /// Steps from one frame to the next.
    pub steps_per_frame: usize,
    spec: BlockSpec,
    bodies: BodiesScene<F>,
}

impl BlockSpec {
    /// Particles, grid, time step and surface on `device`.
    ///
    /// # Errors
    /// When a value is out of its range, or memory is short.
    pub fn build<F: Float>(&self, device: &Device) -> Result<BlockScene<F>> {
        let bodies = self.bodies()?.build::<F>(device)?;
        Ok(BlockScene {
            model: bodies.model.clone(),
            state: bodies.state.clone(),
            surface: bodies.surface.clone(),
            lattice: self.lattice(),
            steps_per_frame: bodies.steps_per_frame,
            spec: self.clone(),
            bodies,
        })
    }

    /// How many particles, nodes and steps it takes; allocates nothing.
    ///
    /// # Errors
    /// When a value is out of its range.
    pub fn plan(&self) -> Result<Plan> {
        self.bodies()?.plan()
    }

    /// The particles at rest: as near to cubic cells as whole numbers allow.
    pub fn lattice(&self) -> BlockLattice {
        self.shape().counts(self.spacing()).lattice(self.min)
    }

    fn shape(&self) -> BodyShape {
        BodyShape::Block { min: self.min, max: self.max }
    }

    /// Distance of the particles \[m\].
    fn spacing(&self) -> f64 {
        let thinnest = self.shape().sides().into_iter().fold(f64::INFINITY, f64::min);
        thinnest / (2 * self.cells) as f64
    }

    /// The same scene, with the block as the only one of its bodies.
    ///
    /// # Errors
    /// When there are no cells.
    pub fn bodies(&self) -> Result<BodiesSpec> {
        if self.cells == 0 {
            return Err(Error::invalid("cells across the thinnest side", 0, "at least 1"));
        }
        let block = BodySpec {
            shape: self.shape(),
            velocity: self.velocity,
            angular_velocity: self.angular_velocity,
            top_speed: 0.0,
            mu: self.mu,
            lambda: self.lambda,
            density: self.density,
            viscosity: self.viscosity,
            relaxation: None,
        };
        Ok(BodiesSpec {
            bodies: vec![block],
            law: self.law,
            damping: self.damping,
            gravity: self.gravity,
            half_spaces: self.half_spaces.clone(),
            colliders: Vec::new(),
            duration: self.duration,
            frame_rate: self.frame_rate,
            spacing: self.spacing(),
            cfl: self.cfl,
            transfer: self.transfer,
            bulk_viscosity: 0.0,
            material_clamps: false,
            reach: self.reach,
        })
    }
}

impl<F: Float> BlockScene<F> {
    /// Parameters with this `mu` and `lambda` \[Pa\], all others in the middle of their ranges.
    ///
    /// # Errors
    /// When memory is short.
    pub fn params(&self, device: &Device, mu: f64, lambda: f64) -> Result<Params<Dim3, F>> {
        let one = |x: f64| device.array(&[F::from_f64(x)]);
        Ok(Params { mu: one(mu)?, lambda: one(lambda)?, ..self.bodies.params(device)? })
    }

    /// The boundary with only every `stride`-th corner of the lattice as a vertex, to render faster.
    ///
    /// # Errors
    /// When memory is short.
    pub fn coarse_surface(&self, device: &Device, stride: usize) -> Result<Surface<F>> {
        Surface::of_block(device, &self.lattice, stride)
    }

    /// What it was made from.
    pub fn spec(&self) -> &BlockSpec {
        &self.spec
    }
}
