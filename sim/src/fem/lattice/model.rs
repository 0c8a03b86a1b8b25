//! Bodies in their lattices, and their steps.

use super::assembly::Assembly;
use super::between::{BodyContact, Surfaces};
use super::body::CutBody;
use super::contact::{BoundTouching, Touching};
use super::control::Control;
use super::grid::Grid;
use super::loads::{Loads, lump_loads};
use super::mass::{lump_cells, pack_branch, pack_points};
use super::params::Params;
use super::stability::{Fastest, Linear, Load};
use super::state::State;
use crate::contact::{Collider, Obstacles};
use crate::error::{Error, Result, non_negative, positive};
use crate::fem::activation::contract;
use crate::fem::bulk::{pack_bulk, resist_compression};
use crate::fem::relaxation::{Relaxation, relax, settle};
use crate::fem::stress::{add_viscous_stress, stress};
use crate::material::{Law, with_law};
use crate::mesh::Point;
use crate::step::{Step, Tick};
use crate::vertices::kernels::drift;
use crate::vertices::one_or;
use diffkern::prelude::*;
use std::sync::Arc;

/// Part of the longest stable step of the body at rest that is taken: it stiffens when it is compressed, to four times its stiffness where a ball hits a floor at a
/// quarter of the speed of its waves, and the error of a frequency `w`, `(w dt)^2 / 24`, should be below that of the cells.
const CAUTION: f64 = 0.25;
/// The same with all of the surface in contact; without and with friction between bodies. What that stops in a step is of first order in its length.
const CONTACT_CAUTION: [f64; 2] = [0.4, 0.3];

/// Most passes over the mass matrix.
const MOST_CORRECTIONS: usize = 16;

/// The constant part of a solid: its cells, and what it may touch.
#[derive(Clone, Debug)]
pub struct Model<F: Float> {
    device: Device,
    grid: Grid<F>,
    bodies: Arc<Assembly>,
    law: Law,
    dt: f64,
    touching: Touching<F>,
    loads: Option<Loads<F>>,
    /// Passes over the mass matrix of a step.
    corrections: usize,
    /// `Q h^2` \[m^2\] of bulk viscosity, of all cells or of each.
    bulk: Option<Array<F>>,
}

/// A solid with its parameters: takes a state to the next.
#[derive(Clone, Debug)]
pub struct Solver<F: Float> {
    model: Model<F>,
    params: Params<F>,
    pub(super) q: Array<Vec4<F>>,
    /// Of a material that relaxes `(V G, 1 / T)` of each stress point.
    pub(super) branch: Option<Array<Vec2<F>>>,
    /// `Q V rho h^2` of each stress point with bulk viscosity \[kg m^2\].
    bulk: Option<Array<F>>,
    pub(super) mass: Array<F>,
    pub(super) lumped: Array<F>,
    touching: BoundTouching<F>,
}

/// The Maxwell branches of a solver and their memory in a state.
pub(super) struct Remembered<'a, F: Float> {
    /// `(V G, 1 / T)` of each stress point.
    pub(super) branch: &'a Array<Vec2<F>>,
    pub(super) memory: &'a Array<Mat3<F>>,
}

/// What acts in a step.
struct Forces<F: Float> {
    /// On the control points, without those of contacts \[N\].
    force: Array<Vec3<F>>,
    /// The memory of the material at the end of the step.
    memory: Option<Array<Mat3<F>>>,
}

impl<F: Float> Model<F> {
    /// A cut body, with steps of `dt` \[s\]. Colliders act by forces, their stiffness a pressure per depth \[Pa/m\], see
    /// [`floor`](super::floor).
    ///
    /// # Errors
    /// When a collider acts on velocities or a value of it is out of its range, or memory is short.
    pub fn new(device: &Device, body: &CutBody, law: Law, dt: f64, colliders: &[Collider]) -> Result<Model<F>> {
        Model::of_bodies(device, &Assembly::from(body.clone()), law, dt, colliders)
    }

