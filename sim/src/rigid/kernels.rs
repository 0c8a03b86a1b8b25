//! The motion of rigid bodies between their contacts.

use super::properties::MassProperties;
use crate::collision::Pose;
use diffkern::prelude::*;

/// Force and torque on a body.
#[diff_struct]
pub struct Wrench<F> {
    /// Force \[N\].
    pub force: Vec3<F>,
    /// Torque about the centre of mass, along the axes of the world \[N m\].
    pub torque: Vec3<F>,
}

/// Angular velocity \[rad/s\] of a body turned by `q` with angular momentum `l`: `R I^-1 R^T L`.
#[diff_fn]
pub fn angular_velocity<F: Float>(q: Quat<F>, l: Vec3<F>, inverse: Mat3<F>) -> Vec3<F> {
    q.rotate(inverse * q.conjugate().rotate(l))
}

/// States of bodies whose surfaces are at `poses` and move with them. Orientations are made of length 1, so that no gradient leads away from
/// rotations: it would not converge with the step.
#[diff_kernel]
pub fn start<F: Float>(
    poses: &Array<Pose<F>>,
    properties: &Array<MassProperties<F>>,
    x: &mut Array<Vec3<F>>,
    q: &mut Array<Quat<F>>,
    v: &mut Array<Vec3<F>>,
    l: &mut Array<Vec3<F>>,
) {
    let b = ABSOLUTE_POS;
    let pose = poses[b];
    let body = properties[b];
    let turn = pose.rotation.normalize();
    let centre = turn.rotate(body.centre);
    x[b] = pose.centre + centre;
    q[b] = turn;
    v[b] = pose.velocity + pose.spin.cross(centre);
    l[b] = turn.rotate(body.inertia * turn.conjugate().rotate(pose.spin));
}

/// States of bodies whose surfaces are at `poses` and whose centres of mass move as `motion` says, three numbers each for velocity \[m/s\] and
/// angular velocity \[rad/s\] of a body. Gravity has acted for a time `since` \[s\]. What a pose says of motion is not read.
#[diff_kernel]
pub fn launch<F: Float>(
    poses: &Array<Pose<F>>,
    motion: &Array<F>,
    properties: &Array<MassProperties<F>>,
    gravity: &Array<Vec3<F>>,
    x: &mut Array<Vec3<F>>,
    q: &mut Array<Quat<F>>,
    v: &mut Array<Vec3<F>>,
    l: &mut Array<Vec3<F>>,
    since: F,
) {
    let b = ABSOLUTE_POS;
    let k = 6 * b;
    let body = properties[b];
    let turn = poses[b].rotation.normalize();
    x[b] = poses[b].centre + turn.rotate(body.centre);
    q[b] = turn;
    v[b] = Vec3::new(motion[k], motion[k + 1], motion[k + 2]) + gravity[0] * since;
    let spin = Vec3::new(motion[k + 3], motion[k + 4], motion[k + 5]);
    l[b] = turn.rotate(body.inertia * turn.conjugate().rotate(spin));
}

/// Poses of bodies about their centres of mass.
#[diff_kernel]
pub fn motions<F: Float>(
    x: &Array<Vec3<F>>,
    q: &Array<Quat<F>>,
    v: &Array<Vec3<F>>,
    l: &Array<Vec3<F>>,
    inverse: &Array<Mat3<F>>,
    poses: &mut Array<Pose<F>>,
) {
    let b = ABSOLUTE_POS;
    let spin: Vec3<F> = angular_velocity(q[b], l[b], inverse[b]);
    poses[b] = Pose { centre: x[b], rotation: q[b], velocity: v[b], spin };
}

/// Where the vertices of the surfaces are \[m\].
#[diff_kernel]
pub fn place_vertices<F: Float>(
    x: &Array<Vec3<F>>,
    q: &Array<Quat<F>>,
    properties: &Array<MassProperties<F>>,
    vertices: &Array<Vec3<F>>,
    owner: &Array<u32>,
    placed: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let b = owner[i] as usize;
    placed[i] = x[b] + q[b].rotate(vertices[i] - properties[b].centre);
}

