//! What forces change in a step: accelerations by lumped masses, with corrections towards the consistent mass.

use super::control::Control;
use super::kernels::{carry, surface_forces};
use super::loads::Loads;
use super::mass::{kick, lumped_acceleration, next_term};
use super::model::Solver;
use super::params::Params;
use diffkern::arith;
use diffkern::prelude::*;

impl<F: Float> Solver<F> {
    /// `M b`.
    fn inert(&self, b: &Array<Vec3<F>>) -> diffkern::Result<Array<Vec3<F>>> {
        let (grid, device) = (self.grid(), b.device());
        let sum = device.zeros(b.len())?;
        grid.add_inertia(b, &self.mass, &sum)?;
        if let (Some(Loads { carriers, .. }), Some(load)) = (self.loads(), &self.params().loads) {
            let moved = device.uninit(load.len())?;
            carry(load.len(), b, &grid.rows, &carriers.cells, &carriers.at, &moved)?;
            surface_forces(load.len(), &moved, load, &grid.rows, &carriers.cells, &carriers.at, &sum)?;
        }
        Ok(sum)
    }

    /// Velocities after a step of `force` and of what pushes the body, and what of them these change: by lumped masses, which move by no less than half as much as these with a correction.
    pub(super) fn ahead(
        &self,
        v: &Array<Vec3<F>>,
        force: &Array<Vec3<F>>,
        pushes: &Array<Vec3<F>>,
        dt: f64,
    ) -> diffkern::Result<[Array<Vec3<F>>; 2]> {
        let (ties, device, n) = (&self.grid().ties, v.device(), v.len());
        // Series of more corrections than one move the surface by more.
        let (dt, one) = (F::from_f64(dt * 0.5 * (1 + self.corrections()).max(2) as f64), F::one());
        let (whole, [all, own]) =
            (arith::scaled_sum(&[(one, force), (one, pushes)])?, [device.uninit(n)?, device.uninit(n)?]);
        lumped_acceleration(n, &whole, &self.lumped, ties, &self.params().gravity, &all)?;
        lumped_acceleration(n, pushes, &self.lumped, ties, &device.zeros(1)?, &own)?;
        Ok([arith::scaled_sum(&[(one, v), (dt, &all)])?, arith::scale(&own, dt)?])
    }

    /// Velocities after a step of all forces, by the lumped masses with their corrections.
    pub(super) fn kicked(
        &self,
        v: &Array<Vec3<F>>,
        force: &Array<Vec3<F>>,
        control: &Control<F>,
        dt: F,
    ) -> diffkern::Result<Array<Vec3<F>>> {
        let (grid, device, n) = (self.grid(), v.device(), v.len());
        let Params { gravity, damping, .. } = self.params();
        let drive = control.drive.as_ref().unwrap_or(&grid.undriven);
        // Relative to the clamps.
        let gravity = &match &control.drive {
            Some(drive) => arith::scaled_sum(&[(F::one(), gravity), (-F::one(), drive)])?,
            None => gravity.clone(),
        };
        let (mut b, next) = (device.uninit(n)?, device.uninit(n)?);
        lumped_acceleration(n, force, &self.lumped, &grid.ties, gravity, &b)?;
        let (first, mut sum) = (b.clone(), self.inert(&b)?);
        for k in 1..self.corrections() {
            let term = device.uninit(n)?;
            next_term(n, &first, &b, &sum, &self.lumped, &grid.ties, &term)?;
            sum = self.inert(&term)?;
            b = term;
            if k + 1 == self.corrections() {
                // The kick takes `2 b - D^-1 M b`, where the series has `a + b - D^-1 M b`.
                b = arith::scaled_sum(&[(F::from_f64(0.5), &first), (F::from_f64(0.5), &b)])?;
            }
        }
        kick(n, v, &b, &sum, &self.lumped, &grid.ties, damping, drive, &next, dt)?;
        Ok(next)
    }
}
