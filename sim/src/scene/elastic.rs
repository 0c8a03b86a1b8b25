//! An elastic body by finite elements, ready to run.

use super::bodies::per_frame;
use super::body::BodySpec;
use crate::contact::{Collider, Contact};
use crate::error::{Error, Result, positive};
use crate::fem::lattice::{Body, Clamp, CutBody, Model, Params, Skin};
use crate::material::Law;
use crate::step::Model as _;
use crate::vertices::VertexState;
use diffkern::prelude::*;

/// Cells that a plan expects the fastest wave to cross in a step: without contacts, with contacts as stiff as
/// [`floor`](crate::fem::lattice::floor) makes them, and with friction.
const CROSSED: [f64; 3] = [0.155, 0.11, 0.085];
/// Part of a cell that a body may come nearer to what it hits in a step.
const NEARER: f64 = 0.1;
/// Reals of a cell: deformations and stresses of its points, what they are made of, shapes, moments.
const CELL_REALS: f64 = 8.0 * (9.0 + 9.0 + 4.0 + 4.0) + 27.0 * 4.0 + 12.0;
/// Reals of a control point: three states, forces, accelerations.
const NODE_REALS: f64 = 40.0;
/// Bytes of a cell and of a vertex beside their reals: the cut body on the host.
const CELL_BYTES: f64 = 1500.0;
const VERTEX_BYTES: f64 = 300.0;

/// One elastic body, stress free at the start, cut from a lattice of splines.
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
    /// What it is; the time step is stable for all of its ranges.
    pub body: BodySpec,
    /// Elastic law.
    pub law: Law,
    /// Gravity \[m/s^2\]; there is none by default.
    pub gravity: [f64; 3],
    /// What it may touch; contacts act by forces.
    pub colliders: Vec<Collider>,
    /// What holds it, along the axes of the world; of a body that is not turned.
    pub clamps: Vec<Clamp>,
    /// Frames a second \[1/s\].
    pub frame_rate: f64,
    /// Edge of a cell \[m\].
    pub cell: f64,
}

impl Default for ElasticSpec {
    /// The default body, weightless, ten cells across.
    fn default() -> ElasticSpec {
        ElasticSpec {
            body: BodySpec::default(),
            law: Law::NeoHookean,
            gravity: [0.0; 3],
            colliders: Vec::new(),
            clamps: Vec::new(),
            frame_rate: 32.0,
            cell: 0.01,
        }
    }
}

/// A body ready to run.
#[derive(Clone, Debug)]
pub struct ElasticScene<F: Float> {
    /// Cells, time step, law, colliders.
    pub model: Model<F>,
    /// In the middle of their ranges.
    pub params: Params<F>,
    /// State at time 0.
    pub state: VertexState<F>,
    /// The body and its cells at rest.
    pub body: CutBody,
    /// Its surface.
    pub skin: Skin<F>,
    /// Steps from one frame to the next.
    pub steps_per_frame: usize,
    spec: ElasticSpec,
    /// Longest step of the hardest material.
    longest: f64,
}

/// Steps of a frame are a power of this, so that those of two materials that hardly differ are seldom others.
const STRIDE: f64 = 1.1;

/// What an [`ElasticSpec`] takes, by estimates: the body is not cut for it. Counts are reals, because they may be more than any integer holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticPlan {
    /// Cells with a part of the body.
    pub cells: f64,
    /// Control points.
    pub nodes: f64,
    /// Vertices of the surface, and points of contact.
    pub vertices: f64,
    /// Time step \[s\].
    pub dt: f64,
    /// Steps from one frame to the next.
    pub steps_per_frame: f64,
}

impl ElasticPlan {
    /// Most cells: kernels count in 32 bits.
    pub const MOST: f64 = 1e7;
    /// Most steps of a frame: beyond, their number as a real is no longer exact in what is computed from it.
    const MOST_STEPS: f64 = 1e15;

    /// Memory that a run needs at its peak, without pictures, with reals of `real` bytes and `tangents` directions of forward mode \[bytes\].
    pub fn bytes(&self, real: f64, tangents: f64) -> f64 {
        let reals = CELL_REALS * self.cells + NODE_REALS * self.nodes + 20.0 * self.vertices;
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
        let BodySpec { shape, mu, lambda, density, viscosity, .. } = &self.body;
        let h = self.cell;
        let sides = shape.sides();
        let whole = shape.volume() / h.powi(3);
        // Cells that the boundary goes through are cut, and each has its control points.
        let boundary = [0, 1, 2].map(|a| sides[(a + 1) % 3] * sides[(a + 2) % 3] / (h * h)).iter().sum::<f64>();
        let slides = self.colliders.iter().any(|c| c.friction > 0.0);
        let contacts = usize::from(!self.colliders.is_empty()) + usize::from(slides);
        let wave = ((lambda[1] + 2.0 * mu[1]) / density[0]).sqrt();
        let elastic = CROSSED[contacts] * h / wave;
        // Viscosity damps the fastest mode, of about `4 c / h`.
        let rate = 4.0 * viscosity[1] / (density[0] * h * h);
        let (steps_per_frame, dt) = per_frame(self.frame_rate, (elastic / (1.0 + rate * elastic)).min(self.nearing()));
        Ok(ElasticPlan {
            cells: whole + 0.5 * boundary,
            nodes: sides.iter().map(|s| s / h + 3.0).product::<f64>().min(27.0 * whole + 27.0),
            vertices: 20.0 * boundary,
            dt,
            steps_per_frame,
        })
    }

