//! Contact of bodies with colliders by forces.

use super::geometry::Points;
use super::kernels::Wrench;
use super::properties::MassProperties;
use crate::collision::{Pose, surface_velocity};
use crate::contact::{BoundObstacles, ContactModel, Facing, with_contact};
use crate::step::Tick;
use diffkern::prelude::*;

/// Where the points that touch are \[m\]: vertices, or centres of mass.
#[diff_kernel]
pub fn place_points<F: Float>(
    bodies: &Array<Pose<F>>,
    properties: &Array<MassProperties<F>>,
    vertices: &Array<Vec3<F>>,
    vertex: &Array<u32>,
    owner: &Array<u32>,
    placed: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let b = owner[i] as usize;
    let mut at = bodies[b].centre;
    if vertex[i] != u32::MAX {
        at = at + bodies[b].rotation.rotate(vertices[vertex[i] as usize] - properties[b].centre);
    }
    placed[i] = at;
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

/// Adds force and torque of a collider on the bodies whose points are at `x`, their surface `radius` \[m\] away; `gap_i = (normal, gap)`.
#[diff_kernel]
pub fn add_contact<F: Float, L: ContactModel>(
    x: &Array<Vec3<F>>,
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
    let surface = x[i] - n * radius[i];
    let b = owner[i] as usize;
    let body = bodies[b];
    let own: Vec3<F> = surface_velocity(body, surface);
    let other: Vec3<F> = surface_velocity(poses[collider], surface);
    let touch = Vec4::new(n.x, n.y, n.z, at.w - radius[i]);
    let force: Vec3<F> = contact_push::<F, L>(touch, own - other, laws[collider], grip[0]);
    wrench[b].force += force;
    wrench[b].torque += (surface - body.centre).cross(force);
}

/// Bodies as contacts see them.
pub(super) struct Touching<'a, F: Float> {
    pub(super) points: &'a Points<F>,
    pub(super) vertices: &'a Array<Vec3<F>>,
    pub(super) properties: &'a Array<MassProperties<F>>,
    pub(super) poses: &'a Array<Pose<F>>,
}

impl<F: Float> Touching<'_, F> {
    /// Where the points are \[m\].
    pub(super) fn placed(&self) -> diffkern::Result<Array<Vec3<F>>> {
        let Points { vertex, owner, .. } = self.points;
        let placed = self.poses.device().uninit(vertex.len())?;
        place_points(vertex.len(), self.poses, self.properties, self.vertices, vertex, owner, &placed)?;
        Ok(placed)
    }

    /// Adds what the colliders do to the bodies with these points.
    pub(super) fn add_forces(
        &self,
        x: &Array<Vec3<F>>,
        obstacles: &BoundObstacles<F>,
        grip: &Array<F>,
        wrench: &Array<Wrench<F>>,
        tick: Tick,
    ) -> diffkern::Result<()> {
        let Points { owner, radius, .. } = self.points;
        obstacles.each_by_forces(x, tick, |Facing { collider, contact, gap, poses, laws }| {
            with_contact!(contact, L => {
                let n = x.len();
                add_contact::<F, L>(n, x, owner, radius, self.poses, gap, poses, laws, grip, wrench, collider)?;
            });
            Ok(())
        })
    }
}
