//! What stays the same during a simulation and is not identified: grid, time step, law, obstacles.

use super::blocks::{Active, Blocks, NODES};
use super::half_space::HalfSpace;
use super::lattice::Grid;
use super::order::Sorting;
use super::params::Params;
use super::solver::Solver;
use super::stability::Stability;
use super::state::State;
use super::stencil::GridShape;
use super::transfer::Transfer;
use crate::contact::{Collider, Contact, Obstacles};
use crate::error::{Error, Result, non_negative, positive};
use crate::material::Law;
use diffkern::memory::collect;
use diffkern::prelude::*;

/// Nodes up to this distance above a surface belong to the solid, in cells: a plane through nodes holds them.
pub(super) const ON_SURFACE: f64 = 1e-6;
/// Speed below which friction of particles by penalty fades \[m/s\].
const PARTICLE_SLIP_SPEED: f64 = 1e-3;
/// Cells that the fastest wave may cross in the longest stable step.
const CFL: f64 = 0.3;

/// The constant part of an MLS-MPM simulation.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern_sim::Step as _;
/// use diffkern_sim::mpm::{Contact, Dim2, Grid, HalfSpace, Law, Model, Params, State};
///
/// let device = Device::cpu();
/// let grid = Grid::<Dim2>::new([0.0, 0.0], 0.1, [20, 20])?;
/// let floor = HalfSpace::through([0.0, 0.3], [0.0, 1.0], Contact::Slip);
/// let model = Model::<Dim2, f64>::new(&device, grid, 1e-3, Law::NeoHookean, &[floor])?;
///
/// // A material of 1,000 kg/m^2 in particles of 0.0025 m^2, and its weight.
/// let params = Params::uniform(&device, 2e3, 3e3, 1e3, 2.5e-3, [0.0, -9.81])?;
/// let solver = model.solver(&params, 1)?;
/// let start = State::undeformed(&device, &[Vec2::new(1.0, 1.0)], &[Vec2::zero()])?;
/// let end = solver.advance(&start, 0, 100, Schedule::Auto)?; // a tenth of a second
/// assert!((end.v.to_vec()?[0].y + 0.981).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model<D: Dimension, F: Float> {
    device: Device,
    grid: Grid<D>,
    dt: f64,
    law: Law,
    transfer: Transfer,
    cutoff: f64,
    bulk: f64,
    spacing: f64,
    half_spaces: Vec<HalfSpace<D>>,
    /// Two entries a half-space, see `particles_to_grid`; neither friction nor stiffness are in them.
    pub(crate) planes: Array<Vec4<F>>,
    pub(crate) kinds: Array<u32>,
    friction: Array<F>,
    stiffness: Array<F>,
    /// The half-spaces that a node is in, one bit each, block by block; one of no half-space where none acts on nodes.
    pub(crate) masks: Array<u32>,
    blocks: Blocks,
    sorting: Sorting,
    most_nodes: usize,
    obstacles: Option<Obstacles<F>>,
    /// By how much the radius of each particle is more than half of `spacing`, or of all \[m\].
    pub(super) wider: Array<F>,
    /// All blocks.
    pub(super) all: Active,
    /// The half-spaces that act on particles, one bit each.
    pub(super) touching: u32,
    /// Those that hold a part of the body, one bit each.
    pub(super) clamps: u32,
}

