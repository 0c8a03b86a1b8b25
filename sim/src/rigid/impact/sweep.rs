//! Impulses of an impact: projected Gauss-Seidel over the points of a body that touch, in the order of their indices.
//!
//! By Poisson's hypothesis: compression ends when nothing approaches, restitution gives the normal impulses of compression again, times
//! the coefficient. Friction obeys Coulomb's law by its whole impulse in each of both. So an impact does not create energy, which
//! Newton's hypothesis with friction may.

use super::spot::{Mobility, Spot};
use diffkern::prelude::*;

/// Velocity \[m/s\] and angular momentum \[kg m^2/s\] of a body.
#[diff_struct]
pub struct Motion<F> {
    /// Of the centre of mass.
    pub v: Vec3<F>,
    /// About the centre of mass.
    pub l: Vec3<F>,
}

/// How points and planes are arranged.
#[diff_struct]
pub struct Rows {
    /// Planes for each point.
    pub walls: u32,
    /// Most points of a body, times the planes: GPUs need to know how long loops may be.
    pub most: u32,
}

/// The motions of bodies.
#[diff_kernel]
pub fn pack_motions<F: Float>(v: &Array<Vec3<F>>, l: &Array<Vec3<F>>, motions: &mut Array<Motion<F>>) {
    motions[ABSOLUTE_POS] = Motion { v: v[ABSOLUTE_POS], l: l[ABSOLUTE_POS] };
}

/// The reverse.
#[diff_kernel]
pub fn unpack_motions<F: Float>(motions: &Array<Motion<F>>, v: &mut Array<Vec3<F>>, l: &mut Array<Vec3<F>>) {
    v[ABSOLUTE_POS] = motions[ABSOLUTE_POS].v;
    l[ABSOLUTE_POS] = motions[ABSOLUTE_POS].l;
}

/// Velocity of the point at `arm` \[m/s\].
#[diff_fn]
pub fn point_velocity<F: Float>(motion: Motion<F>, mobility: Mobility<F>, arm: Vec3<F>) -> Vec3<F> {
    motion.v + (mobility.angular * motion.l).cross(arm)
}

/// The motion after an impulse `j` \[N s\] at `arm`.
#[diff_fn]
pub fn pushed<F: Float>(motion: Motion<F>, mobility: Mobility<F>, arm: Vec3<F>, j: Vec3<F>) -> Motion<F> {
    Motion { v: motion.v + j * mobility.linear, l: motion.l + arm.cross(j) }
}

/// `j` along the plane made no longer than `limit`: one-sided where it is as long.
#[diff_fn]
pub fn within<F: Float>(j: Vec3<F>, limit: F) -> Vec3<F> {
    let square = j.dot(j);
    let mut result = j;
    if square > limit * limit {
        result = j * (limit / square.sqrt());
    }
    result
}

/// The whole impulse of a point by which it neither approaches nor slides, or slides at the limit of friction: from `old` to the new one
/// given its velocity `u`.
#[diff_fn]
pub fn compressed<F: Float>(spot: Spot<F>, old: Vec3<F>, u: Vec3<F>) -> Vec3<F> {
    let n = spot.normal;
    // What would stop it altogether.
    let stop = old - spot.mass * u;
    let push = n.dot(stop);
    let grip = stop - n * push;
    let mut result = stop;
    if push < 0.0 || grip.dot(grip) > spot.friction * push * spot.friction * push {
        let normal = (n.dot(old) - n.dot(u) / spot.across).max(0.0);
        let slide = u - n * n.dot(u);
        let held = old - n * n.dot(old);
        let along: Vec3<F> = within(held - slide * spot.along, spot.friction * normal);
        result = n * normal + along;
    }
    result
}

/// The same with a given impulse `normal` across the plane.
#[diff_fn]
pub fn restituted<F: Float>(spot: Spot<F>, normal: F, old: Vec3<F>, u: Vec3<F>) -> Vec3<F> {
    let n = spot.normal;
    let slide = u - n * n.dot(u);
    let held = old - n * n.dot(old);
    // The inverse of K restricted to the plane, by the complement of the effective mass.
    let a = spot.mass * n;
    let stop = held - (spot.mass * slide - a * (a.dot(slide) / n.dot(a)));
    let limit = spot.friction * normal;
    let mut along = stop;
    if stop.dot(stop) > limit * limit {
        let relaxed: Vec3<F> = within(held - slide * spot.along, limit);
        along = relaxed;
    }
    n * normal + along
}

/// A sweep of compression: from the impulses `old` of all points to the new ones.
#[diff_kernel(injective)]
pub fn compress<F: Float>(
    motions: &Array<Motion<F>>,
    mobility: &Array<Mobility<F>>,
    spots: &Array<Spot<F>>,
    active: &Array<u32>,
    first: &Array<u32>,
    old: &Array<Vec3<F>>,
    swept: &mut Array<Motion<F>>,
    new: &mut Array<Vec3<F>>,
    rows: Rows,
) {
    let b = ABSOLUTE_POS;
    let body = mobility[b];
    let mut motion = motions[b];
    for j in 0..((first[b + 1] - first[b]) * rows.walls).min(rows.most) {
        let k = first[b] * rows.walls + j;
        let mut impulse = Vec3::zero();
        if active[k] == 1 {
            let spot = spots[k];
            let u: Vec3<F> = point_velocity(motion, body, spot.arm);
            let found: Vec3<F> = compressed(spot, old[k], u);
            impulse = found;
            let next: Motion<F> = pushed(motion, body, spot.arm, found - old[k]);
            motion = next;
        }
        new[k] = impulse;
    }
    swept[b] = motion;
}

/// A sweep of restitution, after compression has given the impulses `base`.
#[diff_kernel(injective)]
pub fn restitute<F: Float>(
    motions: &Array<Motion<F>>,
    mobility: &Array<Mobility<F>>,
    spots: &Array<Spot<F>>,
    active: &Array<u32>,
    first: &Array<u32>,
    base: &Array<Vec3<F>>,
    old: &Array<Vec3<F>>,
    swept: &mut Array<Motion<F>>,
    new: &mut Array<Vec3<F>>,
    rows: Rows,
) {
    let b = ABSOLUTE_POS;
    let body = mobility[b];
    let mut motion = motions[b];
    for j in 0..((first[b + 1] - first[b]) * rows.walls).min(rows.most) {
        let k = first[b] * rows.walls + j;
        let mut impulse = Vec3::zero();
        if active[k] == 1 {
            let spot = spots[k];
            let normal = spot.normal.dot(base[k]) * (1.0 + spot.restitution);
            let missing = spot.normal * (normal - spot.normal.dot(old[k]));
            let given: Motion<F> = pushed(motion, body, spot.arm, missing);
            let u: Vec3<F> = point_velocity(given, body, spot.arm);
            let found: Vec3<F> = restituted(spot, normal, old[k] + missing, u);
            impulse = found;
            let next: Motion<F> = pushed(given, body, spot.arm, found - old[k] - missing);
            motion = next;
        }
        new[k] = impulse;
    }
    swept[b] = motion;
}
