//! Cut bodies on a device.

use super::assembly::Assembly;
use super::block::{Block, vectors};
use super::body::CutBody;
use super::quadrature::{CellPart, POINTS};
use super::shape::mean_shape;
use super::surface::Carried;
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
    pub(super) rows: Array<u32>,
    blocks: Vec<Block<F>>,
    pub(super) ties: Array<u32>,
    /// No acceleration of clamps.
    pub(super) undriven: Array<Vec3<F>>,
    /// Of the stress points, eight a cell \[m^3\].
    pub(super) point_volumes: Array<F>,
    /// Of cells: volume \[m^3\], means of gradients and values of the 27 splines, in cells.
    pub(super) volumes: Array<F>,
    pub(super) shapes: Array<Vec4<F>>,
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
        let shapes = device.array(&shapes)?;
        let all: Vec<&CellPart> = parts().map(|(p, _)| p).collect();
        let mut blocks: Vec<Block<F>> = Vec::new();
        for alike in all.chunk_by(|a, b| a.corners().is_some() == b.corners().is_some()) {
            let first = blocks.last().map_or(0, |block| block.cells.end);
            blocks.push(Block::new(device, first, alike, (&rows, &per_cell, &shapes))?);
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
            shapes,
            contacts: Carriers::new(device, &bodies.all_carried(|body| &body.contacts.carried))?,
            areas: reals(&mut bodies.each(|_, body| body.contacts.areas.iter().copied()))?,
            depths: reals(&mut bodies.each(|_, body| body.contacts.depths.iter().copied()))?,
        })
    }

    /// `factor h^2` \[m^2\], `h^3` the volume of a cell: one number of one body, otherwise of each cell.
    pub(super) fn squares(&self, device: &Device, bodies: &Assembly, factor: f64) -> diffkern::Result<Array<F>> {
        let square = |body: &CutBody| F::from_f64(factor * body.size.iter().product::<f64>().cbrt().powi(2));
        match bodies.bodies() {
            [one] => device.array(&[square(one)]),
            _ => device.array(&bodies.each(|_, body| body.parts.iter().map(move |_| square(body))).collect::<Vec<_>>()),
        }
    }

    /// Gradients at the stress points: of positions the deformation gradients, of velocities their rates.
    pub(super) fn gradients(&self, device: &Device, x: &Array<Vec3<F>>) -> diffkern::Result<Array<Mat3<F>>> {
        let f = device.uninit(POINTS * self.cells)?;
        self.blocks.iter().try_for_each(|block| block.gradients(x, &f))?;
        Ok(f)
    }

    /// Adds the elastic forces on the control points of the stresses, times their volumes, at the stress points.
    pub(super) fn add_forces(&self, stress: &Array<Mat3<F>>, force: &Array<Vec3<F>>) -> diffkern::Result<()> {
        self.blocks.iter().try_for_each(|block| block.add_forces(stress, force))
    }

    /// Adds `M b`, of cells of these masses.
    pub(super) fn add_inertia(
        &self,
        b: &Array<Vec3<F>>,
        mass: &Array<F>,
        sum: &Array<Vec3<F>>,
    ) -> diffkern::Result<()> {
        self.blocks.iter().try_for_each(|block| block.add_inertia(b, mass, sum))
    }
}
