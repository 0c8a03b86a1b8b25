//! Elastic bodies by finite elements, ready to run.

use super::bodies::per_frame;
use super::body::BodySpec;
use super::impact;
use crate::contact::{Collider, Contact};
use crate::error::{Error, Result, non_negative, positive};
use crate::fem::bulk::QUADRATIC;
use crate::fem::lattice::{Assembly, Body, BodyContact, Clamp, Model, Params, Relaxation, Skin, State, Surfaces};
use crate::material::Law;
use crate::step::Model as _;
use diffkern::prelude::*;

/// Cells that a plan expects the fastest wave to cross in a step: without contacts, with contacts as stiff as
/// [`floor`](crate::fem::lattice::floor) makes them, and with friction between bodies.
const CROSSED: [f64; 3] = [0.155, 0.11, 0.085];
/// Part of a cell that a body may come nearer to what it hits in a step.
const NEARER: f64 = 0.1;
/// Reals of a cell: deformations and stresses of its points, what they are made of, shapes, moments.
const CELL_REALS: f64 = 8.0 * (9.0 + 9.0 + 4.0 + 4.0) + 27.0 * 4.0 + 12.0;
/// Reals of a cell that remembers: three states, and the branches.
const MEMORY_REALS: f64 = 8.0 * (3.0 * 9.0 + 2.0);
/// Reals of a control point: three states, forces, accelerations.
const NODE_REALS: f64 = 40.0;
/// Bytes of a cell and of a vertex beside their reals: the cut body on the host.
const CELL_BYTES: f64 = 1500.0;
const VERTEX_BYTES: f64 = 300.0;

/// Elastic bodies, stress free at the start, each cut from a lattice of splines of its own. Several touch each other.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern_sim::Step as _;
/// use diffkern_sim::scene::{BodySpec, ElasticSpec};
///
/// let spec = ElasticSpec { gravity: [0.0, 0.0, -9.81], cell: 0.025, ..ElasticSpec::default() };
/// let scene = spec.build::<f64>(&Device::cpu())?;
/// let solver = scene.model.solver(&scene.params, &scene.state)?;
/// let frame = solver.advance(&scene.state, 0, scene.steps_per_frame, Schedule::Auto)?;
/// assert_eq!(frame.len(), scene.state.len());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ElasticSpec {
    /// What they are, at least one; the time step is stable for all of their ranges.
    pub bodies: Vec<BodySpec>,
    /// Elastic law.
    pub law: Law,
    /// Gravity \[m/s^2\]; there is none by default.
    pub gravity: [f64; 3],
    /// What they may touch; contacts act by forces, as stiff as they should be for the stiffest of the bodies: for others they are softer.
    pub colliders: Vec<Collider>,
    /// Coulomb's coefficient of several bodies with each other, where they rub at all.
    pub friction: Option<f64>,
    /// What holds the only body, along the axes of the world; one that is not turned.
    pub clamps: Vec<Clamp>,
    /// Frames a second \[1/s\].
    pub frame_rate: f64,
    /// Edge of a cell \[m\].
    pub cell: f64,
    /// Coefficient of the [bulk viscosity](crate::fem::bulk) of bodies that may hit something; 0 for none.
    pub bulk_viscosity: f64,
}

impl Default for ElasticSpec {
    /// The default body, weightless, ten cells across.
    fn default() -> ElasticSpec {
        ElasticSpec {
            bodies: vec![BodySpec::default()],
            law: Law::NeoHookean,
            gravity: [0.0; 3],
            colliders: Vec::new(),
            friction: None,
            clamps: Vec::new(),
            frame_rate: 32.0,
            cell: 0.01,
            bulk_viscosity: QUADRATIC,
        }
    }
}

/// Bodies ready to run.
#[derive(Clone, Debug)]
pub struct ElasticScene<F: Float> {
    /// Cells, time step, law, colliders.
    pub model: Model<F>,
    /// In the middle of their ranges.
    pub params: Params<F>,
    /// State at time 0.
    pub state: State<F>,
    /// The bodies and their cells at rest.
    pub bodies: Assembly,
    /// Their surfaces.
    pub skin: Skin<F>,
    /// Steps from one frame to the next.
    pub steps_per_frame: usize,
    spec: ElasticSpec,
    /// Longest step of the hardest material.
    longest: f64,
}

