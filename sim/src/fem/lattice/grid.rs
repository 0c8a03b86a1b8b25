//! Cut bodies on a device.

use super::assembly::Assembly;
use super::kernels::gradients;
use super::shape::mean_shape;
use super::surface::Carried;
use crate::mesh::Point;
use diffkern::prelude::*;

/// Points carried by cells.
#[derive(Clone, Debug)]
pub(super) struct Carriers<F: Float> {
    pub(super) cells: Array<u32>,
    pub(super) at: Array<Vec3<F>>,
}

impl<F: Float> Carriers<F> {
    pub(super) fn new(device: &Device, carried: &Carried) -> diffkern::Result<Carriers<F>> {
        Ok(Carriers { cells: device.array(&carried.cells)?, at: vectors(device, carried.at.iter().copied())? })
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }
}

/// What does not change in a run.
#[derive(Clone, Debug)]
pub(super) struct Grid<F: Float> {
    pub(super) nodes: usize,
    pub(super) cells: usize,
    /// Reciprocals of the edges of a cell \[1/m\], of all or of each.
    pub(super) per_cell: Array<Vec3<F>>,
    pub(super) rows: Array<u32>,
    pub(super) ties: Array<u32>,
    /// No acceleration of clamps.
    pub(super) undriven: Array<Vec3<F>>,
    /// Stress points, eight a cell: places, and volumes \[m^3\].
    pub(super) at: Array<Vec3<F>>,
    pub(super) point_volumes: Array<F>,
    /// Of cells: volume \[m^3\], means of gradients and values of the 27 splines, second moments, in cells.
    pub(super) volumes: Array<F>,
    pub(super) shapes: Array<Vec4<F>>,
    pub(super) second: Array<Mat3<F>>,
    pub(super) contacts: Carriers<F>,
    pub(super) areas: Array<F>,
    /// How far inside of the surface they are \[m\].
    pub(super) depths: Array<F>,
}

impl<F: Float> Grid<F> {
    pub(super) fn new(device: &Device, bodies: &Assembly) -> diffkern::Result<Grid<F>> {
        let parts = || bodies.each(|_, body| body.parts.iter().map(|p| (p, body.size.iter().product::<f64>())));
        let points = || parts().flat_map(|(p, whole)| p.points.map(|(x, v)| (x, v * whole)));
        let reals = |values: &mut dyn Iterator<Item = f64>| device.array(&values.map(F::from_f64).collect::<Vec<_>>());
        let second = parts().map(|(p, _)| {
            let s = p.second.map(|row| Vec3::from_array(row.map(F::from_f64)));
            Mat3::from_rows(s[0], s[1], s[2])
        });
        let shapes: Vec<Vec4<F>> = parts()
            .flat_map(|(p, _)| {
                mean_shape(&p.points).map(|(w, [x, y, z])| Vec4::from_array([x, y, z, w].map(F::from_f64)))
            })
            .collect();
        let per_cell: Vec<_> = match bodies.bodies() {
            [one] => vec![one.size.map(|h| 1.0 / h)],
            _ => bodies.each(|_, body| body.parts.iter().map(|_| body.size.map(|h| 1.0 / h))).collect(),
        };
        let [cells, nodes, _] = bodies.totals();
        Ok(Grid {
            nodes,
            cells,
            per_cell: vectors(device, per_cell.into_iter())?,
            rows: device.array(&bodies.rows())?,
            ties: device.array(&bodies.ties())?,
            undriven: device.zeros(1)?,
            at: vectors(device, points().map(|(x, _)| x))?,
            point_volumes: reals(&mut points().map(|(_, v)| v))?,
            volumes: reals(&mut parts().map(|(p, whole)| p.volume * whole))?,
            shapes: device.array(&shapes)?,
            second: device.array(&second.collect::<Vec<_>>())?,
            contacts: Carriers::new(device, &bodies.all_carried(|body| &body.contacts.carried))?,
            areas: reals(&mut bodies.each(|_, body| body.contacts.areas.iter().copied()))?,
            depths: reals(&mut bodies.each(|_, body| body.contacts.depths.iter().copied()))?,
        })
    }

    /// Gradients at the stress points: of positions the deformation gradients, of velocities their rates.
    pub(super) fn gradients(&self, device: &Device, x: &Array<Vec3<F>>) -> diffkern::Result<Array<Mat3<F>>> {
        let f = device.uninit(self.at.len())?;
        gradients(self.cells, x, &self.rows, &self.at, &self.per_cell, &f)?;
        Ok(f)
    }
}

pub(super) fn vectors<F: Float>(
    device: &Device,
    points: impl Iterator<Item = Point>,
) -> diffkern::Result<Array<Vec3<F>>> {
    let points: Vec<_> = points.map(|x| Vec3::from_array(x.map(F::from_f64))).collect();
    device.array(&points)
}
