//! Mass: of cells, lumped at control points, and the correction by which waves have the right speed.
//!
//! The part of a body in a cell has the mass `m` and the second central moments `m S`. With the means `N_a` and `G_a` of a spline and of its
//! gradient over the part, `M_ab = sum m (N_a N_b + G_a . S G_b)` over cells is the mass matrix but for terms of fourth order: the mean of a square is
//! the square of the mean and a variance. Its row sums are the lumped masses `D_a = sum m N_a > 0`. Alone they are too inert, by `h^2 / 4` for each
//! axis in moments of inertia and `h^2 k^2 / 8` in frequencies of wave number `k`. Accelerations are those of the inverse
//!
//! `W = D^-1 (2 D - M) D^-1 = M^-1 + O(h^4)`,
//!
//! the first two terms of the series of `M^-1` about `D`: symmetric, positive, with the momentum of `M`, at the cost of one pass over cells. `k` further passes give
//! `k` further terms, `sum (1 - D^-1 M)^n D^-1` up to `n = k + 1`: what is left of an error falls by `1 - D^-1 M` each, some tenth for waves of seven cells.
//!
//! Source: Evans, Hiemstra, Hughes, Reali: Explicit higher-order accurate isogeometric collocation methods for structural dynamics, 2018,
//! where the same correction is the second pass of a predictor.

use super::stencil::{spline_slopes, spline_values};
use diffkern::prelude::*;

/// What stands for a tie of a control point that is held.
pub const HELD: u32 = u32::MAX;

/// Of each stress point `q = (V mu, V lambda, V eta, V)`, eight a cell; arrays of one element stand for all cells.
#[diff_kernel]
pub fn pack_points<F: Float>(
    mu: &Array<F>,
    lambda: &Array<F>,
    viscosity: &Array<F>,
    volume: &Array<F>,
    q: &mut Array<Vec4<F>>,
) {
    let i = ABSOLUTE_POS;
    let c = i / 8;
    let v = volume[i];
    let eta = viscosity[c.min(viscosity.len() - 1)];
    q[i] = Vec4::new(v * mu[c.min(mu.len() - 1)], v * lambda[c.min(lambda.len() - 1)], v * eta, v);
}

/// Of each stress point `(V G, 1 / T)` of the Maxwell branch; arrays of one element stand for all cells.
#[diff_kernel]
pub fn pack_branch<F: Float>(q: &Array<Vec4<F>>, modulus: &Array<F>, time: &Array<F>, branch: &mut Array<Vec2<F>>) {
    let i = ABSOLUTE_POS;
    let c = i / 8;
    branch[i] = Vec2::new(q[i].w * modulus[c.min(modulus.len() - 1)], 1.0 / time[c.min(time.len() - 1)]);
}

/// Mass of each cell, and its share at each of its control points; `shape_(27 c + k) = (mean of grad N_k, mean of N_k)` over the part in the cell.
#[diff_kernel]
pub fn lump_cells<F: Float>(
    density: &Array<F>,
    volume: &Array<F>,
    rows: &Array<u32>,
    shape: &Array<Vec4<F>>,
    mass: &mut Array<F>,
    lumped: &mut Array<F>,
) {
    let c = ABSOLUTE_POS;
    let m = density[c.min(density.len() - 1)] * volume[c];
    mass[c] = m;
    for k in 0..9 {
        let row = rows[9 * c + k] as usize;
        let at = 27 * c + 3 * k;
        lumped[row] += m * shape[at].w;
        lumped[row + 1] += m * shape[at + 1].w;
        lumped[row + 2] += m * shape[at + 2].w;
    }
}

/// Mass behind a unit of area of each point of the surface \[kg/m^2\], `depth` \[m\] of its cell: what friction may stop in a step; one element stands for all.
#[diff_kernel]
pub fn surface_mass<F: Float>(density: &Array<F>, cell: &Array<u32>, depth: &Array<F>, mass: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let c = cell[i] as usize;
    mass[i] = density[c.min(density.len() - 1)] * depth[i.min(depth.len() - 1)];
}