impl<D: Dimension, F: Float> Model<D, F> {
    /// A model with time step `dt` \[s\].
    ///
    /// # Errors
    /// When a value is out of its range, or memory is short.
    pub fn new(device: &Device, grid: Grid<D>, dt: f64, law: Law, half_spaces: &[HalfSpace<D>]) -> Result<Self> {
        positive("time step", dt)?;
        if half_spaces.len() > 32 {
            return Err(Error::invalid("number of half-spaces", half_spaces.len(), "at most 32"));
        }
        half_spaces.iter().enumerate().try_for_each(|(k, h)| h.check(k))?;
        let touching = half_spaces.iter().rev().fold(0, |bits, h| bits << 1 | u32::from(h.kind().is_none()));
        let kinds: Vec<u32> = half_spaces.iter().map(|h| h.kind().unwrap_or(0)).collect();
        Ok(Model {
            device: device.clone(),
            grid,
            dt,
            law,
            transfer: Transfer::Apic,
            cutoff: 0.0,
            bulk: 0.0,
            spacing: 0.0,
            planes: device.array(&planes(half_spaces, 0.0))?,
            kinds: device.array(&or_one(kinds))?,
            friction: device.array(&or_one(half_spaces.iter().map(|h| F::from_f64(h.friction)).collect()))?,
            stiffness: device.array(&or_one(half_spaces.iter().map(|h| F::from_f64(stiffness(h))).collect()))?,
            masks: device.array(&masks(&grid, half_spaces)?)?,
            blocks: Blocks::Auto,
            sorting: Sorting::Auto,
            most_nodes: usize::MAX,
            obstacles: None,
            wider: device.zeros(1)?,
            all: Active::all(device, &grid)?,
            touching,
            clamps: 0,
            half_spaces: half_spaces.to_vec(),
        })
    }

    /// The same with nodes of at most `cutoff` \[kg\] left out. The default is 0: every node with mass takes part.
    #[must_use]
    pub fn with_mass_cutoff(self, cutoff: f64) -> Self {
        Model { cutoff, ..self }
    }

    /// The same with a [bulk viscosity](crate::fem::bulk) of the coefficient `Q`, usually [`QUADRATIC`](crate::fem::bulk::QUADRATIC), for bodies that are hit and keep their
    /// energy; 0 is none, as otherwise. APIC, which damps impacts anyway, has none.
    ///
    /// # Errors
    /// When it is negative.
    pub fn with_bulk_viscosity(self, quadratic: f64) -> Result<Self> {
        Ok(Model { bulk: non_negative("coefficient of bulk viscosity", quadratic)?, ..self })
    }

    /// Its coefficient.
    pub fn bulk_viscosity(&self) -> f64 {
        self.bulk
    }

    /// The same working on these blocks of the grid. What it computes is the same but for rounding.
    #[must_use]
    pub fn with_blocks(self, blocks: Blocks) -> Self {
        Model { blocks, ..self }
    }

    /// The same with another transfer between particles and grid.
    ///
    /// # Errors
    /// When it is to last for no steps.
    pub fn with_transfer(self, transfer: Transfer) -> Result<Self> {
        transfer.check()?;
        Model { transfer, ..self }.checked_clamps()
    }

    /// The same with sticky half-spaces that hold what is in them at the beginning, and nothing that gets there later: a clamp as a part of the body, as
    /// [`fem::lattice::Clamp`](crate::fem::lattice::Clamp) is, in place of one as a part of space. A sticky floor that nothing is in at the beginning stops nothing then.
    ///
    /// # Errors
    /// When the [transfer](Model::with_transfer) is another than [`Transfer::LAGRANGIAN`]: nodes that do not stay with the body know no part of it.
    pub fn with_material_clamps(self) -> Result<Self> {
        let is_clamp = |h: &HalfSpace<D>| h.contact == Contact::Sticky;
        let clamps = self.half_spaces.iter().rev().fold(0, |bits, h| bits << 1 | u32::from(is_clamp(h)));
        Model { clamps, ..self }.checked_clamps()
    }

    fn checked_clamps(self) -> Result<Self> {
        if self.clamps == 0 || self.transfer.lasts() {
            return Ok(self);
        }
        let expected = "`Transfer::LAGRANGIAN`, by which nodes stay with the body";
        Err(Error::invalid("transfer of material clamps", format!("{:?}", self.transfer), expected))
    }

    /// The transfer between particles and grid.
    pub fn transfer(&self) -> Transfer {
        self.transfer
    }

    /// The blocks that it works on.
    pub fn blocks(&self) -> Blocks {
        self.blocks
    }

    /// The same sorting particles or not. What it computes is the same but for rounding.
    #[must_use]
    pub fn with_sorting(self, sorting: Sorting) -> Self {
        Model { sorting, ..self }
    }

