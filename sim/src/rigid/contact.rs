//! Contact of bodies with colliders by forces.

use super::geometry::Points;
use super::kernels::Wrench;
use super::state::State;
use crate::collision::{Pose, surface_velocity};
use crate::contact::{BoundObstacles, ContactModel, Facing, with_contact};
use crate::step::Tick;
use diffkern::prelude::*;

/// Where the points that touch are \[m\], packed from the centres of mass: vertices, or centres of mass.
#[diff_kernel]
pub fn place_points<F: Float>(
    x: &Array<Vec3<F>>,
    q: &Array<Quat<F>>,
    points: &Array<Vec4<F>>,
    owner: &Array<u32>,
    placed: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let b = owner[i] as usize;
    placed[i] = x[b] + q[b].rotate(Vec3::new(points[i].x, points[i].y, points[i].z));
}

/// Friction \[N\] on what slides with the velocity `slide`: `-min(grip s, limit) slide / s` with `s = sqrt(slide^2 + 1e-8 m^2/s^2)`, so that its
/// derivative at rest is finite. One-sided where it reaches the limit.
#[diff_fn]
pub fn limited_friction<F: Float>(slide: Vec3<F>, grip: F, limit: F) -> Vec3<F> {
    let s = (slide.dot(slide) + 1e-8).sqrt();
    slide * (-(grip * s).min(limit) / s)
}

/// The force \[N\] of a contact on what is at `at = (normal, gap)` of the surface of another and moves past it with `u` \[m/s\].
#[diff_fn]
pub fn contact_push<F: Float, L: ContactModel>(at: Vec4<F>, u: Vec3<F>, q: Vec4<F>, grip: F) -> Vec3<F> {
    let n = Vec3::new(at.x, at.y, at.z);
    let rate = u.dot(n);
    let push: F = L::force(at.w, rate, q);
    let friction: Vec3<F> = limited_friction(u - n * rate, grip, q.w * push);
    n * push + friction
}

/// Adds force and torque of a collider on the bodies whose points are at `placed`, their surface `radius` \[m\] away; `gap_i = (normal, gap)`.
/// Bodies are where `bodies` says about their centres of mass.
#[diff_kernel]
pub fn add_contact<F: Float, L: ContactModel>(
    placed: &Array<Vec3<F>>,
    owner: &Array<u32>,
    radius: &Array<F>,
    bodies: &Array<Pose<F>>,
    gap: &Array<Vec4<F>>,
    poses: &Array<Pose<F>>,
    laws: &Array<Vec4<F>>,
    grip: &Array<F>,
    wrench: &mut Array<Wrench<F>>,
    collider: u32,
) {
    let i = ABSOLUTE_POS;
    let at = gap[i];
    let n = Vec3::new(at.x, at.y, at.z);
    let surface = placed[i] - n * radius[i];
    let b = owner[i] as usize;
    let body = bodies[b];
    let arm = surface - body.centre;
    let own = body.velocity + body.spin.cross(arm);
    let other: Vec3<F> = surface_velocity(poses[collider], surface);
    let touch = Vec4::new(n.x, n.y, n.z, at.w - radius[i]);
    let force: Vec3<F> = contact_push::<F, L>(touch, own - other, laws[collider], grip[0]);
    wrench[b].force += force;
    wrench[b].torque += arm.cross(force);
}

/// The same of a half-space, of groups of at most eight neighbouring points of one body each, from the first of a group to that of the next. Most bodies touch planes, of which
/// the gap costs less than to read what a body does for each of its points.
#[diff_kernel]
pub fn add_plane_contact<F: Float, L: ContactModel>(
    points: &Array<Vec4<F>>,
    first: &Array<u32>,
    owner: &Array<u32>,
    bodies: &Array<Pose<F>>,
    poses: &Array<Pose<F>>,
    laws: &Array<Vec4<F>>,
    grip: &Array<F>,
    wrench: &mut Array<Wrench<F>>,
    collider: u32,
) {
    let g = ABSOLUTE_POS;
    let b = owner[g] as usize;
    let body = bodies[b];
    let plane = poses[collider];
    let n = plane.rotation.rotate(Vec3::new(0.0, 0.0, 1.0));
    let from = first[g];
    let mut force = Vec3::zero();
    let mut torque = Vec3::zero();
    for k in 0..(first[g + 1] - from).min(8) {
        let point = points[(from + k) as usize];
        let arm = body.rotation.rotate(Vec3::new(point.x, point.y, point.z)) - n * point.w;
        let surface = body.centre + arm;
        let touch = Vec4::new(n.x, n.y, n.z, n.dot(surface - plane.centre));
        let own = body.velocity + body.spin.cross(arm);
        let other: Vec3<F> = surface_velocity(plane, surface);
        let push: Vec3<F> = contact_push::<F, L>(touch, own - other, laws[collider], grip[0]);
        force += push;
        torque += arm.cross(push);
    }
    wrench[b].force += force;
    wrench[b].torque += torque;
}

/// Bodies as contacts see them.
pub(super) struct Touching<'a, F: Float> {
    pub(super) points: &'a Points<F>,
    /// The same as kernels take them.
    pub(super) packed: &'a Array<Vec4<F>>,
    pub(super) state: &'a State<F>,
}

impl<F: Float> Touching<'_, F> {
    /// Where the points are \[m\].
    pub(super) fn placed(&self) -> diffkern::Result<Array<Vec3<F>>> {
        let (n, State { x, q, .. }) = (self.packed.len(), self.state);
        let placed = x.device().uninit(n)?;
        place_points(n, x, q, self.packed, &self.points.owner, &placed)?;
        Ok(placed)
    }

    /// Adds what the colliders do to the bodies with these points, `placed`. Planes do not look where points are placed.
    pub(super) fn add_forces(
        &self,
        placed: &Array<Vec3<F>>,
        bodies: &Array<Pose<F>>,
        obstacles: &BoundObstacles<F>,
        grip: &Array<F>,
        wrench: &Array<Wrench<F>>,
        tick: Tick,
    ) -> diffkern::Result<()> {
        let Points { owner, radius, groups, .. } = self.points;
        obstacles.each_by_forces(tick, |facing| {
            let Facing { collider, contact, is_plane, poses, laws, .. } = facing;
            if is_plane {
                let (n, packed, first, owner) = (groups.owner.len(), self.packed, &groups.first, &groups.owner);
                with_contact!(contact, L => {
                    add_plane_contact::<F, L>(n, packed, first, owner, bodies, poses, laws, grip, wrench, collider)?;
                });
            } else {
                let (n, gap) = (placed.len(), &facing.gap(placed)?);
                with_contact!(contact, L => {
                    add_contact::<F, L>(n, placed, owner, radius, bodies, gap, poses, laws, grip, wrench, collider)?;
                });
            }
            Ok(())
        })
    }
}
