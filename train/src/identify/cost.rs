//! What a job will take - steps, memory, time - from its scene alone, before anything of it is made.
//!
//! Counted are passes over the frames on the coarse grid and on the fine one, each of so many steps, each of so many
//! particles and nodes, or cells. Work is in what a step of one of them costs, which is measured on a small block just before. How
//! long a search will be is not known: typical numbers of passes stand for it, from the table in `docs/experiment.md`. In
//! all, the time is right within a factor of two or three, the memory within a factor of two.

use super::cause;
use super::frames::frames_in_use;
use super::information;
use crate::error::{Error, Result};
use crate::job::{IdentifyOptions, Simulator, Values};
use crate::limits::{Limits, Seconds, size};
use crate::optimizer::Optimizer;
use crate::program::{GridOptions, Plan, Resolution, observed, overlap, shots, viscous_room};
use crate::scene::{Film, Scene};
use crate::search::{Parametrisation, SCANNED};
use diffkern::prelude::*;
use diffkern_sim::Step;
use diffkern_sim::collision::Pose;
use diffkern_sim::contact::Collider;
use diffkern_sim::fem::lattice::floor;
use diffkern_sim::rigid::{self, Impacts, Plane};
use diffkern_sim::scene::{BlockSpec, BodyShape, BodySpec, ElasticSpec};
use diffkern_sim::shape::{Cuboid, Primitive};
use std::fmt;
use std::path::Path;
use std::time::Instant;

/// What a pass in single precision costs beside one in double precision.
const SINGLE: f64 = 0.5;
/// Bytes of a pixel of a frame as it is read or drawn, and of one of an animation.
const FRAME_PIXEL: f64 = 16.0;
const ANIMATION_PIXEL: f64 = 24.0;
/// The program itself.
const PROGRAM: f64 = 32.0 * 1024.0 * 1024.0;
/// Evaluations of a gradient check in passes: per seed, of which some are drawn again, adjoint, tangent and ladder.
const CHECK_PASSES: f64 = 4.0 * (5.0 + 2.0 + 15.0);
/// Evaluations that typically refine an answer.
pub(super) const REFINING: f64 = 4.0;
/// Budget of a rollout on a tape \[bytes\]: that of `Schedule::Auto`.
const TAPE: f64 = 1024.0 * 1024.0 * 1024.0;

/// A job, in so far as it decides on its cost.
#[derive(Debug, Clone, Copy)]
pub enum Task<'a> {
    /// Find the unknowns.
    Identify(&'a IdentifyOptions),
    /// Compare ways to film, which are all films of the scene.
    Plan(&'a IdentifyOptions),
    /// Draw what values look like.
    Simulate(Drawing<'a>),
}

/// A simulation of given values.
#[derive(Debug, Clone, Copy)]
pub struct Drawing<'a> {
    /// The values.
    pub values: &'a Values,
    /// What moves the bodies.
    pub simulator: Simulator,
    /// Cells across the thinnest side, as many as [`identify()`](super::identify()) ends with if not given.
    pub cells: Option<usize>,
}

/// What a job will take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Steps of the simulator, those of all passes.
    pub steps: f64,
    /// What they are steps of.
    pub simulator: Simulator,
    /// Particles on the finest grid, or cells.
    pub elements: f64,
    /// Nodes of that grid.
    pub nodes: f64,
    /// Memory \[bytes\].
    pub bytes: f64,
    /// Nodes that are thought to be worked on, or may be without harm.
    pub(super) active: f64,
    /// Part of them that grows with the nodes that particles reach, per node \[bytes\].
    pub(super) per_node: f64,
    /// In what a step of a particle or cell costs.
    pub(super) work: f64,
}

/// Passes of a search that typically follow the scan: on the coarse grid and on the fine one, where `directions` are searched.
pub(crate) fn typical_passes(optimizer: Optimizer, directions: f64) -> [f64; 2] {
    match optimizer {
        Optimizer::Auto | Optimizer::Lm => [2.0 * (1.0 + directions), 5.0 + 3.0 * (1.0 + directions)],
        Optimizer::NewtonCg => [18.0, 75.0],
        Optimizer::Adam => [14.0, 62.0],
    }
}

/// Walks of a refinement over the grid of the search: the start, where it begins, and both sides of each direction.
pub(super) fn rough_walks(directions: f64) -> f64 {
    2.0 + 2.0 * directions
}

