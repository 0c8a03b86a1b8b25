//! Grid update: momentum to velocity, gravity, damping, contact of the nodes.

use crate::contact::contact_velocity;
use diffkern::prelude::*;

/// What an update of the grid has beside its arrays.
#[diff_struct]
pub struct NodeStep<F> {
    /// Time step \[s\].
    pub dt: F,
    /// Mass at or below which a node takes no part \[kg\].
    pub cutoff: F,
    /// How many half-spaces there are.
    pub plane_count: u32,
}

/// `u = (p / m + dt g) exp(-dt damping)`, then contact with every half-space whose bit is set in the node's mask, in
/// order. The masks are those of all blocks, or one for all nodes, `list` says which block each 64 nodes are. Nodes of at most the cutoff get
/// zero. `planes` as in `particles_to_grid`, `kinds` as in `contact_velocity`.
#[diff_kernel(dims(2, 3))]
pub fn update_grid<F: Float, const D: usize>(
    grid: &Array<Vector<F, { D + 1 }>>,
    masks: &Array<u32>,
    list: &Array<u32>,
    planes: &Array<Vec4<F>>,
    kinds: &Array<u32>,
    gravity: &Array<Vector<F, D>>,
    damping: &Array<F>,
    velocity: &mut Array<Vector<F, D>>,
    step: NodeStep<F>,
) {
    let i = ABSOLUTE_POS;
    let node = grid[i];
    let mut u = Vector::<F, D>::zero();
    if node[D] > step.cutoff {
        let keep = (-damping[0] * step.dt).exp();
        u = (Vector::<F, D>::from_fn(|a| node[a]) / node[D] + gravity[0] * step.dt) * keep;
        let mask = masks[(list[i / 64] as usize * 64 + i % 64).min(masks.len() - 1)];
        if mask != 0 {
            for k in 0..step.plane_count {
                if (mask >> k) & 1 == 1 {
                    let at = k as usize;
                    let next: Vector<F, D> =
                        contact_velocity::<F, D>(u, planes[2 * at], kinds[at], planes[2 * at + 1].z);
                    u = next;
                }
            }
        }
    }
    velocity[i] = u;
}