/// `b = D^-1 f` with the weight in `f`; tied control points `i` and `j` move against each other, by `(f_i - f_j) / (D_i + D_j)`, held ones
/// not at all.
#[diff_kernel]
pub fn lumped_acceleration<F: Float>(
    force: &Array<Vec3<F>>,
    lumped: &Array<F>,
    ties: &Array<u32>,
    gravity: &Array<Vec3<F>>,
    b: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let tie = ties[i];
    let mut result = Vec3::zero();
    if tie as usize == i {
        result = force[i] / lumped[i] + gravity[0];
    } else {
        if tie != u32::MAX {
            let j = tie as usize;
            let f = force[i] - force[j] + gravity[0] * (lumped[i] - lumped[j]);
            result = f / (lumped[i] + lumped[j]);
        }
    }
    b[i] = result;
}

/// Adds `M b`; `shape` as in `lump_cells`, its gradients and `second`, the moments `S`, in cells.
#[diff_kernel]
pub fn inertia<F: Float>(
    b: &Array<Vec3<F>>,
    rows: &Array<u32>,
    shape: &Array<Vec4<F>>,
    second: &Array<Mat3<F>>,
    mass: &Array<F>,
    sum: &mut Array<Vec3<F>>,
) {
    let c = ABSOLUTE_POS;
    let mut mean = Vec3::zero();
    let mut gx = Vec3::zero();
    let mut gy = Vec3::zero();
    let mut gz = Vec3::zero();
    for k in 0..27 {
        let value = b[rows[9 * c + k / 3] as usize + k % 3];
        let weight = shape[27 * c + k];
        mean = mean + value * weight.w;
        gx = gx + value * weight.x;
        gy = gy + value * weight.y;
        gz = gz + value * weight.z;
    }
    let m = mass[c];
    let whole = mean * m;
    let moments = Mat3::from_cols(gx, gy, gz) * second[c] * m;
    for k in 0..27 {
        let weight = shape[27 * c + k];
        let slope = moments * Vec3::new(weight.x, weight.y, weight.z);
        sum[rows[9 * c + k / 3] as usize + k % 3] += whole * weight.w + slope;
    }
}

/// The mean of the splines at two places along an axis, and of their slopes.
#[diff_fn]
fn mean_splines<F: Float>(low: F, high: F) -> (Vec3<F>, Vec3<F>) {
    let a: Vec3<F> = spline_values(low);
    let b: Vec3<F> = spline_values(high);
    let c: Vec3<F> = spline_slopes(low);
    let d: Vec3<F> = spline_slopes(high);
    ((a + b) * 0.5, (c + d) * 0.5)
}

