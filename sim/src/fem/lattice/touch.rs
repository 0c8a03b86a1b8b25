//! Places of contact of some bodies against the surface of another, by the lattice of which a place of the world is carried back to where its matter was at rest.
//!
//! The energy of a contact is the law's of the distance `d(u)` that the matter at the place had from the surface at rest, `x(u) = p`. So its force on the place is
//! `-E' J^-T grad d`, `J = dx/du`, and on the matter there the opposite: by the weights of the control points at `u`, from `dx(u) = J du + sum N_a dx_a`. Momentum and
//! angular momentum stay what they are to rounding, energy to the error of the steps.

use super::stencil::{spline_slopes, spline_values};
use diffkern::prelude::*;

/// The body whose surface is touched.
#[diff_struct]
pub struct Touched<F> {
    /// Its number.
    pub body: u32,
    /// First of its cells among those of all bodies.
    pub first_cell: u32,
    /// First of its own places of contact, and the one after the last: these do not touch it.
    pub first: u32,
    /// See `first`.
    pub end: u32,
    /// Cells of the box about it.
    pub nx: u32,
    /// See `nx`.
    pub ny: u32,
    /// See `nx`.
    pub nz: u32,
    /// Samples of distances along the edge of a cell.
    pub finer: u32,
    /// Mean place of its control points in the box.
    pub centre: Vec3<F>,
    /// Longest edge of its cells at rest \[m\].
    pub edge: F,
    /// Distance from its surface from which on nothing touches it \[m\].
    pub reach: F,
}

/// The linear map of places at rest in cells that is nearest to the positions of the control points of each body, by columns, and their mean: four vectors for each; without derivative, as
/// it is where a search begins. `weight_a = (w_a, 1 / number of control points)`.
#[diff_kernel]
pub fn mean_map<F: Float>(x: &Array<Vec3<F>>, owner: &Array<u32>, weight: &Array<Vec4<F>>, map: &mut Array<Vec3<F>>) {
    let a = ABSOLUTE_POS;
    let w = weight[a];
    let at = detach(x[a]);
    let first = 4 * owner[a] as usize;
    map[first] += at * w.x;
    map[first + 1] += at * w.y;
    map[first + 2] += at * w.z;
    map[first + 3] += at * w.w;
}

/// `x(u)` at the place `s` in a cell, and its derivatives along the three axes.
#[diff_fn]
pub(super) fn placed<F: Float>(
    x: &Array<Vec3<F>>,
    rows: &Array<u32>,
    cell: usize,
    s: Vec3<F>,
) -> (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) {
    let wx: Vec3<F> = spline_values(s.x);
    let wy: Vec3<F> = spline_values(s.y);
    let wz: Vec3<F> = spline_values(s.z);
    let dx: Vec3<F> = spline_slopes(s.x);
    let dy: Vec3<F> = spline_slopes(s.y);
    let dz: Vec3<F> = spline_slopes(s.z);
    let middle = x[(rows[9 * cell + 4] + 1) as usize];
    let mut at = Vec3::zero();
    let mut along_x = Vec3::zero();
    let mut along_y = Vec3::zero();
    let mut along_z = Vec3::zero();
    #[unroll]
    for a in 0..3 {
        #[unroll]
        for b in 0..3 {
            let row = rows[9 * cell + 3 * a + b] as usize;
            let low = x[row] - middle;
            let mid = x[row + 1] - middle;
            let high = x[row + 2] - middle;
            let across = low * wz.x + mid * wz.y + high * wz.z;
            let slope = low * dz.x + mid * dz.y + high * dz.z;
            at = at + across * (wx[a] * wy[b]);
            along_x = along_x + across * (dx[a] * wy[b]);
            along_y = along_y + across * (wx[a] * dy[b]);
            along_z = along_z + slope * (wx[a] * wy[b]);
        }
    }
    (at + middle, along_x, along_y, along_z)
}

