//! Regular grids, as kernels take them.

use diffkern::prelude::*;

/// The nodes of a grid, as kernels take them; in the plane without z.
#[diff_struct]
pub struct GridShape<F> {
    /// Position of the first node \[m\].
    pub origin: Vec3<F>,
    /// One over the distance of neighbours \[1/m\].
    pub inv_dx: F,
    /// Nodes along x.
    pub nx: u32,
    /// Nodes along y.
    pub ny: u32,
    /// Nodes along z.
    pub nz: u32,
}