    /// Several cut bodies, otherwise the same. They do not touch each other unless they are [told](Model::with_body_contact) how.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub fn of_bodies(
        device: &Device,
        bodies: &Assembly,
        law: Law,
        dt: f64,
        colliders: &[Collider],
    ) -> Result<Model<F>> {
        positive("time step", dt)?;
        if let Some(k) = colliders.iter().position(|c| c.contact.numbers().is_none()) {
            let expected = "one by forces, such as `Contact::Penalty`: control points lie outside of the body, and what acts on \
                            their velocities would begin too early and take energy";
            return Err(Error::invalid(
                format!("contact of collider {k}"),
                format!("{:?}", colliders[k].contact),
                expected,
            ));
        }
        let grid = Grid::new(device, bodies)?;
        Ok(Model {
            device: device.clone(),
            touching: Touching::new(device, &grid, colliders)?,
            bodies: Arc::new(bodies.clone()),
            law,
            dt,
            grid,
            loads: None,
            corrections: 1,
            bulk: None,
        })
    }

    /// The same with accelerations by so many corrections towards the consistent mass; 1 otherwise. Of a wave of seven cells the first leaves an error of
    /// some percent of the frequency, each further one some tenth of that, for a fifth of a step. Steps become shorter, as what is lighter swings faster.
    ///
    /// # Errors
    /// When there are none, or more than 16.
    pub fn with_mass_corrections(self, corrections: usize) -> Result<Model<F>> {
        match (1..=MOST_CORRECTIONS).contains(&corrections) {
            true => Ok(Model { corrections, ..self }),
            false => Err(Error::invalid("number of mass corrections", corrections, format!("1 to {MOST_CORRECTIONS}"))),
        }
    }

    /// The same with a [bulk viscosity](crate::fem::bulk) of the coefficient `Q`, usually [`QUADRATIC`](crate::fem::bulk::QUADRATIC), for bodies that hit at a fifth of the speed of
    /// their waves and more; 0 is none, as otherwise, and costs nothing.
    ///
    /// # Errors
    /// When it is negative, or memory is short.
    pub fn with_bulk_viscosity(self, quadratic: f64) -> Result<Model<F>> {
        let bulk = match non_negative("coefficient of bulk viscosity", quadratic)? {
            0.0 => None,
            quadratic => Some(self.grid.squares(&self.device, &self.bodies, quadratic)?),
        };
        Ok(Model { bulk, ..self })
    }

    /// The same with bodies that touch each other.
    ///
    /// # Errors
    /// When a value of the contact is out of its range or there is not one for each body, or memory is short.
    pub fn with_body_contact(self, contact: &BodyContact) -> Result<Model<F>> {
        Ok(Model { touching: self.touching.with(&self.device, &self.bodies, contact)?, ..self })
    }

    /// The same with points \[m\] of bodies at rest, by the number of each body, from which masses hang:
    /// [`Params::loads`] has one for each.
    ///
    /// # Errors
    /// When there is no such body, a point is not on it, or memory is short.
    pub fn with_loads(self, points: &[(usize, Point)]) -> Result<Model<F>> {
        let loads = Loads::new(&self.device, &self.bodies, points)?;
        Ok(Model { loads: (!points.is_empty()).then_some(loads), ..self })
    }

    /// The same state, of a material that has kept this deformation for so long that its Maxwell branch is free of stress.
    ///
    /// # Errors
    /// When the state is of another body, or memory is short.
    pub fn settled(&self, state: &State<F>) -> Result<State<F>> {
        self.is_of_the_body(state)?;
        let f = self.grid.gradients(&self.device, &state.x)?;
        let memory = self.device.uninit(f.len())?;
        settle(f.len(), &f, &memory)?;
        Ok(State { memory: Some(memory), ..state.clone() })
    }

    fn is_of_the_body(&self, state: &State<F>) -> Result<()> {
        let nodes = self.grid.nodes;
        match state.len() == nodes {
            true => Ok(()),
            false => Err(Error::invalid("number of control points", state.len(), format!("{nodes}, as in the body"))),
        }
    }

    /// The default parameters of the surfaces of bodies that touch each other.
    ///
    /// # Errors
    /// When memory is short.
    pub fn surfaces(&self) -> Result<Option<Surfaces<F>>> {
        self.touching.surfaces(&self.device)
    }

    /// The same with steps of another length \[s\].
    ///
    /// # Errors
    /// When it is not positive.
    pub fn with_dt(self, dt: f64) -> Result<Model<F>> {
        Ok(Model { dt: positive("time step", dt)?, ..self })
    }

    /// Time step \[s\].
    pub fn dt(&self) -> f64 {
        self.dt
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn assembly(&self) -> &Assembly {
        &self.bodies
    }

    /// The colliders on the device: from them come the default parameters of their contacts.
    pub fn obstacles(&self) -> Option<&Obstacles<F>> {
        self.touching.obstacles()
    }

    /// A solver with these parameters for states like `state`. Call it where the tape records, so that gradients reach them.
    ///
    /// # Errors
    /// When a parameter has the wrong length.
    pub fn solver(&self, params: &Params<F>, state: &State<F>) -> Result<Solver<F>> {
        let (grid, device) = (&self.grid, &self.device);
        self.is_of_the_body(state)?;
        let per_cell = [("mu", &params.mu), ("lambda", &params.lambda), ("density", &params.density)];
        let relaxation = params.relaxation.iter();
        let relaxation = relaxation.flat_map(|r| [("relaxation modulus", &r.modulus), ("relaxation time", &r.time)]);
        let viscosity = params.viscosity.iter().map(|eta| ("viscosity", eta));
        for (what, array) in per_cell.into_iter().chain(viscosity).chain(relaxation) {
            one_or(what, array.len(), grid.cells, "cell")?;
        }
        params.fibres.iter().try_for_each(|fibres| one_or("fibres", fibres.len(), grid.cells, "cell"))?;
        one_or("damping", params.damping.len(), grid.nodes, "control point")?;
        if params.gravity.len() != 1 {
            return Err(Error::invalid("length of gravity", params.gravity.len(), "1"));
        }
        let points = self.loads.as_ref().map_or(0, |loads| loads.carriers.len());
        let masses = params.loads.as_ref().map_or(0, |loads| loads.len());
        if masses != points {
            return Err(Error::invalid("number of loads", masses, format!("{points}, as in the model")));
        }
        let Params { mu, lambda, density, .. } = params;
        let q = device.uninit(grid.point_volumes.len())?;
        let viscosity = params.viscosity.clone().map_or_else(|| device.zeros(1), Ok)?;
        pack_points(q.len(), mu, lambda, &viscosity, &grid.point_volumes, &q)?;
        let (mass, lumped) = (device.uninit(grid.cells)?, device.zeros(grid.nodes)?);
        lump_cells(grid.cells, density, &grid.volumes, &grid.rows, &grid.shapes, &mass, &lumped)?;
        if let (Some(Loads { carriers, .. }), Some(load)) = (&self.loads, &params.loads) {
            lump_loads(load.len(), load, &grid.rows, &carriers.cells, &carriers.at, &lumped)?;
        }
        let branch = match &params.relaxation {
            None => None,
            Some(Relaxation { modulus, time }) => {
                let branch = device.uninit(q.len())?;
                pack_branch(branch.len(), &q, modulus, time, &branch)?;
                Some(branch)
            }
        };
        let bulk = match &self.bulk {
            None => None,
            Some(squares) => {
                let bulk = device.uninit(q.len())?;
                pack_bulk(bulk.len(), &q, density, squares, &bulk)?;
                Some(bulk)
            }
        };
        let touching = self.touching.bind(device, grid, params)?;
        let solver = Solver { model: self.clone(), params: params.clone(), q, branch, bulk, mass, lumped, touching };
        solver.remembered(state)?;
        Ok(solver)
    }
}

