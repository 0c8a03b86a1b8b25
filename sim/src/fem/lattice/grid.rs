//! Cut bodies on a device.

use super::assembly::Assembly;
use super::kernels::{box_forces, box_gradients, gradients, stress_forces};
use super::quadrature::{CellPart, POINTS};
use super::shape::mean_shape;
use super::surface::Carried;
use crate::mesh::Point;
use diffkern::prelude::*;
use std::ops::Range;

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

/// Neighbouring cells whose stress points all stand at the corners of boxes, or do not.
#[derive(Clone, Debug)]
struct Block<F: Float> {
    cells: Range<usize>,
    rows: Array<u32>,
    points: Points<F>,
    per_cell: Array<Vec3<F>>,
}

/// Where the stress points of a block are.
#[derive(Clone, Debug)]
enum Points<F: Float> {
    /// The lowest and the highest of each cell.
    Corners(Array<Vec3<F>>),
    /// Eight of each.
    Eight(Array<Vec3<F>>),
}

impl<F: Float> Block<F> {
    /// Of the cells of all bodies from `first` on, which are alike.
    fn new(
        device: &Device,
        first: usize,
        parts: &[&CellPart],
        rows: &Array<u32>,
        per_cell: &Array<Vec3<F>>,
    ) -> diffkern::Result<Block<F>> {
        let cells = first..first + parts.len();
        let corners: Vec<Point> = parts.iter().filter_map(|p| p.corners()).flatten().collect();
        Ok(Block {
            rows: rows.slice(9 * cells.start..9 * cells.end)?,
            points: match corners.is_empty() {
                true => Points::Eight(vectors(device, parts.iter().flat_map(|p| p.points.iter().map(|(x, _)| *x)))?),
                false => Points::Corners(vectors(device, corners.into_iter())?),
            },
            per_cell: match per_cell.len() {
                1 => per_cell.clone(),
                _ => per_cell.slice(cells.clone())?,
            },
            cells,
        })
    }

    /// Its part of what all stress points have.
    fn own(&self, all: &Array<Mat3<F>>) -> diffkern::Result<Array<Mat3<F>>> {
        let own = POINTS * self.cells.start..POINTS * self.cells.end;
        if own.len() == all.len() { Ok(all.clone()) } else { all.slice(own) }
    }
}

/// What does not change in a run.
#[derive(Clone, Debug)]
pub(super) struct Grid<F: Float> {
    pub(super) nodes: usize,
    pub(super) cells: usize,
    pub(super) rows: Array<u32>,
    blocks: Vec<Block<F>>,
    pub(super) ties: Array<u32>,
    /// No acceleration of clamps.
    pub(super) undriven: Array<Vec3<F>>,
    /// Of the stress points, eight a cell \[m^3\].
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
        let volumes = parts().flat_map(|(p, whole)| p.points.map(|(_, v)| v * whole));
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
        let (per_cell, rows) = (vectors(device, per_cell.into_iter())?, device.array(&bodies.rows())?);
        let all: Vec<&CellPart> = parts().map(|(p, _)| p).collect();
        let mut blocks = Vec::new();
        for alike in all.chunk_by(|a, b| a.corners().is_some() == b.corners().is_some()) {
            let first = blocks.last().map_or(0, |block: &Block<F>| block.cells.end);
            blocks.push(Block::new(device, first, alike, &rows, &per_cell)?);
        }
        Ok(Grid {
            nodes,
            cells,
            blocks,
            rows,
            ties: device.array(&bodies.ties())?,
            undriven: device.zeros(1)?,
            point_volumes: reals(&mut volumes.into_iter())?,
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
        let f = device.uninit(POINTS * self.cells)?;
        for block in &self.blocks {
            let Block { cells, rows, points, per_cell } = block;
            let own = block.own(&f)?;
            match points {
                Points::Corners(corners) => box_gradients(cells.len(), x, rows, corners, per_cell, &own)?,
                Points::Eight(at) => gradients(cells.len(), x, rows, at, per_cell, &own)?,
            }
        }
        Ok(f)
    }

    /// Adds the elastic forces on the control points of the stresses, times their volumes, at the stress points.
    pub(super) fn add_forces(&self, stress: &Array<Mat3<F>>, force: &Array<Vec3<F>>) -> diffkern::Result<()> {
        for block in &self.blocks {
            let Block { cells, rows, points, per_cell } = block;
            let own = block.own(stress)?;
            match points {
                Points::Corners(corners) => box_forces(cells.len(), &own, rows, corners, per_cell, force)?,
                Points::Eight(at) => stress_forces(cells.len(), &own, rows, at, per_cell, force)?,
            }
        }
        Ok(())
    }
}

pub(super) fn vectors<F: Float>(
    device: &Device,
    points: impl Iterator<Item = Point>,
) -> diffkern::Result<Array<Vec3<F>>> {
    let points: Vec<_> = points.map(|x| Vec3::from_array(x.map(F::from_f64))).collect();
    device.array(&points)
}