/// Passes of a scan.
pub(crate) fn scan_passes(coordinates: &Parametrisation) -> f64 {
    coordinates.scanned(SCANNED) as f64
}

/// Cost of a pass on the coarse grid, and on average on the final one, beside one in the precision of the answer.
pub(super) fn shares(device: &Device) -> [f64; 2] {
    if device.supports_f64() { [SINGLE, 0.5 * (SINGLE + 1.0)] } else { [1.0; 2] }
}

/// Work of a pass over `frames` frames of `pixels` pixels.
pub(super) fn pass(plan: &Plan, frames: f64, pixels: f64, device: &Device) -> f64 {
    plan.steps_per_frame() * (frames - 1.0) * plan.step(device) + frames * plan.frame(pixels)
}

impl Cost {
    /// Of a job on `device`, with the check of its gradient if one is asked for.
    ///
    /// # Errors
    /// When the simulator refuses a value of the scene.
    pub fn of(scene: &Scene, task: Task<'_>, gradcheck: bool, device: &Device) -> Result<Self> {
        let mut cost = match task {
            Task::Identify(options) => identification(scene, options, device)?,
            Task::Plan(options) => comparison(scene, options, device)?,
            Task::Simulate(drawing) => simulation(scene, drawing, device)?,
        };
        if gradcheck {
            let (known, simulator, cells) = match task {
                Task::Identify(options) | Task::Plan(options) => (&options.fixed, options.simulator, options.cells),
                Task::Simulate(Drawing { values, simulator, cells }) => (values, simulator, cells),
            };
            cost.add_check(scene, known, super::resolution(scene, cells, simulator, false), device)?;
        }
        Ok(cost)
    }

    /// The check runs before the job, on a grid that is not finer.
    fn add_check(&mut self, scene: &Scene, known: &Values, resolution: Resolution, device: &Device) -> Result<()> {
        let Resolution { coarse, fine, .. } = resolution;
        let (frames, pixels) = (scene.num_frames as f64, pixels(scene));
        let mut cells = coarse;
        let plan = loop {
            let plans = planned(scene, known, self.simulator, cells, cells)?;
            if plans.steps_per_frame() * (frames - 1.0) >= super::gradient::STEPS as f64 || cells >= fine {
                break plans;
            }
            cells += 1;
        };
        let real = real(device);
        self.steps += CHECK_PASSES * plan.steps_per_frame() * (frames - 1.0);
        self.work += CHECK_PASSES * plan.pass(frames, device);
        let checked = PROGRAM + plan.bytes(device, real, 2.0) + frames * (plan.tape(device) + 6.0 * real * pixels);
        self.bytes = self.bytes.max(checked + FRAME_PIXEL * pixels * frames);
        Ok(())
    }

    /// Time \[s\], where moving a particle by a step takes `each` \[s\].
    pub fn seconds(&self, each: f64) -> f64 {
        self.work * each
    }

    /// How far it is beyond the limits: 1 is just within.
    pub(super) fn excess(&self, limits: &Limits, each: f64) -> f64 {
        let parts = [
            self.seconds(each) / limits.seconds(),
            self.bytes / limits.bytes(),
            self.nodes / Plan::most(),
            self.elements / Plan::most(),
        ];
        parts.into_iter().fold(0.0, |worst, part| if part.is_nan() { f64::INFINITY } else { part.max(worst) })
    }

    /// Nodes that the simulator may work on before it needs more memory than the limit.
    pub(crate) fn node_limit(&self, limits: &Limits) -> usize {
        let spare = (limits.bytes() - self.bytes).max(0.0);
        (self.active + spare / self.per_node) as usize
    }
}

/// A cost with the time that it takes.
#[derive(Debug, Clone, Copy)]
pub struct Estimate {
    /// What is to be done.
    pub cost: Cost,
    /// Time \[s\].
    pub seconds: f64,
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cost { steps, simulator, elements, bytes, .. } = self.cost;
        let (time, memory) = (Seconds(self.seconds.max(1.0)), size(bytes));
        write!(
            f,
            "{} simulator steps of up to {} {}: about {time}, {memory}",
            count(steps),
            count(elements),
            simulator.elements()
        )
    }
}

/// A whole number, or its size where it is large.
pub(super) fn count(n: f64) -> String {
    if n < 1e6 { format!("{n:.0}") } else { format!("{n:.1e}") }
}