impl<F: Float> crate::step::Model for Model<F> {
    type State = State<F>;
    type Params = Params<F>;
    type Control = Control<F>;
    type Step = Solver<F>;

    fn bind(&self, params: &Params<F>, state: &State<F>) -> Result<Solver<F>> {
        self.solver(params, state)
    }

    /// A quarter of the longest step `2 / w` that linear theory allows of the body at rest, less by viscosity; with all of its surface in
    /// contact two fifths, with friction between bodies three tenths. Damping of contacts is not in it: what of it acts in a step is of the velocity before, and large values need shorter ones.
    fn max_dt(&self, params: &Params<F>, state: &State<F>) -> Result<f64> {
        let solver = self.solver(params, state)?;
        let stiffnesses = solver.touching.stiffnesses(self.bodies.bodies().len())?;
        let caution = CONTACT_CAUTION[usize::from(solver.touching.bodies_rub())];
        let free = solver.fastest(|_| 0.0)?.into_iter().map(|f| CAUTION * f.stable_step());
        let touched = solver.fastest(|k| stiffnesses[k])?.into_iter().zip(&stiffnesses);
        let touched = touched.map(|(f, &k)| if k > 0.0 { caution * f.stable_step() } else { f64::INFINITY });
        positive("stable time step", free.chain(touched).fold(f64::INFINITY, f64::min))
    }
}

