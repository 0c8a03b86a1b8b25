//! Light, and the colours of object and background.

use diffkern::{Array, Device, Float, Vec3};

use crate::error::{Error, Result};

/// One directional light, ambient light, and the colours of object and background.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern_render::{Camera, Light, Mesh, Renderer};
///
/// let device = Device::cpu();
/// let light = Light {
///     direction: [0.0, -1.0, 1.0],
///     intensity: 0.7,
///     ambient: 0.3,
///     albedo: [0.8, 0.2, 0.1],
///     background: [0.0; 3],
/// };
/// let camera = Camera {
///     position: [0.0, -3.0, 0.0],
///     look_at: [0.0; 3],
///     up: [0.0, 0.0, 1.0],
///     vertical_fov: 0.7,
///     width: 16,
///     height: 16,
///     near: 0.1,
/// };
/// let corners = [Vec3::new(-0.5, 0.0, -0.4), Vec3::new(0.5, 0.0, -0.4), Vec3::new(0.0, 0.0, 0.6)];
/// let (vertices, camera) = (device.array::<Vec3<f64>>(&corners)?, camera.params(&device)?);
/// let renderer = Renderer::new(&device, &Mesh::flat(vec![[0, 1, 2]], 3)?)?;
/// let picture = renderer.shaded(&vertices, &camera, &light.lighting(&device)?)?;
/// let middle = picture.color.to_vec()?[8 * 16 + 8];
/// assert!(middle.x > middle.y && middle.y > 0.0);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    /// Direction to the light, of any length.
    pub direction: [f64; 3],
    /// Strength of the directional light.
    pub intensity: f64,
    /// Strength of the light from everywhere.
    pub ambient: f64,
    /// Linear colour of the object.
    pub albedo: [f64; 3],
    /// Linear colour behind the object.
    pub background: [f64; 3],
}

/// Several directional lights and the rest as arrays, of one element but for lights and albedo; put `requires_grad()` arrays into the
/// fields whose gradient you want.
#[derive(Clone, Debug)]
pub struct Lighting<F: Float> {
    /// Direction to each light, of any length.
    pub direction: Array<Vec3<F>>,
    /// Strength of each directional light.
    pub intensity: Array<F>,
    /// Strength of the light from everywhere.
    pub ambient: Array<F>,
    /// Linear colour of the object, one for all or one per vertex.
    pub albedo: Array<Vec3<F>>,
    /// Linear colour behind the object.
    pub background: Array<Vec3<F>>,
}

impl Light {
    /// Refuses a light that cannot be shaded with.
    ///
    /// # Errors
    /// Names the field, its value and what was expected.
    pub fn check(&self) -> Result<()> {
        let fail = |field, value, expected| Err(Error::Light { field, value, expected });
        let finite = |v: &[f64; 3]| v.iter().all(|c| c.is_finite());
        if !finite(&self.direction) || self.direction == [0.0; 3] {
            return fail("direction", format!("{:?}", self.direction), "a finite vector that is not zero");
        }
        for (field, v) in [("intensity", self.intensity), ("ambient", self.ambient)] {
            if !v.is_finite() {
                return fail(field, v.to_string(), "a finite number");
            }
        }
        for (field, v) in [("albedo", &self.albedo), ("background", &self.background)] {
            if !finite(v) {
                return fail(field, format!("{v:?}"), "three finite numbers");
            }
        }
        Ok(())
    }

    /// Uploads the light.
    ///
    /// # Errors
    /// What [`Light::check`] refuses.
    pub fn lighting<F: Float>(&self, device: &Device) -> Result<Lighting<F>> {
        Lighting::of(std::slice::from_ref(self), device)
    }
}

impl<F: Float> Lighting<F> {
    /// Uploads several lights; ambient light and colours are those of the first.
    ///
    /// # Errors
    /// When there is none, and what [`Light::check`] refuses.
    pub fn of(lights: &[Light], device: &Device) -> Result<Self> {
        lights.iter().try_for_each(Light::check)?;
        let Some(first) = lights.first() else {
            let (field, value, expected) = ("number of lights", "0".into(), "at least 1");
            return Err(Error::Light { field, value, expected });
        };
        let vector = |v: [f64; 3]| Vec3::from_array(v.map(F::from_f64));
        let directions: Vec<_> = lights.iter().map(|light| vector(light.direction)).collect();
        let intensities: Vec<_> = lights.iter().map(|light| F::from_f64(light.intensity)).collect();
        Ok(Self {
            direction: device.array(&directions)?,
            intensity: device.array(&intensities)?,
            ambient: device.array(&[F::from_f64(first.ambient)])?,
            albedo: device.array(&[vector(first.albedo)])?,
            background: device.array(&[vector(first.background)])?,
        })
    }
}