/// A step of Newton's method from `s` towards the place in a cell that is at `p`.
#[diff_fn]
fn newton<F: Float>(x: &Array<Vec3<F>>, rows: &Array<u32>, cell: usize, s: Vec3<F>, p: Vec3<F>) -> Vec3<F> {
    let (q, dx, dy, dz): (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) = placed(x, rows, cell, s);
    s + Mat3::from_cols(dx, dy, dz).inverse() * (p - q)
}

/// The cell of the body by which a place in its box is deformed.
#[diff_fn]
fn cell_at<F: Float>(near: &Array<u32>, u: Vec3<F>, to: Touched<F>) -> u32 {
    let i = u32::cast_from(u.x).min(to.nx - 1);
    let j = u32::cast_from(u.y).min(to.ny - 1);
    let k = u32::cast_from(u.z).min(to.nz - 1);
    near[((i * to.ny + j) * to.nz + k) as usize]
}

/// The cell that carries matter to each place of the world, by Newton's method from the linear map, or `u32::MAX` where it is not near enough to the surface to touch it, and where in the
/// cell that matter is. A place is given up as soon as a step says that it is farther away than twice the step, or leads out of the box where it began, on whose side the search would stay. Without derivative: two more steps, by `approach`, make the place depend on `x` and `p` as the solution does, one for the first derivatives
/// and one more for the second.
#[diff_kernel]
pub fn locate<F: Float>(
    x: &Array<Vec3<F>>,
    rows: &Array<u32>,
    place: &Array<Vec3<F>>,
    map: &Array<Vec3<F>>,
    near: &Array<u32>,
    corners: &Array<Vec3<F>>,
    distance: &Array<F>,
    cell: &mut Array<u32>,
    at: &mut Array<Vec3<F>>,
    to: Touched<F>,
) {
    let i = ABSOLUTE_POS;
    let mut found = u32::MAX;
    let mut at_rest = Vec3::zero();
    if i < to.first as usize || i >= to.end as usize {
        let p = detach(place[i]);
        let n = Vec3::new(F::cast_from(to.nx), F::cast_from(to.ny), F::cast_from(to.nz));
        let body = 4 * to.body as usize;
        let linear = Mat3::from_cols(map[body], map[body + 1], map[body + 2]);
        let begin = linear.inverse() * (p - map[body + 3]) + to.centre;
        // What is far from the body as the linear map has it is not near it at all.
        let low = begin + n * 0.25;
        let high = n * 1.25 - begin;
        if low.x.min(low.y).min(low.z) > 0.0 && high.x.min(high.y).min(high.z) > 0.0 {
            let mut u = begin;
            let mut left = F::new(1.0);
            let mut looked = 0u32;
            let mut away = 0u32;
            let mut k = 0u32;
            #[bound(16)]
            while k < 16 && left > 1e-12 && away == 0 {
                let before = Vec3::new(u.x.max(0.0).min(n.x), u.y.max(0.0).min(n.y), u.z.max(0.0).min(n.z));
                let here: u32 = cell_at(near, before, to);
                let c = (here + to.first_cell) as usize;
                let s = before - corners[c];
                let next: Vec3<F> = newton(x, rows, c, s, p);
                let step = next - s;
                left = step.dot(step);
                // No farther than a cell.
                u = before + step * (1.0 / left.sqrt().max(1.0));
                k += 1;
                let inside = Vec3::new(u.x.max(0.0).min(n.x), u.y.max(0.0).min(n.y), u.z.max(0.0).min(n.z));
                let moved = inside - before;
                if left > 1e-2 && moved.dot(moved) < 1e-4 {
                    away = 1u32;
                }
                // Distances are known up to a cell.
                if looked == 0 && left < 0.1 {
                    looked = 1u32;
                    let finer = F::cast_from(to.finer);
                    let d: Vec4<F> =
                        sampled(distance, inside * finer, to.nx * to.finer, to.ny * to.finer, to.nz * to.finer);
                    if d.w > to.reach + 2.0 * left.sqrt() * to.edge {
                        away = 1u32;
                    }
                }
            }
            let inside = n - u;
            if away == 0 && left < 1e-6 && u.x.min(u.y).min(u.z) >= 0.0 && inside.x.min(inside.y).min(inside.z) >= 0.0 {
                let here: u32 = cell_at(near, u, to);
                found = here + to.first_cell;
                at_rest = u - corners[found as usize];
            }
        }
    }
    cell[i] = found;
    at[i] = detach(at_rest);
}

