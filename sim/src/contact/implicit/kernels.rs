//! Barriers and friction of a step, given the gaps at its beginning and at the positions that are looked at.

use crate::collision::Pose;
use crate::contact::{Barrier as SmoothBarrier, ContactModel, barrier_energy, barrier_stiffness};
use diffkern::prelude::*;

/// Where the points `x` would be if they moved along with a collider in a step of `h` \[s\] from its pose at the beginning to that at the end.
#[diff_kernel]
pub fn carried_along<F: Float>(
    x: &Array<Vec3<F>>,
    from: &Array<Pose<F>>,
    to: &Array<Pose<F>>,
    carried: &mut Array<Vec3<F>>,
    collider: u32,
    h: F,
) {
    let (from, to) = (from[collider], to[collider]);
    // By its spin, not by both rotations: so a collider at rest moves nothing, however far a quaternion is from a unit one.
    let turn = Quat::from_rotation_vector(to.spin * h);
    carried[ABSOLUTE_POS] = to.centre + turn.rotate(x[ABSOLUTE_POS] - from.centre);
}

/// Puts free vertices whose `share` of the way from `carried` is less than 1 there: a search begins with as much room as the step did. Without a gradient.
#[diff_kernel]
pub fn follow<F: Float>(carried: &Array<Vec3<F>>, share: &Array<F>, held: &Array<u32>, y: &mut Array<Vec3<F>>) {
    let i = ABSOLUTE_POS;
    if held[i] == 0 && share[i] < 1.0 {
        y[i] = detach(carried[i]);
    }
}

/// Which collider, and how friction on it begins.
#[diff_struct]
#[derive(Clone, Copy, Debug)]
pub struct Slide<F> {
    /// Number of the collider.
    pub collider: u32,
    /// Displacement from which on friction is Coulomb's \[m\].
    pub slip: F,
}

/// The normal of a gap, of unit length also where a pose has a quaternion that is not quite: friction is then still a derivative.
#[diff_fn]
pub fn unit_normal<F: Float>(at: Vec4<F>) -> Vec3<F> {
    Vec3::new(at.x, at.y, at.z).normalize()
}

/// What of the displacement `u` in a step is along a surface with this unit normal.
#[diff_fn]
pub fn along<F: Float>(u: Vec3<F>, n: Vec3<F>) -> Vec3<F> {
    u - n * u.dot(n)
}

/// `f1(u) / u` \[1/m\] of a displacement of the squared length `square`: `1 / u` from `slip` on, below `2 / slip - u / slip^2`.
#[diff_fn]
pub fn friction_slope<F: Float>(square: F, slip: F) -> F {
    let mut slope = 2.0 / slip;
    if square >= slip * slip {
        slope = 1.0 / square.sqrt();
    } else if square > 0.0 {
        slope = (2.0 - square.sqrt() / slip) / slip;
    }
    slope
}

/// The integral of `f1` \[m\] from 0 to that displacement.
#[diff_fn]
pub fn friction_path<F: Float>(square: F, slip: F) -> F {
    let mut path = F::new(0.0);
    if square >= slip * slip {
        path = square.sqrt() - slip / 3.0;
    } else if square > 0.0 {
        path = square / slip * (1.0 - square.sqrt() / (3.0 * slip));
    }
    path
}

/// Friction with the normal force at `before`, the gap at the beginning of the step, on what has `moved` so far against the collider: the unit normal
/// there, the displacement along the surface, and Coulomb's limit `mu N`; all zero where there is no force.
#[diff_fn]
pub fn lagged_friction<F: Float>(moved: Vec3<F>, before: Vec4<F>, q: Vec4<F>) -> (Vec3<F>, Vec3<F>, F) {
    let lagged: F = SmoothBarrier::force(before.w, F::new(0.0), q);
    let mut normal = Vec3::zero();
    let mut u = Vec3::zero();
    let mut limit = F::new(0.0);
    if lagged > 0.0 {
        let n: Vec3<F> = unit_normal(before);
        let slid: Vec3<F> = along(moved, n);
        normal = n;
        u = slid;
        limit = q.w * lagged;
    }
    (normal, u, limit)
}

/// Adds the forces of a barrier on free vertices at `y`, where the gaps are `gap`, and of Coulomb friction with the normal force at `before`, the gaps at the
/// beginning of the step, on their displacement from where the collider would have `carried` them: `-mu N f1(|u|) u / |u|`.
#[diff_kernel]
pub fn barrier_forces<F: Float>(
    y: &Array<Vec3<F>>,
    carried: &Array<Vec3<F>>,
    gap: &Array<Vec4<F>>,
    before: &Array<Vec4<F>>,
    laws: &Array<Vec4<F>>,
    held: &Array<u32>,
    force: &mut Array<Vec3<F>>,
    slide: Slide<F>,
) {
    let i = ABSOLUTE_POS;
    if held[i] == 0 {
        let q = laws[slide.collider];
        let at = gap[i];
        let normal_force: F = SmoothBarrier::force(at.w, F::new(0.0), q);
        let (_normal, u, limit): (Vec3<F>, Vec3<F>, F) = lagged_friction(y[i] - carried[i], before[i], q);
        let slope: F = friction_slope(u.dot(u), slide.slip);
        force[i] += Vec3::new(at.x, at.y, at.z) * normal_force - u * (limit * slope);
    }
}

