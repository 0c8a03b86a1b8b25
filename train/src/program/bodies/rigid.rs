//! Rigid bodies: off half-spaces that stand still they bounce by impulses at their time, off other colliders by forces.
//!
//! Velocities lie halfway between positions, so that falling, resting and sliding are exact whatever the step
//! (`docs/decisions/0043-rigid-videos-by-impulses-at-half-steps.md`). Of one body forces of contact are in proportion to
//! its mass, as is weight: how heavy it is shows in what pushes it alone. Several bodies press on each other by forces, as
//! stiff as the steps bear for the lightest masses that may be tried.

use super::super::colliders::{at, moving};
use super::super::inputs::times;
use super::super::setup::{self, GridOptions, norm};
use super::place::Origin;
use super::pushes::Pushes;
use super::shapes::{Form, anchors, weights};
use super::stepping::{Spec, lightest};
use super::{Mean, Numbers, Points, Sites, Solver, State};
use crate::error::Result;
use crate::job::Values;
use crate::scene::{Scene, Weight};
use diffkern::memory::{collect, filled};
use diffkern::prelude::*;
use diffkern_render::Mesh;
use diffkern_sim::collision::Pose;
use diffkern_sim::contact::{Contact, Contacts};
use diffkern_sim::rigid::{self, ImpactParams, Impacts, Mass, Model, Params, Plane};
use diffkern_sim::{Observe as _, Span, Step as _, Tick};
use std::sync::Arc;

/// Part of the longest stable step of contact by forces that is taken.
const CAUTION: f64 = 0.5;
/// Damping `c` of contact by forces \[s/m\]: of the speed `v` of what meets the part `e` comes back, `c v (1 + e) = ln((1 + c v) / (1 - c e v))`
/// of a force in any proportion to the depth: 0.9 at 0.1 m/s, 0.59 at 0.5, 0.24 at 2.
const DAMPING: f64 = 2.0;

/// Stiffness and grip of contact by forces.
enum Holding<F: Float> {
    /// Of one body, for a mass of one.
    ByMass { stiffness: Array<F>, grip: Array<F> },
    /// Of several, whatever their masses.
    Fixed { stiffness: Array<F>, grip: Array<F> },
}

/// Part of the thinnest side up to which bodies are in each other, see [`Spec`].
const DEEPEST: f64 = 0.1;

/// A body runs away that is faster than so many times what anything in its scene makes it, and moves in a step by such a part of its thinnest side;
/// see [`Spec`] for how little that is of a motion for which steps are made.
const FASTER: f64 = 10.0;
const MOVED: f64 = 0.02;
/// A body that moves in a step by so many of its thinnest sides meets nothing any more, whatever made it so fast.
const CROSSED: f64 = 100.0;
/// Beyond twice the farthest place that a scene may name \[m\] nothing is filmed.
const AWAY: f64 = 2e6;

/// Rigid bodies of a take.
pub(crate) struct Rigid<F: Float> {
    device: Device,
    spec: Spec,
    model: Model<F>,
    /// Parameters but for those that a run gives.
    base: Params<F>,
    poses: Array<Pose<F>>,
    origin: Origin<F>,
    /// The mass of each by the number that says how heavy it is.
    weight: Array<F>,
    /// The colliders that they bounce off, and those of contact by forces.
    planes: Option<Array<u32>>,
    others: Option<Array<u32>>,
    holding: Holding<F>,
    pushes: Arc<Pushes<F>>,
    /// Where vertices begin \[m\], and the body of each.
    start: Vec<[f64; 3]>,
    owner: Vec<u32>,
}

