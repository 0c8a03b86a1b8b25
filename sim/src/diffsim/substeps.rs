//! One step: substeps of semi-implicit or of backward Euler.

use super::elastic::Elastic;
use super::ground::Ground;
use super::kernels::{damped_velocity, ground_friction, ground_push, held_positions, implicit_residual};
use super::mesh::DeviceMesh;
use super::solver::DifferentiableSolver;
use crate::error::{Error, Result};
use crate::fem::tets::kernels::{elastic_forces, mean_velocity, rest_shape};
use crate::fem::tets::{check_orientation, solve_to};
use crate::material::QuadraticNeoHookean;
use crate::vertices::kernels::drift;
use diffkern::implicit::{self, Method, SolveOptions};
use diffkern::prelude::*;

/// Positions \[m\] and velocities \[m/s\] of all vertices.
pub type Pair<F> = (Array<Vec3<F>>, Array<Vec3<F>>);

impl DifferentiableSolver {
    /// Positions and velocities a step after `x` and `v`, of a body of this `material` whose vertices have the `masses` \[kg\]. Vertices whose
    /// entry in `fixed` is not 0 stay where they are.
    ///
    /// The gradient is by the material, the masses, the places at rest of the mesh, `x` and `v`; it is zero by the velocity of fixed vertices. That of
    /// explicit substeps is exact; that of implicit ones as exact as they are solved. It is one-sided nowhere.
    ///
    /// Nothing is read back but what implicit substeps ask: an inverted element or a number that is not finite shows in the result, and
    /// is an error of [`Simulator::rollout`](super::Simulator::rollout).
    ///
    /// ```
    /// use diffkern::prelude::*;
    /// use diffkern_sim::diffsim::{DifferentiableSolver, Elastic, TetMesh, vertex_masses};
    ///
    /// let device = Device::cpu();
    /// let mesh = TetMesh::block([1, 1, 1], [0.0, 0.5, 0.0], [0.1; 3])?.on::<f64>(&device)?;
    /// let material = Elastic::uniform(&device, 1e4, 0.3)?;
    /// let masses = vertex_masses(&mesh, &device.array(&[1000.0])?)?;
    /// let solver = DifferentiableSolver { damping: 1.0, ..DifferentiableSolver::default() };
    /// let (v, fixed) = (device.zeros(8)?, device.zeros(8)?);
    /// let (x, v) = solver.step(&mesh, &material, &mesh.rest, &v, &masses, &fixed)?;
    /// assert!((v.to_vec()?[0].y + 9.8 * 0.01).abs() < 1e-12 && x.to_vec()?[0].y < 0.5);
    /// # Ok::<(), diffkern_sim::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a setting is out of its range, an array has the wrong length, or an implicit substep is not solved.
    pub fn step<F: Float>(
        &self,
        mesh: &DeviceMesh<F>,
        material: &Elastic<F>,
        x: &Array<Vec3<F>>,
        v: &Array<Vec3<F>>,
        masses: &Array<F>,
        fixed: &Array<u32>,
    ) -> Result<Pair<F>> {
        let device = x.device();
        let gravity = device.array(&[F::from_f64(self.gravity)])?;
        let damping = device.array(&[F::from_f64(self.damping)])?;
        let bound = Bound::new(self, mesh, material, (masses, fixed), (gravity, damping))?;
        bound.check_lengths(x, v)?;
        Ok(bound.step(x, v)?)
    }
}

/// A solver with all that it acts on but the state.
#[derive(Clone, Debug)]
pub(crate) struct Bound<F: Float> {
    pub(super) tets: Array<u32>,
    pub(super) inverse: Array<Mat3<F>>,
    pub(super) q: Array<Vec4<F>>,
    pub(super) masses: Array<F>,
    pub(super) fixed: Array<u32>,
    pub(super) gravity: Array<F>,
    damping: Array<F>,
    pub(super) ground: Option<Ground>,
    substeps: usize,
    /// Length of a substep \[s\].
    h: F,
    /// Of implicit substeps.
    implicit: Option<SolveOptions>,
}

