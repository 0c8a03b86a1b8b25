//! An ellipsoid.

use super::solid::Solid;
use super::sphere::unit;
use crate::error::{Result, positive};
use crate::mesh::{ClosedMesh, Point, norm};
use std::f64::consts::PI;

/// An ellipsoid around the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid {
    /// Half axes along x, y and z \[m\].
    pub radii: [f64; 3],
}

impl Solid for Ellipsoid {
    fn check(&self) -> Result<()> {
        let mut axes = ['x', 'y', 'z'].into_iter().zip(self.radii);
        axes.try_for_each(|(axis, r)| positive(&format!("radius of the ellipsoid along {axis}"), r).map(drop))
    }

    fn volume(&self) -> f64 {
        4.0 / 3.0 * PI * self.radii.iter().product::<f64>()
    }

    fn second(&self) -> [f64; 3] {
        self.radii.map(|r| self.volume() * r * r / 5.0)
    }

    fn level(&self, x: Point) -> f64 {
        let smallest = self.radii.iter().fold(f64::INFINITY, |m, &r| m.min(r));
        (norm([0, 1, 2].map(|a| x[a] / self.radii[a])) - 1.0) * smallest
    }

    fn extent(&self) -> Point {
        self.radii
    }

    fn surface(&self, edge: f64) -> Result<ClosedMesh> {
        unit(self.radii, edge)
    }
}
