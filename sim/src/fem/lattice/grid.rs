//! A cut body on a device.

use super::body::CutBody;
use super::shape::mean_shape;
use super::surface::Carried;
use crate::mesh::Point;
use diffkern::memory::collect;
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
    pub(super) per_cell: Vec3<F>,
    pub(super) rows: Array<u32>,
    pub(super) ties: Array<u32>,
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
    pub(super) fn new(device: &Device, body: &CutBody) -> diffkern::Result<Grid<F>> {
        let whole: f64 = body.size.iter().product();
        let points = || body.parts.iter().flat_map(|p| p.points);
        let reals = |values: &mut dyn Iterator<Item = f64>| device.array(&values.map(F::from_f64).collect::<Vec<_>>());
        let second: Vec<Mat3<F>> = collect(body.parts.iter().map(|p| {
            let s = p.second.map(|row| Vec3::from_array(row.map(F::from_f64)));
            Mat3::from_rows(s[0], s[1], s[2])
        }))?;
        let shapes: Vec<Vec4<F>> = body
            .parts
            .iter()
            .flat_map(|p| mean_shape(&p.points).map(|(w, [x, y, z])| Vec4::from_array([x, y, z, w].map(F::from_f64))))
            .collect();
        Ok(Grid {
            nodes: body.numbering.nodes.len(),
            cells: body.parts.len(),
            per_cell: Vec3::from_array(body.size.map(|h| F::from_f64(1.0 / h))),
            rows: device.array(&body.numbering.rows)?,
            ties: device.array(&body.numbering.ties)?,
            at: vectors(device, points().map(|(x, _)| x))?,
            point_volumes: reals(&mut points().map(|(_, v)| v * whole))?,
            volumes: reals(&mut body.parts.iter().map(|p| p.volume * whole))?,
            shapes: device.array(&shapes)?,
            second: device.array(&second)?,
            contacts: Carriers::new(device, &body.contacts.carried)?,
            areas: reals(&mut body.contacts.areas.iter().copied())?,
            depths: reals(&mut body.contacts.depths.iter().copied())?,
        })
    }
}

fn vectors<F: Float>(device: &Device, points: impl Iterator<Item = Point>) -> diffkern::Result<Array<Vec3<F>>> {
    let points: Vec<_> = points.map(|x| Vec3::from_array(x.map(F::from_f64))).collect();
    device.array(&points)
}