impl<F: Float> Bound<F> {
    pub(crate) fn new(
        solver: &DifferentiableSolver,
        mesh: &DeviceMesh<F>,
        material: &Elastic<F>,
        (masses, fixed): (&Array<F>, &Array<u32>),
        (gravity, damping): (Array<F>, Array<F>),
    ) -> Result<Bound<F>> {
        solver.check()?;
        let (vertices, elements, device) = (mesh.rest.len(), mesh.tets.len() / 4, mesh.rest.device());
        let lengths = [("masses", masses.len()), ("fixed", fixed.len())].map(|(what, len)| (what, len, vertices));
        for (what, len, expected) in
            lengths.into_iter().chain([("gravity", gravity.len(), 1), ("damping", damping.len(), 1)])
        {
            same_length(what, len, expected)?;
        }
        let (mu, lambda) = material.lame(elements)?;
        let (inverse, q) = (device.uninit(elements)?, device.uninit(elements)?);
        // Forces do not ask for the density.
        let density = device.full(1, F::one())?;
        rest_shape(elements, &mesh.rest, &mesh.tets, &mu, &lambda, &density, &inverse, &q)?;
        let options = solve_to::<F>(solver.tolerance, Method::Cg);
        Ok(Bound {
            tets: mesh.tets.clone(),
            inverse,
            q,
            masses: masses.clone(),
            fixed: fixed.clone(),
            gravity,
            damping,
            ground: solver.ground,
            substeps: solver.substeps,
            h: F::from_f64(solver.dt / solver.substeps as f64),
            implicit: solver.use_implicit_diff.then_some(options),
        })
    }

    /// Whether there are as many positions and velocities as vertices.
    pub(crate) fn check_lengths(&self, x: &Array<Vec3<F>>, v: &Array<Vec3<F>>) -> Result<()> {
        same_length("positions", x.len(), self.masses.len())?;
        same_length("velocities", v.len(), self.masses.len())
    }

    /// Whether no element is turned inside out after so many steps.
    pub(crate) fn check_orientation(&self, x: &Array<Vec3<F>>, step: usize) -> Result<()> {
        check_orientation(x, &self.tets, &self.inverse, step)
    }

    pub(crate) fn step(&self, x: &Array<Vec3<F>>, v: &Array<Vec3<F>>) -> diffkern::Result<Pair<F>> {
        (0..self.substeps).try_fold((x.clone(), v.clone()), |(x, v), _| {
            let v = self.rubbed(&x, v)?;
            match self.implicit {
                Some(options) => self.implicit(&x, &v, options),
                None => self.explicit(&x, &v),
            }
        })
    }

    /// Velocities after the friction on the ground.
    fn rubbed(&self, x: &Array<Vec3<F>>, v: Array<Vec3<F>>) -> diffkern::Result<Array<Vec3<F>>> {
        let Some(ground) = self.ground else { return Ok(v) };
        let slowed = x.device().uninit(x.len())?;
        ground_friction(x.len(), x, &v, &self.masses, &self.fixed, &slowed, ground.force(), self.h)?;
        Ok(slowed)
    }

    /// Of the elements, and of the ground along y.
    fn forces(&self, x: &Array<Vec3<F>>) -> diffkern::Result<Array<Vec3<F>>> {
        let force = x.device().zeros(x.len())?;
        elastic_forces::<F, QuadraticNeoHookean>(self.q.len(), x, &self.tets, &self.inverse, &self.q, &force)?;
        if let Some(ground) = self.ground {
            ground_push(x.len(), x, &self.fixed, &force, ground.force())?;
        }
        Ok(force)
    }

    fn explicit(&self, x: &Array<Vec3<F>>, v: &Array<Vec3<F>>) -> diffkern::Result<Pair<F>> {
        let (n, device) = (x.len(), x.device());
        let (x_next, v_next) = (device.uninit(n)?, device.uninit(n)?);
        let Bound { masses, fixed, gravity, damping, h, .. } = self;
        damped_velocity(n, v, &self.forces(x)?, masses, fixed, gravity, damping, &v_next, *h)?;
        drift(n, x, &v_next, &x_next, *h)?;
        Ok((x_next, v_next))
    }

    /// Newton's method begins at `x`: there the vertices that are fixed are where they stay, and no element is inverted.
    fn implicit(&self, x: &Array<Vec3<F>>, v: &Array<Vec3<F>>, options: SolveOptions) -> diffkern::Result<Pair<F>> {
        let (n, device) = (x.len(), x.device());
        let Bound { masses, fixed, gravity, damping, h, .. } = self;
        let end = implicit::root(x.clone(), options, |y: &Array<Vec3<F>>| {
            let (held, residual) = (device.uninit(n)?, device.uninit(n)?);
            held_positions(n, y, x, fixed, &held)?;
            implicit_residual(n, y, x, v, &self.forces(&held)?, masses, fixed, gravity, damping, &residual, *h)?;
            Ok(residual)
        })?;
        let v_next = device.uninit(n)?;
        mean_velocity(n, &end, x, &v_next, *h)?;
        Ok((end, v_next))
    }
}

fn same_length(what: &str, len: usize, expected: usize) -> Result<()> {
    match len == expected {
        true => Ok(()),
        false => Err(Error::invalid(format!("length of {what}"), len, expected.to_string())),
    }
}
