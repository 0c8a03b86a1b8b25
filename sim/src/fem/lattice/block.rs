//! Neighbouring cells that are alike, and the sums over their control points.

use super::kernels::{box_forces, box_gradients, gradients, stress_forces};
use super::mass::{box_inertia, inertia};
use super::quadrature::{CellPart, POINTS};
use crate::mesh::Point;
use diffkern::Element;
use diffkern::prelude::*;
use std::ops::Range;

/// Cells whose stress points all stand at the corners of boxes and weigh alike, or do not.
#[derive(Clone, Debug)]
pub(super) struct Block<F: Float> {
    pub(super) cells: Range<usize>,
    rows: Array<u32>,
    per_cell: Array<Vec3<F>>,
    /// Second moments, in cells.
    second: Array<Mat3<F>>,
    points: Points<F>,
}

/// Where the stress points are.
#[derive(Clone, Debug)]
enum Points<F: Float> {
    /// The lowest and the highest of each cell.
    Corners(Array<Vec3<F>>),
    /// Eight of each, and means of gradients and values of the 27 splines.
    Eight(Array<Vec3<F>>, Array<Vec4<F>>),
}

impl<F: Float> Block<F> {
    /// Of these parts, whose cells are those from `first` on; rows, reciprocals of edges \[1/m\] and shapes are of all.
    pub(super) fn new(
        device: &Device,
        first: usize,
        parts: &[&CellPart],
        (rows, per_cell, shapes): (&Array<u32>, &Array<Vec3<F>>, &Array<Vec4<F>>),
    ) -> diffkern::Result<Block<F>> {
        let cells = first..first + parts.len();
        let corners: Vec<Point> = parts.iter().filter_map(|p| p.corners()).flatten().collect();
        let second = parts.iter().map(|p| {
            let [x, y, z] = p.second.map(|row| Vec3::from_array(row.map(F::from_f64)));
            Mat3::from_rows(x, y, z)
        });
        let points = match corners.is_empty() {
            true => {
                let at = vectors(device, parts.iter().flat_map(|p| p.points.iter().map(|(x, _)| *x)))?;
                Points::Eight(at, own(shapes, &cells, 27)?)
            }
            false => Points::Corners(vectors(device, corners.into_iter())?),
        };
        Ok(Block {
            rows: own(rows, &cells, 9)?,
            per_cell: if per_cell.len() == 1 { per_cell.clone() } else { own(per_cell, &cells, 1)? },
            second: device.array(&second.collect::<Vec<_>>())?,
            points,
            cells,
        })
    }

    /// What the stress points here have among all of `gradient`.
    pub(super) fn gradients(&self, x: &Array<Vec3<F>>, gradient: &Array<Mat3<F>>) -> diffkern::Result<()> {
        let (n, Block { rows, per_cell, .. }) = (self.cells.len(), self);
        let gradient = own(gradient, &self.cells, POINTS)?;
        match &self.points {
            Points::Corners(corners) => box_gradients(n, x, rows, corners, per_cell, &gradient),
            Points::Eight(at, _) => gradients(n, x, rows, at, per_cell, &gradient),
        }
    }

    /// Adds the forces of the stresses here, of those at all points.
    pub(super) fn add_forces(&self, stress: &Array<Mat3<F>>, force: &Array<Vec3<F>>) -> diffkern::Result<()> {
        let (n, Block { rows, per_cell, .. }) = (self.cells.len(), self);
        let stress = own(stress, &self.cells, POINTS)?;
        match &self.points {
            Points::Corners(corners) => box_forces(n, &stress, rows, corners, per_cell, force),
            Points::Eight(at, _) => stress_forces(n, &stress, rows, at, per_cell, force),
        }
    }

    /// Adds `M b` of the cells here, of the masses of all.
    pub(super) fn add_inertia(
        &self,
        b: &Array<Vec3<F>>,
        mass: &Array<F>,
        sum: &Array<Vec3<F>>,
    ) -> diffkern::Result<()> {
        let (n, Block { rows, second, .. }) = (self.cells.len(), self);
        let mass = own(mass, &self.cells, 1)?;
        match &self.points {
            Points::Corners(corners) => box_inertia(n, b, rows, corners, second, &mass, sum),
            Points::Eight(_, shapes) => inertia(n, b, rows, shapes, second, &mass, sum),
        }
    }
}

/// What these cells have of an array with so many elements a cell.
fn own<T: Element>(all: &Array<T>, cells: &Range<usize>, each: usize) -> diffkern::Result<Array<T>> {
    let own = each * cells.start..each * cells.end;
    if own.len() == all.len() { Ok(all.clone()) } else { all.slice(own) }
}

/// Points of the host on a device.
pub(super) fn vectors<F: Float>(
    device: &Device,
    points: impl Iterator<Item = Point>,
) -> diffkern::Result<Array<Vec3<F>>> {
    let points: Vec<_> = points.map(|x| Vec3::from_array(x.map(F::from_f64))).collect();
    device.array(&points)
}
