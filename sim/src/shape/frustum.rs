//! Cones, whole or cut.

use super::revolve::{Ends, STEP, revolve};
use super::solid::{affordable, pieces};
use crate::error::{Result, non_negative, positive};
use crate::mesh::ClosedMesh;
use std::f64::consts::PI;

/// A cone along z with its tip cut off, around the middle of its height; a whole cone where one radius is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frustum {
    /// Radius at the lower end \[m\].
    pub bottom: f64,
    /// Radius at the upper end \[m\].
    pub top: f64,
    /// Height \[m\].
    pub height: f64,
}

impl Frustum {
    /// A whole cone that points up.
    pub fn cone(radius: f64, height: f64) -> Frustum {
        Frustum { bottom: radius, top: 0.0, height }
    }

    /// Exact volume \[m^3\].
    pub fn volume(&self) -> f64 {
        let Frustum { bottom, top, height } = *self;
        PI * height / 3.0 * (bottom * bottom + bottom * top + top * top)
    }

    /// Triangles with vertices on the exact surface, and edges of at most `edge` \[m\].
    ///
    /// # Errors
    /// When a dimension or `edge` is out of its range, or there would be more than 20 million triangles.
    pub fn surface(&self, edge: f64) -> Result<ClosedMesh> {
        let edge = positive("longest edge of the surface", edge)?;
        let height = positive("height of the frustum", self.height)?;
        let ends = [("lower", self.bottom), ("upper", self.top)];
        for (which, radius) in ends {
            non_negative(&format!("{which} radius of the frustum"), radius)?;
        }
        positive("larger radius of the frustum", self.bottom.max(self.top))?;
        let side = pieces(height.hypot(self.bottom - self.top), STEP * edge);
        let [low, high] = ends.map(|(_, r)| if r > 0.0 { pieces(r, STEP * edge) } else { 0.0 });
        affordable(4.0 * (side + low + high), edge)?;
        let along = |k: usize, n: f64| k as f64 / n;
        let bottom = (0..low as usize).map(|k| [self.bottom * along(k, low), -0.5 * height]);
        let slope = (0..=side as usize)
            .map(|k| along(k, side))
            .map(|s| [self.bottom + (self.top - self.bottom) * s, (s - 0.5) * height]);
        let top = (0..high as usize).rev().map(|k| [self.top * along(k, high), 0.5 * height]);
        revolve(&bottom.chain(slope).chain(top).collect::<Vec<_>>(), Ends::Poles, edge)
    }
}