    /// Whether rollouts sort particles.
    pub fn sorting(&self) -> Sorting {
        self.sorting
    }

    /// The same with steps on at most so many nodes; [`Step::advance`](crate::Step::advance) fails with [`Error::Scattered`] beyond. Without it,
    /// particles that fly apart take memory without end where only [occupied blocks](Blocks::Occupied) are worked on.
    #[must_use]
    pub fn with_node_limit(self, nodes: usize) -> Self {
        Model { most_nodes: nodes, ..self }
    }

    /// Most nodes of a step.
    pub fn node_limit(&self) -> usize {
        self.most_nodes
    }

    /// The same with the particle spacing `h` \[m\] that [`Contact::Penalty`](crate::contact::Contact::Penalty) needs.
    ///
    /// # Errors
    /// When `h` is not positive, no half-space has such a contact, or memory is short.
    pub fn with_contact_spacing(self, h: f64) -> Result<Self> {
        positive("contact spacing", h)?;
        if self.touching == 0 {
            return Err(Error::invalid("contact spacing", h, "none, as no half-space has a penalty contact"));
        }
        let planes = self.device.array(&planes(&self.half_spaces, h))?;
        Ok(Model { spacing: h, planes, ..self })
    }

    /// The colliders on the device: from them come the default parameters of their contacts.
    pub fn obstacles(&self) -> Option<&Obstacles<F>> {
        self.obstacles.as_ref()
    }

    /// A solver for so many particles with these parameters. Call it where the tape records, so that gradients reach
    /// them.
    ///
    /// # Errors
    /// When a parameter has the wrong length, or a penalty contact no spacing.
    pub fn solver(&self, params: &Params<D, F>, particles: usize) -> Result<Solver<D, F>> {
        if self.wider.len() != 1 {
            if self.transfer == Transfer::Apic {
                let expected = "none by APIC, by which all particles touch alike";
                return Err(Error::invalid("radii of particles", format!("{} of them", self.wider.len()), expected));
            }
            if self.wider.len() != particles {
                let expected = format!("{particles}, one a particle");
                return Err(Error::invalid("number of radii of particles", self.wider.len(), expected));
            }
        }
        if self.touching != 0 && self.spacing == 0.0 {
            let advice = "the particle spacing, given by `with_contact_spacing`, for a penalty contact";
            return Err(Error::invalid("contact spacing", 0.0, advice));
        }
        Solver::new(self.clone(), params, particles)
    }

    /// Coulomb's coefficients: the array of `given`, or what the half-spaces say; not both.
    pub(super) fn friction(&self, given: Option<&Array<F>>) -> Result<Array<F>> {
        let Some(given) = given else { return Ok(self.friction.clone()) };
        if let Some((k, h)) = self.half_spaces.iter().enumerate().find(|(_, h)| h.friction != 0.0) {
            let what = format!("friction of half-space {k}");
            return Err(Error::invalid(what, h.friction, "0, as `Params::friction` gives the coefficients"));
        }
        self.one_a_half_space("friction", given)
    }

    /// Stiffnesses of penalties: the array of `given`, or what the half-spaces say.
    pub(super) fn stiffness(&self, given: Option<&Array<F>>) -> Result<Array<F>> {
        match given {
            Some(given) => self.one_a_half_space("stiffness of half-spaces", given),
            None => Ok(self.stiffness.clone()),
        }
    }

    fn one_a_half_space(&self, what: &str, given: &Array<F>) -> Result<Array<F>> {
        match (given.len(), self.half_spaces.len()) {
            (found, 0) => Err(Error::invalid(format!("length of {what}"), found, "none, as there are no half-spaces")),
            (found, expected) if found != 1 && found != expected => {
                Err(Error::invalid(format!("length of {what}"), found, format!("1 or {expected}, one a half-space")))
            }
            _ => Ok(given.clone()),
        }
    }

    /// The same on another grid.
    pub(super) fn with_grid(self, grid: Grid<D>) -> Result<Self> {
        let masks = self.device.array(&masks(&grid, &self.half_spaces)?)?;
        let all = Active::all(&self.device, &grid)?;
        Ok(Model { grid, masks, all, ..self })
    }