/// Adds the energies \[J\] of which these forces are the negative derivatives by `y`.
#[diff_kernel]
pub fn barrier_energies<F: Float>(
    y: &Array<Vec3<F>>,
    carried: &Array<Vec3<F>>,
    gap: &Array<Vec4<F>>,
    before: &Array<Vec4<F>>,
    laws: &Array<Vec4<F>>,
    held: &Array<u32>,
    energy: &mut Array<F>,
    slide: Slide<F>,
) {
    let i = ABSOLUTE_POS;
    if held[i] == 0 {
        let q = laws[slide.collider];
        let stored: F = barrier_energy(gap[i].w, q);
        let (_normal, u, limit): (Vec3<F>, Vec3<F>, F) = lagged_friction(y[i] - carried[i], before[i], q);
        let path: F = friction_path(u.dot(u), slide.slip);
        energy[i] += stored + limit * path;
    }
}

/// Adds their second derivatives \[N/m\] by the position of each vertex, without what the curvature of the collider adds: positive
/// semidefinite. Without a gradient.
#[diff_kernel]
pub fn barrier_blocks<F: Float>(
    y: &Array<Vec3<F>>,
    carried: &Array<Vec3<F>>,
    gap: &Array<Vec4<F>>,
    before: &Array<Vec4<F>>,
    laws: &Array<Vec4<F>>,
    held: &Array<u32>,
    blocks: &mut Array<Mat3<F>>,
    slide: Slide<F>,
) {
    let i = ABSOLUTE_POS;
    if held[i] == 0 {
        let q = detach(laws[slide.collider]);
        let (at, was) = (detach(gap[i]), detach(before[i]));
        let n = Vec3::new(at.x, at.y, at.z);
        let stiffness: F = barrier_stiffness(at.w, q);
        let mut block = n.outer(n) * stiffness;
        let (normal, u, limit): (Vec3<F>, Vec3<F>, F) = lagged_friction(detach(y[i] - carried[i]), was, q);
        if limit > 0.0 {
            let square = u.dot(u);
            let slope: F = friction_slope(square, slide.slip);
            // Along the displacement f1' stands for f1 / u.
            let mut decrease = F::new(0.0);
            if square >= slide.slip * slide.slip {
                decrease = slope / square;
            } else if square > 0.0 {
                decrease = 1.0 / (slide.slip * slide.slip * square.sqrt());
            }
            let friction = (Mat3::identity() - normal.outer(normal)) * slope - u.outer(u) * decrease;
            block = block + friction * limit;
        }
        blocks[i] += block;
    }
}

/// How distances to a collider change along a way.
#[diff_struct]
#[derive(Clone, Copy, Debug)]
pub struct Steepness<F> {
    /// Metres per metre, at most.
    pub most: F,
    /// 1 where the distance is a convex function: then never by less than along the normal.
    pub convex: u32,
}

/// A round of conservative advancement: the share of its way `d` from `y` that each free vertex may go, as far as the gap `gap` where it is now
/// allows, and where that is. Of the gap `first` at `y` a tenth is left. Without a gradient.
#[diff_kernel]
pub fn advance<F: Float>(
    y: &Array<Vec3<F>>,
    d: &Array<Vec3<F>>,
    first: &Array<Vec4<F>>,
    gap: &Array<Vec4<F>>,
    held: &Array<u32>,
    share: &mut Array<F>,
    ahead: &mut Array<Vec3<F>>,
    steep: Steepness<F>,
) {
    let i = ABSOLUTE_POS;
    let way = detach(d[i]);
    let at = detach(gap[i]);
    let room = at.w - detach(first[i].w) * 0.1;
    let mut nearing = way.norm() * steep.most;
    if steep.convex == 1 {
        nearing = nearing.min(-way.dot(Vec3::new(at.x, at.y, at.z)));
    }
    let mut further = F::new(1.0);
    if nearing > 0.0 {
        further = (room / nearing).max(0.0);
    }
    let mut total = F::new(1.0);
    if held[i] == 0 {
        total = (detach(share[i]) + further).min(1.0);
    }
    share[i] = detach(total);
    ahead[i] = detach(y[i]) + way * detach(total);
}

/// Minus the length of each vector. Without a gradient.
#[diff_kernel]
pub fn negative_lengths<F: Float>(d: &Array<Vec3<F>>, lengths: &mut Array<F>) {
    lengths[ABSOLUTE_POS] = -detach(d[ABSOLUTE_POS]).norm();
}

/// The least of each `block` elements. Without a gradient.
#[diff_kernel]
pub fn least_of_blocks<F: Float>(x: &Array<F>, least: &mut Array<F>, block: usize) {
    let first = ABSOLUTE_POS * block;
    let end = (first + block).min(x.len());
    let mut smallest = detach(x[first]);
    for k in first..end {
        smallest = smallest.min(detach(x[k]));
    }
    least[ABSOLUTE_POS] = smallest;
}