impl<F: Float> Solver<F> {
    /// Lumped mass of each control point \[kg\]: `sum m v` is the momentum, of the steps too.
    pub fn lumped_masses(&self) -> &Array<F> {
        &self.lumped
    }

    /// The fastest motion of each body at rest with springs of a stiffness \[Pa/m\] on all of its surface.
    pub(super) fn fastest(&self, stiffness: impl Fn(usize) -> f64) -> Result<Vec<Fastest>> {
        let mut q: Vec<[f64; 4]> = self.q.to_vec()?.iter().map(|q| q.to_array().map(F::to_f64)).collect();
        if let Some(branch) = &self.branch {
            // Fast motions meet the branch as an elastic one.
            q.iter_mut().zip(branch.to_vec()?).for_each(|(q, branch)| q[0] += branch.x.to_f64());
        }
        let host = |array: &Array<F>| Ok::<_, Error>(array.to_vec()?.into_iter().map(F::to_f64).collect::<Vec<_>>());
        let (mass, lumped, bodies) = (host(&self.mass)?, host(&self.lumped)?, self.bodies());
        let loads = self.loads_on_host()?;
        let own = |(k, body): (usize, &CutBody)| {
            let (cells, nodes) = (bodies.cells(k), bodies.nodes(k));
            let q = &q[8 * cells.start..8 * cells.end];
            let linear = Linear::new(body, q, &mass[cells], &lumped[nodes], stiffness(k));
            linear.with(&loads[k]).corrected(self.model.corrections).fastest()
        };
        Ok(bodies.bodies().iter().enumerate().map(own).collect())
    }

    pub(super) fn is_of_the_body(&self, state: &State<F>) -> Result<()> {
        self.model.is_of_the_body(state)
    }

    pub(super) fn params(&self) -> &Params<F> {
        &self.params
    }

    pub(super) fn grid(&self) -> &Grid<F> {
        &self.model.grid
    }

    pub(super) fn touching(&self) -> &BoundTouching<F> {
        &self.touching
    }

    /// Where the control points are when forces act in a step.
    pub(super) fn middle(&self, state: &State<F>, tick: Tick) -> diffkern::Result<Array<Vec3<F>>> {
        let middle = self.model.device.uninit(state.len())?;
        drift(state.len(), &state.x, &state.v, &middle, F::from_f64(0.5 * tick.dt))?;
        Ok(middle)
    }

    pub(super) fn law(&self) -> Law {
        self.model.law
    }

    pub(super) fn bodies(&self) -> &Assembly {
        &self.model.bodies
    }

    pub(super) fn loads(&self) -> Option<&Loads<F>> {
        self.model.loads.as_ref()
    }

    /// The point masses of each body.
    pub(super) fn loads_on_host(&self) -> Result<Vec<Vec<Load>>> {
        let bodies = &self.model.bodies;
        let mut all = vec![Vec::new(); bodies.bodies().len()];
        if let (Some(Loads { carried, body_of, .. }), Some(masses)) = (&self.model.loads, &self.params.loads) {
            for (k, mass) in masses.to_vec()?.into_iter().enumerate() {
                let (cell, own) = (carried.cells[k] as usize, bodies.cells(body_of[k]));
                // What is held does not move.
                if own.contains(&cell) {
                    all[body_of[k]].push(Load { cell: cell - own.start, at: carried.at[k], mass: mass.to_f64() });
                }
            }
        }
        Ok(all)
    }

    /// The Maxwell branch of each stress point and what it remembers, where the material relaxes.
    pub(super) fn remembered<'a>(&'a self, state: &'a State<F>) -> Result<Option<Remembered<'a, F>>> {
        let found = match (&self.branch, &state.memory) {
            (None, None) => return Ok(None),
            (Some(branch), Some(memory)) if branch.len() == memory.len() => {
                return Ok(Some(Remembered { branch, memory }));
            }
            (_, None) => "none".into(),
            (_, Some(memory)) => format!("one of {} stress points", memory.len()),
        };
        let expected = match &self.branch {
            None => "none, as the material does not relax".into(),
            Some(branch) => format!("one of {} stress points, as `Model::settled` makes it of a state", branch.len()),
        };
        Err(Error::invalid("memory of the state", found, expected))
    }

