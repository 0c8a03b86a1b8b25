//! A solid given by samples of its signed distance.

use super::pose::{Pose, to_world};
use crate::error::{Error, Result, positive};
use crate::grid::GridShape;
use crate::mesh::{ClosedMesh, Samples, norm, signed_distances, sub};
use diffkern::prelude::*;

/// Cells of a grid beyond the box of a surface, on each side.
const MARGIN: f64 = 2.0;

/// Signed distances \[m\] at the nodes of a regular grid, negative inside, in the frame of the solid; the last axis runs fastest.
///
/// Between nodes they are interpolated trilinearly, and the normal is the direction of that function's gradient: exact for planes,
/// elsewhere to second order in the spacing, with kinks from cell to cell. Outside the grid a point is as far as the nearest point of the
/// grid says, and the way there.
#[derive(Clone, Debug, PartialEq)]
pub struct SdfGrid {
    pub(super) origin: [f64; 3],
    pub(super) spacing: f64,
    pub(super) nodes: [usize; 3],
    pub(super) values: Vec<f64>,
    /// Largest difference of neighbours by their spacing.
    steepness: f64,
}

impl SdfGrid {
    /// A grid with its first node at `origin`, node distance `spacing` \[m\] and `nodes` nodes along the axes.
    ///
    /// # Errors
    /// When the spacing is not positive, an axis has fewer than two nodes, a value is missing, or one is not finite.
    pub fn new(origin: [f64; 3], spacing: f64, nodes: [usize; 3], values: Vec<f64>) -> Result<SdfGrid> {
        positive("spacing of the distance grid", spacing)?;
        if let Some(o) = origin.iter().find(|o| !o.is_finite()) {
            return Err(Error::invalid("origin of the distance grid", o, "finite numbers"));
        }
        if let Some(n) = nodes.iter().find(|&&n| n < 2) {
            return Err(Error::invalid("nodes of an axis of the distance grid", n, "at least 2"));
        }
        let count = nodes.iter().try_fold(1usize, |t, &n| t.checked_mul(n)).filter(|&n| n <= i32::MAX as usize);
        if count != Some(values.len()) {
            let expected = format!("one for each of {nodes:?} nodes, at most 2^31");
            return Err(Error::invalid("number of distances", values.len(), expected));
        }
        if let Some(k) = values.iter().position(|v| !v.is_finite()) {
            return Err(Error::invalid(format!("distance {k}"), values[k], "a finite number"));
        }
        let [_, ny, nz] = nodes;
        let step = |k: usize, stride: usize| (values[k + stride] - values[k]).abs() / spacing;
        let steepest = (0..values.len()).flat_map(|k| {
            let at = [k / (ny * nz), k / nz % ny, k % nz];
            let strides = [ny * nz, nz, 1];
            (0..3).filter(move |&a| at[a] + 1 < nodes[a]).map(move |a| (k, strides[a]))
        });
        let steepness = steepest.map(|(k, stride)| step(k, stride)).fold(0.0, f64::max);
        Ok(SdfGrid { origin, spacing, nodes, values, steepness })
    }

    /// The same with the values of a function of the position.
    ///
    /// # Errors
    /// As [`SdfGrid::new`].
    pub fn sampled(
        origin: [f64; 3],
        spacing: f64,
        nodes: [usize; 3],
        distance: impl Fn([f64; 3]) -> f64,
    ) -> Result<SdfGrid> {
        let count = nodes.iter().try_fold(1usize, |t, &n| t.checked_mul(n)).filter(|&n| n <= i32::MAX as usize);
        let Some(count) = count else {
            return Err(Error::invalid("nodes of the distance grid", format!("{nodes:?}"), "at most 2^31 in all"));
        };
        let [_, ny, nz] = nodes;
        let node = |k: usize| [k / (ny * nz), k / nz % ny, k % nz];
        let at = |k: usize| {
            let index = node(k);
            distance([0, 1, 2].map(|a| origin[a] + index[a] as f64 * spacing))
        };
        SdfGrid::new(origin, spacing, nodes, diffkern::memory::collect((0..count).map(at))?)
    }

    /// How many metres the interpolated distance changes by in a metre, at most: by the diagonal of a cell more than samples along its sides, and
    /// than the way to the grid from outside.
    pub(crate) fn steepness(&self) -> f64 {
        3f64.sqrt() * self.steepness.max(1.0)
    }

    /// Of a closed surface, `spacing` \[m\] apart, a little beyond its box.
    ///
    /// # Errors
    /// When the spacing is not positive or so small that there would be more than 2^31 samples, or memory is short.
    pub fn of(surface: &ClosedMesh, spacing: f64) -> Result<SdfGrid> {
        positive("spacing of the distance grid", spacing)?;
        let [low, high] = surface.bounds();
        let cells = [0, 1, 2].map(|a| ((high[a] - low[a]) / spacing).ceil() + 2.0 * MARGIN);
        if cells.iter().map(|n| n + 1.0).product::<f64>() > f64::from(i32::MAX) {
            return Err(Error::invalid("spacing of the distance grid", spacing, "one with at most 2^31 samples"));
        }
        // The body in the middle of the grid.
        let origin = [0, 1, 2].map(|a| 0.5 * (low[a] + high[a] - cells[a] * spacing));
        let nodes = cells.map(|n| n as usize + 1);
        let samples = Samples { first: origin, spacing: [spacing; 3], count: nodes };
        let most = norm(sub(high, low)) + 2.0 * MARGIN * spacing * 3.0f64.sqrt();
        SdfGrid::new(origin, spacing, nodes, signed_distances(surface, &samples, most)?)
    }