/// Estimates a job from `file`, and refuses it beyond its limits.
///
/// # Errors
/// Names the field that makes it so long or so large, and a value that would do.
pub fn estimate(
    scene: &Scene,
    file: &Path,
    task: Task<'_>,
    gradcheck: bool,
    device: &str,
    limits: &Limits,
) -> Result<Estimate> {
    let device = super::device(device)?;
    let known = match task {
        Task::Identify(options) | Task::Plan(options) => &options.fixed,
        Task::Simulate(drawing) => drawing.values,
    };
    let apart = observed(scene).try_for_each(|take| overlap::refuse(scene, take, known));
    apart.map_err(|error| match error {
        Error::Scene { .. } => error.in_file(file),
        other => other,
    })?;
    let cost = Cost::of(scene, task, gradcheck, &device)?;
    let each = match device.supports_f64() {
        true => measured::<f64>(cost.simulator, &device)?,
        false => measured::<f32>(cost.simulator, &device)?,
    };
    judged(scene, file, task, gradcheck, &device, limits, each)
}

/// The same where a step of a particle or cell takes `each` \[s\].
pub(super) fn judged(
    scene: &Scene,
    file: &Path,
    task: Task<'_>,
    gradcheck: bool,
    device: &Device,
    limits: &Limits,
    each: f64,
) -> Result<Estimate> {
    let of = |scene: &Scene, task: Task<'_>| Cost::of(scene, task, gradcheck, device);
    let cost = of(scene, task)?;
    let estimate = Estimate { cost, seconds: cost.seconds(each) };
    if cost.excess(limits, each) <= 1.0 {
        return Ok(estimate);
    }
    Err(cause::refusal(scene, file, task, &estimate, limits, &|scene, task| {
        of(scene, task).map_or(f64::INFINITY, |cost| cost.excess(limits, each))
    }))
}

/// Time that this machine needs now for a step of a particle or cell \[s\], from a block of some thousands or hundreds.
fn measured<F: diffkern::Float>(simulator: Simulator, device: &Device) -> Result<f64> {
    const STEPS: usize = 3;
    match simulator {
        Simulator::Mpm | Simulator::Tlmpm => {
            let spec = BlockSpec { cells: 9, ..BlockSpec::default() };
            let block = spec.build::<F>(device)?;
            let solver = block.model.solver(&block.params(device, spec.mu[1], spec.lambda[1])?, block.state.len())?;
            timed(&solver, &block.state, STEPS, &Plan::Mpm(spec.plan()?), device)
        }
        Simulator::Fem => {
            let BodySpec { mu, lambda, .. } = BodySpec::default();
            let cell = 0.1 / 7.0;
            let shape = BodyShape::Block { min: [0.0; 3], max: [0.1; 3] };
            let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], floor(mu[1], lambda[1], cell));
            let body = BodySpec { shape, ..BodySpec::default() };
            let spec = ElasticSpec { bodies: vec![body], colliders: vec![floor], cell, ..ElasticSpec::default() };
            let block = spec.build::<F>(device)?;
            let solver = block.model.solver(&block.params, &block.state)?;
            timed(&solver, &block.state, STEPS, &Plan::Fem(spec.plan()?), device)
        }
        Simulator::Rigid => {
            let cube = Primitive::Cuboid(Cuboid { sides: [0.1; 3] }).surface(1.0)?;
            let plane = Plane { normal: [0.0, 0.0, 1.0], offset: -0.05, restitution: 0.0, friction: 0.3 };
            let model = rigid::Model::<F>::new(device, &[rigid::Body::new(cube)], 2e-3, &[])?;
            let model = model.with_impacts(Impacts::new(vec![plane]))?;
            let params = model.params(1000.0, [0.0, 0.0, -9.81])?;
            let pose =
                Pose { centre: Vec3::zero(), rotation: Quat::identity(), velocity: Vec3::zero(), spin: Vec3::zero() };
            let start = model.start(&params, &device.array(&[pose])?)?;
            timed(&model.solver(&params, &start)?, &start, STEPS, &Plan::of_box(), device)
        }
    }
}