    /// Where it computes.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The background grid.
    pub fn grid(&self) -> &Grid<D> {
        &self.grid
    }

    /// Time step \[s\].
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Elastic law.
    pub fn law(&self) -> Law {
        self.law
    }

    /// Mass at or below which a node takes no part \[kg\].
    pub fn mass_cutoff(&self) -> f64 {
        self.cutoff
    }

    /// Floors, walls and clamps.
    pub fn half_spaces(&self) -> &[HalfSpace<D>] {
        &self.half_spaces
    }

    /// The grid as kernels take it.
    pub(super) fn shape(&self) -> GridShape<F> {
        let mut origin = [0.0; 3];
        origin.iter_mut().zip(self.grid.origin().as_ref()).for_each(|(to, from)| *to = *from);
        let [nx, ny, nz] = self.grid.counts();
        let origin = Vec3::from_array(origin.map(F::from_f64));
        GridShape { origin, inv_dx: self.real(1.0 / self.grid.dx()), nx, ny, nz }
    }

    pub(crate) fn real(&self, x: f64) -> F {
        F::from_f64(x)
    }
}

impl<D: Dimension, F: Float> crate::step::Model for Model<D, F> {
    type State = State<D, F>;
    type Params = Params<D, F>;
    type Control = ();
    type Step = Solver<D, F>;

    fn bind(&self, params: &Params<D, F>, state: &State<D, F>) -> Result<Solver<D, F>> {
        self.solver(params, state.len())
    }

    /// By [`Stability`], with the speed of the fastest particle and a wave that crosses 0.3 cells in a step; half of what linear theory
    /// allows of the forces of colliders.
    fn max_dt(&self, params: &Params<D, F>, state: &State<D, F>) -> Result<f64> {
        let host =
            |array: &Array<F>| Ok::<_, Error>(array.to_vec()?.into_iter().map(Float::to_f64).collect::<Vec<_>>());
        let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let penalties: Vec<f64> = match &params.stiffness {
            Some(given) => {
                let (given, n) = (host(given)?, self.half_spaces.len());
                let of = |k: usize| if self.touching >> k & 1 == 1 { given[k.min(given.len() - 1)] } else { 0.0 };
                (0..n).map(of).collect()
            }
            None => self.half_spaces.iter().map(stiffness).collect(),
        };
        let spacing = least(&host(&params.volume)?).powf(1.0 / D::AXES as f64);
        let stability = Stability {
            dx: self.grid.dx(),
            spacing,
            p_modulus: most(&host(&params.lambda)?) + 2.0 * most(&host(&params.mu)?),
            density: least(&host(&params.density)?),
            viscosity: most(&host(&params.viscosity)?),
            penalty: most(&penalties),
            speed: top(&state.v.to_vec()?.into_iter().map(D::coords::<F>).collect::<Vec<_>>()),
            cfl: CFL,
        };
        let limit = stability.time_step()?;
        match self.bind(params, state)?.obstacles() {
            Some(obstacles) => {
                let mass = stability.density * least(&host(&params.volume)?);
                Ok(limit.min((mass / obstacles.stiffness()?).sqrt()))
            }
            None => Ok(limit),
        }
    }
}

/// Largest norm.
pub(super) fn top(vectors: &[impl AsRef<[f64]>]) -> f64 {
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    vectors.iter().map(|v| norm(v.as_ref())).fold(0.0, f64::max)
}

impl<F: Float> Model<Dim3, F> {
    /// The same with colliders of any shape, still or moving, beside the half-spaces. Those that act on velocities hold grid nodes, so contact
    /// begins about a cell early; those by forces act on particles, their stiffness in N/m a particle.
    ///
    /// # Errors
    /// When a value of a collider is out of its range, or memory is short.
    pub fn with_colliders(self, colliders: &[Collider]) -> Result<Self> {
        let obstacles = Some(Obstacles::new(&self.device, colliders)?);
        Ok(Model { obstacles, ..self })
    }

