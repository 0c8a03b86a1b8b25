//! What a body is for others that touch it: where in its lattice a place of the world is, and how far from its surface that was at rest.

use super::body::CutBody;
use crate::error::Result;
use crate::mesh::{ClosedMesh, Point, Samples, add, indices, scale, signed_distances, sub};
use diffkern::{Mat3, Vec3};

/// Samples of distances along the edge of a cell.
pub(super) const FINER: usize = 4;
/// Cells around those of a body in which places are found.
const AROUND: usize = 1;
/// Distance in cells up to which distances are known; what has come deeper is not pushed out.
const BAND: f64 = 1.0;

/// Of one body, at rest. Places are in cells from the lowest corner of a box of cells about it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Surroundings {
    /// Cells of the box along each axis.
    pub(super) size: [usize; 3],
    /// The cell of the body by which each cell of the box is deformed, itself or the nearest; the last axis runs fastest.
    pub(super) near: Vec<u32>,
    /// Lowest corners of the cells of the body.
    pub(super) corners: Vec<Point>,
    /// Coefficients of the signed distance \[m\] as a quadratic spline of cells that are finer by [`FINER`].
    pub(super) distance: Vec<f64>,
    /// Mean place of the control points, and of each the weight by which positions of all sum to the linear map that is nearest to them.
    pub(super) centre: Point,
    pub(super) weights: Vec<Point>,
}

impl Surroundings {
    pub(super) fn of(body: &CutBody) -> Result<Surroundings> {
        let ends = |end: fn(usize, usize) -> usize, a: usize| body.parts.iter().map(|p| p.cell[a]).reduce(end);
        let low = [0, 1, 2].map(|a| ends(usize::min, a).unwrap_or(0));
        let size = [0, 1, 2].map(|a| ends(usize::max, a).unwrap_or(0) + 1 - low[a] + 2 * AROUND);
        let corner = |cell: [usize; 3]| [0, 1, 2].map(|a| (cell[a] + AROUND - low[a]) as f64);
        let corners: Vec<Point> = body.parts.iter().map(|p| corner(p.cell)).collect();
        let places = body.numbering.nodes.iter().map(|&u| [0, 1, 2].map(|a| u[a] + (AROUND as f64 - low[a] as f64)));
        let places: Vec<Point> = places.collect();
        let (centre, weights) = linear_fit(&places);
        let first = [0, 1, 2].map(|a| low[a] as f64 - AROUND as f64);
        Ok(Surroundings {
            near: nearest_cells(size, &corners),
            distance: distances(body, first, size)?,
            size,
            corners,
            centre,
            weights,
        })
    }
}

/// For each cell of a box the number of that of the body which is nearest to its middle.
fn nearest_cells(size: [usize; 3], corners: &[Point]) -> Vec<u32> {
    let mut near = vec![u32::MAX; size.iter().product()];
    let number = |c: [usize; 3]| (c[0] * size[1] + c[1]) * size[2] + c[2];
    for (k, corner) in corners.iter().enumerate() {
        near[number(corner.map(|c| c as usize))] = k as u32;
    }
    let apart = |cell: [usize; 3], k: usize| (0..3).map(|a| (cell[a] as f64 - corners[k][a]).powi(2)).sum::<f64>();
    for cell in indices(size) {
        if near[number(cell)] == u32::MAX {
            let best = (0..corners.len()).min_by(|&i, &j| apart(cell, i).total_cmp(&apart(cell, j)));
            near[number(cell)] = best.unwrap_or(0) as u32;
        }
    }
    near
}

/// With values in place of coefficients linear functions stay as they are, so that plane faces are exact, and edges are rounded within a sample.
fn distances(body: &CutBody, first: Point, size: [usize; 3]) -> Result<Vec<f64>> {
    let fine = 1.0 / FINER as f64;
    let samples = Samples {
        first: body.absolute(first.map(|u| u - 0.5 * fine)),
        spacing: scale(body.size, fine),
        count: size.map(|n| FINER * n + 2),
    };
    let vertices = body.mesh().vertices().iter().map(|&x| body.own(x)).collect();
    let mesh = ClosedMesh::trusted(vertices, body.mesh().triangles().to_vec());
    let most = BAND * body.size.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(signed_distances(&mesh, &samples, most)?)
}

/// The mean of places, and `w_a = C^-1 (u_a - mean)`, `C = sum (u_a - mean) (u_a - mean)^T`: of positions `x_a = A u_a + t` the sum `x_a w_a^T` is `A`.
fn linear_fit(places: &[Point]) -> (Point, Vec<Point>) {
    let centre = scale(places.iter().fold([0.0; 3], |sum, &u| add(sum, u)), 1.0 / places.len() as f64);
    let away: Vec<Point> = places.iter().map(|&u| sub(u, centre)).collect();
    let entry = |a: usize, b: usize| away.iter().map(|d| d[a] * d[b]).sum::<f64>();
    // Three control points along each axis at least, so that it has an inverse.
    let inverse = Mat3::from_array(std::array::from_fn(|k| entry(k / 3, k % 3))).inverse();
    (centre, away.iter().map(|d| (inverse * Vec3::from_array(*d)).to_array()).collect())
}
