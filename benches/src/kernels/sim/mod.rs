//! Kernels of `diffkern-sim`.

mod blocks;
mod lattice;
mod other;
mod plane;
mod space;
mod vertices;

use super::Kernel;

pub fn kernels() -> Vec<Kernel> {
    [plane::kernels(), space::kernels(), blocks::kernels(), other::kernels(), vertices::kernels(), lattice::kernels()]
        .concat()
}