impl<F: Float> Rigid<F> {
    pub(super) fn new(
        scene: &Scene,
        take: usize,
        known: &Values,
        options: &GridOptions,
        device: &Device,
    ) -> Result<Self> {
        let spec = Spec::new(scene, take, known, options)?;
        let dt = spec.frame / spec.steps_per_frame as f64;
        let bodies = spec.forms.iter().map(Form::body).collect::<Result<Vec<_>>>()?;
        let (bouncing, soft): (Vec<usize>, Vec<usize>) =
            (0..scene.colliders.len()).partition(|&collider| scene.bounces(collider));
        // What a run makes of a body of any mass; the parameters of a run count.
        let contact = Contact::HuntCrossley { stiffness: 1.0, damping: DAMPING };
        let colliders: Vec<_> = soft.iter().map(|&k| scene.colliders[k].rigid(contact)).collect();
        let mut model = Model::new(device, &bodies, dt, &colliders)?;
        // What linear theory allows is twice as long.
        let bearable = |compliance: f64| [(2.0 * CAUTION / dt).powi(2) / compliance, 2.0 * CAUTION / dt / compliance];
        let holding = match spec.forms.as_slice() {
            [form] => {
                let [stiffness, grip] = bearable(form.compliance()).map(|x| device.array(&[F::from_f64(x)]));
                Holding::ByMass { stiffness: stiffness?, grip: grip? }
            }
            forms => {
                let [stiffness, grip] = bearable(of_pairs(forms, |k, form| lightest(scene, known, k, form)));
                // Smooth where contact begins, which is a kink in every step otherwise; as stiff at the greatest depth.
                let thinnest = forms.iter().map(|form| form.thinnest).fold(f64::INFINITY, f64::min);
                let curved = stiffness / (1.5 * (DEEPEST * thinnest).sqrt());
                let between = Contact::Hertz { stiffness: curved, damping: DAMPING };
                model = model.with_contact_between(between, scene.friction_between().unwrap_or(0.0))?;
                let [stiffness, grip] = [stiffness, grip].map(|x| device.array(&[F::from_f64(x)]));
                Holding::Fixed { stiffness: stiffness?, grip: grip? }
            }
        };
        let planes: Vec<Plane> = setup::half_spaces(scene)
            .map(|(_, point, normal)| {
                let offset = [0, 1, 2].map(|a| point[a] * normal[a]).iter().sum();
                Plane { normal, offset, restitution: 0.0, friction: 0.0 }
            })
            .collect();
        if !planes.is_empty() {
            model = model.with_impacts(Impacts::new(planes))?;
        }
        let places = |of: &[usize]| -> diffkern::Result<Option<Array<u32>>> {
            let of: Vec<u32> = of.iter().map(|&k| k as u32).collect();
            (!of.is_empty()).then(|| device.array(&of)).transpose()
        };
        let reals = |of: &dyn Fn(usize, &Form) -> f64| {
            let all: Vec<F> = spec.forms.iter().enumerate().map(|(k, form)| F::from_f64(of(k, form))).collect();
            device.array(&all)
        };
        let by_mass = |k: usize| matches!(scene.bodies[k].rigid, Some(Weight::Mass(_)));
        let centroids: Vec<[f64; 3]> = spec.forms.iter().map(|form| form.centroid).collect();
        let mut owner = Vec::new();
        let mut start = Vec::new();
        for (k, form) in spec.forms.iter().enumerate() {
            owner.resize(owner.len() + form.mesh.vertices().len(), k as u32);
            start.extend(form.mesh.vertices().iter().map(|v| form.at(*v)));
        }
        let poses = spec.forms.iter().map(Form::pose).collect::<Vec<_>>();
        Ok(Self {
            base: model.params(1.0, [0.0; 3])?,
            poses: device.array(&poses)?,
            origin: Origin::of(scene, take, device)?,
            weight: reals(&|k, form| if by_mass(k) { 1.0 } else { form.volume })?,
            planes: places(&bouncing)?,
            others: places(&soft)?,
            holding,
            pushes: Arc::new(Pushes::new(scene, &centroids, device)?),
            device: device.clone(),
            spec,
            model,
            start,
            owner,
        })
    }

    pub(super) fn dt(&self) -> f64 {
        self.spec.frame / self.steps_per_frame() as f64
    }

    pub(super) fn steps_per_frame(&self) -> usize {
        self.spec.steps_per_frame
    }

    /// The thinnest side of the boxes around them \[m\].
    pub(super) fn thinnest(&self) -> f64 {
        self.spec.forms.iter().map(|form| form.thinnest).fold(f64::INFINITY, f64::min)
    }

    /// Points that touch.
    pub(super) fn points(&self) -> usize {
        self.spec.forms.iter().map(Form::points).sum()
    }

    /// One a body.
    pub(super) fn sites(&self) -> Sites {
        let at = self.spec.forms.iter().map(|form| form.at([0.0; 3])).collect();
        Sites { at, body_of: (0..self.spec.forms.len() as u32).collect() }
    }

    /// Of shapes with edges each face by itself.
    pub(super) fn mesh(&self) -> Result<Mesh> {
        let (mut triangles, mut sides, mut vertices) = (Vec::new(), Vec::new(), 0u32);
        for form in &self.spec.forms {
            for triangle in form.mesh.triangles() {
                sides.push(if form.smooth { 0 } else { 1 + triangles.len() as u32 });
                triangles.push(triangle.map(|k| k + vertices));
            }
            vertices += form.mesh.vertices().len() as u32;
        }
        Ok(Mesh::with_sides(triangles, &sides, vertices as usize)?)
    }

