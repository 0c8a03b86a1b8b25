//! A capsule.

use super::revolve::{Ends, STEP, revolve};
use super::solid::{Solid, affordable, pieces};
use crate::error::{Result, positive};
use crate::mesh::{ClosedMesh, Point, norm};
use std::f64::consts::{FRAC_PI_2, PI};

/// A cylinder along z with a half sphere at each end, around the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// Radius of the cylinder and of the half spheres \[m\].
    pub radius: f64,
    /// Length of the cylinder \[m\]; the capsule is longer by two radii.
    pub length: f64,
}

impl Capsule {
    /// Volumes of the cylinder and of both half spheres.
    fn volumes(&self) -> [f64; 2] {
        [PI * self.radius.powi(2) * self.length, 4.0 / 3.0 * PI * self.radius.powi(3)]
    }
}

impl Solid for Capsule {
    fn check(&self) -> Result<()> {
        positive("radius of the capsule", self.radius)?;
        positive("length of the capsule", self.length).map(drop)
    }

    fn volume(&self) -> f64 {
        self.volumes().iter().sum()
    }

    fn second(&self) -> [f64; 3] {
        let (r, l, [cylinder, spheres]) = (self.radius, self.length, self.volumes());
        let across = cylinder * r * r / 4.0 + spheres * r * r / 5.0;
        // The centre of a half sphere is 3/8 of its radius above its flat side.
        [across, across, cylinder * l * l / 12.0 + spheres * (l * l / 4.0 + l * 3.0 / 8.0 * r + r * r / 5.0)]
    }

    fn level(&self, [x, y, z]: Point) -> f64 {
        norm([x, y, (z.abs() - 0.5 * self.length).max(0.0)]) - self.radius
    }

    fn extent(&self) -> Point {
        [self.radius, self.radius, self.radius + 0.5 * self.length]
    }

    fn surface(&self, edge: f64) -> Result<ClosedMesh> {
        let (r, half) = (self.radius, 0.5 * self.length);
        let (arc, straight) = (pieces(FRAC_PI_2 * r, STEP * edge).max(2.0), pieces(self.length, STEP * edge));
        affordable(4.0 * (arc + straight), edge)?;
        let on_arc = |k: usize| {
            let (sin, cos) = (FRAC_PI_2 * k as f64 / arc).sin_cos();
            [r * sin, half + r * cos]
        };
        let steps = arc as usize;
        let bottom = (1..=steps).map(on_arc).map(|[x, z]| [x, -z]);
        let side = (1..straight as usize).map(|k| [r, (k as f64 / straight - 0.5) * self.length]);
        let top = (1..=steps).rev().map(on_arc);
        let ends = [[0.0, -half - r], [0.0, half + r]];
        let profile: Vec<_> =
            ends[..1].iter().copied().chain(bottom).chain(side).chain(top).chain(ends[1..].iter().copied()).collect();
        revolve(&profile, Ends::Poles, edge)
    }
}
