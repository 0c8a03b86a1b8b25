//! One implicit step: the end of backward Euler, or of half a step, as a minimum.
//!
//! With `x^ = x + h v + h^2 g` the end `y` minimises `m/2 |y - x^|^2 + h^2 (elastic energy + barriers + friction)` among all places of the free
//! vertices. The search goes down that energy by Newton's method with a matrix made positive (conjugate gradients), as far as barriers let it go
//! and until it falls enough (Armijo); near the minimum [`implicit::root_after`] goes on with the true derivatives, and they alone are those of the
//! step: its gradient never sees the matrix of the search.
//!
//! Sources: Gast, Schroeder, Stomakhin, Jiang, Teran: Optimization integrator for large time steps, 2015; Smith, de Goes, Kim: Stable neo-Hookean flesh
//! simulation, 2018; Li et al.: Incremental potential contact, 2020.

use super::curvature::{Modes, elastic_blocks, elastic_modes, elastic_products, implicit_blocks, implicit_product};
use super::kernels::{elastic_energies, euler_residual, held_ahead, inertial_energies};
use super::model::Solver;
use crate::contact::{Barriers, longest};
use crate::error::Error;
use crate::material::with_law;
use crate::step::Tick;
use crate::vertices::VertexState;
use crate::vertices::kernels::drift;
use diffkern::implicit::{self, Method, Preconditioner, SolveOptions};
use diffkern::prelude::*;
use diffkern::{arith, reduce};

/// How far steps are solved. Friction below its slip makes a matrix with a condition of 1e5, which gradients lose.
const TOLERANCE: f64 = 1e-11;
/// Least tolerance of implicit steps in `f32`.
const SINGLE: f64 = 1e-5;
/// Iterations of a search, at most.
const ITERATIONS: usize = 500;
/// Halvings of a step along one, at most.
const HALVINGS: usize = 40;
/// Least part of the decrease that the slope promises (Armijo's condition).
const DECREASE: f64 = 1e-4;
/// Residual that a direction leaves of its linear system, and the most products it may take.
const FORCING: f64 = 1e-2;
const PRODUCTS: usize = 10_000;
/// Part of the length scale below which the longest displacement of a direction ends the search; and within which it may end where the energy
/// has no digits left to decrease by.
const NEAR: [f64; 2] = [1e-3, 0.1];

/// A step from a state.
pub(super) struct Implicit<'a, F: Float> {
    solver: &'a Solver<F>,
    state: &'a VertexState<F>,
    barriers: Option<Barriers<F>>,
    /// When it begins \[s\].
    time: f64,
    /// Its length \[s\].
    h: F,
}

/// The matrix of a direction, positive definite.
struct Curvature<F: Float> {
    modes: Array<Modes<F>>,
    contact: Array<Mat3<F>>,
}

/// How equations are solved whose vectors have this precision: in `f32` no further than it goes.
pub(crate) fn solve_to<F: Float>(tolerance: f64, method: Method) -> SolveOptions {
    let least = if size_of::<F>() < 8 { SINGLE } else { 0.0 };
    SolveOptions { tolerance: tolerance.max(least), method, ..SolveOptions::default() }
}

