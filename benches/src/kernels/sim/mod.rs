//! Kernels of `diffkern-sim`.

mod other;
mod plane;
mod space;

use super::Kernel;

pub fn kernels() -> Vec<Kernel> {
    [plane::kernels(), space::kernels(), other::kernels()].concat()
}
