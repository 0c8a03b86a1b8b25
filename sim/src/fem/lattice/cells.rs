//! Where the cells of a body are.

use super::numbering::HeldPlane;
use super::quadrature::DIVISIONS;
use crate::error::{Error, Result, positive};
use crate::mesh::{ClosedMesh, Point};
use crate::shape::{Fragment, Lattice, parts};

/// A plane across an axis of a body's own frame, on whose far side the body is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clamp {
    /// 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Where it is on the axis \[m\].
    pub at: f64,
    /// Whether it holds what is below it, else what is above.
    pub below: bool,
}

impl Clamp {
    /// Holds what has a smaller coordinate than `at` \[m\] on `axis`.
    pub fn below(axis: usize, at: f64) -> Clamp {
        Clamp { axis, at, below: true }
    }

    /// Holds what has a larger one.
    pub fn above(axis: usize, at: f64) -> Clamp {
        Clamp { axis, at, below: false }
    }
}

/// Cells along the axes of a body's own frame, those that it reaches with small indices from 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cells {
    /// Lowest corner of cell 0 \[m\].
    pub(super) origin: Point,
    /// Edges of a cell \[m\].
    pub(super) size: Point,
    pub(super) planes: Vec<HeldPlane>,
}

impl Cells {
    /// About a body within `bounds`: cells fit it along the axes that say so, where no corner is given; those of a clamp begin at its plane.
    pub(super) fn about(
        fits: [bool; 3],
        [low, high]: [Point; 2],
        cell: f64,
        corner: Option<Point>,
        clamps: &[Clamp],
    ) -> Result<Cells> {
        positive("size of the cells", cell)?;
        check_clamps(clamps, [low, high])?;
        let along = |a: usize| {
            let fits = fits[a] && corner.is_none();
            let fitted = |length: f64| if fits { length / (length / cell).round().max(1.0) } else { cell };
            let mut here = clamps.iter().filter(|c| c.axis == a);
            match (here.next(), here.next()) {
                (None, _) if fits => (low[a], fitted(high[a] - low[a])),
                (None, _) => {
                    let cells = ((high[a] - low[a]) / cell * (1.0 - 1e-12)).ceil();
                    (corner.map_or(0.5 * (low[a] + high[a] - cells * cell), |c| c[a]), cell)
                }
                (Some(one), None) => (one.at, fitted(if one.below { high[a] - one.at } else { one.at - low[a] })),
                (Some(one), Some(two)) => {
                    let length = (one.at - two.at).abs();
                    // Each plane has control points of its own on both sides.
                    (one.at.min(two.at), length / (length / cell).round().max(2.0))
                }
            }
        };
        let axes = [along(0), along(1), along(2)];
        let size = axes.map(|(_, h)| h);
        let origin = [0, 1, 2].map(|a| axes[a].0 + ((low[a] - axes[a].0) / size[a] + 1e-9).floor() * size[a]);
        let planes = clamps.iter().map(|c| HeldPlane {
            axis: c.axis,
            cell: ((c.at - origin[c.axis]) / size[c.axis]).round() as usize,
            free_above: c.below,
        });
        let planes = planes.collect();
        Ok(Cells { origin, size, planes })
    }

    /// In cells from the lowest corner.
    pub(super) fn relative(&self, x: Point) -> Point {
        [0, 1, 2].map(|a| (x[a] - self.origin[a]) / self.size[a])
    }

    /// The inverse of [`relative`](Cells::relative).
    pub(super) fn absolute(&self, u: Point) -> Point {
        [0, 1, 2].map(|a| self.origin[a] + u[a] * self.size[a])
    }

    /// Whether a relative point is held.
    pub(super) fn holds(&self, u: Point) -> bool {
        self.planes.iter().any(|p| {
            let above = u[p.axis] - p.cell as f64;
            if p.free_above { above < -1e-9 } else { above > 1e-9 }
        })
    }

    /// The pieces that a body has in the divisions of the cells, of the part that is free.
    pub(super) fn pieces(&self, body: &ClosedMesh) -> Result<Vec<Fragment>> {
        let n = DIVISIONS as f64;
        let divisions = body.vertices().iter().map(|&v| self.relative(v).map(|u| snapped(u * n))).collect();
        let scaled = ClosedMesh::trusted(divisions, body.triangles().to_vec());
        let (mut pieces, low) = parts(&scaled, &Lattice { spacing: 1.0, corner: Some([0.0; 3]) })?;
        for f in &mut pieces {
            f.cell = [0, 1, 2].map(|a| f.cell[a] + low[a] as usize);
            f.first = [0, 1, 2].map(|a| f.first[a] + low[a] * f.volume);
        }
        pieces.retain(|f| !self.holds([0, 1, 2].map(|a| f.first[a] / (f.volume * n))));
        Ok(pieces)
    }
}

/// On a plane between divisions where it is within rounding errors of one, so that faces of boxes make no slivers.
fn snapped(u: f64) -> f64 {
    if (u - u.round()).abs() < 1e-9 { u.round() } else { u }
}

fn check_clamps(clamps: &[Clamp], [low, high]: [Point; 2]) -> Result<()> {
    for (k, c) in clamps.iter().enumerate() {
        if c.axis > 2 {
            return Err(Error::invalid(format!("axis of clamp {k}"), c.axis, "0, 1 or 2"));
        }
        let (free, held) = if c.below { (high[c.axis], low[c.axis]) } else { (low[c.axis], high[c.axis]) };
        let along = (c.at - held) / (free - held);
        if !(-1e-9..1.0).contains(&along) {
            let expected = format!("a place that leaves a part of the body free, which is between {held} and {free}");
            return Err(Error::invalid(format!("place of clamp {k} [m]"), c.at, expected));
        }
        if clamps[..k].iter().any(|b| b.axis != c.axis || b.below == c.below) {
            let expected = "at most two, of one axis, one from below and one from above";
            return Err(Error::invalid("clamps", clamps.len(), expected));
        }
        if clamps[..k].iter().any(|b| (c.at - b.at) * if c.below { -1.0 } else { 1.0 } <= 0.0) {
            return Err(Error::invalid(
                format!("place of clamp {k} [m]"),
                c.at,
                "one that leaves room between the clamps",
            ));
        }
    }
    Ok(())
}