impl<'a, F: Float> Implicit<'a, F> {
    pub(super) fn new(
        solver: &'a Solver<F>,
        state: &'a VertexState<F>,
        tick: Tick,
    ) -> diffkern::Result<Implicit<'a, F>> {
        let obstacles = solver.motion.obstacles.as_ref();
        let barriers = obstacles.map(|obstacles| obstacles.barriers(&state.x, tick)).transpose()?;
        Ok(Implicit { solver, state, barriers, time: tick.time, h: F::from_f64(tick.dt) })
    }

    /// The position at the end.
    pub(super) fn end(&self) -> diffkern::Result<Array<Vec3<F>>> {
        implicit::root_after(self.state.x.clone(), |_| self.search(), |y: &Array<Vec3<F>>| self.residual(y))
    }

    /// Zero at the end.
    fn residual(&self, y: &Array<Vec3<F>>) -> diffkern::Result<Array<Vec3<F>>> {
        let (n, VertexState { x, v }, motion) = (y.len(), self.state, &self.solver.motion);
        let (at, residual) = (y.device().uninit(n)?, y.device().uninit(n)?);
        held_ahead(n, y, x, v, &motion.held, &at, self.h)?;
        let force = self.solver.forces(&at)?;
        if let Some(barriers) = &self.barriers {
            barriers.add_forces(&at, &motion.held, &force)?;
        }
        let (mass, held, gravity, damping) = (&motion.mass, &motion.held, &motion.gravity, &motion.damping);
        euler_residual(n, y, x, v, &force, mass, held, gravity, damping, &residual, self.h)?;
        Ok(residual)
    }

    /// That of which the residual of free vertices is the derivative; not a number beyond a barrier.
    fn energy(&self, y: &Array<Vec3<F>>) -> diffkern::Result<f64> {
        let (n, elements, motion, device) = (y.len(), self.solver.q.len(), &self.solver.motion, y.device());
        let (inertial, stored, elastic) = (device.zeros(n)?, device.zeros(n)?, device.uninit(elements)?);
        let (VertexState { x, v }, Solver { model, inverse, q, .. }) = (self.state, self.solver);
        let (mass, held, gravity, damping) = (&motion.mass, &motion.held, &motion.gravity, &motion.damping);
        inertial_energies(n, y, x, v, mass, held, gravity, damping, &inertial, self.h)?;
        with_law!(model.law, M => elastic_energies::<F, M>(elements, y, &model.tets, inverse, q, &elastic))?;
        if let Some(barriers) = &self.barriers {
            barriers.add_energies(y, held, &stored)?;
        }
        let total = reduce::sum(&inertial)?;
        for part in [reduce::sum(&elastic)?, reduce::sum(&stored)?] {
            arith::add_scaled(&part, self.h * self.h, &total)?;
        }
        Ok(total.to_vec()?[0].to_f64())
    }

    /// Where a search may begin, with its energy: where vertices are, or move on to, out of the way of all colliders; or all free ones moved as far as
    /// the one that has to make way most.
    fn start(&self) -> diffkern::Result<(Array<Vec3<F>>, f64)> {
        let (n, VertexState { x, v }, held) = (self.state.len(), self.state, &self.solver.motion.held);
        let still = self.still()?;
        // Where they are, vertices are in the way of colliders only if one of these moves.
        let energy = match self.barriers.as_ref().map_or(Ok(false), Barriers::any_moves)? {
            true => self.cleared(&still)?,
            false => self.finite_energy(&still)?,
        };
        if let Some(energy) = energy {
            return Ok((still, energy));
        }
        let moved = x.device().uninit(n)?;
        drift(n, x, v, &moved, self.h)?;
        if let Some(energy) = self.cleared(&moved)? {
            return Ok((moved, energy));
        }
        let (before, after) = (self.still()?.to_vec()?, still.to_vec()?);
        let ways = before.iter().zip(&after).map(|(a, b)| *b - *a);
        let way = ways.fold(Vec3::zero(), |most: Vec3<F>, way| match way.norm_squared() > most.norm_squared() {
            true => way,
            false => most,
        });
        let all = before.into_iter().zip(held.to_vec()?).map(|(x, held)| if held == 0 { x + way } else { x });
        let all = x.device().array(&all.collect::<Vec<_>>())?;
        match self.cleared(&all)? {
            Some(energy) => Ok((all, energy)),
            None => Err(self.without_energy(&all)?),
        }
    }

    /// Where vertices are, held ones where they move on to.
    fn still(&self) -> diffkern::Result<Array<Vec3<F>>> {
        let (n, VertexState { x, v }) = (self.state.len(), self.state);
        let still = x.device().uninit(n)?;
        held_ahead(n, x, x, v, &self.solver.motion.held, &still, self.h)?;
        Ok(still)
    }

    /// The energy at `y` where vertices make way for colliders, if it is finite.
    fn cleared(&self, y: &Array<Vec3<F>>) -> diffkern::Result<Option<f64>> {
        if let Some(barriers) = &self.barriers {
            barriers.clear(y, &self.solver.motion.held)?;
        }
        self.finite_energy(y)
    }

    fn finite_energy(&self, y: &Array<Vec3<F>>) -> diffkern::Result<Option<f64>> {
        Ok(Some(self.energy(y)?).filter(|energy| energy.is_finite()))
    }

    /// Why a step cannot begin.
    fn without_energy(&self, y: &Array<Vec3<F>>) -> diffkern::Result<diffkern::Error> {
        let (held, time, h) = (&self.solver.motion.held, self.time, self.h.to_f64());
        let Some(barriers) = &self.barriers else {
            return Ok(self.inverted());
        };
        if let Some((vertex, collider, gap)) = barriers.touching_before(held)? {
            let what = format!("gap of vertex {vertex} to collider {collider} at {time} s [m]");
            let expected = "a positive one: a barrier pushes before touch, so begin apart from it";
            return Ok(Error::invalid(what, gap, expected).into());
        }
        let Some((vertex, collider, gap)) = barriers.touching_at(y, held)? else {
            return Ok(self.inverted());
        };
        let what = format!("gap of vertex {vertex} to collider {collider} after a step of {h} s from {time} s [m]");
        Ok(Error::invalid(what, gap, "a positive one: colliders meet there, or a shorter step is needed").into())
    }

    fn inverted(&self) -> diffkern::Error {
        let what = format!("energy of the implicit step from {} s", self.time);
        let expected = "a finite one: elements are inverted where it begins, so take a shorter step";
        Error::invalid(what, "infinite or not a number", expected).into()
    }

    /// Goes down the energy; gives where that ends, and how to go on.
    fn search(&self) -> diffkern::Result<(Array<Vec3<F>>, implicit::Solver)> {
        let scale = self.solver.length_scale()?;
        let (mut y, mut energy) = self.start()?;
        let mut length = f64::INFINITY;
        for iteration in 0..ITERATIONS {
            let residual = self.residual(&y)?;
            let (d, preconditioner) = self.direction(&y, &residual)?;
            let slope = reduce::dot(&residual, &d)?.to_vec()?[0].to_f64();
            length = longest(&d)? / scale;
            if !length.is_finite() {
                return Err(not_converged(iteration, length));
            }
            let further = match length <= NEAR[0] {
                true => None,
                false => self.line_search(&y, &d, (energy, slope))?,
            };
            match further {
                Some((place, lower)) => (y, energy) = (place, lower),
                None if length <= NEAR[1] => return Ok((y, self.newton_solver(preconditioner))),
                None => return Err(not_converged(iteration, length)),
            }
        }
        Err(not_converged(ITERATIONS, length))
    }

    /// Along a direction, as far as gaps allow, until the energy decreases enough: there, and the energy.
    fn line_search(
        &self,
        y: &Array<Vec3<F>>,
        d: &Array<Vec3<F>>,
        (energy, slope): (f64, f64),
    ) -> diffkern::Result<Option<(Array<Vec3<F>>, f64)>> {
        let mut share = match &self.barriers {
            Some(barriers) => barriers.step_bound(y, d, &self.solver.motion.held)?,
            None => 1.0,
        };
        for _ in 0..HALVINGS {
            let moved = arith::scale(y, F::one())?;
            arith::add_scaled(d, F::from_f64(share), &moved)?;
            let lower = self.energy(&moved)?;
            if lower <= energy + DECREASE * share * slope && lower < energy {
                return Ok(Some((moved, lower)));
            }
            share /= 2.0;
        }
        Ok(None)
    }

    /// How to go on near the minimum, where the matrix is symmetric but for what is sampled.
    fn newton_solver(&self, preconditioner: Preconditioner) -> implicit::Solver {
        let symmetric = self.solver.motion.obstacles.as_ref().is_none_or(|obstacles| obstacles.are_shapes());
        let method = if symmetric { Method::Minres } else { SolveOptions::default().method };
        solve_to::<F>(TOLERANCE, method).preconditioned(preconditioner)
    }

    /// Down the energy, and the preconditioner of its system.
    fn direction(
        &self,
        y: &Array<Vec3<F>>,
        residual: &Array<Vec3<F>>,
    ) -> diffkern::Result<(Array<Vec3<F>>, Preconditioner)> {
        let curvature = self.curvature(y)?;
        let preconditioner = self.preconditioner(&curvature)?;
        let options = SolveOptions { tolerance: FORCING, iterations: PRODUCTS, method: Method::Cg };
        let down = arith::scale(residual, -F::one())?;
        let product = |d: &Array<Vec3<F>>| self.product(&curvature, d);
        Ok((implicit::linear_solve(down, options.preconditioned(preconditioner.clone()), product)?, preconditioner))
    }

    fn curvature(&self, y: &Array<Vec3<F>>) -> diffkern::Result<Curvature<F>> {
        let (elements, device) = (self.solver.q.len(), y.device());
        let (modes, contact) = (device.uninit(elements)?, device.zeros(y.len())?);
        let Solver { model, inverse, q, .. } = self.solver;
        with_law!(model.law, M => elastic_modes::<F, M>(elements, y, &model.tets, inverse, q, &modes))?;
        if let Some(barriers) = &self.barriers {
            barriers.add_blocks(y, &self.solver.motion.held, &contact)?;
        }
        Ok(Curvature { modes, contact })
    }

    fn product(&self, curvature: &Curvature<F>, d: &Array<Vec3<F>>) -> diffkern::Result<Array<Vec3<F>>> {
        let (n, Solver { model, inverse, motion, .. }) = (d.len(), self.solver);
        let (elastic, product) = (d.device().zeros(n)?, d.device().uninit(n)?);
        elastic_products(self.solver.q.len(), d, &model.tets, inverse, &curvature.modes, &elastic)?;
        implicit_product(n, d, &elastic, &curvature.contact, &motion.mass, &motion.held, &product, self.h)?;
        Ok(product)
    }

    fn preconditioner(&self, curvature: &Curvature<F>) -> diffkern::Result<Preconditioner> {
        let Curvature { modes, contact } = curvature;
        let (n, Solver { model, inverse, motion, .. }) = (self.state.len(), self.solver);
        let (elastic, blocks) = (contact.device().zeros(n)?, contact.device().uninit(n)?);
        elastic_blocks(self.solver.q.len(), &model.tets, inverse, modes, &elastic)?;
        implicit_blocks(n, &elastic, contact, &motion.mass, &motion.held, &blocks, self.h)?;
        Preconditioner::block_diagonal(&blocks)
    }
}

/// A search that ends with displacements of so many length scales.
fn not_converged(iterations: usize, residual: f64) -> diffkern::Error {
    diffkern::Error::NotConverged { what: "search of an implicit step", iterations, residual, tolerance: NEAR[0] }
}
