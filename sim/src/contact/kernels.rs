//! Contact of vertices with a collider, given the gaps between them.

use super::ContactModel;
use super::friction::{coulomb_3d, sharp_coulomb_3d};
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
    /// 1 where friction is the sharp one.
    pub sharp: u32,
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
    let mut friction: Vec3<F> = coulomb_3d(slide, grip, touch.slip, dt_over_m);
    if touch.sharp == 1 {
        friction = sharp_coulomb_3d(slide, grip, touch.slip, dt_over_m);
    }
    force[i] += n * push - friction;
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
