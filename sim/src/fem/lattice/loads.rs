//! Point masses that hang on bodies.
//!
//! A mass `m` at a point with the values `N_a` of the splines there adds `m N_a N_b` to the mass matrix and `m N_a`, its row sums, to the lumped masses: see
//! [`mass`](super::mass). It has its weight, and moves with the point.

use super::assembly::Assembly;
use super::grid::Carriers;
use super::stencil::spline_values;
use super::surface::Carried;
use crate::error::{Error, Result};
use crate::mesh::Point;
use diffkern::prelude::*;

/// Adds the shares of point masses \[kg\] to the lumped masses of the control points that carry them.
#[diff_kernel]
pub fn lump_loads<F: Float>(
    load: &Array<F>,
    rows: &Array<u32>,
    cell: &Array<u32>,
    at: &Array<Vec3<F>>,
    lumped: &mut Array<F>,
) {
    let i = ABSOLUTE_POS;
    let first = 9 * cell[i] as usize;
    let s = at[i];
    let wx: Vec3<F> = spline_values(s.x);
    let wy: Vec3<F> = spline_values(s.y);
    let wz: Vec3<F> = spline_values(s.z);
    let m = load[i];
    #[unroll]
    for a in 0..3 {
        #[unroll]
        for b in 0..3 {
            let row = rows[first + 3 * a + b] as usize;
            let part = m * (wx[a] * wy[b]);
            lumped[row] += part * wz.x;
            lumped[row + 1] += part * wz.y;
            lumped[row + 2] += part * wz.z;
        }
    }
}

/// Points that carry masses.
#[derive(Clone, Debug)]
pub(super) struct Loads<F: Float> {
    pub(super) carriers: Carriers<F>,
    /// The same on the host.
    pub(super) carried: Carried,
    /// The body of each.
    pub(super) body_of: Vec<usize>,
}

impl<F: Float> Loads<F> {
    /// At points \[m\] of bodies at rest, by the number of each body.
    pub(super) fn new(device: &Device, bodies: &Assembly, points: &[(usize, Point)]) -> Result<Loads<F>> {
        let mut carried = Carried::default();
        for (body, point) in points {
            let Some(own) = bodies.bodies().get(*body) else {
                let expected = format!("one below {}", bodies.bodies().len());
                return Err(Error::invalid("number of a body with a load", body, expected));
            };
            let Carried { cells, at } = bodies.carried(*body, &own.carriers(&[*point])?);
            carried.cells.extend(cells);
            carried.at.extend(at);
        }
        Ok(Loads {
            carriers: Carriers::new(device, &carried)?,
            carried,
            body_of: points.iter().map(|(body, _)| *body).collect(),
        })
    }
}
