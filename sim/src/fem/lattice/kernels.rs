//! Between control points and what lies in the cells: gradients and forces of stress points, positions and forces of the surface.
//!
//! A cell has 27 control points in nine rows along z, of which `rows` has the first. A cell has eight stress points.

use super::stencil::{spline_slopes, spline_values};
use diffkern::prelude::*;

/// `F = sum x_a grad N_a` at each stress point, of positions relative to the middle of the cell; of velocities its rate.
#[diff_kernel]
pub fn gradients<F: Float>(
    x: &Array<Vec3<F>>,
    rows: &Array<u32>,
    at: &Array<Vec3<F>>,
    gradient: &mut Array<Mat3<F>>,
    per_cell: Vec3<F>,
) {
    let i = ABSOLUTE_POS;
    let first = 9 * (i / 8);
    let s = at[i];
    let wx: Vec3<F> = spline_values(s.x);
    let wy: Vec3<F> = spline_values(s.y);
    let wz: Vec3<F> = spline_values(s.z);
    let dx: Vec3<F> = spline_slopes(s.x);
    let dy: Vec3<F> = spline_slopes(s.y);
    let dz: Vec3<F> = spline_slopes(s.z);
    let middle = x[(rows[first + 4] + 1) as usize];
    let mut gx = Vec3::zero();
    let mut gy = Vec3::zero();
    let mut gz = Vec3::zero();
    #[unroll]
    for a in 0..3 {
        #[unroll]
        for b in 0..3 {
            let row = rows[first + 3 * a + b] as usize;
            let low = x[row] - middle;
            let mid = x[row + 1] - middle;
            let high = x[row + 2] - middle;
            let value = low * wz.x + mid * wz.y + high * wz.z;
            let slope = low * dz.x + mid * dz.y + high * dz.z;
            gx = gx + value * (dx[a] * wy[b]);
            gy = gy + value * (wx[a] * dy[b]);
            gz = gz + slope * (wx[a] * wy[b]);
        }
    }
    gradient[i] = Mat3::from_cols(gx * per_cell.x, gy * per_cell.y, gz * per_cell.z);
}

/// Adds the elastic forces `-V P grad N_a` of each stress point.
#[diff_kernel]
pub fn stress_forces<F: Float>(
    p: &Array<Mat3<F>>,
    rows: &Array<u32>,
    at: &Array<Vec3<F>>,
    force: &mut Array<Vec3<F>>,
    per_cell: Vec3<F>,
) {
    let i = ABSOLUTE_POS;
    let first = 9 * (i / 8);
    let s = at[i];
    let wx: Vec3<F> = spline_values(s.x);
    let wy: Vec3<F> = spline_values(s.y);
    let wz: Vec3<F> = spline_values(s.z);
    let dx: Vec3<F> = spline_slopes(s.x);
    let dy: Vec3<F> = spline_slopes(s.y);
    let dz: Vec3<F> = spline_slopes(s.z);
    let px = p[i].col(0) * -per_cell.x;
    let py = p[i].col(1) * -per_cell.y;
    let pz = p[i].col(2) * -per_cell.z;
    #[unroll]
    for a in 0..3 {
        #[unroll]
        for b in 0..3 {
            let row = rows[first + 3 * a + b] as usize;
            let across = px * (dx[a] * wy[b]) + py * (wx[a] * dy[b]);
            let along = pz * (wx[a] * wy[b]);
            force[row] += across * wz.x + along * dz.x;
            force[row + 1] += across * wz.y + along * dz.y;
            force[row + 2] += across * wz.z + along * dz.z;
        }
    }
}

/// `y_i = sum N_a(at_i) x_a` in the cell of each point: of positions where it is, of velocities how it moves.
#[diff_kernel]
pub fn carry<F: Float>(
    x: &Array<Vec3<F>>,
    rows: &Array<u32>,
    cell: &Array<u32>,
    at: &Array<Vec3<F>>,
    y: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let first = 9 * cell[i] as usize;
    let s = at[i];
    let wx: Vec3<F> = spline_values(s.x);
    let wy: Vec3<F> = spline_values(s.y);
    let wz: Vec3<F> = spline_values(s.z);
    let mut sum = Vec3::zero();
    #[unroll]
    for a in 0..3 {
        #[unroll]
        for b in 0..3 {
            let row = rows[first + 3 * a + b] as usize;
            let along = x[row] * wz.x + x[row + 1] * wz.y + x[row + 2] * wz.z;
            sum = sum + along * (wx[a] * wy[b]);
        }
    }
    y[i] = sum;
}

/// Adds the traction \[Pa\] on each point of the surface, times its area, to the forces on the control points that carry it.
#[diff_kernel]
pub fn surface_forces<F: Float>(
    traction: &Array<Vec3<F>>,
    area: &Array<F>,
    rows: &Array<u32>,
    cell: &Array<u32>,
    at: &Array<Vec3<F>>,
    force: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let first = 9 * cell[i] as usize;
    let s = at[i];
    let wx: Vec3<F> = spline_values(s.x);
    let wy: Vec3<F> = spline_values(s.y);
    let wz: Vec3<F> = spline_values(s.z);
    let whole = traction[i] * area[i];
    #[unroll]
    for a in 0..3 {
        #[unroll]
        for b in 0..3 {
            let row = rows[first + 3 * a + b] as usize;
            let part = whole * (wx[a] * wy[b]);
            force[row] += part * wz.x;
            force[row + 1] += part * wz.y;
            force[row + 2] += part * wz.z;
        }
    }
}
