//! Distortion by a lens, and exposure.
//!
//! Brown's model: a point at `(x, y)` of the image plane at distance one, x right and y down, is seen at
//! `(x, y) (1 + k1 r^2 + k2 r^4 + k3 r^6) + (2 p1 x y + p2 (r^2 + 2 x^2), p1 (r^2 + 2 y^2) + 2 p2 x y)`.
//!
//! Vertices are moved, edges between them stay straight. Far off the axis the polynomial may turn back, and bring what is far outside
//! into the image; from there on points are taken as without a lens, and the gradient is that of this.
//!
//! Source: Brown, Decentering distortion of lenses, Photogrammetric Engineering 32 (1966).

use diffkern::prelude::*;

use crate::error::{Error, Result};

/// Coefficients of the distortion by a lens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lens {
    /// Radial: of `r^2`, `r^4`, `r^6`.
    pub radial: [f64; 3],
    /// Tangential: `p1` and `p2`.
    pub tangential: [f64; 2],
}

/// Radii at which a lens is looked at.
const RADII: usize = 256;

impl Lens {
    /// As an array, for [`CameraParams::lens`](crate::CameraParams::lens).
    ///
    /// # Errors
    /// When a coefficient is not finite.
    pub fn params<F: Float>(&self, device: &Device) -> Result<Array<F>> {
        let all = [self.radial[0], self.radial[1], self.radial[2], self.tangential[0], self.tangential[1]];
        match all.iter().all(|x| x.is_finite()) {
            true => Ok(device.array(&all.map(F::from_f64))?),
            false => {
                Err(Error::Camera { field: "lens", value: format!("{all:?}"), expected: "five finite coefficients" })
            }
        }
    }

    /// Whether what is seen moves outwards with what is there, from the axis on to all that is seen within `radius` of it, at distance one.
    /// Where it does not, two places are seen at one.
    pub fn is_one_to_one(&self, radius: f64) -> bool {
        let [k1, k2, k3] = self.radial;
        let seen = |r: f64| r * (1.0 + r * r * (k1 + r * r * (k2 + r * r * k3)));
        let (mut last, mut k) = (0.0, 1);
        // What is seen within the radius lies, without the lens, within a few times of it.
        while last < radius && k <= 4 * RADII {
            let next = seen(k as f64 * radius / RADII as f64);
            if next <= last {
                return false;
            }
            (last, k) = (next, k + 1);
        }
        last >= radius
    }
}

/// Moves projected vertices (pixels right and down, depth) as a lens does: `lens = (k1, k2, k3, p1, p2)`.
#[diff_kernel]
pub fn distort<F: Float>(
    projected: &Array<Vec3<F>>,
    fov: &Array<F>,
    lens: &Array<F>,
    distorted: &mut Array<Vec3<F>>,
    half_width: F,
    half_height: F,
) {
    let i = ABSOLUTE_POS;
    let at = projected[i];
    // Pixels at distance one.
    let focal = half_height / (fov[0] * 0.5).tan();
    let x = (at.x - half_width) / focal;
    let y = (at.y - half_height) / focal;
    let r2 = x * x + y * y;
    let mut to_x = x;
    let mut to_y = y;
    // Derivative of the radius that is seen by the radius.
    let rise = 1.0 + r2 * (3.0 * lens[0] + r2 * (5.0 * lens[1] + r2 * 7.0 * lens[2]));
    if rise > 0.0 {
        let radial = 1.0 + r2 * (lens[0] + r2 * (lens[1] + r2 * lens[2]));
        to_x = x * radial + 2.0 * lens[3] * x * y + lens[4] * (r2 + 2.0 * x * x);
        to_y = y * radial + lens[3] * (r2 + 2.0 * y * y) + 2.0 * lens[4] * x * y;
    }
    distorted[i] = Vec3::new(half_width + focal * to_x, half_height + focal * to_y, at.z);
}

/// Colours times the exposure.
#[diff_kernel]
pub fn expose<F: Float>(color: &Array<Vec3<F>>, exposure: &Array<F>, exposed: &mut Array<Vec3<F>>) {
    exposed[ABSOLUTE_POS] = color[ABSOLUTE_POS] * exposure[0];
}