    /// Cuts the body and makes its model, whose steps are stable at the stiff, light and viscous ends of the ranges.
    ///
    /// # Errors
    /// When a value is out of its range, the body cannot be cut, or memory is short.
    pub fn build<F: Float>(&self, device: &Device) -> Result<ElasticScene<F>> {
        self.plan()?.check()?;
        let body = self.lattice_body()?.build()?;
        let BodySpec { velocity, angular_velocity, mu, lambda, density, viscosity, .. } = &self.body;
        let state = body.state(device, *velocity, *angular_velocity)?;
        let model = Model::new(device, &body, self.law, 1.0, &self.colliders)?;
        let params = |mu, lambda, density, viscosity: f64| -> Result<Params<F>> {
            let params = Params::uniform(device, mu, lambda, density, self.gravity)?;
            let viscosity = (viscosity > 0.0).then(|| device.array(&[F::from_f64(viscosity)])).transpose()?;
            Ok(Params { viscosity, ..params })
        };
        let hardest = params(mu[1], lambda[1], density[0], viscosity[1])?;
        let limit = model.max_dt(&hardest, &state)?.min(self.nearing());
        let (steps_per_frame, dt) = per_frame(self.frame_rate, limit);
        ElasticPlan { steps_per_frame, ..self.plan()? }.check()?;
        let middle = |[low, high]: [f64; 2]| 0.5 * (low + high);
        Ok(ElasticScene {
            model: model.with_dt(dt)?,
            params: params(middle(*mu), middle(*lambda), middle(*density), middle(*viscosity))?,
            state,
            skin: Skin::new(device, &body)?,
            body,
            steps_per_frame: steps_per_frame as usize,
            spec: self.clone(),
            longest: limit,
        })
    }

    fn lattice_body(&self) -> Result<Body> {
        let (shape, pose) = self.body.shape.placed();
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
        if self.colliders.is_empty() {
            return f64::INFINITY;
        }
        let [low, high] = self.body.shape.bounds();
        let reach = (0..3).map(|a| (high[a] - low[a]).powi(2)).sum::<f64>().sqrt();
        let of = |c: &Collider| c.pose.velocity.norm() + c.pose.spin.norm() * c.solid.radius().min(reach);
        let fastest = self.colliders.iter().map(of).fold(0.0, f64::max);
        NEARER * self.cell / (fastest + self.body.start_speed()).max(f64::MIN_POSITIVE)
    }

    fn check(&self) -> Result<()> {
        self.body.check()?;
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
        let BodySpec { mu, lambda, density, viscosity, .. } = &self.spec.body;
        let ends = |array: &Array<F>| -> Result<[f64; 2]> {
            let values = array.to_vec()?;
            let values = values.iter().map(|x| x.to_f64());
            Ok(values.fold([f64::INFINITY, 0.0], |[low, high], x| [low.min(x), high.max(x)]))
        };
        let stiffest = ends(&params.lambda)?[1] + 2.0 * ends(&params.mu)?[1];
        let lightest = ends(&params.density)?[0];
        let most = params.viscosity.as_ref().map_or(Ok(0.0), |eta| ends(eta).map(|[_, high]| high))?;
        let hardest = (lambda[1] + 2.0 * mu[1]) / density[0];
        // The slower of how waves and how viscosity scale.
        let longer = (hardest * lightest / stiffest).sqrt().min(viscosity[1] / density[0] * lightest / most);
        let longer = if longer.is_finite() { longer.max(1.0) } else { 1.0 };
        let limit = (self.longest * longer).min(self.spec.nearing());
        let steps = 1.0 / (self.spec.frame_rate * limit);
        let steps = STRIDE.powf((steps.ln() / STRIDE.ln()).ceil()).ceil().max(1.0).min(self.steps_per_frame as f64);
        let dt = 1.0 / (self.spec.frame_rate * steps);
        Ok((self.model.clone().with_dt(dt)?, steps as usize))
    }
}
