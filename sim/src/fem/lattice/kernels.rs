//! Between control points and what lies in the cells: gradients and forces of stress points, positions and forces of the surface.
//!
//! A cell has 27 control points in nine rows along z, of which `rows` has the first. A cell has eight stress points. Where these stand at the corners of a box, sums over
//! control points are taken along one axis after the other.

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

/// Three rows of a slab, as matrices with their control points as columns: what the points at one place along z have of it at two places along y. Columns are the sum
/// by the splines along both axes, and those by slopes along y and along z.
#[diff_fn]
fn across_slab<F: Float>(
    low: Mat3<F>,
    mid: Mat3<F>,
    high: Mat3<F>,
    near: Vec3<F>,
    far: Vec3<F>,
    along: F,
) -> (Mat3<F>, Mat3<F>) {
    let wz: Vec3<F> = spline_values(along);
    let dz: Vec3<F> = spline_slopes(along);
    let (a, b, c) = (low * wz, mid * wz, high * wz);
    let (a_slope, b_slope, c_slope) = (low * dz, mid * dz, high * dz);
    let wn: Vec3<F> = spline_values(near.y);
    let dn: Vec3<F> = spline_slopes(near.y);
    let wf: Vec3<F> = spline_values(far.y);
    let df: Vec3<F> = spline_slopes(far.y);
    let at_near = Mat3::from_cols(
        a * wn.x + b * wn.y + c * wn.z,
        a * dn.x + b * dn.y + c * dn.z,
        a_slope * wn.x + b_slope * wn.y + c_slope * wn.z,
    );
    let at_far = Mat3::from_cols(
        a * wf.x + b * wf.y + c * wf.z,
        a * df.x + b * df.y + c * df.z,
        a_slope * wf.x + b_slope * wf.y + c_slope * wf.z,
    );
    (at_near, at_far)
}

/// The gradient at a place along x of what `across_slab` has of three slabs.
#[diff_fn]
fn across_slabs<F: Float>(low: Mat3<F>, mid: Mat3<F>, high: Mat3<F>, along: F, scale: Vec3<F>) -> Mat3<F> {
    let w: Vec3<F> = spline_values(along);
    let d: Vec3<F> = spline_slopes(along);
    Mat3::from_cols(
        (low.col(0) * d.x + mid.col(0) * d.y + high.col(0) * d.z) * scale.x,
        (low.col(1) * w.x + mid.col(1) * w.y + high.col(1) * w.z) * scale.y,
        (low.col(2) * w.x + mid.col(2) * w.y + high.col(2) * w.z) * scale.z,
    )
}

/// What `gradients` gives, of cells whose stress points stand at the corners of boxes: `corners` has the lowest and the highest of each.
#[diff_kernel]
pub fn box_gradients<F: Float>(
    x: &Array<Vec3<F>>,
    rows: &Array<u32>,
    corners: &Array<Vec3<F>>,
    per_cell: &Array<Vec3<F>>,
    gradient: &mut Array<Mat3<F>>,
) {
    let c = ABSOLUTE_POS;
    let scale = per_cell[c.min(per_cell.len() - 1)];
    let middle = x[(rows[9 * c + 4] + 1) as usize];
    let near = corners[2 * c];
    let far = corners[2 * c + 1];
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
    for z in 0..2 {
        let at = corners[2 * c + z].z;
        let (a, p): (Mat3<F>, Mat3<F>) = across_slab(first[0], first[1], first[2], near, far, at);
        let (b, q): (Mat3<F>, Mat3<F>) = across_slab(second[0], second[1], second[2], near, far, at);
        let (d, r): (Mat3<F>, Mat3<F>) = across_slab(third[0], third[1], third[2], near, far, at);
        let point = 8 * c + 4 * z;
        let low_near: Mat3<F> = across_slabs(a, b, d, near.x, scale);
        let high_near: Mat3<F> = across_slabs(a, b, d, far.x, scale);
        let low_far: Mat3<F> = across_slabs(p, q, r, near.x, scale);
        let high_far: Mat3<F> = across_slabs(p, q, r, far.x, scale);
        gradient[point] = low_near;
        gradient[point + 1] = high_near;
        gradient[point + 2] = low_far;
        gradient[point + 3] = high_far;
    }
}