    /// Signed distance \[m\] of `x`, negative inside.
    pub(super) fn distance(&self, x: [f64; 3]) -> f64 {
        let local = [0, 1, 2].map(|a| (x[a] - self.origin[a]) / self.spacing);
        let inside = [0, 1, 2].map(|a| local[a].clamp(0.0, (self.nodes[a] - 1) as f64));
        let first = [0, 1, 2].map(|a| (inside[a] as usize).min(self.nodes[a] - 2));
        let corner = |k: usize| {
            let step = [0, 1, 2].map(|a| k >> a & 1);
            let share = |a: usize| (inside[a] - first[a] as f64 - (1 - step[a]) as f64).abs();
            let [a, b, c] = [0, 1, 2].map(|a| first[a] + step[a]);
            share(0) * share(1) * share(2) * self.values[(a * self.nodes[1] + b) * self.nodes[2] + c]
        };
        let beyond = (0..3).map(|a| (local[a] - inside[a]).powi(2)).sum::<f64>().sqrt();
        (0..8).map(corner).sum::<f64>() + beyond * self.spacing
    }

    /// Distance of its farthest corner from the origin \[m\].
    pub(super) fn radius(&self) -> f64 {
        let end = |a: usize| self.origin[a] + (self.nodes[a] - 1) as f64 * self.spacing;
        (0..3).map(|a| self.origin[a].abs().max(end(a).abs()).powi(2)).sum::<f64>().sqrt()
    }

    pub(super) fn shape<F: Float>(&self) -> GridShape<F> {
        let [nx, ny, nz] = self.nodes.map(|n| n as u32);
        let origin = Vec3::from_array(self.origin.map(F::from_f64));
        GridShape { origin, inv_dx: F::from_f64(1.0 / self.spacing), nx, ny, nz }
    }
}

/// Gaps to a solid given by samples: `gap_i = (normal, distance)`.
#[diff_kernel]
pub fn grid_gaps<F: Float>(
    x: &Array<Vec3<F>>,
    poses: &Array<Pose<F>>,
    values: &Array<F>,
    gap: &mut Array<Vec4<F>>,
    grid: GridShape<F>,
    solid: u32,
) {
    let i = ABSOLUTE_POS;
    let pose = poses[solid];
    let local = (pose.rotation.conjugate().rotate(x[i] - pose.centre) - grid.origin) * grid.inv_dx;
    let last = Vec3::new(F::cast_from(grid.nx - 1), F::cast_from(grid.ny - 1), F::cast_from(grid.nz - 1));
    let inside = Vec3::new(local.x.max(0.0).min(last.x), local.y.max(0.0).min(last.y), local.z.max(0.0).min(last.z));
    let a = u32::cast_from(inside.x).min(grid.nx - 2);
    let b = u32::cast_from(inside.y).min(grid.ny - 2);
    let c = u32::cast_from(inside.z).min(grid.nz - 2);
    let p = inside.x - F::cast_from(a);
    let q = inside.y - F::cast_from(b);
    let r = inside.z - F::cast_from(c);
    let at = (a * grid.ny + b) * grid.nz + c;
    let far = grid.ny * grid.nz;
    let v000 = values[at];
    let v001 = values[at + 1];
    let v010 = values[at + grid.nz];
    let v011 = values[at + grid.nz + 1];
    let v100 = values[at + far];
    let v101 = values[at + far + 1];
    let v110 = values[at + far + grid.nz];
    let v111 = values[at + far + grid.nz + 1];
    // Along z, then along y, then along x.
    let v00 = v000 + (v001 - v000) * r;
    let v01 = v010 + (v011 - v010) * r;
    let v10 = v100 + (v101 - v100) * r;
    let v11 = v110 + (v111 - v110) * r;
    let v0 = v00 + (v01 - v00) * q;
    let v1 = v10 + (v11 - v10) * q;
    let slope = Vec3::new(
        v1 - v0,
        (v01 - v00) * (1.0 - p) + (v11 - v10) * p,
        ((v001 - v000) * (1.0 - q) + (v011 - v010) * q) * (1.0 - p)
            + ((v101 - v100) * (1.0 - q) + (v111 - v110) * q) * p,
    );
    let way = local - inside;
    let beyond = way.dot(way);
    let mut distance = v0 + (v1 - v0) * p;
    if beyond > 0.0 {
        distance = distance + beyond.sqrt() / grid.inv_dx;
    }
    let steep = slope.dot(slope);
    let mut normal = slope;
    if steep > 0.0 {
        normal = slope / steep.sqrt();
    }
    let result: Vec4<F> = to_world(pose, Vec4::new(normal.x, normal.y, normal.z, distance));
    gap[i] = result;
}