/// Steps of a frame are a power of this, so that those of two materials that hardly differ are seldom others.
const STRIDE: f64 = 1.1;

/// What an [`ElasticSpec`] takes, by estimates: no body is cut for it. Counts are reals, because they may be more than any integer holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticPlan {
    /// Cells with a part of a body.
    pub cells: f64,
    /// Control points.
    pub nodes: f64,
    /// Vertices of the surfaces, and points of contact.
    pub vertices: f64,
    /// Time step \[s\].
    pub dt: f64,
    /// Steps from one frame to the next.
    pub steps_per_frame: f64,
    /// Whether the bodies have a memory.
    pub relaxes: bool,
}

impl ElasticPlan {
    /// Most cells: kernels count in 32 bits.
    pub const MOST: f64 = 1e7;
    /// Most steps of a frame: beyond, their number as a real is no longer exact in what is computed from it.
    const MOST_STEPS: f64 = 1e15;

    /// Memory that a run needs at its peak, without pictures, with reals of `real` bytes and `tangents` directions of forward mode \[bytes\].
    pub fn bytes(&self, real: f64, tangents: f64) -> f64 {
        let memory = if self.relaxes { MEMORY_REALS } else { 0.0 };
        let reals = (CELL_REALS + memory) * self.cells + NODE_REALS * self.nodes + 20.0 * self.vertices;
        real * (1.0 + tangents) * reals + CELL_BYTES * self.cells + VERTEX_BYTES * self.vertices
    }

    fn check(&self) -> Result<()> {
        if self.cells.is_nan() || self.cells > ElasticPlan::MOST {
            let expected = "at most 1e7; larger cells, or a block less long for its thickness, needs fewer";
            return Err(Error::invalid("number of cells", format!("{:.2e}", self.cells), expected));
        }
        if self.steps_per_frame.is_nan() || self.steps_per_frame > ElasticPlan::MOST_STEPS {
            let expected = "at most 1e15; a softer, denser or slower body, or more frames a second, needs fewer";
            return Err(Error::invalid("steps of a frame", format!("{:.2e}", self.steps_per_frame), expected));
        }
        Ok(())
    }
}

impl ElasticSpec {
    /// What it takes; cuts nothing.
    ///
    /// # Errors
    /// When a value is out of its range.
    pub fn plan(&self) -> Result<ElasticPlan> {
        self.check()?;
        let all = self.bodies.iter().map(|body| self.planned(body));
        let sum = all.clone().fold([0.0; 3], |sum, (sizes, _)| [0, 1, 2].map(|k| sum[k] + sizes[k]));
        let shorter = self.shortening();
        let shortest = all.map(|(_, limit)| limit / shorter).fold(self.nearing(), f64::min);
        let (steps_per_frame, dt) = per_frame(self.frame_rate, shortest);
        Ok(ElasticPlan { cells: sum[0], nodes: sum[1], vertices: sum[2], dt, steps_per_frame, relaxes: self.relaxes() })
    }

    /// Cells, control points and vertices of a body, and its longest step.
    fn planned(&self, body: &BodySpec) -> ([f64; 3], f64) {
        let (BodySpec { shape, density, viscosity, .. }, h) = (body, self.cell);
        let sides = shape.sides();
        let whole = shape.volume() / h.powi(3);
        // Cells that the boundary goes through are cut, and each has its control points.
        let boundary = [0, 1, 2].map(|a| sides[(a + 1) % 3] * sides[(a + 2) % 3] / (h * h)).iter().sum::<f64>();
        let slides = self.friction.is_some();
        let wave = body.waves()[1];
        let elastic = CROSSED[usize::from(self.touches()) + usize::from(slides)] * h / wave;
        // Viscosity damps the fastest mode, of about `4 c / h`.
        let rate = 4.0 * viscosity[1] / (density[0] * h * h);
        let nodes = sides.iter().map(|s| s / h + 3.0).product::<f64>().min(27.0 * whole + 27.0);
        ([whole + 0.5 * boundary, nodes, 20.0 * boundary], elastic / (1.0 + rate * elastic))
    }

