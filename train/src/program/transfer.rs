//! What one grid shows, with the derivatives of how another moves.
//!
//! How places depend on the numbers of a run hardly changes with the grid, while what is seen of them does. So a fine grid is run for what is seen, a
//! coarse one, at a fraction of the cost, for how the vertices that the fine one draws move, and the pictures of the fine one are
//! differentiated along those motions.

use super::bodies::Points;
use super::failure::Outcome;
use super::inputs::numbers_of;
use super::physics::Physics;
use super::take::{Coverage, Linear, TakeProgram, Tick, host};
use crate::error::Result;
use crate::scene::Part;
use diffkern::jvp;
use diffkern::memory::{collect, filled};
use diffkern::prelude::*;

/// The vertices that another grid draws, carried by the bodies of this one.
pub(crate) struct Carried<F: Float> {
    /// Of each body the places of its vertices among all.
    bodies: Vec<(Vec<usize>, Points<F>)>,
    vertices: usize,
}

impl<F: Float> TakeProgram<F> {
    /// What this grid carries of the vertices that `drawn` draws; none where the simulator cannot.
    pub(crate) fn carried<G: Float>(&self, drawn: &TakeProgram<G>) -> Result<Option<Carried<F>>> {
        let Some(all) = drawn.bodies().drawn_at_start() else { return Ok(None) };
        let body_of = drawn.bodies().body_of_vertex();
        let count = body_of.iter().max().map_or(0, |last| *last as usize + 1);
        let one = |body: usize| -> Result<(Vec<usize>, Points<F>)> {
            let own: Vec<usize> = (0..all.len()).filter(|&k| body_of[k] as usize == body).collect();
            let places: Vec<[f64; 3]> = collect(own.iter().map(|&k| all[k]))?;
            Ok((own, self.bodies().points(body, &places, self.device())?))
        };
        Ok(Some(Carried { bodies: (0..count).map(one).collect::<Result<_>>()?, vertices: all.len() }))
    }

    /// Where carried vertices and what is tracked are: for each frame the numbers of each body's vertices, then of each track.
    pub(crate) fn places(
        &self,
        carried: &Carried<F>,
        values: &Physics,
        frames: usize,
        tick: &mut Tick<'_>,
    ) -> Outcome<Coverage> {
        let (inputs, mut all) = (self.inputs(values)?, Coverage::new());
        self.each_frame(&inputs, frames, tick, |state| {
            for (_, points) in &carried.bodies {
                let places = points.places(state.x())?;
                let numbers = self.device().uninit(3 * places.len())?;
                numbers_of(places.len(), &places, &numbers)?;
                all.push(host(&numbers)?);
            }
            let mut tracks = Vec::new();
            self.follow(state, &mut tracks)?;
            for track in &tracks {
                all.push(host(track)?);
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// How many of these there are.
    pub(super) fn numbers_carried<G: Float>(&self, carried: &Carried<G>, frames: usize) -> usize {
        frames.min(self.frames()) * (carried.bodies.len() + self.tracks())
    }

    /// What is seen in the first `frames` frames, with its derivatives along `directions` where vertices and tracks move by `motions` of `carried`.
    pub(crate) fn along<G: Float>(
        &self,
        carried: &Carried<G>,
        motions: &[&[Vec<f64>]],
        values: &Physics,
        directions: &[Physics],
        frames: usize,
        tick: &mut Tick<'_>,
    ) -> Outcome<Linear> {
        let inputs = self.inputs(values)?;
        let (mut places, mut tracked) = (Vec::new(), Vec::new());
        self.each_frame(&inputs, frames, tick, |state| {
            places.push(self.bodies().vertices(state)?);
            let mut numbers = Vec::new();
            self.follow(state, &mut numbers)?;
            tracked.push(numbers.iter().map(host).collect::<Result<Coverage>>()?);
            Ok(())
        })?;
        let mut all = Linear { coverage: Coverage::new(), derivatives: vec![Coverage::new(); directions.len()] };
        for (frame, (vertices, tracks)) in places.iter().zip(tracked).enumerate() {
            let own = carried.bodies.len() + tracks.len();
            let moved: Vec<_> = motions.iter().map(|motion| &motion[frame * own..(frame + 1) * own]).collect();
            let shifts = moved.iter().map(|numbers| self.shift(carried, numbers)).collect::<Result<Vec<_>>>()?;
            let Linear { coverage, derivatives } = self.drawn(vertices, &shifts, values, directions)?;
            all.coverage.extend(coverage.into_iter().chain(tracks));
            for ((all, of_pictures), moved) in all.derivatives.iter_mut().zip(derivatives).zip(moved) {
                all.extend(of_pictures.into_iter().chain(moved[carried.bodies.len()..].iter().cloned()));
            }
        }
        Ok(all)
    }

    /// Pictures of vertices at one frame, with their derivatives where along each direction the vertices shift and the cameras change.
    pub(crate) fn drawn(
        &self,
        vertices: &Array<Vec3<F>>,
        shifts: &[Array<Vec3<F>>],
        values: &Physics,
        directions: &[Physics],
    ) -> Outcome<Linear> {
        let inputs = self.inputs(values)?;
        let cameras = directions.iter().map(|direction| self.seed(direction, &[Part::Camera]));
        let cameras = cameras.collect::<diffkern::Result<Vec<_>>>()?;
        let pairs: Vec<Vec<_>> = shifts
            .iter()
            .zip(&cameras)
            .map(|(shift, cameras)| {
                let camera = cameras.iter().map(|(part, by)| (inputs[*part].as_any(), by.as_any()));
                camera.chain([(vertices.as_any(), shift.as_any())]).collect()
            })
            .collect();
        let given: Vec<diffkern::Direction<'_>> = pairs.iter().map(Vec::as_slice).collect();
        let (images, tangents) = jvp(&given, || -> Outcome<_> {
            let mut images = Vec::new();
            self.pictures(vertices, &self.camera_params(&inputs)?, &mut images)?;
            Ok(images)
        })?;
        let along = |k: usize| images.iter().map(|image| host(&tangents.get(k, image)?)).collect();
        Ok(Linear {
            coverage: images.iter().map(host).collect::<Result<_>>()?,
            derivatives: (0..shifts.len()).map(along).collect::<Result<_>>()?,
        })
    }

    /// The vertices that are drawn in the first `frames` frames, those of each body one after the other.
    pub(crate) fn flow(&self, values: &Physics, frames: usize, tick: &mut Tick<'_>) -> Outcome<Vec<Array<Vec3<F>>>> {
        let (inputs, mut places) = (self.inputs(values)?, Vec::new());
        self.each_frame(&inputs, frames, tick, |state| {
            places.push(self.bodies().vertices(state)?);
            Ok(())
        })?;
        Ok(places)
    }

    /// By how much each vertex moves.
    fn shift<G: Float>(&self, carried: &Carried<G>, numbers: &[Vec<f64>]) -> Result<Array<Vec3<F>>> {
        let mut shift = filled(carried.vertices, Vec3::zero())?;
        for ((own, _), numbers) in carried.bodies.iter().zip(numbers) {
            for (&vertex, x) in own.iter().zip(numbers.chunks_exact(3)) {
                shift[vertex] = Vec3::new(F::from_f64(x[0]), F::from_f64(x[1]), F::from_f64(x[2]));
            }
        }
        Ok(self.device().array(&shift)?)
    }
}
