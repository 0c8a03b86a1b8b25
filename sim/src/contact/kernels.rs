//! Contact of vertices with a collider, given the gaps between them.

use super::ContactModel;
use super::friction::{coulomb_3d, stopping_coulomb_3d};
use super::projection::contact_velocity_3d;
use crate::collision::{Pose, surface_velocity};
use diffkern::prelude::*;

/// `packed_k = (stiffness, damping, width, friction)` of collider `k`; an array of one element stands for all colliders.
#[diff_kernel]
pub fn pack_contacts<F: Float>(
    stiffness: &Array<F>,
    damping: &Array<F>,
    friction: &Array<F>,
    width: &Array<F>,
    packed: &mut Array<Vec4<F>>,
) {
    let k = ABSOLUTE_POS;
    let a = stiffness[k.min(stiffness.len() - 1)];
    let b = damping[k.min(damping.len() - 1)];
    let c = friction[k.min(friction.len() - 1)];
    packed[k] = Vec4::new(a, b, width[k], c);
}

/// Which collider, and what else a step of contact has beside its arrays.
#[diff_struct]
pub struct Touch<F> {
    /// Number of the collider.
    pub collider: u32,
    /// Time step \[s\].
    pub dt: F,
    /// Speed below which friction fades \[m/s\].
    pub slip: F,
    /// 0 where there is no friction.
    pub rubs: u32,
}

/// Adds the force on each vertex: `N n - friction`, `N` of the law; `gap_i = (normal, gap)` of the middle of what touches, the surface of which is
/// `radius` \[m\] away; an array of one element stands for all.
#[diff_kernel]
pub fn contact_force<F: Float, L: ContactModel>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    mass: &Array<F>,
    gap: &Array<Vec4<F>>,
    poses: &Array<Pose<F>>,
    laws: &Array<Vec4<F>>,
    radius: &Array<F>,
    force: &mut Array<Vec3<F>>,
    touch: Touch<F>,
) {
    let i = ABSOLUTE_POS;
    let at = gap[i];
    let q = laws[touch.collider];
    let moving: Vec3<F> = surface_velocity(poses[touch.collider], x[i]);
    let u = v[i] - moving;
    let n = Vec3::new(at.x, at.y, at.z);
    let rate = u.dot(n);
    let push: F = L::force(at.w - radius[i.min(radius.len() - 1)], rate, q);
    let (slide, grip, dt_over_m) = (u - n * rate, q.w * push, touch.dt / mass[i.min(mass.len() - 1)]);
    let mut friction = Vec3::zero();
    if touch.rubs == 1 {
        friction = coulomb_3d(slide, grip, touch.slip, dt_over_m);
    }
    force[i] += n * push - friction;
}

/// Adds the friction on each vertex by the force `push` of the collider on it: with what slides at the velocity `ahead`, as all other forces of a step leave it. As that of a blow, it changes the velocity by
/// at most the coefficient times what the pushes of all vertices together change along the normal, `pushed`; so it stops what slides, and turns it round nowhere where neighbours slide alike.
#[diff_kernel]
pub fn friction_force<F: Float>(
    x: &Array<Vec3<F>>,
    ahead: &Array<Vec3<F>>,
    pushed: &Array<Vec3<F>>,
    push: &Array<Vec3<F>>,
    gap: &Array<Vec4<F>>,
    poses: &Array<Pose<F>>,
    laws: &Array<Vec4<F>>,
    force: &mut Array<Vec3<F>>,
    touch: Touch<F>,
) {
    let i = ABSOLUTE_POS;
    let coefficient = laws[touch.collider].w;
    let moving: Vec3<F> = surface_velocity(poses[touch.collider], x[i]);
    let n = Vec3::new(gap[i].x, gap[i].y, gap[i].z);
    let u = ahead[i] - moving;
    let stop = coefficient * pushed[i].dot(n).max(0.0);
    let friction: Vec3<F> = stopping_coulomb_3d(u - n * u.dot(n), coefficient * push[i].dot(n), touch.slip, stop);
    force[i] -= friction;
}

/// The velocities of vertices in the solid as their contact leaves them, `kind` as in `contact_velocity`; held ones keep theirs.
#[diff_kernel]
pub fn project_velocity<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    gap: &Array<Vec4<F>>,
    poses: &Array<Pose<F>>,
    laws: &Array<Vec4<F>>,
    held: &Array<u32>,
    projected: &mut Array<Vec3<F>>,
    collider: u32,
    kind: u32,
) {
    let i = ABSOLUTE_POS;
    let at = gap[i];
    let mut result = v[i];
    if at.w < 0.0 && held[i] == 0 {
        let moving: Vec3<F> = surface_velocity(poses[collider], x[i]);
        let left: Vec3<F> = contact_velocity_3d(v[i] - moving, at, kind, laws[collider].w);
        result = left + moving;
    }
    projected[i] = result;
}
