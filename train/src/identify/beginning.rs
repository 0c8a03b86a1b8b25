//! Whether a video begins as its scene says.
//!
//! Before a body touches anything its pictures depend on no material: on the camera, on its shape, on how it starts, on gravity and on the clock. What is off there
//! is an error of the scene, and would be taken for one of the material later. Each [`Cause`] has a few directions along which pictures change; the step of
//! Gauss and Newton along those of one cause alone says how much of the difference it explains, and by how much the scene would be off (a score test, Rao 1948).
//! Causes that explain nearly as much as the best one cannot be told from it, and are named with it.

use super::fault::{Cause, Column, Moved};
use super::flight::Flight;
use super::misfit::{LevelOptions, Misfit};
use crate::job::Flow;
use crate::program::{Linear, Outcome, Physics, Program, Seen, Shot, TakeProgram, host_places, norm, shots, simulable};
use crate::scene::{Fit, Owner, Quantity, Scene, Target};
use crate::video::Video;
use diffkern::Float;
use diffkern::memory::filled;
use diffkern::prelude::{Array, Vec3};
use diffkern_optim::dense::NormalEquations;
use diffkern_sim::contact::Contact;

/// Blur of what is compared \[pixels\]: differences of a few pixels are still proportional to their cause.
const BLUR: f64 = 4.0;
/// A body is in free flight while no vertex is farther from where a rigid body would be than this part of its size.
const FREE: f64 = 1e-3;
/// What is nearer to a collider than this part of its size may touch it already: programs differ in when contact begins.
const CLEAR: f64 = 1e-2;
/// Frames that are looked at, at most.
const FRAMES: usize = 12;
/// Outlines that are off by less are as the scene says \[pixels\]: videos by other programs are off by 0.005 to 0.035, one centimetre of a
/// camera at a metre's distance gives 0.12 and more.
const TOLD: f64 = 0.08;
/// How many times the variance of the residuals a cause has to explain: more than noise does.
const SURE: f64 = 40.0;
/// A cause that explains this part of what the best one explains cannot be told from it.
const ALIKE: f64 = 0.9;
/// Less than this part of the difference is no explanation.
const EXPLAINS: f64 = 0.5;

/// What the videos say that the scene is wrong about, in words; `values` are those that a search begins with. Nothing is said of a scene whose
/// cameras or positions are unknown, and only of the first frame where starts or gravity are.
pub(super) fn faults<F: Float>(
    scene: &Scene,
    videos: &[Video],
    program: &Program<F>,
    values: &Physics,
    frames: usize,
) -> Outcome<Vec<String>> {
    let unknown = |owner: Owner| scene.unknowns.iter().any(|range| range.target.quantity.row().owner == owner);
    if unknown(Owner::Camera) {
        return Ok(Vec::new());
    }
    // The first frame is not that of the start that the scene has.
    if scene.unknowns.iter().any(|range| matches!(range.target.quantity, Quantity::StartPosition(_))) {
        return Ok(Vec::new());
    }
    let most = if unknown(Owner::Start) || unknown(Owner::Scene) { 1 } else { FRAMES.min(frames) };
    let mut all = Vec::new();
    for (take, program) in program.takes() {
        // What these values do so early is the search's to judge.
        let Some(beginning) = simulable(Beginning::new(scene, take, program, values, most))? else { continue };
        let films = (0..scene.films.len()).filter(|&film| scene.films[film].take == take);
        for film in films.filter(|&film| scene.films[film].weights[0] > 0.0) {
            all.extend(beginning.fault(videos, film)?);
        }
    }
    Ok(all)
}

/// The frames of a take before anything touches.
struct Beginning<'a, F: Float> {
    scene: &'a Scene,
    program: &'a TakeProgram<F>,
    values: &'a Physics,
    flights: Vec<Flight>,
    body_of: Vec<u32>,
    /// Vertices at each frame, on the device and here.
    vertices: Vec<Array<Vec3<F>>>,
    places: Vec<Vec<[f64; 3]>>,
}

impl<'a, F: Float> Beginning<'a, F> {
    fn new(
        scene: &'a Scene,
        take: usize,
        program: &'a TakeProgram<F>,
        values: &'a Physics,
        most: usize,
    ) -> Outcome<Self> {
        let body_of = program.bodies().body_of_vertex();
        let mut vertices = program.flow(values, most, &mut || Flow::Continue)?;
        let places = vertices.iter().map(host_places).collect::<diffkern::Result<Vec<_>>>()?;
        let start = places[0].clone();
        let flight = |body: usize| {
            let own = start.iter().zip(&body_of).filter(|(_, of)| **of as usize == body);
            Flight::of(values, body, take, &own.map(|(x, _)| *x).collect::<Vec<_>>())
        };
        let flights: Vec<Flight> = (0..scene.bodies.len()).map(flight).collect();
        let colliders: Vec<_> = scene.colliders.iter().map(|own| own.rigid(Contact::Separating)).collect();
        let free = |frame: usize| {
            let t = frame as f64 / scene.frame_rate;
            let clear = |x: [f64; 3], size: f64| colliders.iter().all(|own| own.gap(x, t) > CLEAR * size);
            places[frame].iter().zip(&start).zip(&body_of).all(|((x, start), of)| {
                let flight = &flights[*of as usize];
                let expected = flight.place(*start, t);
                // What lies on something begins there.
                let begins = frame == 0 || clear(expected, flight.size);
                begins && norm([0, 1, 2].map(|a| x[a] - expected[a])) < FREE * flight.size
            })
        };
        let frames = (0..places.len()).take_while(|&frame| free(frame)).count();
        vertices.truncate(frames);
        Ok(Self { scene, program, values, flights, body_of, vertices, places })
    }

