//! Kernels of `diffkern-render`.

mod camera;
mod images;
mod mesh;
mod scene;

use super::Kernel;

pub fn kernels() -> Vec<Kernel> {
    [camera::kernels(), mesh::kernels(), images::kernels()].concat()
}