/// What `inertia` adds, of cells whose stress points stand at the corners of boxes, the lowest and the highest of `corners`, and weigh alike: there means of splines are
/// products of those along the axes.
#[diff_kernel]
pub fn box_inertia<F: Float>(
    b: &Array<Vec3<F>>,
    rows: &Array<u32>,
    corners: &Array<Vec3<F>>,
    second: &Array<Mat3<F>>,
    mass: &Array<F>,
    sum: &mut Array<Vec3<F>>,
) {
    let c = ABSOLUTE_POS;
    let low = corners[2 * c];
    let high = corners[2 * c + 1];
    let (mx, dx): (Vec3<F>, Vec3<F>) = mean_splines(low.x, high.x);
    let (my, dy): (Vec3<F>, Vec3<F>) = mean_splines(low.y, high.y);
    let (mz, dz): (Vec3<F>, Vec3<F>) = mean_splines(low.z, high.z);
    let mut mean = Vec3::zero();
    let mut gx = Vec3::zero();
    let mut gy = Vec3::zero();
    let mut gz = Vec3::zero();
    #[unroll]
    for i in 0..3 {
        let mut value = Vec3::zero();
        let mut along_y = Vec3::zero();
        let mut along_z = Vec3::zero();
        #[unroll]
        for j in 0..3 {
            let row = rows[9 * c + 3 * i + j] as usize;
            let across = b[row] * mz.x + b[row + 1] * mz.y + b[row + 2] * mz.z;
            let slope = b[row] * dz.x + b[row + 1] * dz.y + b[row + 2] * dz.z;
            value = value + across * my[j];
            along_y = along_y + across * dy[j];
            along_z = along_z + slope * my[j];
        }
        mean = mean + value * mx[i];
        gx = gx + value * dx[i];
        gy = gy + along_y * mx[i];
        gz = gz + along_z * mx[i];
    }
    let m = mass[c];
    let whole = mean * m;
    let moments = Mat3::from_cols(gx, gy, gz) * second[c] * m;
    #[unroll]
    for i in 0..3 {
        let value = whole * mx[i] + moments.col(0) * dx[i];
        let along_y = moments.col(1) * mx[i];
        let along_z = moments.col(2) * mx[i];
        #[unroll]
        for j in 0..3 {
            let row = rows[9 * c + 3 * i + j] as usize;
            let across = value * my[j] + along_y * dy[j];
            let slope = along_z * my[j];
            sum[row] += across * mz.x + slope * dz.x;
            sum[row + 1] += across * mz.y + slope * dz.y;
            sum[row + 2] += across * mz.z + slope * dz.z;
        }
    }
}

/// The next term of the series: `c = a + b - D^-1 M b` with `a = D^-1 f` and `sum = M b`; tied and held control points as in `lumped_acceleration`.
#[diff_kernel]
pub fn next_term<F: Float>(
    a: &Array<Vec3<F>>,
    b: &Array<Vec3<F>>,
    sum: &Array<Vec3<F>>,
    lumped: &Array<F>,
    ties: &Array<u32>,
    c: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let tie = ties[i];
    let mut result = Vec3::zero();
    if tie != u32::MAX {
        let j = tie as usize;
        let mut counted = sum[i] / lumped[i];
        if j != i {
            counted = (sum[i] - sum[j]) / (lumped[i] + lumped[j]);
        }
        result = a[i] + b[i] - counted;
    }
    c[i] = result;
}

/// `v+ = e (e v + dt a)`, `a = 2 b - D^-1 M b`, `e = 1 / (1 + y + y^2 / 2)`, `y = dt damping / 2`, one damping for all or one each: `exp(-y)` to
/// second order, taken off as a part, as a factor next to 1 that is the same in all steps adds up its rounding. Clamps move with the acceleration `drive`, one
/// element, to which `b` is relative: held control points have it alone, tied ones on the mean.
#[diff_kernel]
pub fn kick<F: Float>(
    v: &Array<Vec3<F>>,
    b: &Array<Vec3<F>>,
    sum: &Array<Vec3<F>>,
    lumped: &Array<F>,
    ties: &Array<u32>,
    damping: &Array<F>,
    drive: &Array<Vec3<F>>,
    v_next: &mut Array<Vec3<F>>,
    dt: F,
) {
    let i = ABSOLUTE_POS;
    let tie = ties[i];
    let driven = drive[0] * dt;
    let mut new = v[i] + driven;
    if tie != u32::MAX {
        let j = tie as usize;
        let mut counted = sum[i] / lumped[i];
        let mut clamp = Vec3::zero();
        let mut free_drive = driven;
        if j != i {
            counted = (sum[i] - sum[j]) / (lumped[i] + lumped[j]);
            clamp = (v[i] + v[j]) * 0.5;
            free_drive = Vec3::zero();
        }
        new = v[i] - clamp;
        // Both of a tie lose the same part.
        let last = damping.len() - 1;
        let y = (damping[i.min(last)] + damping[j.min(last)]) * (0.25 * dt);
        let z = y + 0.5 * y * y;
        let lost = z / (1.0 + z);
        new = new - new * lost + (free_drive + (b[i] * 2.0 - counted) * dt);
        new = clamp + (driven - free_drive) + (new - new * lost);
    }
    v_next[i] = new;
}