/// What the stresses `low` and `high` at two places along x do to a slab there, with its splines `w_low`, `w_high` and slopes: columns as in `across_slab`.
#[diff_fn]
fn onto_slab<F: Float>(low: Mat3<F>, high: Mat3<F>, w_low: F, w_high: F, d_low: F, d_high: F) -> Mat3<F> {
    Mat3::from_cols(
        low.col(0) * d_low + high.col(0) * d_high,
        low.col(1) * w_low + high.col(1) * w_high,
        low.col(2) * w_low + high.col(2) * w_high,
    )
}

/// What these do to one row of the slab, by its splines at two places along y, and along z.
#[diff_fn]
fn onto_row<F: Float>(
    near: Mat3<F>,
    far: Mat3<F>,
    w_near: F,
    w_far: F,
    d_near: F,
    d_far: F,
    wz: Vec3<F>,
    dz: Vec3<F>,
) -> Mat3<F> {
    let value = near.col(0) * w_near + near.col(1) * d_near + far.col(0) * w_far + far.col(1) * d_far;
    let slope = near.col(2) * w_near + far.col(2) * w_far;
    value.outer(wz) + slope.outer(dz)
}

/// A stress with its columns by the edges of a cell, as a force.
#[diff_fn]
fn pulled<F: Float>(stress: Mat3<F>, scale: Vec3<F>) -> Mat3<F> {
    Mat3::from_cols(stress.col(0) * -scale.x, stress.col(1) * -scale.y, stress.col(2) * -scale.z)
}

