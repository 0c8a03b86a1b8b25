//! Bodies as places of the world may be in their matter, on a device.

use super::assembly::Assembly;
use super::block::vectors;
use super::surroundings::{FINER, Surroundings};
use super::touch::{Touched, approach, locate, mean_map, reach};
use crate::error::Result;
use diffkern::prelude::*;
use std::ops::Range;

/// One body.
#[derive(Clone, Debug)]
pub(super) struct Target<F: Float> {
    pub(super) touched: Touched<F>,
    near: Array<u32>,
    distance: Array<F>,
    /// Of the layer that friction may stop \[m\].
    pub(super) depth: F,
}

/// All bodies of a model.
#[derive(Clone, Debug)]
pub(crate) struct Targets<F: Float> {
    bodies: Vec<Target<F>>,
    node_owner: Array<u32>,
    weights: Array<Vec4<F>>,
    corners: Array<Vec3<F>>,
}

/// What of a body is at places: cells, where in them, and `(gradient in the world, distance)` from the surface at rest.
pub(super) struct Found<'a, F: Float> {
    pub(super) target: &'a Target<F>,
    pub(super) cell: Array<u32>,
    pub(super) foot: Array<Vec3<F>>,
    pub(super) slope: Array<Vec4<F>>,
}

impl<F: Float> Targets<F> {
    /// Bodies with layers of these depths \[m\], each touched by all places but those of a range.
    pub(super) fn new(
        device: &Device,
        bodies: &Assembly,
        depths: &[f64],
        own: impl Fn(usize) -> Range<usize>,
    ) -> Result<Targets<F>> {
        let all = bodies.bodies().iter().map(Surroundings::of).collect::<Result<Vec<_>>>()?;
        let real = F::from_f64;
        let target = |(k, (around, &depth)): (usize, (&Surroundings, &f64))| -> Result<Target<F>> {
            let [nx, ny, nz] = around.size.map(|n| n as u32);
            let (cells, own) = (bodies.cells(k), own(k));
            let [first_cell, first, end] = [cells.start, own.start, own.end].map(|n| n as u32);
            let centre = Vec3::from_array(around.centre.map(real));
            let edge = bodies.bodies()[k].size.into_iter().fold(0.0, f64::max);
            let (body, finer, [edge, reach]) = (k as u32, FINER as u32, [edge, 0.0].map(real));
            Ok(Target {
                touched: Touched { body, first_cell, first, end, nx, ny, nz, finer, centre, edge, reach },
                near: device.array(&around.near)?,
                distance: device.array(&around.distance.iter().map(|&d| real(d)).collect::<Vec<_>>())?,
                depth: real(depth),
            })
        };
        let owners: Vec<u32> = (0..all.len()).flat_map(|k| vec![k as u32; bodies.nodes(k).len()]).collect();
        let weights = all.iter().flat_map(|a| a.weights.iter().map(|w| (w, 1.0 / a.weights.len() as f64)));
        let weights: Vec<_> = weights.map(|(w, share)| Vec4::from_array([w[0], w[1], w[2], share].map(real))).collect();
        Ok(Targets {
            bodies: all.iter().zip(depths).enumerate().map(target).collect::<Result<_>>()?,
            node_owner: device.array(&owners)?,
            weights: device.array(&weights)?,
            corners: vectors(device, all.iter().flat_map(|a| a.corners.iter().copied()))?,
        })
    }

    pub(crate) fn device(&self) -> Device {
        self.corners.device().clone()
    }

    /// Number of bodies.
    pub(super) fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Looks for places `place` \[m\] in each body and up to `within` \[m\] from its surface, with control points at `x` and cells of these `rows`, one body after the other.
    pub(super) fn each(
        &self,
        x: &Array<Vec3<F>>,
        rows: &Array<u32>,
        place: &Array<Vec3<F>>,
        within: f64,
        mut act: impl FnMut(Found<'_, F>) -> diffkern::Result<()>,
    ) -> diffkern::Result<()> {
        let (device, n, corners) = (x.device(), place.len(), &self.corners);
        let map = device.zeros(4 * self.len())?;
        mean_map(x.len(), x, &self.node_owner, &self.weights, &map)?;
        for target in &self.bodies {
            let Target { touched, near, distance, .. } = target;
            let touched = Touched { reach: F::from_f64(within), ..*touched };
            let (cell, found) = (device.uninit(n)?, device.uninit(n)?);
            locate(n, x, rows, place, &map, near, corners, distance, &cell, &found, touched)?;
            let (nearer, foot, slope) = (device.uninit(n)?, device.uninit(n)?, device.uninit(n)?);
            approach(n, x, rows, place, &cell, &found, &nearer)?;
            approach(n, x, rows, place, &cell, &nearer, &foot)?;
            reach(n, x, rows, &cell, &foot, corners, distance, &slope, touched)?;
            act(Found { target, cell, foot, slope })?;
        }
        Ok(())
    }
}
