//! Grid update: momentum to velocity, gravity, damping, contact of the nodes.

use super::boundary::{contact_velocity_2d, contact_velocity_3d};
use diffkern::prelude::*;

/// `u = (p / m + dt g) exp(-dt damping)`, then contact with every half-space whose bit is set in the node's mask, in
/// order. The masks are those of all blocks, `list` says which block each 64 nodes are. Nodes of at most `cutoff` \[kg\] get
/// zero. `planes` as in `particles_to_grid_2d`, `kinds` as in `contact_velocity_2d`.
#[diff_kernel]
pub fn update_grid_2d<F: Float>(
    grid: &Array<Vec3<F>>,
    masks: &Array<u32>,
    list: &Array<u32>,
    planes: &Array<Vec4<F>>,
    kinds: &Array<u32>,
    friction: &Array<F>,
    gravity: &Array<Vec2<F>>,
    damping: &Array<F>,
    velocity: &mut Array<Vec2<F>>,
    dt: F,
    cutoff: F,
    plane_count: u32,
) {
    let i = ABSOLUTE_POS;
    let node = grid[i];
    let mut u = Vec2::zero();
    if node.z > cutoff {
        let keep = (-damping[0] * dt).exp();
        u = (Vec2::new(node.x, node.y) / node.z + gravity[0] * dt) * keep;
        let mask = masks[list[i / 64] as usize * 64 + i % 64];
        if mask != 0 {
            for k in 0..plane_count {
                if (mask >> k) & 1 == 1 {
                    let at = k as usize;
                    let rub = friction[at.min(friction.len() - 1)];
                    let next: Vec2<F> = contact_velocity_2d::<F>(u, planes[2 * at], kinds[at], rub);
                    u = next;
                }
            }
        }
    }
    velocity[i] = u;
}

/// As [`update_grid_2d()`] in space.
#[diff_kernel]
pub fn update_grid_3d<F: Float>(
    grid: &Array<Vec4<F>>,
    masks: &Array<u32>,
    list: &Array<u32>,
    planes: &Array<Vec4<F>>,
    kinds: &Array<u32>,
    friction: &Array<F>,
    gravity: &Array<Vec3<F>>,
    damping: &Array<F>,
    velocity: &mut Array<Vec3<F>>,
    dt: F,
    cutoff: F,
    plane_count: u32,
) {
    let i = ABSOLUTE_POS;
    let node = grid[i];
    let mut u = Vec3::zero();
    if node.w > cutoff {
        let keep = (-damping[0] * dt).exp();
        u = (Vec3::new(node.x, node.y, node.z) / node.w + gravity[0] * dt) * keep;
        let mask = masks[list[i / 64] as usize * 64 + i % 64];
        if mask != 0 {
            for k in 0..plane_count {
                if (mask >> k) & 1 == 1 {
                    let at = k as usize;
                    let rub = friction[at.min(friction.len() - 1)];
                    let next: Vec3<F> = contact_velocity_3d::<F>(u, planes[2 * at], kinds[at], rub);
                    u = next;
                }
            }
        }
    }
    velocity[i] = u;
}
