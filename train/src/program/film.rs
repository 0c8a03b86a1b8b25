//! The camera of a film: its renderer, and its parameters from the numbers of a run.

use super::inputs::{Inputs, number_of, part_of, vector_of};
use super::physics::{CAMERA, Physics};
use super::setup;
use crate::error::Result;
use crate::scene::{Part, Quantity, Scene, Target};
use diffkern::prelude::*;
use diffkern_render::{CameraParams, Mesh, Renderer};

/// Where the numbers of a camera begin: point looked at, field of view, exposure and coefficients of the lens after the position.
const LOOK_AT: usize = 3;
const FIELD_OF_VIEW: usize = 6;
const EXPOSURE: usize = 7;
const LENS: std::ops::Range<usize> = 8..CAMERA;

/// The camera of a film.
pub(super) struct FilmCamera<F: Float> {
    /// The film, by its place in the scene.
    pub(super) film: usize,
    /// First number of the camera in its part.
    first: usize,
    /// Whether it measures depth.
    pub(super) has_depth: bool,
    pub(super) renderer: Renderer<F>,
    camera: CameraParams<F>,
    /// Whether its lens may distort, and its exposure be other than 1.
    distorts: bool,
    exposes: bool,
}

impl<F: Float> FilmCamera<F> {
    /// Of film `film`, for the surface `mesh`; `numbers` are those of what is known.
    pub(super) fn new(scene: &Scene, film: usize, mesh: &Mesh, numbers: &Physics, device: &Device) -> Result<Self> {
        let of = scene.films[film].camera;
        let camera = &scene.cameras[of];
        let differs = |quantity: Quantity, from: f64| {
            let target = Target::new(of, quantity);
            numbers[target] != from || scene.range(target).is_some()
        };
        Ok(Self {
            film,
            first: CAMERA * of,
            has_depth: scene.films[film].depth.is_some(),
            renderer: Renderer::new(device, mesh)?.with_far(camera.far)?,
            camera: setup::camera(camera).params(device)?,
            distorts: (0..LENS.len()).any(|k| differs(Quantity::Distortion(k), 0.0)),
            exposes: differs(Quantity::Exposure, 1.0),
        })
    }

    /// Pixels of a frame.
    pub(super) fn pixels(&self) -> usize {
        self.camera.width * self.camera.height
    }

    /// Its parameters, by launches only.
    pub(super) fn params(&self, inputs: &Inputs<F>) -> diffkern::Result<CameraParams<F>> {
        let (numbers, device) = (&inputs[Part::Camera], inputs[Part::Camera].device());
        let vector = |from: usize| -> diffkern::Result<Array<Vec3<F>>> {
            let out = device.uninit(1)?;
            vector_of(1, numbers, &out, self.first + from)?;
            Ok(out)
        };
        let some = |places: std::ops::Range<usize>| -> diffkern::Result<Array<F>> {
            let out = device.uninit(places.len())?;
            part_of(places.len(), numbers, &out, self.first + places.start)?;
            Ok(out)
        };
        let fov = device.uninit(1)?;
        number_of(1, numbers, &fov, self.first + FIELD_OF_VIEW)?;
        Ok(CameraParams {
            position: vector(0)?,
            look_at: vector(LOOK_AT)?,
            fov,
            exposure: self.exposes.then(|| some(EXPOSURE..EXPOSURE + 1)).transpose()?,
            lens: self.distorts.then(|| some(LENS)).transpose()?,
            ..self.camera.clone()
        })
    }
}
