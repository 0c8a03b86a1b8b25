//! A bowl.

use super::revolve::{Ends, STEP, revolve};
use super::solid::{affordable, pieces};
use crate::error::{Error, Result, positive};
use crate::mesh::ClosedMesh;
use std::f64::consts::{FRAC_PI_2, PI};

/// The lower half of a spherical shell around the origin, its rim at `z = 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bowl {
    /// Outer radius \[m\].
    pub radius: f64,
    /// Thickness of the wall \[m\]; less than the radius.
    pub wall: f64,
}

impl Bowl {
    /// Exact volume \[m^3\].
    pub fn volume(&self) -> f64 {
        2.0 / 3.0 * PI * (self.radius.powi(3) - (self.radius - self.wall).powi(3))
    }

    /// Triangles with vertices on the exact surface, and edges of at most `edge` \[m\].
    ///
    /// # Errors
    /// When a dimension or `edge` is out of its range, or there would be more than 20 million triangles.
    pub fn surface(&self, edge: f64) -> Result<ClosedMesh> {
        let edge = positive("longest edge of the surface", edge)?;
        let outer = positive("radius of the bowl", self.radius)?;
        let wall = positive("wall of the bowl", self.wall)?;
        if wall >= outer {
            return Err(Error::invalid("wall of the bowl", wall, format!("less than {outer}, the radius of the bowl")));
        }
        // Both arcs in as many pieces, so that the wall is nowhere thinner than between their chords.
        let (arc, rim) = (pieces(FRAC_PI_2 * outer, STEP * edge).max(3.0), pieces(wall, STEP * edge));
        affordable(4.0 * (arc + rim), edge)?;
        let at = |k: usize, r: f64| {
            let (sin, cos) = (FRAC_PI_2 * k as f64 / arc).sin_cos();
            // On the axis at its ends to the bit.
            [if k == 0 { 0.0 } else { r * sin }, if k == arc as usize { 0.0 } else { -r * cos }]
        };
        let steps = arc as usize;
        let outside = (0..=steps).map(|k| at(k, outer));
        let across = (1..rim as usize).map(|k| [outer - wall * k as f64 / rim, 0.0]);
        let inside = (0..=steps).rev().map(|k| at(k, outer - wall));
        revolve(&outside.chain(across).chain(inside).collect::<Vec<_>>(), Ends::Poles, edge)
    }
}