    pub(super) fn body_of_vertex(&self) -> Vec<u32> {
        self.owner.clone()
    }

    /// Weights of four vertices of a body for each of some points in its place at the start.
    fn by_anchors(&self, body: usize, points: &[[f64; 3]]) -> (Vec<u32>, Vec<f64>) {
        let own: Vec<usize> = (0..self.owner.len()).filter(|&k| self.owner[k] as usize == body).collect();
        let places: Vec<[f64; 3]> = own.iter().map(|&k| self.start[k]).collect();
        let four = anchors(&places);
        let corners = four.map(|k| places[k]);
        let index = points.iter().flat_map(|_| four.map(|k| own[k] as u32)).collect();
        (index, points.iter().flat_map(|point| weights(corners, *point)).collect())
    }

    /// Points anywhere: all of a rigid body moves as one.
    pub(super) fn follow(&self, body: usize, points: &[[f64; 3]]) -> diffkern_sim::Result<Points<F>> {
        let (index, weights) = self.by_anchors(body, points);
        let weights: Vec<F> = collect(weights.into_iter().map(F::from_f64))?;
        Ok(Points::Rigid(self.device.array(&index)?, self.device.array(&weights)?))
    }

    pub(super) fn centre(&self, body: usize) -> Result<Mean> {
        let (index, own) = self.by_anchors(body, &[self.spec.forms[body].at([0.0; 3])]);
        let mut weights = filled(self.start.len(), 0.0)?;
        index.iter().zip(own).for_each(|(&k, weight)| weights[k as usize] = weight);
        Ok(Mean { weights, offset: [0.0; 3] })
    }

    pub(super) fn bind(&self, numbers: Numbers<'_, F>) -> Result<(Solver<F>, State<F>)> {
        let Numbers {
            properties,
            gravity,
            damping: _,
            branches: _,
            load: _,
            motion,
            place,
            collider_motion,
            friction,
            restitution,
        } = numbers;
        let product = |values: &Array<F>, factors: &Array<F>| -> diffkern::Result<Array<F>> {
            let out = self.device.uninit(factors.len())?;
            times(factors.len(), values, factors, &out)?;
            Ok(out)
        };
        let mass = product(&properties.density, &self.weight)?;
        let impact = match (&self.base.impact, &self.planes) {
            (Some(base), Some(planes)) => {
                let (friction, restitution) = (at(friction, planes)?, at(restitution, planes)?);
                Some(ImpactParams { friction, restitution, ..base.clone() })
            }
            (Some(_), None) | (None, _) => None,
        };
        let (stiffness, grip) = match &self.holding {
            Holding::ByMass { stiffness, grip } => (product(&mass, stiffness)?, product(&mass, grip)?),
            Holding::Fixed { stiffness, grip } => (stiffness.clone(), grip.clone()),
        };
        let contact = match (&self.base.contact, &self.others) {
            (Some(base), Some(others)) => {
                let poses = moving(&base.poses, others, collider_motion)?;
                Some(Contacts { friction: at(friction, others)?, stiffness, poses, ..base.clone() })
            }
            (Some(_), None) | (None, _) => None,
        };
        let params = Params { mass: Mass::Total(mass), gravity, contact, impact, grip, ..self.base.clone() };
        let start =
            self.model.launch(&params, &self.origin.moved_poses(&self.poses, place)?, motion, -0.5 * self.dt())?;
        let solver = self.model.solver(&params, &start)?;
        let vertices = solver.vertices(&start)?;
        let course = Course {
            solver,
            pushes: self.pushes.clone(),
            frame: self.spec.frame,
            dt: self.dt(),
            steps: self.steps_per_frame(),
            thinnest: self.spec.forms.iter().map(|form| form.thinnest).collect(),
            top_speed: self.spec.top_speed,
            meets: self.spec.meets,
        };
        Ok((Solver::Rigid(Box::new(course)), State::Rigid(Moved { motion: start, vertices })))
    }
}

/// Acceleration by a unit force at each of all points that may touch at once, of the two bodies for which that is most, at most.
fn of_pairs(forms: &[Form], mass: impl Fn(usize, &Form) -> f64) -> f64 {
    let loose: Vec<f64> = forms.iter().enumerate().map(|(k, form)| form.mobility / mass(k, form)).collect();
    let pair = |a: usize, b: usize| (forms[a].touching + forms[b].touching) * (loose[a] + loose[b]);
    let all = (0..forms.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    all.map(|(a, b)| pair(a, b)).fold(0.0, f64::max)
}

/// Where bodies are and how they move, and where their vertices are \[m\].
#[derive(Clone)]
pub(crate) struct Moved<F: Float> {
    motion: rigid::State<F>,
    pub(super) vertices: Array<Vec3<F>>,
}

/// A body that runs away.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runaway {
    pub(crate) body: usize,
    /// Steps taken.
    pub(crate) step: usize,
    /// Distance of its centre of mass from the origin \[m\].
    pub(crate) away: f64,
    /// Speed of that \[m/s\].
    pub(crate) speed: f64,
    /// By how many of its thinnest sides it moves in a step.
    pub(crate) sides: f64,
    /// The most that anything in the scene makes it \[m/s\], where it is far beyond that.
    pub(crate) expected: Option<f64>,
}

