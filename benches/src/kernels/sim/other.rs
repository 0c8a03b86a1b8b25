//! Material parameters, and surfaces that particles carry.

use diffkern::prelude::*;
use diffkern_sim::mesh::interpolate_3d;
use diffkern_sim::mpm::pack::{pack_half_spaces, pack_material};

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

/// Half-spaces, their friction and stiffness.
struct Planes<F: Float> {
    count: usize,
    planes: Array<Vec4<F>>,
    friction: Array<F>,
    stiffness: Array<F>,
    packed: Array<Vec4<F>>,
}

fn planes<F: Float>(d: &Device, size: Size) -> Result<Planes<F>> {
    let count = size.pick(32, 3);
    let mut r = Random(53);
    Ok(Planes {
        count,
        planes: r.array(d, 2 * count, |r| Vec4::from_array([(); 4].map(|()| r.between(0.5, 2.0))))?,
        friction: r.array(d, count, |r| r.between(0.0, 1.0))?,
        stiffness: r.array(d, count, |r| r.between(0.5, 2.0))?,
        packed: d.zeros(2 * count)?,
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
        kernel!(pack_half_spaces: planes => |p| "half-spaces" p.count, (
            p.count, &p.planes, &p.friction, &p.stiffness, &p.packed,
        ), writes [p.packed => Vec4::new(1.0, 1.0, 1.0, 1.0)]),
        kernel!(interpolate_3d: surface => |s| "vertices" s.vertices, (
            s.vertices, &s.x, &s.index, &s.weight, &s.out,
        ), writes [s.out => Vec3::new(1.0, 1.0, 1.0)]),
    ]
}