/// A quadratic spline in a box of `n` cells, with `n + 2` coefficients along each axis, in units of a cell from its lowest corner: slope, value.
#[diff_fn]
fn sampled<F: Float>(values: &Array<F>, u: Vec3<F>, nx: u32, ny: u32, nz: u32) -> Vec4<F> {
    let i = u32::cast_from(u.x).min(nx - 1);
    let j = u32::cast_from(u.y).min(ny - 1);
    let k = u32::cast_from(u.z).min(nz - 1);
    let s = u - Vec3::new(F::cast_from(i), F::cast_from(j), F::cast_from(k));
    let wx: Vec3<F> = spline_values(s.x);
    let wy: Vec3<F> = spline_values(s.y);
    let wz: Vec3<F> = spline_values(s.z);
    let dx: Vec3<F> = spline_slopes(s.x);
    let dy: Vec3<F> = spline_slopes(s.y);
    let dz: Vec3<F> = spline_slopes(s.z);
    let mut sum = Vec4::zero();
    #[unroll]
    for a in 0..3 {
        #[unroll]
        for b in 0..3 {
            let first = (((i + a as u32) * (ny + 2) + j + b as u32) * (nz + 2) + k) as usize;
            let row = Vec3::new(values[first], values[first + 1], values[first + 2]);
            let across = row.dot(wz);
            let weight = wx[a] * wy[b];
            sum =
                sum + Vec4::new(across * dx[a] * wy[b], across * wx[a] * dy[b], row.dot(dz) * weight, across * weight);
        }
    }
    sum
}

/// A step of Newton's method, from where places that are near the body were taken to be in their cells.
#[diff_kernel]
pub fn approach<F: Float>(
    x: &Array<Vec3<F>>,
    rows: &Array<u32>,
    place: &Array<Vec3<F>>,
    cell: &Array<u32>,
    from: &Array<Vec3<F>>,
    next: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let found = cell[i];
    let mut s = from[i];
    if found != u32::MAX {
        let nearer: Vec3<F> = newton(x, rows, found as usize, s, place[i]);
        s = nearer;
    }
    next[i] = s;
}

/// Of each place that is near the body, at `foot` in its cell, `slope = (J^-T grad d, d)`: the distance and its gradient in the world as the matter is deformed; of
/// others a distance that nothing touches.
#[diff_kernel]
pub fn reach<F: Float>(
    x: &Array<Vec3<F>>,
    rows: &Array<u32>,
    cell: &Array<u32>,
    foot: &Array<Vec3<F>>,
    corners: &Array<Vec3<F>>,
    distance: &Array<F>,
    slope: &mut Array<Vec4<F>>,
    to: Touched<F>,
) {
    let i = ABSOLUTE_POS;
    let found = cell[i];
    let zero = F::new(0.0);
    let mut result = Vec4::new(zero, zero, zero, F::new(1e9));
    if found != u32::MAX {
        let c = found as usize;
        let s = foot[i];
        let (_q, bx, by, bz): (Vec3<F>, Vec3<F>, Vec3<F>, Vec3<F>) = placed(x, rows, c, s);
        let finer = F::cast_from(to.finer);
        let fine = (s + corners[c]) * finer;
        let d: Vec4<F> = sampled(distance, fine, to.nx * to.finer, to.ny * to.finer, to.nz * to.finer);
        let gradient = Mat3::from_cols(bx, by, bz).inverse().transpose() * (Vec3::new(d.x, d.y, d.z) * finer);
        result = Vec4::new(gradient.x, gradient.y, gradient.z, d.w);
    }
    slope[i] = result;
}
