//! The regular lattice that particles lie on.

use crate::error::{Error, Result, positive};
use crate::mesh::Point;

/// Most cells of the lattice around a body.
const MOST_CELLS: f64 = 2_147_483_648.0;

/// Cubic cells along x, y and z; a body may lie in them in any way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Length of a cell's edge, the distance of particles inside the body \[m\]: half a grid cell makes eight particles a cell.
    pub spacing: f64,
    /// A corner of a cell \[m\]. Without it cells lie symmetrically about the middle of the body's bounding box, so that a box
    /// along the axes with sides of whole numbers of cells is filled by whole cells.
    pub corner: Option<[f64; 3]>,
}

/// The cells that a body may reach.
pub(super) struct Cells {
    /// Lowest corner \[m\].
    pub low: Point,
    pub spacing: f64,
    pub counts: [usize; 3],
}

impl Lattice {
    /// Cells of `spacing` \[m\] about the middle of the body.
    pub fn about_the_body(spacing: f64) -> Lattice {
        Lattice { spacing, corner: None }
    }

    /// The cells around a body in the box from `low` to `high`.
    pub(super) fn cells(&self, [low, high]: [Point; 2]) -> Result<Cells> {
        let h = positive("spacing of the particles", self.spacing)?;
        let corner = self.corner.unwrap_or_else(|| {
            [0, 1, 2].map(|a| {
                let cells = ((high[a] - low[a]) / h * (1.0 - 1e-12)).ceil();
                0.5 * (low[a] + high[a] - cells * h)
            })
        });
        if corner.iter().any(|x| !x.is_finite()) {
            return Err(Error::invalid("corner of the lattice", format!("{corner:?}"), "finite numbers"));
        }
        let first = [0, 1, 2].map(|a| ((low[a] - corner[a]) / h).floor());
        // One more where rounding moves the highest point over a plane.
        let counts = [0, 1, 2].map(|a| ((high[a] - corner[a]) / h).ceil() - first[a] + 1.0);
        let total: f64 = counts.iter().product();
        if total > MOST_CELLS {
            let expected = format!("one with at most 2^31 cells around the body, here {total:.2e}");
            return Err(Error::invalid("spacing of the particles", h, expected));
        }
        let low = [0, 1, 2].map(|a| corner[a] + first[a] * h);
        Ok(Cells { low, spacing: h, counts: counts.map(|n| n as usize) })
    }
}

impl Cells {
    /// In units of a cell's edge from the lowest corner, so that planes between cells are whole numbers.
    pub(super) fn relative(&self, x: Point) -> Point {
        [0, 1, 2].map(|a| (x[a] - self.low[a]) / self.spacing)
    }

    /// The inverse of [`relative`](Cells::relative).
    pub(super) fn absolute(&self, x: Point) -> Point {
        [0, 1, 2].map(|a| self.low[a] + x[a] * self.spacing)
    }

    /// First and last layer across `axis` that a relative polygon reaches.
    pub(super) fn layers(&self, axis: usize, polygon: &[Point]) -> std::ops::RangeInclusive<usize> {
        let at = |x: f64| (x.max(0.0) as usize).min(self.counts[axis] - 1);
        let along = polygon.iter().map(|p| p[axis]);
        at(along.clone().fold(f64::INFINITY, f64::min))..=at(along.fold(f64::NEG_INFINITY, f64::max))
    }
}
