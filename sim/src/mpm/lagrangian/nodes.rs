//! What happens at the nodes of a phase: velocities at its beginning, kicks by forces and contact, displacement.

use crate::contact::contact_velocity;
use crate::mpm::stencil::GridShape;
use diffkern::prelude::*;

/// A kick of the nodes.
#[diff_struct]
pub struct Kick<F> {
    /// How long it acts \[s\].
    pub dt: F,
    /// Mass at or below which a node takes no part \[kg\].
    pub cutoff: F,
    /// Nodes up to this distance above a surface belong to the solid \[m\].
    pub rim: F,
    /// How many half-spaces there are.
    pub plane_count: u32,
    /// The half-spaces that act on particles instead, one bit each.
    pub touching: u32,
    /// The half-spaces that hold what is in them at the beginning of the phase and nothing else, one bit each.
    pub clamps: u32,
}

/// Positions \[m\] of the nodes of the blocks in `list`, numbered as in [`blocks`](crate::mpm::blocks).
#[diff_kernel(dims(2, 3))]
pub fn node_places<F: Float, const D: usize>(list: &Array<u32>, places: &mut Array<Vector<F, D>>, grid: GridShape<F>) {
    // A block has `2^BITS` nodes along each axis.
    const BITS: u32 = 5 - D;
    const LAST: u32 = (1 << (5 - D)) - 1;
    let i = ABSOLUTE_POS as u32;
    let counts = [grid.nx, grid.ny, grid.nz];
    let mut block = list[i / 64];
    let mut place = i % 64;
    let mut nodes = [F::new(0.0); D];
    for k in 0..D {
        let across = (counts[D - 1 - k] + LAST) >> BITS;
        nodes[D - 1 - k] = F::cast_from(((block % across) << BITS) + (place & LAST));
        block = block / across;
        place = place >> BITS;
    }
    places[i as usize] = Vector::<F, D>::from_fn(|a| grid.origin[a] + nodes[a] / grid.inv_dx);
}

/// `momentum / mass`, and zero for nodes of at most `cutoff` \[kg\].
#[diff_kernel(dims(2, 3))]
pub fn node_velocity<F: Float, const D: usize>(
    nodes: &Array<Vector<F, { D + 1 }>>,
    velocity: &mut Array<Vector<F, D>>,
    cutoff: F,
) {
    let i = ABSOLUTE_POS;
    let node = nodes[i];
    let mut u = Vector::<F, D>::zero();
    if node[D] > cutoff {
        u = Vector::<F, D>::from_fn(|a| node[a]) / node[D];
    }
    velocity[i] = u;
}

/// A term of the series that inverts what a transfer smooths: `rest_next = rest - momentum / mass`, `sum_next = sum + rest_next`,
/// where `momentum` is what particles give back of `rest`.
#[diff_kernel(dims(2, 3))]
pub fn sharpen<F: Float, const D: usize>(
    nodes: &Array<Vector<F, { D + 1 }>>,
    rest: &Array<Vector<F, D>>,
    sum: &Array<Vector<F, D>>,
    rest_next: &mut Array<Vector<F, D>>,
    sum_next: &mut Array<Vector<F, D>>,
    cutoff: F,
) {
    let i = ABSOLUTE_POS;
    let node = nodes[i];
    let mut left = Vector::<F, D>::zero();
    if node[D] > cutoff {
        left = rest[i] - Vector::<F, D>::from_fn(|a| node[a]) / node[D];
    }
    rest_next[i] = left;
    sum_next[i] = sum[i] + left;
}

/// `m u^2 / 2` of nodes of `(_, m)` \[J\].
#[diff_kernel(dims(2, 3))]
pub fn kinetic_energy<F: Float, const D: usize>(
    nodes: &Array<Vector<F, { D + 1 }>>,
    velocity: &Array<Vector<F, D>>,
    energy: &mut Array<F>,
) {
    let u = velocity[ABSOLUTE_POS];
    energy[ABSOLUTE_POS] = nodes[ABSOLUTE_POS][D] * u.dot(u) * 0.5;
}

/// `scale u`.
#[diff_kernel(dims(2, 3))]
pub fn scaled<F: Float, const D: usize>(u: &Array<Vector<F, D>>, next: &mut Array<Vector<F, D>>, scale: F) {
    next[ABSOLUTE_POS] = u[ABSOLUTE_POS] * scale;
}

/// `d + dt u`.
#[diff_kernel(dims(2, 3))]
pub fn displaced<F: Float, const D: usize>(
    d: &Array<Vector<F, D>>,
    u: &Array<Vector<F, D>>,
    next: &mut Array<Vector<F, D>>,
    dt: F,
) {
    next[ABSOLUTE_POS] = d[ABSOLUTE_POS] + u[ABSOLUTE_POS] * dt;
}

/// `(u + dt (f / m + g)) exp(-dt damping)`, then contact with every half-space that the node is in where it has got to, `y`, or with a clamp where it
/// began, `places`. `forces` holds `(f, m)`; `planes` as in [`particles_to_grid`](crate::mpm::p2g), `kinds` as in `contact_velocity`.
#[diff_kernel(dims(2, 3))]
pub fn kick_nodes<F: Float, const D: usize>(
    velocity: &Array<Vector<F, D>>,
    forces: &Array<Vector<F, { D + 1 }>>,
    y: &Array<Vector<F, D>>,
    places: &Array<Vector<F, D>>,
    planes: &Array<Vec4<F>>,
    kinds: &Array<u32>,
    gravity: &Array<Vector<F, D>>,
    damping: &Array<F>,
    next: &mut Array<Vector<F, D>>,
    step: Kick<F>,
) {
    let i = ABSOLUTE_POS;
    let node = forces[i];
    let mut u = Vector::<F, D>::zero();
    if node[D] > step.cutoff {
        let keep = (-damping[0] * step.dt).exp();
        let acceleration = Vector::<F, D>::from_fn(|a| node[a]) / node[D] + gravity[0];
        u = (velocity[i] + acceleration * step.dt) * keep;
        for k in 0..step.plane_count {
            if (step.touching >> k) & 1 == 0 {
                let at = k as usize;
                let plane = planes[2 * at];
                let mut at_node = y[i];
                if (step.clamps >> k) & 1 == 1 {
                    at_node = places[i];
                }
                let gap = Vector::<F, D>::from_fn(|a| plane[a]).dot(at_node) - plane.w;
                if gap <= step.rim {
                    let held: Vector<F, D> = contact_velocity::<F, D>(u, plane, kinds[at], planes[2 * at + 1].z);
                    u = held;
                }
            }
        }
    }
    next[i] = u;
}
