//! From the numbers of a run to pictures: simulator and renderer of a scene at one resolution.

use super::cost::pass;
use super::failure::{Failure, Outcome};
use super::inputs::{Inputs, launch, to_particles, vector_of};
use super::physics::{Part, Physics};
use super::setup;
use crate::error::Result;
use crate::job::{Discretisation, Flow, Runs, Values};
use crate::scene::Scene;
use crate::video::Frame;
use diffkern::memory::collect;
use diffkern::prelude::*;
use diffkern::{Schedule, jvp};
use diffkern_render::{CameraParams, Lighting, Mesh, Renderer};
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{self, Solver, State};
use diffkern_sim::scene::{BodiesScene, Plan};
use std::cell::Cell;

/// Called between frames.
pub(super) type Tick<'a> = dyn FnMut() -> Flow + 'a;

/// Coverage per frame, row by row.
pub(super) type Coverage = Vec<Vec<f64>>;

/// Coverage with its derivative along each direction.
pub(super) struct Linear {
    /// Per frame.
    pub(super) coverage: Coverage,
    /// Per direction, per frame.
    pub(super) derivatives: Vec<Coverage>,
}

/// Everything that depends on no number that may be searched for.
pub(super) struct Program<F: Float> {
    device: Device,
    bodies: BodiesScene<F>,
    /// Of each particle, and centres of mass.
    body_of: Array<u32>,
    centres: Array<Vec3<F>>,
    renderer: Renderer<F>,
    camera: CameraParams<F>,
    lighting: Lighting<F>,
    /// Whether there is a floor with friction.
    slides: bool,
    frames: usize,
    plan: Plan,
    /// What was run so far.
    runs: Cell<Runs>,
}

/// A run with its numbers bound.
struct Bound<F: Float> {
    solver: Solver<mpm::Dim3, F>,
    start: State<mpm::Dim3, F>,
    camera: CameraParams<F>,
}

impl<F: Float> Program<F> {
    /// With `cells` grid cells across the thinnest side, for at most `room` of viscosity beside the scene's and steps on at
    /// most so many `nodes` of the grid.
    pub(super) fn new(
        scene: &Scene,
        known: &Values,
        cells: usize,
        room: f64,
        device: &Device,
        nodes: usize,
    ) -> Result<Self> {
        let spec = setup::spec(scene, known, cells, room);
        let plan = spec.plan()?;
        let mut bodies = spec.build::<F>(device)?;
        bodies.model = bodies.model.with_node_limit(nodes);
        let surface = &bodies.surface;
        let mesh = Mesh::with_sides(surface.triangles.clone(), &surface.sides, surface.vertex_count())?;
        let centres: Vec<_> = bodies.centres.iter().map(|c| Vec3::from_array(c.map(F::from_f64))).collect();
        Ok(Self {
            device: device.clone(),
            body_of: device.array(&bodies.body_of)?,
            centres: device.array(&centres)?,
            renderer: Renderer::new(device, &mesh)?.with_far(scene.camera.far)?,
            camera: setup::camera(scene).params(device)?,
            lighting: setup::lighting(scene, &bodies.body_of_vertex, device)?,
            slides: scene.slides(),
            frames: scene.num_frames,
            runs: Cell::default(),
            plan,
            bodies,
        })
    }

    /// What the model was cut into.
    pub(super) fn discretisation(&self) -> Discretisation {
        let model = &self.bodies.model;
        Discretisation { dx: model.grid().dx(), dt: model.dt(), particles: self.bodies.state.len() }
    }

    /// Work of a pass over `frames` frames, in particles that a step moves.
    pub(super) fn work(&self, frames: usize) -> f64 {
        pass(&self.plan, frames as f64, (self.camera.width * self.camera.height) as f64, &self.device)
    }

    /// What was run so far, and before if the job was resumed.
    pub(super) fn runs(&self) -> Runs {
        self.runs.get()
    }

    /// Counts on from `runs`.
    pub(super) fn count_from(&self, runs: Runs) {
        self.runs.set(runs);
    }

    pub(super) fn count(&self, more: Runs) {
        self.runs.set(self.runs.get() + more);
    }

    pub(super) fn upload(&self, numbers: &[f64]) -> diffkern::Result<Array<F>> {
        self.device.array(&collect(numbers.iter().map(|&x| F::from_f64(x)))?)
    }

    /// Steps of the simulator from the first frame to the last.
    pub(super) fn steps(&self) -> usize {
        self.bodies.steps_per_frame * (self.frames - 1)
    }

    /// Silhouettes of the first `frames` frames with these numbers.
    pub(super) fn coverage(&self, values: &Physics, frames: usize, tick: &mut Tick<'_>) -> Outcome<Coverage> {
        self.count(Runs { forward: 1, ..Runs::default() });
        let inputs = self.inputs(values)?;
        self.silhouettes(&inputs, frames, tick)?.iter().map(|c| Ok(host(c)?)).collect()
    }