    /// Deformation gradients at the stress points.
    pub(super) fn deformations(&self, x: &Array<Vec3<F>>) -> diffkern::Result<Array<Mat3<F>>> {
        self.model.grid.gradients(&self.model.device, x)
    }

    /// Elastic and viscous forces on the control points at `x`, and those from outside.
    fn forces(&self, x: &Array<Vec3<F>>, state: &State<F>, outer: &Control<F>, dt: F) -> diffkern::Result<Forces<F>> {
        let (grid, device, n) = (&self.model.grid, &self.model.device, self.q.len());
        let (f, p) = (self.deformations(x)?, device.uninit(n)?);
        with_law!(self.model.law, M => stress::<F, M>(n, &f, &self.q, &p))?;
        if self.params.viscosity.is_some() || self.bulk.is_some() {
            let rate = grid.gradients(device, &state.v)?;
            if self.params.viscosity.is_some() {
                add_viscous_stress(n, &f, &rate, &self.q, &p)?;
            }
            if let Some(bulk) = &self.bulk {
                resist_compression(n, &f, &rate, bulk, &p)?;
            }
        }
        if let Some(activation) = &outer.activation {
            let missing =
                || Error::invalid("fibres that are activated", "none", "those of each cell, in `Params::fibres`");
            contract(n, &f, &self.q, self.params.fibres.as_ref().ok_or_else(missing)?, activation, &p)?;
        }
        let memory = match self.remembered(state)? {
            Some(Remembered { branch, memory }) => {
                let next = device.uninit(n)?;
                relax(n, &f, memory, branch, &p, &next, dt)?;
                Some(next)
            }
            None => None,
        };
        let force = device.zeros(grid.nodes)?;
        if let Some(outer) = &outer.force {
            force.copy_from(outer)?;
        }
        grid.add_forces(&p, &force)?;
        Ok(Forces { force, memory })
    }

    pub(super) fn corrections(&self) -> usize {
        self.model.corrections
    }
}

impl<F: Float> Step for Solver<F> {
    type State = State<F>;
    type Control = Control<F>;

    fn dt(&self) -> f64 {
        self.model.dt
    }

    /// Half a drift, a kick by the forces there, half a drift: second order and symplectic, with one force a step. The damping of contacts, friction between bodies
    /// and viscosity take the velocity before the kick, and are of first order in the step; friction of colliders takes it after all other forces.
    fn step(&self, state: &State<F>, control: &Control<F>, tick: Tick) -> diffkern::Result<State<F>> {
        let Control { force: _, activation, drive } = control;
        let [activations, drives] = [activation.as_ref().map(Array::len), drive.as_ref().map(Array::len)];
        activations.map_or(Ok(()), |len| one_or("activation", len, self.model.grid.cells, "cell"))?;
        match drives {
            None => {}
            Some(1) if self.model.bodies.bodies().iter().any(CutBody::has_held) => {}
            Some(1) => {
                let expected = "none, as nothing is held by a clamp";
                return Err(Error::invalid("acceleration of clamps", "one", expected).into());
            }
            Some(len) => return Err(Error::invalid("length of the acceleration of clamps", len, "1").into()),
        }
        let (n, middle) = (state.len(), self.middle(state, tick)?);
        let Forces { force, memory } = self.forces(&middle, state, control, F::from_f64(tick.dt))?;
        let between = Tick { time: tick.time + 0.5 * tick.dt, ..tick };
        self.touching.add(&self.model.grid, &middle, &state.v, &force, between, |pushed| {
            self.ahead(&state.v, &force, pushed, tick.dt)
        })?;
        let v = self.kicked(&state.v, &force, control, F::from_f64(tick.dt))?;
        let x = self.model.device.uninit(n)?;
        drift(n, &middle, &v, &x, F::from_f64(0.5 * tick.dt))?;
        Ok(State { x, v, memory })
    }

    /// Whether all numbers are finite and no stress point is turned inside out.
    fn check(&self, state: &State<F>, step: usize) -> Result<()> {
        state.check(step)?;
        for (index, (f, q)) in self.deformations(&state.x)?.to_vec()?.iter().zip(self.q.to_vec()?).enumerate() {
            let det = f.determinant().to_f64();
            if q.w > F::zero() && (det.is_nan() || det <= 0.0) {
                return Err(Error::Inverted { what: "cell", index: index / 8, step, det });
            }
        }
        Ok(())
    }
}
