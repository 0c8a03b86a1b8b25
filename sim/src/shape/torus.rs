//! A torus.

use super::revolve::{Ends, STEP, revolve};
use super::solid::{Solid, affordable, pieces};
use crate::error::{Error, Result, positive};
use crate::mesh::{ClosedMesh, Point};
use std::f64::consts::{PI, TAU};

/// A ring about z around the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torus {
    /// Distance of the middle of the tube from the axis \[m\]; more than that of the tube.
    pub radius: f64,
    /// Radius of the tube \[m\].
    pub tube: f64,
}

impl Solid for Torus {
    fn check(&self) -> Result<()> {
        positive("radius of the torus", self.radius)?;
        match positive("radius of the torus' tube", self.tube)? < self.radius {
            true => Ok(()),
            false => {
                let expected =
                    format!("less than {}, the radius of the torus, as its surface crosses itself", self.radius);
                Err(Error::invalid("radius of the torus' tube", self.tube, expected))
            }
        }
    }

    fn volume(&self) -> f64 {
        2.0 * PI * PI * self.radius * self.tube.powi(2)
    }

    fn second(&self) -> [f64; 3] {
        let (ring, tube) = (self.radius.powi(2), self.tube.powi(2));
        let across = self.volume() * (ring / 2.0 + 3.0 / 8.0 * tube);
        [across, across, self.volume() * tube / 4.0]
    }

    fn level(&self, [x, y, z]: Point) -> f64 {
        (x.hypot(y) - self.radius).hypot(z) - self.tube
    }

    fn extent(&self) -> Point {
        [self.radius + self.tube, self.radius + self.tube, self.tube]
    }

    fn surface(&self, edge: f64) -> Result<ClosedMesh> {
        let steps = pieces(TAU * self.tube, STEP * edge).max(4.0);
        affordable(4.0 * steps, edge)?;
        let at = |k: usize| {
            let (sin, cos) = (TAU * k as f64 / steps).sin_cos();
            [self.radius + self.tube * cos, self.tube * sin]
        };
        revolve(&(0..steps as usize).map(at).collect::<Vec<_>>(), Ends::Ring, edge)
    }
}