    /// Largest speed at which a body comes to anything \[m/s\]; one that is held does not fall.
    fn impact(&self, of: usize) -> f64 {
        if self.clamps.is_empty() { impact::speed(&self.bodies, of, &self.colliders, self.gravity) } else { 0.0 }
    }

    /// How many times as short as those of the hardest materials at rest steps are where bodies may be hit.
    fn shortening(&self) -> f64 {
        let of = |k: usize| impact::most(self.impact(k), self.bodies[k].waves());
        (0..self.bodies.len()).map(of).fold(1.0, f64::max)
    }

    /// Cuts the body and makes its model, whose steps are stable at the stiff, light and viscous ends of the ranges.
    ///
    /// # Errors
    /// When a value is out of its range, the body cannot be cut, or memory is short.
    pub fn build<F: Float>(&self, device: &Device) -> Result<ElasticScene<F>> {
        self.plan()?.check()?;
        let cut = self.bodies.iter().map(|body| self.lattice_body(body)?.build()).collect::<Result<Vec<_>>>()?;
        let bodies = Assembly::new(cut)?;
        let motions: Vec<_> = self.bodies.iter().map(|body| [body.velocity, body.angular_velocity]).collect();
        let state = bodies.state(device, &motions)?;
        let model = Model::of_bodies(device, &bodies, self.law, 1.0, &self.colliders)?;
        let model = match self.touches() {
            true => model.with_bulk_viscosity(self.bulk_viscosity)?,
            false => model,
        };
        let state = match self.relaxes() {
            true => model.settled(&state)?,
            false => state,
        };
        let model = match self.bodies.len() {
            1 => model,
            _ => model.with_body_contact(&self.contact(&bodies, |[_, high]| high)?)?,
        };
        let hardest = self.params(device, &bodies, [|[_, high]| high, |[low, _]| low])?;
        let limit = model.max_dt(&hardest, &state)?;
        let shortest = (limit / self.shortening()).min(self.nearing());
        let (steps_per_frame, dt) = per_frame(self.frame_rate, shortest);
        ElasticPlan { steps_per_frame, ..self.plan()? }.check()?;
        let middle = |[low, high]: [f64; 2]| 0.5 * (low + high);
        Ok(ElasticScene {
            model: model.with_dt(dt)?,
            params: self.params(device, &bodies, [middle; 2])?,
            state,
            skin: Skin::of_all(device, &bodies)?,
            bodies,
            steps_per_frame: steps_per_frame as usize,
            spec: self.clone(),
            longest: limit,
        })
    }

    /// Whether there is anything to hit.
    fn touches(&self) -> bool {
        !self.colliders.is_empty() || self.bodies.len() > 1
    }

    /// Whether a body has a Maxwell branch: all have a memory then.
    fn relaxes(&self) -> bool {
        self.bodies.iter().any(|body| body.relaxation.is_some())
    }

    /// Contact between bodies with these values of the ranges of their moduli.
    fn contact(&self, bodies: &Assembly, pick: impl Fn([f64; 2]) -> f64) -> Result<BodyContact> {
        let lame: Vec<[f64; 2]> = self.bodies.iter().map(|b| [pick(b.mu), pick(b.lambda)]).collect();
        Ok(BodyContact { friction: self.friction, ..BodyContact::of(bodies, &lame)? })
    }