    /// Silhouettes and their derivatives along `directions` of the numbers, exact, by forward mode.
    pub(super) fn linearise(
        &self,
        values: &Physics,
        directions: &[Physics],
        frames: usize,
        tick: &mut Tick<'_>,
    ) -> Outcome<Linear> {
        self.count(Runs { forward: 1, tangents: directions.len(), ..Runs::default() });
        let inputs = self.inputs(values)?;
        // Parts that a direction leaves alone carry no tangent.
        let seed = |direction: &Physics| -> diffkern::Result<Vec<(Part, Array<F>)>> {
            let moved = Part::ALL.map(|part| (part, direction.part(part)));
            let moved = moved.into_iter().filter(|(_, numbers)| numbers.iter().any(|x| *x != 0.0));
            moved.map(|(part, numbers)| Ok((part, self.upload(&numbers)?))).collect()
        };
        let seeds = directions.iter().map(seed).collect::<diffkern::Result<Vec<_>>>()?;
        let pairs: Vec<Vec<_>> =
            seeds.iter().map(|s| s.iter().map(|(part, by)| (inputs[*part].as_any(), by.as_any())).collect()).collect();
        let given: Vec<diffkern::Direction<'_>> = pairs.iter().map(|p| p.as_slice()).collect();
        let (images, tangents) = jvp(&given, || self.silhouettes(&inputs, frames, tick))?;
        let coverage = images.iter().map(host).collect::<Result<_>>()?;
        let along = |k| images.iter().map(|c| host(&tangents.get(k, c)?)).collect::<Result<Coverage>>();
        let derivatives = (0..directions.len()).map(along).collect::<Result<_>>()?;
        Ok(Linear { coverage, derivatives })
    }

    /// Silhouettes and shaded pictures of every frame.
    pub(super) fn pictures(&self, values: &Physics, mut tick: impl FnMut(f64) -> Flow) -> Outcome<Vec<Frame>> {
        let Bound { solver, start: mut state, camera } = self.bind(&self.inputs(values)?)?;
        let mut pictures = Vec::new();
        for frame in 0..self.frames {
            if tick(frame as f64 / self.frames as f64) == Flow::Stop {
                return Err(Failure::Stopped);
            }
            state = self.next(&solver, state, frame)?;
            let vertices = self.bodies.surface.vertices(&state.x)?;
            let silhouette = self.renderer.silhouette(&vertices, &camera)?.coverage.to_vec()?;
            let color = self.renderer.shaded(&vertices, &camera, &self.lighting)?.color.to_vec()?;
            pictures.push(Frame {
                silhouette: collect(silhouette.iter().map(|v| v.to_f64() as f32))?,
                shaded: collect(color.iter().map(|c| [c.x, c.y, c.z].map(|v| v.to_f64() as f32)))?,
            });
        }
        Ok(pictures)
    }

    /// The numbers on the device.
    pub(super) fn inputs(&self, values: &Physics) -> diffkern::Result<Inputs<F>> {
        Inputs::new(|part| self.upload(&values.part(part)))
    }

    /// One image per frame, by launches only: recorded by a tape, carried along by forward mode.
    pub(super) fn silhouettes(&self, inputs: &Inputs<F>, frames: usize, tick: &mut Tick<'_>) -> Outcome<Vec<Array<F>>> {
        let Bound { solver, start: mut state, camera } = self.bind(inputs)?;
        let mut images = Vec::with_capacity(frames);
        for frame in 0..frames.min(self.frames) {
            if tick() == Flow::Stop {
                return Err(Failure::Stopped);
            }
            state = self.next(&solver, state, frame)?;
            let vertices = self.bodies.surface.vertices(&state.x)?;
            images.push(self.renderer.silhouette(&vertices, &camera)?.coverage);
        }
        Ok(images)
    }

    fn bind(&self, inputs: &Inputs<F>) -> Outcome<Bound<F>> {
        let particles = self.bodies.state.len();
        let each = |part: Part| -> diffkern::Result<Array<F>> {
            if self.centres.len() == 1 {
                return Ok(inputs[part].clone());
            }
            let out = self.device.uninit(particles)?;
            to_particles(particles, &inputs[part], &self.body_of, &out)?;
            Ok(out)
        };
        let vector = |part: Part| -> diffkern::Result<Array<Vec3<F>>> {
            let out = self.device.uninit(1)?;
            vector_of(1, &inputs[part], &out)?;
            Ok(out)
        };
        let (density, gravity) = (each(Part::Density)?, vector(Part::Gravity)?);
        let params = mpm::Params {
            mu: each(Part::Mu)?,
            lambda: each(Part::Lambda)?,
            density,
            viscosity: each(Part::Viscosity)?,
            gravity: gravity.clone(),
            friction: self.slides.then(|| inputs[Part::Friction].clone()),
            ..self.bodies.params(&self.device)?
        };
        // The steps place velocities halfway between positions; starting them half a step early makes the flight exact to
        // second order in the time step.
        let back = F::from_f64(-0.5 * self.bodies.model.dt());
        let (x, v, c) = (&self.bodies.state.x, self.device.uninit(particles)?, self.device.uninit(particles)?);
        launch(particles, x, &self.body_of, &self.centres, &inputs[Part::Motion], &gravity, &v, &c, back)?;
        let camera = CameraParams { position: vector(Part::Camera)?, ..self.camera.clone() };
        let solver = self.bodies.model.solver(&params, particles)?;
        Ok(Bound { solver, start: State { v, c, ..self.bodies.state.clone() }, camera })
    }