/// Adds forces that act for a share of the step at points of the bodies, given in the frames of their surfaces.
#[diff_kernel]
pub fn add_loads<F: Float>(
    q: &Array<Quat<F>>,
    properties: &Array<MassProperties<F>>,
    owner: &Array<u32>,
    point: &Array<Vec3<F>>,
    force: &Array<Vec3<F>>,
    share: &Array<F>,
    wrench: &mut Array<Wrench<F>>,
) {
    let k = ABSOLUTE_POS;
    let b = owner[k] as usize;
    let arm = q[b].rotate(point[k] - properties[b].centre);
    let push = force[k] * share[k];
    wrench[b].force += push;
    wrench[b].torque += arm.cross(push);
}

/// `v+ = v + h (f / m + g)`, `L+ = L + h tau`.
#[diff_kernel]
pub fn accelerate<F: Float>(
    v: &Array<Vec3<F>>,
    l: &Array<Vec3<F>>,
    wrench: &Array<Wrench<F>>,
    mass: &Array<F>,
    gravity: &Array<Vec3<F>>,
    v_next: &mut Array<Vec3<F>>,
    l_next: &mut Array<Vec3<F>>,
    h: F,
) {
    let b = ABSOLUTE_POS;
    v_next[b] = v[b] + (wrench[b].force / mass[b] + gravity[0]) * h;
    l_next[b] = l[b] + wrench[b].torque * h;
}

/// Angular velocity \[rad/s\] of the free motion after half of `h` \[s\], by which an explicit midpoint step on the rotation group
/// turns the body: exact momentum, second order.
#[diff_fn]
pub fn midpoint_spin<F: Float>(q: Quat<F>, l: Vec3<F>, inverse: Mat3<F>, h: F) -> Vec3<F> {
    let first: Vec3<F> = angular_velocity(q, l, inverse);
    let half = Quat::from_rotation_vector(first * (0.5 * h)) * q;
    let middle: Vec3<F> = angular_velocity(half, l, inverse);
    middle
}

/// `q+ = exp(h w_mid) q`, of length 1.
#[diff_kernel]
pub fn turn<F: Float>(
    q: &Array<Quat<F>>,
    l: &Array<Vec3<F>>,
    inverse: &Array<Mat3<F>>,
    q_next: &mut Array<Quat<F>>,
    h: F,
) {
    let b = ABSOLUTE_POS;
    let spin: Vec3<F> = midpoint_spin(q[b], l[b], inverse[b], h);
    let next = Quat::from_rotation_vector(spin * h) * q[b];
    q_next[b] = next.normalize();
}

/// The step of gradSim's engine, in the frame of the body: `w+ = w + h I^-1 (R^T tau - w x I w)`, `q+ = q exp(h w+ / 2)`. The angular
/// momentum is that of the new angular velocity in the new frame, and drifts.
///
/// Source: Jatavallabhula et al.: gradSim, 2021.
#[diff_kernel]
pub fn turn_in_body_frame<F: Float>(
    q: &Array<Quat<F>>,
    l: &Array<Vec3<F>>,
    wrench: &Array<Wrench<F>>,
    properties: &Array<MassProperties<F>>,
    q_next: &mut Array<Quat<F>>,
    l_next: &mut Array<Vec3<F>>,
    h: F,
) {
    let b = ABSOLUTE_POS;
    let old = q[b];
    let body = properties[b];
    let momentum = old.conjugate().rotate(l[b]);
    let w = body.inverse * momentum;
    let torque = old.conjugate().rotate(wrench[b].torque);
    let new = w + body.inverse * (torque - w.cross(momentum)) * h;
    let next = (old * Quat::from_rotation_vector(new * h)).normalize();
    q_next[b] = next;
    l_next[b] = next.rotate(body.inertia * new);
}
