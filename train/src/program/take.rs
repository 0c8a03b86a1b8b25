//! One take: simulator and renderers of a scene at one resolution, from the numbers of a run to pictures.

use super::bodies::{Bodies, Numbers, Plan, Solver, State};
use super::failure::{Failure, Outcome};
use super::film::FilmCamera;
use super::follower::Follower;
use super::inputs::{Inputs, component_of, in_pairs};
use super::material::Materials;
use super::motion::Diagnosis;
use super::overlap;
use super::physics::Physics;
use super::setup::{self, GridOptions};
use super::shot::{Seen, seen};
use super::tear::Neighbours;
use crate::error::Result;
use crate::job::{Flow, Shown, Surface, Values};
use crate::scene::{Part, Scene};
use crate::video::Frame;
use diffkern::jvp;
use diffkern::memory::{collect, filled};
use diffkern::prelude::*;
use diffkern_render::{CameraParams, DepthMap, Lighting};

/// A pixel is covered as a whole: sums of shares are rounded.
const WHOLE: f64 = 1.0 - 1e-4;

/// Called between frames.
pub(crate) type Tick<'a> = dyn FnMut() -> Flow + 'a;

/// The numbers of everything that is seen, as [`shots`](super::shots) lists it; of a picture row by row.
pub(crate) type Coverage = Vec<Vec<f64>>;

/// What is seen with its derivative along each direction.
pub(crate) struct Linear {
    pub(crate) coverage: Coverage,
    /// Per direction.
    pub(crate) derivatives: Vec<Coverage>,
}

impl Linear {
    /// Adds that of another take.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.coverage.append(&mut other.coverage);
        self.derivatives.iter_mut().zip(&mut other.derivatives).for_each(|(all, one)| all.append(one));
    }
}

/// Everything of a take that depends on no number that may be searched for.
pub(crate) struct TakeProgram<F: Float> {
    device: Device,
    take: usize,
    bodies: Bodies<F>,
    materials: Materials<F>,
    cameras: Vec<FilmCamera<F>>,
    /// Each with the place of its track in the scene.
    followers: Vec<(usize, Follower<F>)>,
    /// What is compared of each frame.
    seen: Vec<Seen>,
    lighting: Lighting<F>,
    frames: usize,
    plan: Plan,
    diagnosis: Diagnosis,
}

/// A run with its numbers bound.
struct Bound<F: Float> {
    solver: Solver<F>,
    start: State<F>,
}

impl<F: Float> TakeProgram<F> {
    /// Of the take `take` of a scene.
    pub(crate) fn new(
        scene: &Scene,
        take: usize,
        known: &Values,
        options: &GridOptions,
        device: &Device,
    ) -> Result<Self> {
        overlap::refuse(scene, take, known)?;
        let plan = Plan::of(scene, take, known, options)?;
        let bodies = Bodies::new(scene, take, known, options, device)?;
        let mesh = bodies.mesh()?;
        let numbers = Physics::of(scene, known);
        let films = (0..scene.films.len()).filter(|&film| scene.films[film].take == take);
        let cameras = films.map(|film| FilmCamera::new(scene, film, &mesh, &numbers, device)).collect::<Result<_>>()?;
        let tracks = scene.tracks.iter().enumerate().filter(|(_, track)| track.take == take);
        let followers =
            tracks.map(|(k, track)| Ok((k, Follower::of(track, &bodies, device)?))).collect::<Result<_>>()?;
        Ok(Self {
            device: device.clone(),
            take,
            materials: Materials::new(scene, take, &bodies, device)?,
            cameras,
            followers,
            seen: seen(scene, take),
            lighting: setup::lighting(scene, &bodies.body_of_vertex(), device)?,
            frames: scene.num_frames,
            plan,
            diagnosis: Diagnosis::of(scene, take),
            bodies,
        })
    }

