//! Between control points and what lies in the cells: gradients and forces of stress points, positions and forces of the surface.
//!
//! A cell has 27 control points in nine rows along z, of which `rows` has the first. A cell has eight stress points.

use super::stencil::{spline_slopes, spline_values};
use diffkern::prelude::*;

/// Nine values across a slab of a cell, contracted along its axes y and z: the sum, and the sums with slopes along y and along z.
#[diff_fn]
fn slab_sums<F: Float>(
    low: Mat3<F>,
    mid: Mat3<F>,
    high: Mat3<F>,
    wy: Vec3<F>,
    dy: Vec3<F>,
    wz: Vec3<F>,
    dz: Vec3<F>,
) -> (Vec3<F>, Vec3<F>, Vec3<F>) {
    let a = low * wz;
    let b = mid * wz;
    let c = high * wz;
    let slope = low * dz * wy.x + mid * dz * wy.y + high * dz * wy.z;
    (a * wy.x + b * wy.y + c * wy.z, a * dy.x + b * dy.y + c * dy.z, slope)
}

/// `F = sum x_a grad N_a` at the eight stress points of each cell, of positions relative to the middle of the cell; of velocities its rate. Cells have
/// `per_cell`, the reciprocals of their edges \[1/m\]; one element stands for all.
#[diff_kernel]
pub fn gradients<F: Float>(
    x: &Array<Vec3<F>>,
    rows: &Array<u32>,
    at: &Array<Vec3<F>>,
    per_cell: &Array<Vec3<F>>,
    gradient: &mut Array<Mat3<F>>,
) {
    let c = ABSOLUTE_POS;
    let scale = per_cell[c.min(per_cell.len() - 1)];
    let middle = x[(rows[9 * c + 4] + 1) as usize];
    // A row of three control points is a matrix with their positions as columns; three arrays, as one has room for 64 reals.
    let mut first = [Mat3::zero(); 3];
    let mut second = [Mat3::zero(); 3];
    let mut third = [Mat3::zero(); 3];
    #[unroll]
    for b in 0..3 {
        let i = rows[9 * c + b] as usize;
        let j = rows[9 * c + 3 + b] as usize;
        let k = rows[9 * c + 6 + b] as usize;
        first[b] = Mat3::from_cols(x[i] - middle, x[i + 1] - middle, x[i + 2] - middle);
        second[b] = Mat3::from_cols(x[j] - middle, x[j + 1] - middle, x[j + 2] - middle);
        third[b] = Mat3::from_cols(x[k] - middle, x[k + 1] - middle, x[k + 2] - middle);
    }
    for p in 0..8 {
        let s = at[8 * c + p];
        let wx: Vec3<F> = spline_values(s.x);
        let wy: Vec3<F> = spline_values(s.y);
        let wz: Vec3<F> = spline_values(s.z);
        let dx: Vec3<F> = spline_slopes(s.x);
        let dy: Vec3<F> = spline_slopes(s.y);
        let dz: Vec3<F> = spline_slopes(s.z);
        let (u, uy, uz): (Vec3<F>, Vec3<F>, Vec3<F>) = slab_sums(first[0], first[1], first[2], wy, dy, wz, dz);
        let (v, vy, vz): (Vec3<F>, Vec3<F>, Vec3<F>) = slab_sums(second[0], second[1], second[2], wy, dy, wz, dz);
        let (w, ty, tz): (Vec3<F>, Vec3<F>, Vec3<F>) = slab_sums(third[0], third[1], third[2], wy, dy, wz, dz);
        gradient[8 * c + p] = Mat3::from_cols(
            (u * dx.x + v * dx.y + w * dx.z) * scale.x,
            (uy * wx.x + vy * wx.y + ty * wx.z) * scale.y,
            (uz * wx.x + vz * wx.y + tz * wx.z) * scale.z,
        );
    }
}

/// Adds the elastic forces `-V P grad N_a` of the eight stress points of each cell.
#[diff_kernel]
pub fn stress_forces<F: Float>(
    p: &Array<Mat3<F>>,
    rows: &Array<u32>,
    at: &Array<Vec3<F>>,
    per_cell: &Array<Vec3<F>>,
    force: &mut Array<Vec3<F>>,
) {
    let c = ABSOLUTE_POS;
    let scale = per_cell[c.min(per_cell.len() - 1)];
    // Columns are the forces on the control points of a row.
    let mut first = [Mat3::zero(); 3];
    let mut second = [Mat3::zero(); 3];
    let mut third = [Mat3::zero(); 3];
    for k in 0..8 {
        let s = at[8 * c + k];
        let wx: Vec3<F> = spline_values(s.x);
        let wy: Vec3<F> = spline_values(s.y);
        let wz: Vec3<F> = spline_values(s.z);
        let dx: Vec3<F> = spline_slopes(s.x);
        let dy: Vec3<F> = spline_slopes(s.y);
        let dz: Vec3<F> = spline_slopes(s.z);
        let stress = p[8 * c + k];
        let px = stress.col(0) * -scale.x;
        let py = stress.col(1) * -scale.y;
        let pz = stress.col(2) * -scale.z;
        #[unroll]
        for b in 0..3 {
            let across = px * wy[b];
            let along = py * dy[b];
            let up = (pz * wy[b]).outer(dz);
            first[b] = first[b] + (across * dx.x + along * wx.x).outer(wz) + up * wx.x;
            second[b] = second[b] + (across * dx.y + along * wx.y).outer(wz) + up * wx.y;
            third[b] = third[b] + (across * dx.z + along * wx.z).outer(wz) + up * wx.z;
        }
    }
    #[unroll]
    for b in 0..3 {
        let i = rows[9 * c + b] as usize;
        let j = rows[9 * c + 3 + b] as usize;
        let k = rows[9 * c + 6 + b] as usize;
        force[i] += first[b].col(0);
        force[i + 1] += first[b].col(1);
        force[i + 2] += first[b].col(2);
        force[j] += second[b].col(0);
        force[j + 1] += second[b].col(1);
        force[j + 2] += second[b].col(2);
        force[k] += third[b].col(0);
        force[k + 1] += third[b].col(1);
        force[k + 2] += third[b].col(2);
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

/// The same of positions and velocities at once.
#[diff_kernel]
pub fn carry_motion<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    rows: &Array<u32>,
    cell: &Array<u32>,
    at: &Array<Vec3<F>>,
    place: &mut Array<Vec3<F>>,
    speed: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let first = 9 * cell[i] as usize;
    let s = at[i];
    let wx: Vec3<F> = spline_values(s.x);
    let wy: Vec3<F> = spline_values(s.y);
    let wz: Vec3<F> = spline_values(s.z);
    let mut sum = Vec3::zero();
    let mut rate = Vec3::zero();
    #[unroll]
    for a in 0..3 {
        #[unroll]
        for b in 0..3 {
            let row = rows[first + 3 * a + b] as usize;
            let weight = wx[a] * wy[b];
            sum = sum + (x[row] * wz.x + x[row + 1] * wz.y + x[row + 2] * wz.z) * weight;
            rate = rate + (v[row] * wz.x + v[row + 1] * wz.y + v[row + 2] * wz.z) * weight;
        }
    }
    place[i] = sum;
    speed[i] = rate;
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