/// What `stress_forces` adds, of cells as in `box_gradients`.
#[diff_kernel]
pub fn box_forces<F: Float>(
    p: &Array<Mat3<F>>,
    rows: &Array<u32>,
    corners: &Array<Vec3<F>>,
    per_cell: &Array<Vec3<F>>,
    force: &mut Array<Vec3<F>>,
) {
    let c = ABSOLUTE_POS;
    let scale = per_cell[c.min(per_cell.len() - 1)];
    let near = corners[2 * c];
    let far = corners[2 * c + 1];
    let wl: Vec3<F> = spline_values(near.x);
    let dl: Vec3<F> = spline_slopes(near.x);
    let wh: Vec3<F> = spline_values(far.x);
    let dh: Vec3<F> = spline_slopes(far.x);
    let wn: Vec3<F> = spline_values(near.y);
    let dn: Vec3<F> = spline_slopes(near.y);
    let wf: Vec3<F> = spline_values(far.y);
    let df: Vec3<F> = spline_slopes(far.y);
    let mut first = [Mat3::zero(); 3];
    let mut second = [Mat3::zero(); 3];
    let mut third = [Mat3::zero(); 3];
    for z in 0..2 {
        let at = corners[2 * c + z].z;
        let wz: Vec3<F> = spline_values(at);
        let dz: Vec3<F> = spline_slopes(at);
        let point = 8 * c + 4 * z;
        let low_near: Mat3<F> = pulled(p[point], scale);
        let high_near: Mat3<F> = pulled(p[point + 1], scale);
        let low_far: Mat3<F> = pulled(p[point + 2], scale);
        let high_far: Mat3<F> = pulled(p[point + 3], scale);
        let a_near: Mat3<F> = onto_slab(low_near, high_near, wl.x, wh.x, dl.x, dh.x);
        let a_far: Mat3<F> = onto_slab(low_far, high_far, wl.x, wh.x, dl.x, dh.x);
        let b_near: Mat3<F> = onto_slab(low_near, high_near, wl.y, wh.y, dl.y, dh.y);
        let b_far: Mat3<F> = onto_slab(low_far, high_far, wl.y, wh.y, dl.y, dh.y);
        let c_near: Mat3<F> = onto_slab(low_near, high_near, wl.z, wh.z, dl.z, dh.z);
        let c_far: Mat3<F> = onto_slab(low_far, high_far, wl.z, wh.z, dl.z, dh.z);
        #[unroll]
        for b in 0..3 {
            let one: Mat3<F> = onto_row(a_near, a_far, wn[b], wf[b], dn[b], df[b], wz, dz);
            let two: Mat3<F> = onto_row(b_near, b_far, wn[b], wf[b], dn[b], df[b], wz, dz);
            let three: Mat3<F> = onto_row(c_near, c_far, wn[b], wf[b], dn[b], df[b], wz, dz);
            first[b] = first[b] + one;
            second[b] = second[b] + two;
            third[b] = third[b] + three;
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

/// The same of points that are carried in pairs: `cell` is that of the first of each.
#[diff_kernel]
pub fn carry_pairs<F: Float>(
    x: &Array<Vec3<F>>,
    rows: &Array<u32>,
    cell: &Array<u32>,
    at: &Array<Vec3<F>>,
    y: &mut Array<Vec3<F>>,
) {
    let g = ABSOLUTE_POS;
    let c = 9 * cell[2 * g] as usize;
    // Rows as in `gradients`.
    let mut first = [Mat3::zero(); 3];
    let mut second = [Mat3::zero(); 3];
    let mut third = [Mat3::zero(); 3];
    #[unroll]
    for b in 0..3 {
        let i = rows[c + b] as usize;
        let j = rows[c + 3 + b] as usize;
        let k = rows[c + 6 + b] as usize;
        first[b] = Mat3::from_cols(x[i], x[i + 1], x[i + 2]);
        second[b] = Mat3::from_cols(x[j], x[j + 1], x[j + 2]);
        third[b] = Mat3::from_cols(x[k], x[k + 1], x[k + 2]);
    }
    for p in 0..2 {
        let s = at[2 * g + p];
        let wx: Vec3<F> = spline_values(s.x);
        let wy: Vec3<F> = spline_values(s.y);
        let wz: Vec3<F> = spline_values(s.z);
        let mut sum = Vec3::zero();
        #[unroll]
        for b in 0..3 {
            sum = sum + (first[b] * wz * wx.x + second[b] * wz * wx.y + third[b] * wz * wx.z) * wy[b];
        }
        y[2 * g + p] = sum;
    }
}

/// Notes which points may be pressed: those up to `reach` \[m\] from what is at a distance `gap.w` \[m\] from their middles, the surface of which is `radius` \[m\] away, beside those `noted`
/// before.
#[diff_kernel]
pub fn note_near<F: Float>(
    gap: &Array<Vec4<F>>,
    radius: &Array<F>,
    noted: &Array<u32>,
    near: &mut Array<u32>,
    reach: F,
) {
    let i = ABSOLUTE_POS;
    let mut own = noted[i];
    if gap[i].w - radius[i] <= reach {
        own = 1u32;
    }
    near[i] = own;
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

/// The same on points that are carried in pairs, as in `carry_pairs`, of which those that are not `near` are pressed by nothing.
#[diff_kernel]
pub fn forces_of_pairs<F: Float>(
    near: &Array<u32>,
    traction: &Array<Vec3<F>>,
    area: &Array<F>,
    rows: &Array<u32>,
    cell: &Array<u32>,
    at: &Array<Vec3<F>>,
    force: &mut Array<Vec3<F>>,
) {
    let g = ABSOLUTE_POS;
    if near[2 * g] + near[2 * g + 1] > 0 {
        let c = 9 * cell[2 * g] as usize;
        let mut first = [Mat3::zero(); 3];
        let mut second = [Mat3::zero(); 3];
        let mut third = [Mat3::zero(); 3];
        for p in 0..2 {
            let s = at[2 * g + p];
            let wx: Vec3<F> = spline_values(s.x);
            let wy: Vec3<F> = spline_values(s.y);
            let wz: Vec3<F> = spline_values(s.z);
            let whole = traction[2 * g + p] * area[2 * g + p];
            #[unroll]
            for b in 0..3 {
                let row = (whole * wy[b]).outer(wz);
                first[b] = first[b] + row * wx.x;
                second[b] = second[b] + row * wx.y;
                third[b] = third[b] + row * wx.z;
            }
        }
        #[unroll]
        for b in 0..3 {
            let i = rows[c + b] as usize;
            let j = rows[c + 3 + b] as usize;
            let k = rows[c + 6 + b] as usize;
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
}
