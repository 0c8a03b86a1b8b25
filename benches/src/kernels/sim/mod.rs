//! Kernels of `diffkern-sim`.

mod blocks;
mod diffsim;
mod implicit;
mod lattice;
mod other;
mod phases;
mod plane;
mod space;
mod touch;
mod vertices;

use super::Kernel;

pub fn kernels() -> Vec<Kernel> {
    [
        plane::kernels(),
        space::kernels(),
        phases::kernels(),
        blocks::kernels(),
        other::kernels(),
        vertices::kernels(),
        implicit::kernels(),
        lattice::kernels(),
        touch::kernels(),
        diffsim::kernels(),
    ]
    .concat()
}
