//! When bodies meet planes.

use super::plane::Wall;
use crate::collision::Pose;
use crate::rigid::kernels::midpoint_spin;
use diffkern::prelude::*;

/// How bodies move until the end of the step: straight on, turning with the angular velocity of the midpoint.
#[diff_kernel]
pub fn free_motions<F: Float>(
    x: &Array<Vec3<F>>,
    q: &Array<Quat<F>>,
    v: &Array<Vec3<F>>,
    l: &Array<Vec3<F>>,
    inverse: &Array<Mat3<F>>,
    left: &Array<F>,
    motions: &mut Array<Pose<F>>,
) {
    let b = ABSOLUTE_POS;
    let spin: Vec3<F> = midpoint_spin(q[b], l[b], inverse[b], left[b]);
    motions[b] = Pose { centre: x[b], rotation: q[b], velocity: v[b], spin };
}

/// Gap \[m\] and its rate \[m/s\] after a time `t` \[s\] of steady motion, of a point to the plane at `level` along `normal`.
#[diff_fn]
pub fn gap_after<F: Float>(body: Pose<F>, point: Vec4<F>, normal: Vec3<F>, level: F, t: F) -> Vec2<F> {
    let turned = Quat::from_rotation_vector(body.spin * t) * body.rotation;
    let arm = turned.rotate(Vec3::new(point.x, point.y, point.z));
    let gap = normal.dot(body.centre + body.velocity * t + arm) - level - point.w;
    let rate = normal.dot(body.velocity + body.spin.cross(arm));
    Vec2::new(gap, rate)
}

/// Up to which gap a point is at a plane \[m\].
#[diff_struct]
pub struct Near<F> {
    /// By the size of bodies \[m\].
    pub gap: F,
    /// By rounding: times the distances from the origin along the normal.
    pub rounding: F,
    /// Part of the speed of a body that a speed of approach may be off by rounding.
    pub speed: F,
    /// Most points of a body: GPUs need to know how long loops may be.
    pub points: u32,
}

/// The gap up to which points of a body at `centre` are at the plane \[m\].
#[diff_fn]
pub fn near_gap<F: Float>(near: Near<F>, centre: Vec3<F>, normal: Vec3<F>, offset: F) -> F {
    near.gap + near.rounding * (normal.dot(centre).abs() + offset.abs())
}

/// The time \[s\] at which the first point of each body meets a plane, if that is before the end of the step, and whether one does. Points
/// near the plane then land together: the time is that at which the mean of their gaps is zero.
///
/// It is found by Newton's method within a bracket, without derivatives. Two more steps of Newton's from there, with them, leave the
/// value and have the derivatives of the implicit function, the first one after one step, the second after two. A point that rounding has put
/// behind the plane meets it a little before the step. One that is deeper, and approaches, meets it at once, at the time
/// zero, which has no derivative.
#[diff_kernel]
pub fn find_impacts<F: Float>(
    motions: &Array<Pose<F>>,
    left: &Array<F>,
    points: &Array<Vec4<F>>,
    first: &Array<u32>,
    walls: &Array<Wall<F>>,
    time: &mut Array<F>,
    hit: &mut Array<u32>,
    near: Near<F>,
) {
    let b = ABSOLUTE_POS;
    let body = motions[b];
    let fixed = detach(body);
    let fixed_left = detach(left[b]);
    let mut best = fixed_left;
    let mut found = 0u32;
    let mut at_point = 0u32;
    let mut at_wall = 0u32;
    for j in 0..(first[b + 1] - first[b]).min(near.points) {
        let i = first[b] + j;
        let point = detach(points[i]);
        // What approaches no faster than rounding lets speeds be known does not meet anything: its time would be without meaning.
        let turning = fixed.spin.norm() * Vec3::new(point.x, point.y, point.z).norm();
        let slow = 1e-9 + near.speed * (fixed.velocity.norm() + turning);
        for w in 0..walls.len() {
            let normal = detach(walls[w].normal);
            let level = detach(walls[w].offset);
            let now: Vec2<F> = gap_after(fixed, point, normal, level, F::new(0.0));
            if now.x <= 0.0 {
                if now.y < -slow {
                    best = F::new(0.0);
                    let limit: F = near_gap(near, fixed.centre, normal, level);
                    if now.x < -limit || now.x < now.y * fixed_left {
                        found = 1;
                    }
                    if found != 1 {
                        found = 2;
                        at_point = i;
                        at_wall = w as u32;
                    }
                }
            } else {
                let end: Vec2<F> = gap_after(fixed, point, normal, level, best);
                if end.x < 0.0 && now.x - end.x > slow * best {
                    let mut low = F::new(0.0);
                    let mut high = best;
                    let mut t = best * now.x / (now.x - end.x);
                    for _ in 0..24 {
                        let at: Vec2<F> = gap_after(fixed, point, normal, level, t);
                        if at.x > 0.0 {
                            low = t;
                        } else {
                            high = t;
                        }
                        let newton = t - at.x / at.y;
                        t = select(newton >= low && newton <= high, newton, 0.5 * (low + high));
                    }
                    best = t;
                    found = 2;
                    at_point = i;
                    at_wall = w as u32;
                }
            }
        }
    }
    let mut when = detach(best);
    let mut result = F::new(0.0);
    if found == 2 {
        let wall = walls[at_wall];
        let limit: F = near_gap(near, fixed.centre, wall.normal, wall.offset);
        for _ in 0..2 {
            let mut gaps = F::new(0.0);
            let mut rates = F::new(0.0);
            for j in 0..(first[b + 1] - first[b]).min(near.points) {
                let i = first[b] + j;
                let at: Vec2<F> = gap_after(body, points[i], wall.normal, wall.offset, when);
                if i == at_point || (at.x.abs() <= limit && at.y < 0.0) {
                    gaps = gaps + at.x;
                    rates = rates + at.y;
                }
            }
            if rates < 0.0 {
                when = when - gaps / rates;
            }
        }
        result = when;
    }
    time[b] = result;
    hit[b] = found.min(1);
}

/// Bodies after their time of steady motion, and what is left of the step.
#[diff_kernel]
pub fn move_bodies<F: Float>(
    motions: &Array<Pose<F>>,
    time: &Array<F>,
    left: &Array<F>,
    x: &mut Array<Vec3<F>>,
    q: &mut Array<Quat<F>>,
    left_next: &mut Array<F>,
) {
    let b = ABSOLUTE_POS;
    let (body, t) = (motions[b], time[b]);
    x[b] = body.centre + body.velocity * t;
    let turned = Quat::from_rotation_vector(body.spin * t) * body.rotation;
    q[b] = turned.normalize();
    left_next[b] = left[b] - t;
}