/// The body that an error is about.
pub(super) fn blamed(error: &diffkern_sim::Error) -> Option<usize> {
    match error {
        diffkern_sim::Error::NotFinite { index, .. } => Some(*index),
        _ => None,
    }
}

/// A solver, and what pushes bodies on the way.
pub(crate) struct Course<F: Float> {
    solver: rigid::Solver<F>,
    pushes: Arc<Pushes<F>>,
    frame: f64,
    dt: f64,
    steps: usize,
    /// The thinnest side of each body \[m\].
    thinnest: Vec<f64>,
    /// The most that anything in the scene makes a body \[m/s\].
    top_speed: f64,
    /// Whether there is anything to meet.
    meets: bool,
}

impl<F: Float> Course<F> {
    /// The steps to `frame` from the frame before. They begin where impulses act.
    fn spans(&self, frame: usize) -> diffkern_sim::Result<Vec<Span>> {
        let [begin, end] = [frame - 1, frame].map(|frame| frame as f64 * self.frame);
        let mut times = vec![begin];
        times.extend(self.pushes.instants(begin, end));
        times.push(end);
        let (mut spans, mut taken) = (Vec::new(), (frame - 1) * self.steps);
        for pair in times.windows(2) {
            let length = pair[1] - pair[0];
            let steps = (length / self.dt - 1e-6).ceil().max(1.0);
            let span = Span::until(taken, pair[0], pair[1], length / steps)?;
            taken = span.end_index();
            spans.push(span);
        }
        Ok(spans)
    }

    /// The state at `frame`, from that at the frame before.
    pub(super) fn to_frame(&self, from: &Moved<F>, frame: usize) -> diffkern_sim::Result<Moved<F>> {
        let mut motion = from.motion.clone();
        for span in self.spans(frame)? {
            let pushes = self.pushes.clone();
            motion = self.solver.advance_with(&motion, span, move |_, tick| pushes.control(tick), Schedule::Auto)?;
        }
        let vertices = self.solver.vertices(&motion)?;
        Ok(Moved { motion, vertices })
    }

    /// The body that runs away on the way to `frame`, if one has at its end, and the first step after which it does: reads positions and velocities to
    /// the host, and goes through the steps again where one has.
    pub(super) fn runaway(
        &self,
        from: &Moved<F>,
        to: &Moved<F>,
        frame: usize,
    ) -> diffkern_sim::Result<Option<Runaway>> {
        let spans = self.spans(frame)?;
        let ticks: Vec<Tick> = spans.iter().flat_map(|span| (0..span.len()).map(move |k| span.tick(k))).collect();
        let Some(last) = ticks.last() else { return Ok(None) };
        let Some(at_the_end) = self.strays(&to.motion, last)? else { return Ok(None) };
        let mut now = from.motion.clone();
        for tick in &ticks {
            now = self.solver.step(&now, &self.pushes.control(*tick)?, *tick)?;
            if let Some(first) = self.strays(&now, tick)? {
                return Ok(Some(first));
            }
        }
        Ok(Some(at_the_end))
    }

    /// The first body that runs away in the state after a step.
    fn strays(&self, motion: &rigid::State<F>, tick: &Tick) -> diffkern_sim::Result<Option<Runaway>> {
        let (x, v) = (motion.x.to_vec()?, motion.v.to_vec()?);
        let length = |v: &Vec3<F>| norm(v.to_array().map(Float::to_f64));
        for (body, ((x, v), side)) in x.iter().zip(&v).zip(&self.thinnest).enumerate() {
            let (away, speed) = (length(x), length(v));
            let sides = speed * tick.dt / side;
            let faster = speed > FASTER * self.top_speed && sides > MOVED;
            if faster || (self.meets && sides > CROSSED) || away > AWAY {
                let expected = faster.then_some(self.top_speed);
                return Ok(Some(Runaway { body, step: tick.index + 1, away, speed, sides, expected }));
            }
        }
        Ok(None)
    }
}
