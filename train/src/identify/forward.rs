//! From material to pictures: simulator and renderer of a scene at one resolution.

use super::coordinates::Material;
use super::cost::pass;
use super::failure::{Failure, Outcome};
use crate::error::Result;
use crate::job::{Discretisation, Flow, Runs, Values};
use crate::scene::{Name, Scene};
use crate::video::Frame;
use diffkern::memory::collect;
use diffkern::prelude::*;
use diffkern::{Schedule, jvp};
use diffkern_render::{Camera, CameraParams, Light, Lighting, Mesh, Renderer};
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{Contact, HalfSpace, Solver, State};
use diffkern_sim::scene::{BlockScene, BlockSpec, Plan};
use diffkern_sim::{mesh::Surface, mpm};
use std::cell::Cell;

/// Cells that the fastest wave may cross in a step, without and with a floor.
const CFL: [f64; 2] = [0.4, 0.2];
/// Stiffness of a floor, in units of the stiffest P-wave modulus over the particle spacing: as stiff as the time step
/// allows. A soft floor delays the impact, which is then taken for viscosity and a stiffer block.
const FLOOR: f64 = 1.2;

/// Viscosity that there is room for beside the scene's, in units of density, grid spacing and fastest P-wave: what the
/// time step of the elastic waves stands.
const ROOM: f64 = 0.25;

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