    /// The same with particles of this radius \[m\], which is 0 by default: colliders by forces touch them that far from their middle. At half a
    /// particle spacing `h`, a penalty of `k h^2` does what one of `k` \[Pa/m\] of a half-space does.
    ///
    /// # Errors
    /// When it is negative, or there are no colliders.
    pub fn with_particle_radius(self, radius: f64) -> Result<Self> {
        let Some(obstacles) = self.obstacles else {
            return Err(Error::invalid("particle radius", radius, "none, as there are no colliders"));
        };
        Ok(Model { obstacles: Some(obstacles.with_radius(radius)?), ..self })
    }

    /// The same with a radius \[m\] for each particle, at which colliders by forces and penalties of half-spaces touch it: the thickness of what lies
    /// between a particle of a [cut body](crate::shape::fill) and its surface. Only for [`Transfer::Lagrangian`], and after the
    /// [spacing](Model::with_contact_spacing), which says how much of a surface a particle stands for, and the colliders.
    ///
    /// # Errors
    /// When one is negative, there are penalties of half-spaces and no spacing yet, or memory is short.
    pub fn with_particle_radii(self, radii: &[f64]) -> Result<Self> {
        if self.touching != 0 && self.spacing == 0.0 {
            return Err(Error::invalid("contact spacing", 0.0, "that of the particles before their radii"));
        }
        radii.iter().try_for_each(|&radius| non_negative("radius of a particle", radius).map(|_| ()))?;
        let array = |less: f64| -> diffkern::Result<Array<F>> {
            self.device.array(&collect(radii.iter().map(|&radius| F::from_f64(radius - less)))?)
        };
        let (wider, touching) = (array(0.5 * self.spacing)?, array(0.0)?);
        Ok(Model { obstacles: self.obstacles.map(|obstacles| obstacles.with_radii(touching)), wider, ..self })
    }
}

fn masks<D: Dimension>(grid: &Grid<D>, half_spaces: &[HalfSpace<D>]) -> diffkern::Result<Vec<u32>> {
    if half_spaces.iter().all(|h| h.kind().is_none()) {
        return Ok(vec![0]);
    }
    let held = |h: &HalfSpace<D>, at: &D::Coords| h.kind().is_some() && h.distance(at) <= ON_SURFACE * grid.dx();
    let mask =
        |at: D::Coords| half_spaces.iter().enumerate().fold(0, |bits, (k, h)| bits | u32::from(held(h, &at)) << k);
    let places = (0..grid.block_count() * NODES).map(|k| (k / NODES, k % NODES));
    collect(places.map(|(block, place)| mask(grid.position_in_block(block, place))))
}

fn planes<D: Dimension, F: Float>(half_spaces: &[HalfSpace<D>], h: f64) -> Vec<Vec4<F>> {
    let vec4 = |v: [f64; 4]| Vec4::from_array(v.map(F::from_f64));
    let area = h.powi(D::AXES as i32 - 1);
    let entries = half_spaces.iter().flat_map(|s| {
        let mut plane = [0.0; 4];
        plane.iter_mut().zip(s.normal.as_ref()).for_each(|(p, n)| *p = *n);
        let touches = s.kind().is_none();
        plane[3] = if touches { s.offset + 0.5 * h } else { s.offset };
        [vec4(plane), vec4([if touches { area } else { 0.0 }, PARTICLE_SLIP_SPEED, 0.0, 0.0])]
    });
    let entries: Vec<_> = entries.collect();
    if entries.is_empty() { vec![vec4([0.0; 4]); 2] } else { entries }
}

/// Pressure per depth \[Pa/m\], 0 of what is no penalty.
fn stiffness<D: Dimension>(half_space: &HalfSpace<D>) -> f64 {
    half_space.contact.numbers().map_or(0.0, |[stiffness, ..]| stiffness)
}

/// Kernels take no empty arrays.
fn or_one<T: Default>(values: Vec<T>) -> Vec<T> {
    if values.is_empty() { vec![T::default()] } else { values }
}