    /// The parameters at the values that the first of `picks` takes of the ranges of moduli, viscosity and times, and the second of that of densities.
    fn params<F: Float>(
        &self,
        device: &Device,
        bodies: &Assembly,
        picks: [fn([f64; 2]) -> f64; 2],
    ) -> Result<Params<F>> {
        let [pick, light] = picks;
        // Of one body one number is for all cells.
        let cells = |k: usize| if self.bodies.len() == 1 { 1 } else { bodies.cells(k).len() };
        let each = |of: &dyn Fn(&BodySpec) -> f64| -> Result<Array<F>> {
            let own = self.bodies.iter().enumerate().flat_map(|(k, b)| vec![F::from_f64(of(b)); cells(k)]);
            Ok(device.array(&own.collect::<Vec<_>>())?)
        };
        let viscous = self.bodies.iter().any(|b| pick(b.viscosity) > 0.0);
        let relaxation = match self.relaxes() {
            false => None,
            // What is not there has no stress, whatever its time.
            true => Some(Relaxation {
                modulus: each(&|b| b.relaxation.map_or(0.0, |r| pick(r.modulus)))?,
                time: each(&|b| b.relaxation.map_or(1.0, |r| pick(r.time)))?,
            }),
        };
        Ok(Params {
            mu: each(&|b| pick(b.mu))?,
            lambda: each(&|b| pick(b.lambda))?,
            density: each(&|b| light(b.density))?,
            viscosity: viscous.then(|| each(&|b| pick(b.viscosity))).transpose()?,
            relaxation,
            surfaces: (self.bodies.len() > 1).then(|| self.surfaces(device, bodies, pick)).transpose()?,
            ..Params::uniform(device, 1.0, 1.0, 1.0, self.gravity)?
        })
    }

    /// Surfaces as stiff as the bodies; colliders are as the stiffest at the end of its range wants them.
    fn surfaces<F: Float>(&self, device: &Device, bodies: &Assembly, pick: fn([f64; 2]) -> f64) -> Result<Surfaces<F>> {
        let contact = self.contact(bodies, pick)?;
        let hardest = self.contact(bodies, |[_, high]| high)?.stiffness.into_iter().fold(0.0, f64::max);
        let reals = |values: &mut dyn Iterator<Item = f64>| device.array(&values.map(F::from_f64).collect::<Vec<_>>());
        Ok(Surfaces {
            stiffness: reals(&mut contact.stiffness.iter().copied())?,
            support: reals(&mut contact.stiffness.iter().map(|k| k / hardest))?,
            friction: self.friction.map(|mu| reals(&mut std::iter::once(mu))).transpose()?,
        })
    }

    fn lattice_body(&self, body: &BodySpec) -> Result<Body> {
        let (shape, pose) = body.shape.placed();
        if !self.clamps.is_empty() && pose.rotation != [0.0; 3] {
            let expected = "none, as clamps lie along the axes of the body";
            return Err(Error::invalid("rotation of a body with a clamp", format!("{:?}", pose.rotation), expected));
        }
        let own = |clamp: &Clamp| Clamp { at: clamp.at - pose.translation.get(clamp.axis).unwrap_or(&0.0), ..*clamp };
        let clamps = self.clamps.iter().map(own).collect();
        Ok(Body { pose, clamps, ..Body::new(shape, self.cell) })
    }

    /// Longest step in which nothing comes nearer to what it hits than a part of a cell.
    fn nearing(&self) -> f64 {
        let speed = |body: &BodySpec| body.start_speed();
        let mut nearest = f64::INFINITY;
        for (k, body) in self.bodies.iter().enumerate() {
            let [low, high] = body.shape.bounds();
            let reach = (0..3).map(|a| (high[a] - low[a]).powi(2)).sum::<f64>().sqrt();
            let of = |c: &Collider| c.pose.velocity.norm() + c.pose.spin.norm() * c.solid.radius().min(reach);
            let others = self.bodies[..k].iter().map(speed).chain(self.colliders.iter().map(of));
            let fastest = others.reduce(f64::max).map_or(0.0, |fastest| fastest + speed(body));
            nearest = nearest.min(NEARER * self.cell / fastest.max(f64::MIN_POSITIVE));
        }
        nearest
    }