/// Everything that does not depend on the material.
pub(super) struct Program<F: Float> {
    device: Device,
    block: BlockScene<F>,
    start: State<mpm::Dim3, F>,
    surface: Surface<F>,
    renderer: Renderer<F>,
    camera: CameraParams<F>,
    lighting: Lighting<F>,
    frames: usize,
    plan: Plan,
    /// Viscosity that the scene knows of \[Pa s\].
    viscosity: f64,
    /// What was run so far.
    runs: Cell<Runs>,
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
        let spec = spec(scene, known, cells, room);
        let plan = spec.plan()?;
        let mut block = spec.build::<F>(device)?;
        block.model = block.model.with_node_limit(nodes);
        let surface = block.surface.clone();
        let mesh = Mesh::with_sides(surface.triangles.clone(), &surface.sides, surface.vertex_count())?;
        let start = half_step_back(&block, scene, device)?;
        Ok(Self {
            device: device.clone(),
            start,
            surface,
            renderer: Renderer::new(device, &mesh)?.with_far(scene.camera.far)?,
            camera: camera(scene).params(device)?,
            lighting: light(scene).lighting(device)?,
            frames: scene.num_frames,
            viscosity: scene.material.viscosity,
            runs: Cell::default(),
            plan,
            block,
        })
    }

    /// What the model was cut into.
    pub(super) fn discretisation(&self) -> Discretisation {
        let model = &self.block.model;
        Discretisation { dx: model.grid().dx(), dt: model.dt(), particles: self.start.len() }
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

    /// Viscosity that the scene knows of \[Pa s\].
    pub(super) fn viscosity(&self) -> f64 {
        self.viscosity
    }

    pub(super) fn upload(&self, numbers: &[f64]) -> diffkern::Result<Array<F>> {
        self.device.array(&collect(numbers.iter().map(|&x| F::from_f64(x)))?)
    }

    /// Steps of the simulator from the first frame to the last.
    pub(super) fn steps(&self) -> usize {
        self.block.steps_per_frame * (self.frames - 1)
    }

    /// Silhouettes of the first `frames` frames of this material.
    pub(super) fn coverage(&self, values: Material, frames: usize, tick: &mut Tick<'_>) -> Outcome<Coverage> {
        self.count(Runs { forward: 1, ..Runs::default() });
        let arrays = self.inputs(values)?;
        self.silhouettes(&arrays, frames, tick)?.iter().map(|c| Ok(host(c)?)).collect()
    }

    /// Silhouettes and their derivatives along `directions` of materials, exact, by forward mode.
    pub(super) fn linearise(
        &self,
        values: Material,
        directions: &[Material],
        frames: usize,
        tick: &mut Tick<'_>,
    ) -> Outcome<Linear> {
        self.count(Runs { forward: 1, tangents: directions.len(), ..Runs::default() });
        let inputs = self.inputs(values)?;
        let seeds = directions.iter().map(|d| self.three(*d)).collect::<diffkern::Result<Vec<_>>>()?;
        let pairs: Vec<[_; 3]> = seeds.iter().map(|s| [0, 1, 2].map(|k| (inputs[k].as_any(), s[k].as_any()))).collect();
        let given: Vec<diffkern::Direction<'_>> = pairs.iter().map(|p| p.as_slice()).collect();
        let (images, tangents) = jvp(&given, || self.silhouettes(&inputs, frames, tick))?;
        let coverage = images.iter().map(host).collect::<Result<_>>()?;
        let along = |k| images.iter().map(|c| host(&tangents.get(k, c)?)).collect::<Result<Coverage>>();
        let derivatives = (0..directions.len()).map(along).collect::<Result<_>>()?;
        Ok(Linear { coverage, derivatives })
    }

    /// Silhouettes and shaded pictures of every frame.
    pub(super) fn pictures(&self, values: Material, mut tick: impl FnMut(f64) -> Flow) -> Outcome<Vec<Frame>> {
        let solver = self.solver(&self.inputs(values)?)?;
        let mut state = self.start.clone();
        let mut pictures = Vec::new();
        for frame in 0..self.frames {
            if tick(frame as f64 / self.frames as f64) == Flow::Stop {
                return Err(Failure::Stopped);
            }
            state = self.next(&solver, state, frame)?;
            let vertices = self.surface.vertices(&state.x)?;
            let silhouette = self.renderer.silhouette(&vertices, &self.camera)?.coverage.to_vec()?;
            let color = self.renderer.shaded(&vertices, &self.camera, &self.lighting)?.color.to_vec()?;
            pictures.push(Frame {
                silhouette: collect(silhouette.iter().map(|v| v.to_f64() as f32))?,
                shaded: collect(color.iter().map(|c| [c.x, c.y, c.z].map(|v| v.to_f64() as f32)))?,
            });
        }
        Ok(pictures)
    }

    /// `[mu, lambda, viscosity]` on the device, the scene's viscosity included.
    pub(super) fn inputs(&self, [mu, lambda, viscosity]: Material) -> diffkern::Result<[Array<F>; 3]> {
        self.three([mu, lambda, viscosity + self.viscosity])
    }

    fn three(&self, [a, b, c]: [f64; 3]) -> diffkern::Result<[Array<F>; 3]> {
        Ok([self.upload(&[a])?, self.upload(&[b])?, self.upload(&[c])?])
    }

    /// One image per frame, by launches only: recorded by a tape, carried along by forward mode.
    pub(super) fn silhouettes(
        &self,
        material: &[Array<F>; 3],
        frames: usize,
        tick: &mut Tick<'_>,
    ) -> Outcome<Vec<Array<F>>> {
        let solver = self.solver(material)?;
        let mut state = self.start.clone();
        let mut images = Vec::with_capacity(frames);
        for frame in 0..frames.min(self.frames) {
            if tick() == Flow::Stop {
                return Err(Failure::Stopped);
            }
            state = self.next(&solver, state, frame)?;
            let vertices = self.surface.vertices(&state.x)?;
            images.push(self.renderer.silhouette(&vertices, &self.camera)?.coverage);
        }
        Ok(images)
    }

    fn solver(&self, [mu, lambda, viscosity]: &[Array<F>; 3]) -> Outcome<Solver<mpm::Dim3, F>> {
        let params = self.block.params(&self.device, 1.0, 1.0)?;
        let (mu, lambda, viscosity) = (mu.clone(), lambda.clone(), viscosity.clone());
        let params = mpm::Params { mu, lambda, viscosity, ..params };
        Ok(self.block.model.solver(&params, self.start.len())?)
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
        let steps = self.block.steps_per_frame;
        Ok(solver.advance(&state, (frame - 1) * steps, steps, Schedule::Auto)?)
    }
}

pub(super) fn host<F: Float>(array: &Array<F>) -> Result<Vec<f64>> {
    Ok(collect(array.to_vec()?.into_iter().map(Float::to_f64))?)
}

/// The steps place velocities halfway between positions; starting them half a step early makes the flight exact to
/// second order in the time step.
fn half_step_back<F: Float>(block: &BlockScene<F>, scene: &Scene, device: &Device) -> Result<State<mpm::Dim3, F>> {
    let back = Vec3::from_array(scene.gravity.map(|g| F::from_f64(-0.5 * block.model.dt() * g)));
    let velocities = collect(block.state.v.to_vec()?.into_iter().map(|v| v + back))?;
    Ok(State { v: device.array(&velocities)?, ..block.state.clone() })
}

/// Range of a parameter over all that the job may try: of a known one its value, whatever range the scene has for it.
fn range(scene: &Scene, known: &Values, name: Name) -> [f64; 2] {
    let searched = || scene.unknowns.iter().find(|r| r.name == name).map(|r| [r.min, r.max]);
    known.get(&name).map(|&value| [value; 2]).or_else(searched).unwrap_or([1.0; 2])
}

