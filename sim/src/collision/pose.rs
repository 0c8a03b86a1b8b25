//! Where a collider is and how it moves.

use diffkern::prelude::*;

/// Position and motion of a rigid body: a point of its frame `r` is at `centre + R r`, and moves with
/// `velocity + spin x (R r)`.
#[diff_struct]
pub struct Pose<F> {
    /// Origin of its frame \[m\].
    pub centre: Vec3<F>,
    /// Its orientation, a unit quaternion.
    pub rotation: Quat<F>,
    /// Velocity of the origin \[m/s\].
    pub velocity: Vec3<F>,
    /// Angular velocity \[rad/s\].
    pub spin: Vec3<F>,
}

/// Velocity of the point of the body at `x` \[m/s\].
#[diff_fn]
pub fn surface_velocity<F: Float>(pose: Pose<F>, x: Vec3<F>) -> Vec3<F> {
    pose.velocity + pose.spin.cross(x - pose.centre)
}

/// `(normal, distance)` with the normal turned from the frame of the body to that of the world.
#[diff_fn]
pub fn to_world<F: Float>(pose: Pose<F>, at: Vec4<F>) -> Vec4<F> {
    let n = pose.rotation.rotate(Vec3::new(at.x, at.y, at.z));
    Vec4::new(n.x, n.y, n.z, at.w)
}

/// The poses after a time `t` \[s\] of steady motion.
#[diff_kernel]
pub fn move_poses<F: Float>(poses: &Array<Pose<F>>, moved: &mut Array<Pose<F>>, t: F) {
    let pose = poses[ABSOLUTE_POS];
    let turn = Quat::from_rotation_vector(pose.spin * t);
    moved[ABSOLUTE_POS] = Pose { centre: pose.centre + pose.velocity * t, rotation: turn * pose.rotation, ..pose };
}
