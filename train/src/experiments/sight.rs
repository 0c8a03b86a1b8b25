//! How a motion is seen: the camera, the light, and the numbers of a state.

use super::protocol::{Picture, View};
use crate::error::Result;
use diffkern::prelude::*;
use diffkern_render::{Camera, Light, Lighting};

/// The camera of a protocol.
pub(crate) fn camera(view: &View) -> Camera {
    let ((x, y, z), [elevation, azimuth]) = (view.look_at, [view.elevation, view.azimuth].map(f64::to_radians));
    let (up, out) = elevation.sin_cos();
    let away = [out * azimuth.cos(), out * azimuth.sin(), up].map(|c| c * view.distance);
    Camera {
        position: [x + away[0], y + away[1], z + away[2]],
        look_at: [x, y, z],
        up: [0.0, 0.0, 1.0],
        vertical_fov: view.field_of_view.to_radians(),
        width: view.width,
        height: view.height,
        near: 1e-2 * view.distance,
    }
}

/// Centre of mass and orientation, one number after the other.
#[diff_kernel]
pub(super) fn state_numbers<F: Float>(x: &Array<Vec3<F>>, q: &Array<Quat<F>>, numbers: &mut Array<F>) {
    let b = ABSOLUTE_POS;
    let (at, turn) = (x[b], q[b]);
    numbers[7 * b] = at.x;
    numbers[7 * b + 1] = at.y;
    numbers[7 * b + 2] = at.z;
    numbers[7 * b + 3] = turn.w;
    numbers[7 * b + 4] = turn.x;
    numbers[7 * b + 5] = turn.y;
    numbers[7 * b + 6] = turn.z;
}

/// Centre of mass, one number after the other.
#[diff_kernel]
pub(super) fn centre_numbers<F: Float>(x: &Array<Vec3<F>>, numbers: &mut Array<F>) {
    let b = ABSOLUTE_POS;
    let at = x[b];
    numbers[3 * b] = at.x;
    numbers[3 * b + 1] = at.y;
    numbers[3 * b + 2] = at.z;
}

/// Mean of red, green and blue.
#[diff_kernel]
pub(super) fn mean_of_channels<F: Float>(color: &Array<Vec3<F>>, brightness: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let c = color[i];
    brightness[i] = (c.x + c.y + c.z) / 3.0;
}

/// Light from above, and a grey for each vertex: bright or dark by the golden ratio, so that neighbours differ.
pub(super) fn lighting(device: &Device, picture: Picture, vertices: usize) -> Result<Option<Lighting<f64>>> {
    if picture == Picture::Silhouette {
        return Ok(None);
    }
    let light =
        Light { direction: [0.4, 0.5, 0.8], intensity: 0.5, ambient: 0.5, albedo: [1.0; 3], background: [0.0; 3] };
    let grey = |k: usize| 0.25 + 0.7 * (k as f64 * 0.618_033_988_749_895).fract();
    let albedo: Vec<Vec3<f64>> = (0..vertices).map(|k| Vec3::new(grey(k), grey(k), grey(k))).collect();
    Ok(Some(Lighting { albedo: device.array(&albedo)?, ..light.lighting(device)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_right_gradients() -> diffkern::Result<()> {
        let device = Device::cpu();
        let x = device.array(&[Vec3::new(0.3, -0.7, 1.1), Vec3::new(-0.2, 0.5, 0.9)])?;
        let q = device.array(&[Quat::new(0.8, 0.1, -0.5, 0.3), Quat::new(0.2, -0.6, 0.7, 0.4)])?;
        state_numbers::gradcheck(2, &x, &q, &device.zeros(14)?)?;
        centre_numbers::gradcheck(2, &x, &device.zeros(6)?)?;
        mean_of_channels::gradcheck(2, &x, &device.zeros(2)?)?;
        Ok(())
    }
}