    /// From frame `frame - 1` to `frame`.
    fn next(
        &self,
        solver: &Solver<mpm::Dim3, F>,
        state: State<mpm::Dim3, F>,
        frame: usize,
    ) -> Outcome<State<mpm::Dim3, F>> {
        if frame == 0 {
            return Ok(state);
        }
        let steps = self.bodies.steps_per_frame;
        Ok(solver.advance(&state, (frame - 1) * steps, steps, Schedule::Auto)?)
    }
}

pub(super) fn host<F: Float>(array: &Array<F>) -> Result<Vec<f64>> {
    Ok(collect(array.to_vec()?.into_iter().map(Float::to_f64))?)
}

#[cfg(test)]
mod tests {
    use super::super::setup::viscous_room;
    use super::*;
    use crate::scene::{Contact, Quantity, Range, Target};
    use std::path::Path;

    /// Every quantity of the sample as an unknown, its values away from symmetry.
    fn every_quantity() -> (Scene, Physics) {
        let mut scene = Scene::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a")).unwrap();
        if let Some(floor) = &mut scene.floor {
            floor.contact = Contact::Friction(0.3);
        }
        scene.bodies[0].angular_velocity = [1.0, -2.0, 0.5];
        scene.bodies[0].material.viscosity = 3.0;
        (scene.bodies[0].material.mu, scene.bodies[0].material.lambda) = (Some(9098.2), Some(11_377.2));
        let mut second = scene.bodies[0].clone();
        second.name = "second".into();
        if let diffkern_sim::scene::BodyShape::Block { min, max } = &mut second.shape {
            (min[0], max[0]) = (min[0] + 0.3, max[0] + 0.25);
        }
        second.material.mu = Some(5000.0);
        scene.bodies.push(second);
        let targets: Vec<Target> = scene.targets().collect();
        for target in targets {
            let value = scene.known(target).unwrap();
            let (name, width) = (scene.name_of(target), 0.2 * value.abs() + 0.1);
            scene.unknowns.push(Range { name, target, min: value - 0.4 * width, max: value + 0.6 * width });
        }
        let mut values = Physics::of(&scene, &Values::new());
        for target in scene.targets().collect::<Vec<_>>() {
            values[target] = scene.known(target).unwrap();
        }
        values.extra = 2.0;
        (scene, values)
    }

    #[test]
    fn tangents_are_derivatives_of_the_silhouettes() {
        let (scene, at) = every_quantity();
        let known = Values::new();
        let room = viscous_room(&scene, &known, 2);
        let program = Program::<f64>::new(&scene, &known, 2, room, &Device::cpu(), usize::MAX).unwrap();
        let frames = 12;
        let mut along: Vec<(String, Physics, f64)> = Vec::new();
        for target in scene.targets() {
            let mut direction = Physics::zero(scene.bodies.len());
            let size = match target.quantity {
                Quantity::Camera(_) => 0.1,
                _ => at[target].abs().max(0.3),
            };
            direction[target] = size;
            along.push((scene.name_of(target).to_string(), direction, size));
        }
        along.push(("viscosity beside".into(), Physics::zero(scene.bodies.len()).with_extra(20.0), 20.0));
        let mut tick = || Flow::Continue;
        let directions: Vec<Physics> = along.iter().map(|(_, direction, _)| direction.clone()).collect();
        let linear = program.linearise(&at, &directions, frames, &mut tick).unwrap();
        for ((name, direction, _), derivative) in along.iter().zip(&linear.derivatives) {
            // Small enough that no particle changes sides at the floor.
            let h = 1e-6;
            let mut moved = |by: f64| program.coverage(&at.plus(by, direction), frames, &mut tick).unwrap().concat();
            let (up, down) = (moved(h), moved(-h));
            let numeric: Vec<f64> = up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * h)).collect();
            let apart = derivative.concat().iter().zip(&numeric).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            let norm = numeric.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(norm > 1e-2 && apart < 2e-6 * norm.max(1.0), "{name}: {apart} of {norm}");
        }
    }
}
