//! Pinhole cameras and projection.

use diffkern::prelude::*;

use crate::error::{Error, Result};
use crate::lens::distort;

/// A pinhole camera: square pixels, image origin at the top left, centre of pixel (row i, column j) at (j+0.5, i+0.5).
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern_render::Camera;
///
/// let camera = Camera {
///     position: [0.0, -3.0, 0.0],
///     look_at: [0.0; 3],
///     up: [0.0, 0.0, 1.0],
///     vertical_fov: 0.7,
///     width: 32,
///     height: 24,
///     near: 0.1,
/// };
/// let device = Device::cpu();
/// let point = device.array(&[Vec3::new(0.0, 0.0, 0.0)])?;
/// let seen = camera.params::<f64>(&device)?.project(&point)?.to_vec()?[0];
/// assert_eq!((seen.x, seen.y, seen.z), (16.0, 12.0, 3.0)); // the middle of the image, at a depth of 3 m
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// Centre of projection \[m\].
    pub position: [f64; 3],
    /// A point on the optical axis \[m\].
    pub look_at: [f64; 3],
    /// A direction that appears upright in the image.
    pub up: [f64; 3],
    /// Vertical field of view \[rad\].
    pub vertical_fov: f64,
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Least depth of a vertex that may be drawn \[m\].
    pub near: f64,
}

/// The same camera as arrays of one element; put `requires_grad()` arrays into the fields whose gradient you want.
#[derive(Clone, Debug)]
pub struct CameraParams<F: Float> {
    /// Centre of projection \[m\].
    pub position: Array<Vec3<F>>,
    /// A point on the optical axis \[m\].
    pub look_at: Array<Vec3<F>>,
    /// A direction that appears upright in the image.
    pub up: Array<Vec3<F>>,
    /// Vertical field of view \[rad\].
    pub fov: Array<F>,
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Least depth of a vertex that may be drawn \[m\].
    pub near: f64,
    /// Coefficients of the lens, five elements as [`Lens::params`](crate::Lens::params) gives them; none of a lens that does not distort.
    pub lens: Option<Array<F>>,
    /// Factor of all colours; 1 where there is none.
    pub exposure: Option<Array<F>>,
}

impl Camera {
    /// Refuses a camera that sees nothing.
    ///
    /// # Errors
    /// Names the field, its value and what was expected.
    pub fn check(&self) -> Result<()> {
        let fail = |field, value: String, expected| Err(Error::Camera { field, value, expected });
        for (field, v) in [("position", self.position), ("look_at", self.look_at), ("up", self.up)] {
            if !v.iter().all(|c| c.is_finite()) {
                return fail(field, format!("{v:?}"), "three finite numbers");
            }
        }
        if !(self.vertical_fov > 0.0 && self.vertical_fov < std::f64::consts::PI) {
            return fail("vertical_fov", format!("{} rad", self.vertical_fov), "an angle between 0 and pi");
        }
        if !(self.near > 0.0 && self.near.is_finite()) {
            return fail("near", format!("{} m", self.near), "a positive distance");
        }
        for (field, side) in [("width", self.width), ("height", self.height)] {
            if !(1..=16384).contains(&side) {
                return fail(field, side.to_string(), "1 to 16384 pixels");
            }
        }
        let forward = Vec3::from_array(self.look_at) - Vec3::from_array(self.position);
        let up = Vec3::from_array(self.up);
        if forward.norm() <= 0.0 {
            return fail("look_at", format!("{:?}", self.look_at), "a point apart from the position");
        }
        if forward.cross(up).norm() <= 1e-9 * forward.norm() * up.norm() {
            return fail("up", format!("{:?}", self.up), "a direction that is not along the line of sight");
        }
        Ok(())
    }

    /// The same view at another resolution.
    #[must_use]
    pub fn with_size(&self, width: usize, height: usize) -> Self {
        Self { width, height, ..self.clone() }
    }

    /// Uploads the camera.
    ///
    /// # Errors
    /// What [`Camera::check`] refuses.
    pub fn params<F: Float>(&self, device: &Device) -> Result<CameraParams<F>> {
        self.check()?;
        let one = |v: [f64; 3]| device.array(&[Vec3::from_array(v.map(F::from_f64))]);
        Ok(CameraParams {
            position: one(self.position)?,
            look_at: one(self.look_at)?,
            up: one(self.up)?,
            fov: device.array(&[F::from_f64(self.vertical_fov)])?,
            width: self.width,
            height: self.height,
            near: self.near,
            lens: None,
            exposure: None,
        })
    }
}

/// Rows right, up and forward of the camera; one element.
#[diff_kernel]
pub fn camera_frame<F: Float>(
    position: &Array<Vec3<F>>,
    look_at: &Array<Vec3<F>>,
    up: &Array<Vec3<F>>,
    frame: &mut Array<Mat3<F>>,
) {
    let forward = (look_at[0] - position[0]).normalize();
    let right = forward.cross(up[0]).normalize();
    frame[ABSOLUTE_POS] = Mat3::from_rows(right, right.cross(forward), forward);
}

/// Pixel coordinates (right, down) and depth \[m\] of every vertex.
#[diff_kernel]
pub fn project<F: Float>(
    x: &Array<Vec3<F>>,
    position: &Array<Vec3<F>>,
    frame: &Array<Mat3<F>>,
    fov: &Array<F>,
    projected: &mut Array<Vec3<F>>,
    half_width: F,
    half_height: F,
) {
    let i = ABSOLUTE_POS;
    let local = frame[0] * (x[i] - position[0]);
    let scale = half_height / ((fov[0] * 0.5).tan() * local.z);
    projected[i] = Vec3::new(half_width + scale * local.x, half_height - scale * local.y, local.z);
}

impl<F: Float> CameraParams<F> {
    /// Projects vertices \[m\] to pixel coordinates and depth.
    ///
    /// # Errors
    /// When a launch fails.
    pub fn project(&self, vertices: &Array<Vec3<F>>) -> Result<Array<Vec3<F>>> {
        let device = vertices.device();
        let frame = device.zeros::<Mat3<F>>(1)?;
        camera_frame(1, &self.position, &self.look_at, &self.up, &frame)?;
        let projected = device.zeros::<Vec3<F>>(vertices.len())?;
        let half = |side: usize| F::from_f64(side as f64 / 2.0);
        let (w, h) = (half(self.width), half(self.height));
        project(vertices.len(), vertices, &self.position, &frame, &self.fov, &projected, w, h)?;
        let Some(lens) = &self.lens else { return Ok(projected) };
        let distorted = device.uninit::<Vec3<F>>(vertices.len())?;
        distort(vertices.len(), &projected, &self.fov, lens, &distorted, w, h)?;
        Ok(distorted)
    }
}