    /// The simulated bodies.
    pub(crate) fn bodies(&self) -> &Bodies<F> {
        &self.bodies
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// What a run takes.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Frames of the video.
    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    /// Number of tracks of this take.
    pub(super) fn tracks(&self) -> usize {
        self.followers.len()
    }

    /// Steps of the simulator from the first frame to the last.
    pub(crate) fn steps(&self) -> usize {
        self.bodies.steps_per_frame() * (self.frames - 1)
    }

    /// Pixels of a frame, of all films together.
    pub(crate) fn pixels(&self) -> usize {
        self.cameras.iter().map(FilmCamera::pixels).sum()
    }

    pub(crate) fn upload(&self, numbers: &[f64]) -> diffkern::Result<Array<F>> {
        upload(&self.device, numbers)
    }

    /// The numbers on the device.
    pub(crate) fn inputs(&self, values: &Physics) -> diffkern::Result<Inputs<F>> {
        Inputs::new(|part| self.upload(&values.part(part, self.take)))
    }

    /// What is seen in the first `frames` frames with these numbers.
    pub(crate) fn coverage(&self, values: &Physics, frames: usize, tick: &mut Tick<'_>) -> Outcome<Coverage> {
        let inputs = self.inputs(values)?;
        self.images(&inputs, frames, tick)?.iter().map(|c| Ok(host(c)?)).collect()
    }

    /// Hands each of these to `look` as soon as it is there, until that says that it is enough; gives what it said last.
    pub(crate) fn show_each(
        &self,
        values: &Physics,
        frames: usize,
        tick: &mut Tick<'_>,
        look: &mut dyn FnMut(&[f64]) -> diffkern::Result<Flow>,
    ) -> Outcome<Flow> {
        let inputs = self.inputs(values)?;
        let cameras = self.camera_params(&inputs)?;
        let mut flow = Flow::Continue;
        let ran = self.each_frame(&inputs, frames, tick, |state| {
            let mut images = Vec::new();
            self.pictures(&self.bodies.vertices(state)?, &cameras, &mut images)?;
            self.follow(state, &mut images)?;
            for image in &images {
                flow = look(&host(image)?)?;
                if flow == Flow::Stop {
                    return Err(Failure::Stopped);
                }
            }
            Ok(())
        });
        match ran {
            Err(Failure::Stopped) if flow == Flow::Stop => Ok(flow),
            ran => ran.map(|()| flow),
        }
    }

    /// What is seen with its derivatives along `directions` of the numbers, exact, by forward mode. Directions in which this take
    /// does not change cost nothing.
    pub(crate) fn linearise(
        &self,
        values: &Physics,
        directions: &[Physics],
        frames: usize,
        tick: &mut Tick<'_>,
    ) -> Outcome<Linear> {
        self.derivatives(values, directions, |inputs| self.images(inputs, frames, tick))
    }

    /// Arrays that `run` makes of the numbers, with their derivatives along `directions`.
    pub(crate) fn derivatives(
        &self,
        values: &Physics,
        directions: &[Physics],
        run: impl FnOnce(&Inputs<F>) -> Outcome<Vec<Array<F>>>,
    ) -> Outcome<Linear> {
        let inputs = self.inputs(values)?;
        let seeds = directions.iter().map(|direction| self.seed(direction, &Part::ALL));
        let seeds = seeds.collect::<diffkern::Result<Vec<_>>>()?;
        let moving = seeds.iter().filter(|seeds| !seeds.is_empty());
        let pairs: Vec<Vec<_>> =
            moving.map(|s| s.iter().map(|(part, by)| (inputs[*part].as_any(), by.as_any())).collect()).collect();
        let given: Vec<diffkern::Direction<'_>> = pairs.iter().map(|p| p.as_slice()).collect();
        let (images, tangents) = jvp(&given, || run(&inputs))?;
        let coverage = images.iter().map(host).collect::<Result<_>>()?;
        let mut next = 0;
        let mut along = |seeds: &Vec<(Part, Array<F>)>| -> Result<Coverage> {
            if seeds.is_empty() {
                return images.iter().map(|image| Ok(filled(image.len(), 0.0)?)).collect();
            }
            next += 1;
            images.iter().map(|c| host(&tangents.get(next - 1, c)?)).collect()
        };
        let derivatives = seeds.iter().map(&mut along).collect::<Result<_>>()?;
        Ok(Linear { coverage, derivatives })
    }

    /// A direction on the device, of the given parts; those that it leaves alone carry no tangent.
    pub(super) fn seed(&self, direction: &Physics, parts: &[Part]) -> diffkern::Result<Vec<(Part, Array<F>)>> {
        let moved = parts.iter().map(|&part| (part, direction.part(part, self.take)));
        let moved = moved.filter(|(_, numbers)| numbers.iter().any(|x| *x != 0.0));
        moved.map(|(part, numbers)| Ok((part, self.upload(&numbers)?))).collect()
    }

    /// Puts everything that these numbers show of the take into `all`, and what was drawn last into `last` where the motion does not come to its end.
    pub(crate) fn show(
        &self,
        values: &Physics,
        all: &mut Shown,
        mut tick: impl FnMut(f64) -> Flow,
        last: &mut Option<Surface>,
    ) -> Outcome<()> {
        let inputs = self.inputs(values)?;
        let Bound { solver, start: mut state } = self.bind(&inputs)?;
        let cameras = self.camera_params(&inputs)?;
        let (mut drawn, neighbours) = (None, self.neighbours()?);
        for frame in 0..self.frames {
            if tick(frame as f64 / self.frames as f64) == Flow::Stop {
                return Err(Failure::Stopped);
            }
            state = match self.next(&solver, state, frame) {
                Ok(state) => state,
                Err(failure) => {
                    // The failure is the one to tell, whatever else fails.
                    *last = drawn.and_then(|(frame, vertices)| self.surface(frame, &vertices).ok());
                    return Err(failure);
                }
            };
            let vertices = self.bodies.vertices(&state)?;
            if let Some(neighbours) = neighbours.as_ref().filter(|_| all.torn.is_none_or(|first| first > frame))
                && neighbours.are_torn(&host_places(state.x())?)
            {
                all.torn = Some(frame);
            }
            for (film, camera) in self.cameras.iter().zip(&cameras) {
                let silhouette = film.renderer.silhouette(&vertices, camera)?.coverage.to_vec()?;
                let color = film.renderer.shaded(&vertices, camera, &self.lighting)?.color.to_vec()?;
                let depth = match film.has_depth {
                    true => depths(&film.renderer.depth(&vertices, camera)?)?,
                    false => Vec::new(),
                };
                all.films[film.film].push(Frame {
                    depth,
                    silhouette: collect(silhouette.iter().map(|v| v.to_f64() as f32))?,
                    shaded: collect(color.iter().map(|c| [c.x, c.y, c.z].map(|v| v.to_f64() as f32)))?,
                });
            }
            for (track, follower) in &self.followers {
                all.tracks[*track].push(host(&follower.numbers(state.x())?)?);
            }
            drawn = Some((frame, vertices));
        }
        Ok(())
    }

    /// Neighbouring particles, where the grid may tear bodies.
    fn neighbours(&self) -> Result<Option<Neighbours>> {
        if !self.bodies.may_tear() {
            return Ok(None);
        }
        let at_rest = self.bodies.sites()?;
        Ok(Some(Neighbours::new(&at_rest.at, &at_rest.body_of, self.bodies.spacing())))
    }

    /// The surfaces of all bodies as they are drawn in a frame.
    fn surface(&self, frame: usize, vertices: &Array<Vec3<F>>) -> Result<Surface> {
        let vertices = host_places(vertices)?;
        Ok(Surface { frame, vertices, triangles: self.bodies.mesh()?.triangles().to_vec() })
    }

    /// What is seen in each frame, by launches only: recorded by a tape, carried along by forward mode.
    pub(crate) fn images(&self, inputs: &Inputs<F>, frames: usize, tick: &mut Tick<'_>) -> Outcome<Vec<Array<F>>> {
        let cameras = self.camera_params(inputs)?;
        let mut images = Vec::with_capacity(frames.min(self.frames) * self.seen.len());
        self.each_frame(inputs, frames, tick, |state| {
            self.pictures(&self.bodies.vertices(state)?, &cameras, &mut images)?;
            self.follow(state, &mut images)
        })?;
        Ok(images)
    }

    /// Calls `then` with the state at each of the first `frames` frames.
    pub(super) fn each_frame(
        &self,
        inputs: &Inputs<F>,
        frames: usize,
        tick: &mut Tick<'_>,
        mut then: impl FnMut(&State<F>) -> Outcome<()>,
    ) -> Outcome<()> {
        let Bound { solver, start: mut state } = self.bind(inputs)?;
        for frame in 0..frames.min(self.frames) {
            if tick() == Flow::Stop {
                return Err(Failure::Stopped);
            }
            state = self.next(&solver, state, frame)?;
            then(&state)?;
        }
        Ok(())
    }

    /// Adds what is seen of vertices by the cameras.
    pub(super) fn pictures(
        &self,
        vertices: &Array<Vec3<F>>,
        cameras: &[CameraParams<F>],
        images: &mut Vec<Array<F>>,
    ) -> Outcome<()> {
        for (film, camera) in self.cameras.iter().zip(cameras) {
            if self.seen.contains(&Seen::Silhouette(film.film)) {
                images.push(film.renderer.silhouette(vertices, camera)?.coverage);
            }
            if self.seen.contains(&Seen::Depth(film.film)) {
                let DepthMap { coverage, inverse, .. } = film.renderer.depth(vertices, camera)?;
                let out = self.device.uninit(2 * coverage.len())?;
                in_pairs(coverage.len(), &coverage, &inverse, &out)?;
                images.push(out);
            }
            if self.seen.contains(&Seen::Colour(film.film, 0)) {
                let color = film.renderer.shaded(vertices, camera, &self.lighting)?.color;
                for channel in 0..3 {
                    let out = self.device.uninit(color.len())?;
                    component_of(color.len(), &color, &out, channel)?;
                    images.push(out);
                }
            }
        }
        Ok(())
    }

    /// The place among the pictures of a frame of what is seen.
    pub(crate) fn seen_at(&self, seen: Seen) -> Option<usize> {
        self.seen.iter().position(|own| *own == seen)
    }

    /// Adds where the tracks are.
    pub(super) fn follow(&self, state: &State<F>, numbers: &mut Vec<Array<F>>) -> Outcome<()> {
        for (_, follower) in &self.followers {
            numbers.push(follower.numbers(state.x())?);
        }
        Ok(())
    }

    pub(super) fn camera_params(&self, inputs: &Inputs<F>) -> Outcome<Vec<CameraParams<F>>> {
        Ok(self.cameras.iter().map(|film| film.params(inputs)).collect::<diffkern::Result<_>>()?)
    }

    /// What a follower gives at a frame, by launches only.
    pub(crate) fn followed(
        &self,
        inputs: &Inputs<F>,
        follower: &Follower<F>,
        frame: usize,
        tick: &mut Tick<'_>,
    ) -> Outcome<Array<F>> {
        let Bound { solver, start: mut state } = self.bind(inputs)?;
        for frame in 0..=frame {
            if tick() == Flow::Stop {
                return Err(Failure::Stopped);
            }
            state = self.next(&solver, state, frame)?;
        }
        Ok(follower.numbers(state.x())?)
    }

    fn bind(&self, inputs: &Inputs<F>) -> Outcome<Bound<F>> {
        let numbers = Numbers::new(self.materials.properties(inputs)?, inputs)?;
        let (solver, start) = self.bodies.bind(numbers)?;
        Ok(Bound { solver, start })
    }

    /// From frame `frame - 1` to `frame`.
    fn next(&self, solver: &Solver<F>, state: State<F>, frame: usize) -> Outcome<State<F>> {
        if frame == 0 {
            return Ok(state);
        }
        let told = |error: diffkern_sim::Error| {
            let body = self.bodies.blamed(&error);
            self.diagnosis.error(error, body)
        };
        let next = solver.to_frame(&state, frame).map_err(told)?;
        match solver.runaway(&state, &next, frame)? {
            Some(found) => Err(self.diagnosis.runaway(&found).into()),
            None => Ok(next),
        }
    }
}

/// The depths of the pixels that are covered as a whole \[m\], 0 of all others.
fn depths<F: Float>(map: &DepthMap<F>) -> Result<Vec<f32>> {
    let (coverage, inverse) = (host(&map.coverage)?, host(&map.inverse)?);
    let pairs = coverage.iter().zip(&inverse);
    Ok(collect(pairs.map(|(covered, inverse)| if *covered > WHOLE { (covered / inverse) as f32 } else { 0.0 }))?)
}

/// Numbers on a device.
pub(super) fn upload<F: Float>(device: &Device, numbers: &[f64]) -> diffkern::Result<Array<F>> {
    device.array(&collect(numbers.iter().map(|&x| F::from_f64(x)))?)
}

/// Places on the host \[m\].
pub(crate) fn host_places<F: Float>(places: &Array<Vec3<F>>) -> diffkern::Result<Vec<[f64; 3]>> {
    collect(places.to_vec()?.iter().map(|x| [x.x, x.y, x.z].map(Float::to_f64)))
}

/// The numbers of an array in 64 bits.
pub(crate) fn host<F: Float>(array: &Array<F>) -> Result<Vec<f64>> {
    Ok(collect(array.to_vec()?.into_iter().map(Float::to_f64))?)
}