/// Grid spacing \[m\] with `cells` cells across the thinnest side.
fn spacing(scene: &Scene, cells: usize) -> f64 {
    let block = &scene.block;
    let thinnest = (0..3).map(|a| block.max[a] - block.min[a]).fold(f64::INFINITY, f64::min);
    thinnest / cells as f64
}

/// Largest P-wave modulus \[Pa\].
fn p_modulus(scene: &Scene, known: &Values) -> f64 {
    range(scene, known, Name::Lambda)[1] + 2.0 * range(scene, known, Name::Mu)[1]
}

/// Viscosity that there is room for beside the scene's on a grid of `cells` cells across the thinnest side \[Pa s\].
pub(super) fn viscous_room(scene: &Scene, known: &Values, cells: usize) -> f64 {
    let stands = ROOM * spacing(scene, cells) * (p_modulus(scene, known) * scene.block.density).sqrt();
    // A scene that is viscous itself may need smaller steps anyway.
    (stands - scene.material.viscosity).max(0.25 * stands)
}

pub(super) fn spec(scene: &Scene, known: &Values, cells: usize, room: f64) -> BlockSpec {
    let block = &scene.block;
    let (mu, lambda) = (range(scene, known, Name::Mu), range(scene, known, Name::Lambda));
    // Two particles to a cell.
    let stiffness = 2.0 * FLOOR * p_modulus(scene, known) / spacing(scene, cells);
    let floor = scene.floor.as_ref().map(|floor| {
        HalfSpace::through(floor.point, floor.normal, Contact::Penalty { stiffness }).with_friction(floor.friction)
    });
    let clamp = scene.clamp.as_ref().map(|clamp| match clamp.above {
        false => HalfSpace::clamp(clamp.axis, clamp.plane),
        true => {
            let mut normal = [0.0; 3];
            normal[clamp.axis] = -1.0;
            HalfSpace { normal, offset: -clamp.plane, contact: Contact::Sticky, friction: 0.0 }
        }
    });
    BlockSpec {
        min: block.min,
        max: block.max,
        velocity: block.velocity,
        angular_velocity: block.angular_velocity,
        law: scene.material.law,
        mu,
        lambda,
        density: [block.density; 2],
        viscosity: [scene.material.viscosity, scene.material.viscosity + room],
        damping: [0.0; 2],
        gravity: scene.gravity,
        half_spaces: floor.into_iter().chain(clamp).collect(),
        duration: scene.num_frames as f64 / scene.frame_rate,
        frame_rate: scene.frame_rate,
        cells,
        cfl: CFL[usize::from(scene.floor.is_some())],
        reach: 0.0,
    }
}

fn camera(scene: &Scene) -> Camera {
    let c = &scene.camera;
    Camera {
        position: c.position,
        look_at: c.look_at,
        up: c.up,
        vertical_fov: c.vertical_fov,
        width: c.width,
        height: c.height,
        near: c.near,
    }
}

fn light(scene: &Scene) -> Light {
    let s = &scene.shading;
    Light {
        direction: s.to_light,
        intensity: s.intensity,
        ambient: s.ambient,
        albedo: s.albedo,
        background: s.background,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn tangents_are_derivatives_of_the_silhouettes() {
        let scene = Scene::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a")).unwrap();
        let known = Values::new();
        let room = viscous_room(&scene, &known, 3);
        let program = Program::<f64>::new(&scene, &known, 3, room, &Device::cpu(), usize::MAX).unwrap();
        let (at, frames) = ([9098.2, 11_377.2, 2.0], 12);
        let along = [[9098.2, 0.0, 0.0], [0.0, 11_377.2, 0.0], [0.0, 0.0, 20.0]];
        let mut tick = || Flow::Continue;
        let linear = program.linearise(at, &along, frames, &mut tick).unwrap();
        for (direction, derivative) in along.iter().zip(&linear.derivatives) {
            // Small enough that no particle changes sides at the floor.
            let h = 1e-6;
            let mut moved = |by: f64| {
                let values = [0, 1, 2].map(|k| at[k] + by * direction[k]);
                program.coverage(values, frames, &mut tick).unwrap().concat()
            };
            let (up, down) = (moved(h), moved(-h));
            let numeric: Vec<f64> = up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * h)).collect();
            let apart = derivative.concat().iter().zip(&numeric).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            let norm = numeric.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(norm > 1.0 && apart < 1e-6 * norm, "{direction:?}: {apart} of {norm}");
        }
    }
}
