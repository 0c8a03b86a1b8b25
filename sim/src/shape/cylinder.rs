//! A cylinder.

use super::revolve::{Ends, STEP, revolve};
use super::solid::{Solid, affordable, pieces};
use crate::error::{Result, positive};
use crate::mesh::{ClosedMesh, Point};
use std::f64::consts::PI;

/// A cylinder along z around the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    /// Radius \[m\].
    pub radius: f64,
    /// Height \[m\].
    pub height: f64,
}

impl Solid for Cylinder {
    fn check(&self) -> Result<()> {
        positive("radius of the cylinder", self.radius)?;
        positive("height of the cylinder", self.height).map(drop)
    }

    fn volume(&self) -> f64 {
        PI * self.radius.powi(2) * self.height
    }

    fn second(&self) -> [f64; 3] {
        let across = self.volume() * self.radius.powi(2) / 4.0;
        [across, across, self.volume() * self.height.powi(2) / 12.0]
    }

    fn level(&self, [x, y, z]: Point) -> f64 {
        let (side, end) = (x.hypot(y) - self.radius, z.abs() - 0.5 * self.height);
        side.max(0.0).hypot(end.max(0.0)) + side.max(end).min(0.0)
    }

    fn extent(&self) -> Point {
        [self.radius, self.radius, 0.5 * self.height]
    }

    fn surface(&self, edge: f64) -> Result<ClosedMesh> {
        let (across, along) = (pieces(self.radius, STEP * edge), pieces(self.height, STEP * edge));
        affordable(4.0 * (across + along), edge)?;
        let end = |k: usize, z: f64| [self.radius * k as f64 / across, z];
        let (rings, half) = (across as usize, 0.5 * self.height);
        let bottom = (0..=rings).map(|k| end(k, -half));
        let side = (1..along as usize).map(|k| [self.radius, (k as f64 / along - 0.5) * self.height]);
        let top = (0..=rings).rev().map(|k| end(k, half));
        revolve(&bottom.chain(side).chain(top).collect::<Vec<_>>(), Ends::Poles, edge)
    }
}