    fn check(&self) -> Result<()> {
        if self.bodies.is_empty() {
            return Err(Error::invalid("number of bodies", 0, "at least 1"));
        }
        self.bodies.iter().try_for_each(BodySpec::check)?;
        if self.bodies.len() > 1 && !self.clamps.is_empty() {
            return Err(Error::invalid("clamps of several bodies", self.clamps.len(), "none"));
        }
        if let Some(friction) = self.friction {
            non_negative("friction between bodies", friction)?;
        }
        for (k, collider) in self.colliders.iter().enumerate() {
            collider.check(k)?;
            if matches!(collider.contact, Contact::Sticky | Contact::Slip | Contact::Separating) {
                let value = format!("{:?}", collider.contact);
                return Err(Error::invalid(format!("contact of collider {k}"), value, "one by forces"));
            }
        }
        if let Some(a) = (0..3).find(|&a| !self.gravity[a].is_finite()) {
            return Err(Error::invalid(
                format!("gravity along {}", ["x", "y", "z"][a]),
                self.gravity[a],
                "a finite number",
            ));
        }
        positive("frame rate", self.frame_rate)?;
        non_negative("coefficient of bulk viscosity", self.bulk_viscosity)?;
        positive("edge of a cell", self.cell).map(drop)
    }
}

impl<F: Float> ElasticScene<F> {
    /// The model for one material within the ranges, with steps as long as it allows, and their number from one frame to the next: a soft
    /// body needs fewer than the stiffest of its range. Reads the parameters to the host. Contacts count as stiffer where the body is.
    ///
    /// # Errors
    /// When an array has no element, or its memory cannot be read.
    pub fn for_material(&self, params: &Params<F>) -> Result<(Model<F>, usize)> {
        let host = |array: &Array<F>| -> Result<Vec<f64>> { Ok(array.to_vec()?.iter().map(|x| x.to_f64()).collect()) };
        let (mu, lambda, density) = (host(&params.mu)?, host(&params.lambda)?, host(&params.density)?);
        let viscosity = params.viscosity.as_ref().map_or(Ok(Vec::new()), host)?;
        let branch = params.relaxation.as_ref().map_or(Ok(vec![0.0]), |relaxation| host(&relaxation.modulus))?;
        let factors = self.spec.bodies.iter().enumerate().map(|(k, spec)| {
            let cells = self.bodies.cells(k);
            let ends = |values: &Vec<f64>| {
                let own = if values.len() == 1 { &values[..] } else { values.get(cells.clone()).unwrap_or(&[]) };
                own.iter().fold([f64::INFINITY, 0.0], |[low, high]: [f64; 2], &x| [low.min(x), high.max(x)])
            };
            let [lightest, heaviest] = ends(&density);
            // Waves meet a Maxwell branch, and contacts are as stiff as the body without.
            let waves = [(spec.stiffest_shear(), ends(&mu)[1] + ends(&branch)[1]), (spec.mu[1], ends(&mu)[1])];
            let slower = waves.map(|(most, shear)| {
                let [hardest, stiffest] = [(spec.lambda[1], most), (ends(&lambda)[1], shear)].map(|(l, m)| l + 2.0 * m);
                (hardest / spec.density[0] * lightest / stiffest).sqrt()
            });
            // The slower of how waves and how viscosity scale.
            let viscous = spec.viscosity[1] / spec.density[0] * lightest / ends(&viscosity)[1];
            let longer = slower[0].min(slower[1]).min(viscous);
            let longer = if longer.is_finite() { longer.max(1.0) } else { 1.0 };
            let slowest = ((ends(&lambda)[0] + 2.0 * ends(&mu)[0]) / heaviest).sqrt();
            longer / impact::shortening(self.spec.impact(k) / slowest)
        });
        // Which body is the one that limits the longest step is not kept: the least factor is safe for each.
        let longer = factors.fold(f64::INFINITY, f64::min);
        let limit = (self.longest * longer).min(self.spec.nearing());
        let steps = 1.0 / (self.spec.frame_rate * limit);
        let steps = STRIDE.powf((steps.ln() / STRIDE.ln()).ceil()).ceil().max(1.0).min(self.steps_per_frame as f64);
        let dt = 1.0 / (self.spec.frame_rate * steps);
        Ok((self.model.clone().with_dt(dt)?, steps as usize))
    }
}
