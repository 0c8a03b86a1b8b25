//! Runs of a body with one solver.

use super::elastic::Elastic;
use super::mesh::{DeviceMesh, TetMesh};
use super::solver::DifferentiableSolver;
use super::substeps::{Bound, Pair};
use crate::error::{Error, Result, positive};
use crate::fem::tets::kernels::{lump_mass, rest_shape};
use crate::vertices::{VertexState, held};
use diffkern::prelude::*;

/// A body at its start, and what moves it. All arrays may be replaced by others of the same length, so that gradients reach them.
#[derive(Clone, Debug)]
pub struct Simulator<F: Float> {
    /// The body at rest.
    pub mesh: DeviceMesh<F>,
    /// What it is made of.
    pub material: Elastic<F>,
    /// How steps are made; of its `gravity` and `damping` are the two arrays below at first.
    pub solver: DifferentiableSolver,
    /// Density at rest \[kg/m^3\], one element for all tetrahedra or one for each.
    pub density: Array<F>,
    /// Mass of each vertex \[kg\], in place of what the density says.
    pub masses: Option<Array<F>>,
    /// Acceleration along y \[m/s^2\], one element.
    pub gravity: Array<F>,
    /// What a substep leaves of a velocity, one element.
    pub damping: Array<F>,
    /// Positions at the start \[m\]: first those at rest.
    pub x: Array<Vec3<F>>,
    /// Velocities at the start \[m/s\]: first zero.
    pub v: Array<Vec3<F>>,
    /// Not 0 for vertices that stay where they are.
    pub fixed: Array<u32>,
}

impl<F: Float> Simulator<F> {
    /// A body of this `density` \[kg/m^3\], at rest, on a device.
    ///
    /// # Errors
    /// When a setting or the density is out of its range, or the material has numbers for another mesh.
    pub fn new(
        mesh: &TetMesh,
        material: Elastic<F>,
        solver: DifferentiableSolver,
        density: f64,
        device: &Device,
    ) -> Result<Simulator<F>> {
        solver.check()?;
        positive("density [kg/m^3]", density)?;
        let one = |value: f64| device.array(&[F::from_f64(value)]);
        let (gravity, damping, density) = (one(solver.gravity)?, one(solver.damping)?, one(density)?);
        let (mesh, n) = (mesh.on(device)?, mesh.vertices().len());
        let (x, v, fixed) = (mesh.rest.clone(), device.zeros(n)?, device.zeros(n)?);
        Ok(Simulator { mesh, material, solver, density, masses: None, gravity, damping, x, v, fixed })
    }

    /// The same with these vertices held where they are.
    ///
    /// # Errors
    /// When an index is out of range.
    pub fn with_fixed(self, vertices: &[u32]) -> Result<Simulator<F>> {
        let fixed = held(self.x.device(), self.x.len(), vertices)?;
        Ok(Simulator { fixed, ..self })
    }

    /// The start and the ends of `num_steps` steps: `num_steps + 1` pairs of positions and velocities, each of which a loss may read.
    ///
    /// While a tape records, it keeps one pair in `checkpoint_every` and makes the launches between two of them again in `backward`, once; 0
    /// keeps all launches. Pairs that the caller keeps stay in memory too. The gradient is the same whichever is chosen, to rounding.
    /// Without a tape the pairs have the bits that they have under one.
    ///
    /// Gradients reach all arrays of the simulator. Call it where the tape records.
    ///
    /// # Errors
    /// As [`DifferentiableSolver::step`]. On a free vertex that starts at or below the ground `y = 0`. When an element is turned inside out at the end, or a
    /// number is not finite there: by its index and the first step at which it is.
    pub fn rollout(&self, num_steps: usize, checkpoint_every: usize) -> Result<Vec<Pair<F>>> {
        let bound = self.bound()?;
        bound.check_lengths(&self.x, &self.v)?;
        self.check_above_ground()?;
        let mut pairs = vec![(self.x.clone(), self.v.clone())];
        while let Some((x, v)) = pairs.last().filter(|_| pairs.len() <= num_steps).cloned() {
            let count = checkpoint_every.clamp(1, num_steps + 1 - pairs.len());
            match checkpoint_every {
                0 => pairs.push(bound.step(&x, &v)?),
                _ => pairs.extend(segment(&bound, (x, v), count)?),
            }
        }
        match check(&bound, &pairs, num_steps) {
            Ok(()) => Ok(pairs),
            Err(last) => Err((0..num_steps).find_map(|k| check(&bound, &pairs, k).err()).unwrap_or(last)),
        }
    }

    pub(super) fn bound(&self) -> Result<Bound<F>> {
        let masses = match &self.masses {
            Some(masses) => masses.clone(),
            None => vertex_masses(&self.mesh, &self.density)?,
        };
        let motion = (self.gravity.clone(), self.damping.clone());
        Bound::new(&self.solver, &self.mesh, &self.material, (&masses, &self.fixed), motion)
    }

    fn check_above_ground(&self) -> Result<()> {
        if self.solver.ground.is_none() {
            return Ok(());
        }
        let (x, fixed) = (self.x.to_vec()?, self.fixed.to_vec()?);
        match x.iter().zip(&fixed).position(|(x, &fixed)| fixed == 0 && x.y.to_f64() <= 0.0) {
            None => Ok(()),
            Some(k) => Err(Error::invalid(
                format!("height y of vertex {k} at the start [m]"),
                x[k].y,
                "a number above 0, the ground: y is up here, z in the scenes of this project; or `ground: None`",
            )),
        }
    }
}

/// The pairs after `count` steps from `start`, of which the tape keeps the start alone: a rollout of two steps, of which the second does
/// nothing, has to run the first again.
fn segment<F: Float>(bound: &Bound<F>, start: Pair<F>, count: usize) -> diffkern::Result<Vec<Pair<F>>> {
    let bound = bound.clone();
    diffkern::rollout(2, Schedule::Checkpoints(1), vec![start; count], move |pairs: &Vec<Pair<F>>, k| {
        if k > 0 {
            return Ok(pairs.clone());
        }
        let mut next: Vec<Pair<F>> = Vec::with_capacity(pairs.len());
        for _ in pairs {
            let (x, v) = next.last().unwrap_or(&pairs[0]);
            next.push(bound.step(x, v)?);
        }
        Ok(next)
    })
}

/// Whether the state after `step` steps still means something.
fn check<F: Float>(bound: &Bound<F>, pairs: &[Pair<F>], step: usize) -> Result<()> {
    let (x, v) = pairs[step].clone();
    VertexState { x: x.clone(), v }.check(step)?;
    bound.check_orientation(&x, step)
}

/// Masses \[kg\] of the vertices: a quarter of `density` \[kg/m^3\], one element for all or one for each, times volume from each tetrahedron at a
/// vertex. Differentiable by the density and the places at rest.
///
/// # Errors
/// When the density has neither one element nor one for each tetrahedron.
pub fn vertex_masses<F: Float>(mesh: &DeviceMesh<F>, density: &Array<F>) -> Result<Array<F>> {
    let (device, n) = (mesh.rest.device(), mesh.tets.len() / 4);
    crate::vertices::one_or("density", density.len(), n, "tetrahedron")?;
    let (inverse, q, none) = (device.uninit(n)?, device.uninit(n)?, device.zeros(1)?);
    rest_shape(n, &mesh.rest, &mesh.tets, &none, &none, density, &inverse, &q)?;
    let masses = device.zeros(mesh.rest.len())?;
    lump_mass(n, &mesh.tets, &q, &masses)?;
    Ok(masses)
}
