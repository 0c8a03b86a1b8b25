//! What a primitive is asked for.

use crate::error::{Error, Result};
use crate::mesh::{ClosedMesh, Point};

/// Most triangles of a surface.
const MOST_TRIANGLES: f64 = 2e7;

/// A primitive with its centre of mass at the origin and its principal axes along x, y and z.
pub(super) trait Solid {
    /// Whether the dimensions are positive and fit together.
    fn check(&self) -> Result<()>;
    /// Volume \[m^3\].
    fn volume(&self) -> f64;
    /// Integrals of `x^2`, `y^2` and `z^2` \[m^5\].
    fn second(&self) -> [f64; 3];
    /// Negative inside, zero on the surface, positive outside \[m\].
    fn level(&self, x: Point) -> f64;
    /// Largest coordinates \[m\].
    fn extent(&self) -> Point;
    /// A surface with its vertices on the exact one and edges of at most `edge` \[m\], for dimensions that were checked.
    fn surface(&self, edge: f64) -> Result<ClosedMesh>;
}

/// Pieces of at most `edge` that make up `length`.
pub(super) fn pieces(length: f64, edge: f64) -> f64 {
    (length / edge).ceil().max(1.0)
}

/// `triangles`, if there is to be memory for so many.
pub(super) fn affordable(triangles: f64, edge: f64) -> Result<()> {
    match triangles <= MOST_TRIANGLES {
        true => Ok(()),
        false => {
            let expected = format!("one that makes at most {MOST_TRIANGLES:.0e} triangles, here {triangles:.2e}");
            Err(Error::invalid("longest edge of the surface", edge, expected))
        }
    }
}