    /// What a film says that the scene is wrong about.
    fn fault(&self, videos: &[Video], film: usize) -> Outcome<Option<String>> {
        let causes = Cause::all(self.scene.bodies.len());
        let columns: Vec<Column> = causes.iter().flat_map(|cause| cause.columns()).collect();
        let (normal, pixel) = self.compared(videos, film, &columns)?;
        if pixel == 0.0 {
            // Nothing is in the picture.
            return Ok(None);
        }
        let variance = normal.mean_square();
        let off = |cost: f64| (cost.max(0.0) / pixel).sqrt();
        let mut found = Vec::new();
        for cause in causes {
            let own: Vec<usize> = (0..columns.len()).filter(|&k| columns[k].cause == cause).collect();
            let mut part = normal.only(&own);
            for (k, &column) in own.iter().enumerate() {
                let mut slope = filled(own.len(), 0.0)?;
                slope[k] = 1.0 / columns[column].likely;
                part.add_prior(0.0, &slope, variance)?;
            }
            let Some(step) = part.minimum() else { continue };
            let explained = -part.gradient.iter().zip(&step).map(|(g, x)| g * x).sum::<f64>();
            found.push((explained, cause, step.iter().map(|x| x * x).sum::<f64>().sqrt()));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let Some(&(best, ..)) = found.first() else { return Ok(None) };
        let frames = match self.vertices.len() {
            1 => "in its first frame".to_owned(),
            n => format!("in its first {n} frames, before anything touches"),
        };
        let begins =
            format!("the video is not as the scene says {frames}: outlines are off by {:.2} pixels", off(normal.cost));
        if off(best) < TOLD || best < SURE * variance {
            return Ok(None);
        }
        if best < EXPLAINS * normal.cost {
            return Ok(Some(format!(
                "{begins}, which no camera, start, gravity or clock explains: does the scene lack a clamp or a body?"
            )));
        }
        let alike = || found.iter().filter(|(e, ..)| *e >= ALIKE * best);
        let words: Vec<String> = alike().map(|(_, cause, by)| cause.words(self.scene, *by)).collect();
        let fit =
            |part: Fit, word: &'static str| alike().any(|(_, cause, _)| cause.fit() == Some(part)).then_some(word);
        let parts: Vec<&str> = [fit(Fit::Start, "start"), fit(Fit::Camera, "camera")].into_iter().flatten().collect();
        let along = match parts.is_empty() {
            true => String::new(),
            false => format!(" (--fit {} finds it along)", parts.join(",")),
        };
        Ok(Some(format!("{begins}; it may be {}{along}", words.join(", or "))))
    }

    /// What a film shows beside the scene, with the derivatives along columns; and what a shift by a pixel would cost.
    fn compared(&self, videos: &[Video], film: usize, columns: &[Column]) -> Outcome<(NormalEquations, f64)> {
        let level = LevelOptions { blur: BLUR, frames: 1.0 };
        let misfit = Misfit::new(self.scene, videos, &filled(self.vertices.len(), 1.0)?, &[level])?;
        let all = shots(self.scene, self.vertices.len());
        let (mut normal, mut pixel) = (NormalEquations::new(columns.len()), 0.0);
        for frame in 0..self.vertices.len() {
            let shot = Shot { seen: Seen::Silhouette(film), frame };
            let target = misfit.level(0).targets().find(|(place, _)| all[*place] == shot);
            let (Some((_, target)), Some(own)) = (target, self.program.seen_at(shot.seen)) else { continue };
            let Linear { coverage, derivatives } = self.drawn(frame, film, columns)?;
            let along = derivatives.iter().map(|d| target.of(&d[own])).collect::<diffkern::Result<Vec<_>>>()?;
            normal.add(&target.residual(&coverage[own])?, &along)?;
            pixel += target.shifted(&coverage[own])?;
        }
        Ok((normal, pixel))
    }

    fn drawn(&self, frame: usize, film: usize, columns: &[Column]) -> Outcome<Linear> {
        let (vertices, places) = (&self.vertices[frame], &self.places[frame]);
        let t = frame as f64 / self.scene.frame_rate;
        let (mut shifts, mut directions) = (Vec::new(), Vec::new());
        for Column { moved, .. } in columns {
            let (mut direction, mut shift) = (self.values.zeroed(), filled(places.len(), Vec3::zero())?);
            match *moved {
                Moved::Camera(quantity) => direction[Target::new(self.scene.films[film].camera, quantity)] = 1.0,
                Moved::Flight(body, change) => {
                    for ((shift, x), &of) in shift.iter_mut().zip(places).zip(&self.body_of) {
                        if body.is_none_or(|body| body == of as usize) {
                            let by = self.flights[of as usize].shift(change, *x, t, self.scene.frame_rate);
                            *shift = Vec3::from_array(by.map(F::from_f64));
                        }
                    }
                }
            }
            shifts.push(vertices.device().array(&shift)?);
            directions.push(direction);
        }
        self.program.drawn(vertices, &shifts, self.values, &directions)
    }
}
