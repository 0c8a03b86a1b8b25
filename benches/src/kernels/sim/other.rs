//! Material parameters, and surfaces that particles carry.

use diffkern::prelude::*;
use diffkern_sim::mesh::interpolate_3d;
use diffkern_sim::mpm::pack::pack_material;

use crate::kernels::random::Random;
use crate::kernels::{Kernel, Size};

/// Five parameters a particle.
struct Material<F: Float> {
    particles: usize,
    mu: Array<F>,
    lambda: Array<F>,
    viscosity: Array<F>,
    density: Array<F>,
    volume: Array<F>,
    packed: Array<Vec4<F>>,
}

fn material<F: Float>(d: &Device, size: Size) -> Result<Material<F>> {
    let n = size.pick(32_768, 6);
    let mut r = Random(51);
    let mut each = || r.array(d, n, |r| r.between(0.5, 2.0));
    Ok(Material {
        particles: n,
        mu: each()?,
        lambda: each()?,
        viscosity: each()?,
        density: each()?,
        volume: each()?,
        packed: d.zeros(n)?,
    })
}

/// Eight particles a vertex.
struct Surface<F: Float> {
    vertices: usize,
    x: Array<Vec3<F>>,
    index: Array<u32>,
    weight: Array<F>,
    out: Array<Vec3<F>>,
}

fn surface<F: Float>(d: &Device, size: Size) -> Result<Surface<F>> {
    let (particles, vertices) = size.pick((32_768, 8_192), (6, 3));
    let mut r = Random(61);
    // Neighbours on the surface share particles, some of them far apart in memory.
    let index: Vec<u32> = (0..8 * vertices).map(|k| ((k / 8 * 4 + k % 8 * 33) % particles) as u32).collect();
    Ok(Surface {
        vertices,
        x: r.array(d, particles, |r| r.vec3(0.0, 1.0))?,
        index: d.array(&index)?,
        weight: r.array(d, 8 * vertices, |r| r.between(-0.5, 1.5))?,
        out: d.zeros(vertices)?,
    })
}

pub fn kernels() -> Vec<Kernel> {
    vec![
        kernel!(pack_material: material => |m| "particles" m.particles, (
            m.particles, &m.mu, &m.lambda, &m.viscosity, &m.density, &m.volume, &m.packed,
        ), writes [m.packed => Vec4::new(1.0, 1.0, 1.0, 1.0)]),
        kernel!(interpolate_3d: surface => |s| "vertices" s.vertices, (
            s.vertices, &s.x, &s.index, &s.weight, &s.out,
        ), writes [s.out => Vec3::new(1.0, 1.0, 1.0)]),
    ]
}