/// The same of a solver.
fn timed<S: Step>(solver: &S, start: &S::State, steps: usize, plan: &Plan, device: &Device) -> Result<f64>
where
    S::Control: Default,
{
    const BATCHES: usize = 5;
    let mut state = solver.advance(start, 0, steps, Schedule::Auto)?;
    let mut times = [0.0; BATCHES];
    for (k, time) in times.iter_mut().enumerate() {
        let begun = Instant::now();
        state = solver.advance(&state, (k + 1) * steps, steps, Schedule::Auto)?;
        *time = begun.elapsed().as_secs_f64();
    }
    times.sort_by(f64::total_cmp);
    Ok(times[BATCHES / 2] / (plan.frame(0.0) + steps as f64 * plan.step(device)))
}

fn identification(scene: &Scene, options: &IdentifyOptions, device: &Device) -> Result<Cost> {
    let simulator = options.simulator;
    let resolution = super::resolution(scene, options.cells, simulator, super::refines(options));
    let planned = |cells: usize| planned(scene, &options.fixed, simulator, cells, resolution.last());
    let plans = [planned(resolution.coarse)?, planned(resolution.fine)?];
    let refined = resolution.refined.map(planned).transpose()?;
    let (all, pixels) = (scene.num_frames as f64, pixels(scene));
    let used = frames_in_use(scene, simulator) as f64;
    let coordinates = Parametrisation::new(scene, options, 1.0)?;
    let directions = coordinates.kinds().len() as f64;
    let [coarse, fine] = typical_passes(options.optimizer, directions);
    let passes = [scan_passes(&coordinates) + coarse, fine];
    let mut cost = pictures(scene, refined.as_ref().unwrap_or(&plans[1]), device, 2.0);
    if let Some(refined) = &refined {
        let walks = rough_walks(directions);
        let steps = REFINING * refined.steps_per_frame() + walks * plans[1].steps_per_frame();
        let passes = REFINING * refined.pass(used, device) + walks * plans[1].pass(used, device);
        cost.steps += steps * (used - 1.0);
        // What it shows at the end is drawn in single precision, too.
        cost.work = shares(device)[0] * (cost.work + passes);
    }
    for ((plan, passes), share) in plans.iter().zip(passes).zip(shares(device)) {
        cost.steps += passes * plan.steps_per_frame() * (used - 1.0);
        cost.work += share * passes * plan.pass(used, device);
    }
    let real = real(device);
    let (tangents, taped) = match options.optimizer {
        Optimizer::Auto | Optimizer::Lm => (directions, 0.0),
        Optimizer::NewtonCg | Optimizer::Adam => (2.0, used * plans[1].tape(device)),
    };
    // Pictures of a pass on the device and on the host, each with its derivatives; the video blurred for five levels.
    let seen = shots(scene, 1).iter().map(|shot| shot.size(scene).0 as f64).sum::<f64>();
    let images = used * seen * ((1.0 + tangents) * (real + 8.0) + 5.0 * 8.0);
    cost.per_node *= 1.0 + tangents;
    cost.bytes = cost.bytes.max(
        PROGRAM
            + FRAME_PIXEL * pixels * all
            + images
            + taped
            + plans[0].bytes(device, 4.0, 0.0)
            // Beside the final grid the same in single precision.
            + if real > 4.0 { plans[1].bytes(device, 4.0, tangents) } else { 0.0 }
            + plans[1].bytes(device, real, tangents)
            + refined.map_or(0.0, |plans| plans.bytes(device, 4.0, 0.0)),
    );
    Ok(cost)
}

/// Runs on one grid in single precision, all pictures kept with their derivatives; one run on a finer grid.
fn comparison(scene: &Scene, options: &IdentifyOptions, device: &Device) -> Result<Cost> {
    let [cells, finer] = information::grids(scene, options);
    let plans = planned(scene, &options.fixed, options.simulator, cells, cells)?;
    let coordinates = Parametrisation::new(scene, options, 1.0)?.kinds().len();
    let used = frames_in_use(scene, options.simulator) as f64;
    let runs = information::runs(coordinates) as f64;
    let filmed = planned(scene, &options.fixed, options.simulator, finer, finer)?;
    let (one, finer) = (pictures(scene, &plans, device, 1.0), pictures(scene, &filmed, device, 1.0));
    let seen = shots(scene, 1).iter().map(|shot| shot.size(scene).0 as f64).sum::<f64>();
    Ok(Cost {
        steps: runs * one.steps + finer.steps,
        work: shares(device)[0] * (runs * plans.pass(used, device) + filmed.pass(used, device)),
        // What is seen, both sides of the derivative in hand, those that there are, and what is blurred of them.
        bytes: one.bytes + finer.bytes + used * seen * (4.0 + 2.0 * coordinates as f64) * 8.0,
        ..finer
    })
}

fn simulation(scene: &Scene, Drawing { values, simulator, cells }: Drawing<'_>, device: &Device) -> Result<Cost> {
    let cells = super::resolution(scene, cells, simulator, true).last();
    Ok(pictures(scene, &planned(scene, values, simulator, cells, cells)?, device, 1.0))
}

/// All frames once, with an animation of so many videos.
fn pictures(scene: &Scene, plan: &Plans, device: &Device, videos: f64) -> Cost {
    let (frames, pixels, real) = (scene.num_frames as f64, pixels(scene), real(device));
    // Small frames are drawn larger in the animation.
    let scale = |width: usize| (256 / width.max(1)).max(1) as f64;
    let scale = scene.cameras.iter().map(|camera| scale(camera.width)).fold(1.0, f64::max);
    let animation = ANIMATION_PIXEL * scale * scale * videos;
    Cost {
        steps: plan.steps_per_frame() * (frames - 1.0),
        simulator: plan.simulator,
        elements: plan.sum(Plan::elements),
        nodes: plan.takes.iter().map(|(plan, _)| plan.nodes()).fold(0.0, f64::max),
        active: plan.sum(|plan| plan.allowed_nodes(device)),
        // The picture in hand: layers, colours and coverage, on the device and on the host.
        bytes: PROGRAM
            + plan.bytes(device, real, 0.0)
            + 12.0 * real * pixels
            + frames * pixels * ((1.0 + videos) * FRAME_PIXEL + animation),
        per_node: plan.takes.iter().map(|(plan, _)| plan.node_reals()).fold(1.0, f64::max) * real,
        // Colours as well as silhouettes; then files.
        work: plan.pass(frames, device) + plan.drawing(frames),
    }
}

/// What the takes of a scene cost, each with its pixels.
struct Plans {
    simulator: Simulator,
    takes: Vec<(Plan, f64)>,
}

impl Plans {
    fn sum(&self, of: impl Fn(&Plan) -> f64) -> f64 {
        self.takes.iter().map(|(plan, _)| of(plan)).sum()
    }

    fn steps_per_frame(&self) -> f64 {
        self.sum(Plan::steps_per_frame)
    }

    fn bytes(&self, device: &Device, real: f64, tangents: f64) -> f64 {
        self.sum(|plan| plan.bytes(device, real, tangents))
    }

    fn pass(&self, frames: f64, device: &Device) -> f64 {
        self.takes.iter().map(|(plan, pixels)| pass(plan, frames, *pixels, device)).sum()
    }

    fn drawing(&self, frames: f64) -> f64 {
        self.takes.iter().map(|(plan, pixels)| frames * plan.drawing(*pixels)).sum()
    }

    fn tape(&self, device: &Device) -> f64 {
        self.sum(|plan| tape(plan, device))
    }
}

/// With `cells` cells across, and the viscosity of the search on `finest`.
fn planned(scene: &Scene, known: &Values, simulator: Simulator, cells: usize, finest: usize) -> Result<Plans> {
    let room = viscous_room(scene, known, finest);
    let options = GridOptions { simulator, cells, room, fixed_steps: false, nodes: usize::MAX };
    let one = |take: usize| -> Result<(Plan, f64)> {
        let films = scene.films.iter().filter(|film| film.take == take);
        Ok((Plan::of(scene, take, known, &options)?, films.map(|film| pixels_of(scene, film)).sum()))
    };
    Ok(Plans { simulator, takes: observed(scene).map(one).collect::<Result<_>>()? })
}

/// Memory of a frame's steps on a tape \[bytes\].
fn tape(plan: &Plan, device: &Device) -> f64 {
    let step = plan.taped(device, real(device));
    (plan.steps_per_frame() * step).min(TAPE.max(4.0 * step))
}

/// Pixels of a frame of all films together.
fn pixels(scene: &Scene) -> f64 {
    scene.films.iter().map(|film| pixels_of(scene, film)).sum()
}

fn pixels_of(scene: &Scene, film: &Film) -> f64 {
    let camera = &scene.cameras[film.camera];
    camera.width as f64 * camera.height as f64
}

/// Bytes of a real.
fn real(device: &Device) -> f64 {
    if device.supports_f64() { 8.0 } else { 4.0 }
}
