//! The facade for tensors: what it adds to elements and vertices.

use diffkern::prelude::*;
use diffkern_sim::diffsim::kernels::{
    GroundForce, damped_velocity, ground_energies, ground_friction, ground_push, held_positions, implicit_residual,
    lame_parameters, nearest, square_differences, square_distances, vertex_energies,
};

use crate::kernels::random::Random;
use crate::kernels::{Kernel, Size};

/// Vertices of which half are near the ground, and the numbers of elements.
struct Vertices<F: Float> {
    n: usize,
    x: Array<Vec3<F>>,
    y: Array<Vec3<F>>,
    v: Array<Vec3<F>>,
    force: Array<Vec3<F>>,
    mass: Array<F>,
    ratio: Array<F>,
    gravity: Array<F>,
    damping: Array<F>,
    fixed: Array<u32>,
    index: Array<u32>,
    mu: Array<F>,
    lambda: Array<F>,
    squares: Array<F>,
    out: Array<Vec3<F>>,
    ground: GroundForce<F>,
    h: F,
}

fn vertices<F: Float>(d: &Device, size: Size) -> Result<Vertices<F>> {
    let (n, mut r) = (size.pick(65_536, 12), Random(91));
    let heights: Vec<F> = (0..n).map(|i| r.between::<F>(0.2, 0.9) + F::from_f64((i % 2) as f64)).collect();
    let x: Vec<_> = heights.into_iter().map(|y| Vec3::new(r.between(-1.0, 1.0), y, r.between(-1.0, 1.0))).collect();
    let real = F::from_f64;
    Ok(Vertices {
        n,
        x: d.array(&x)?.requires_grad(),
        y: r.array(d, n, |r| r.vec3(-1.0, 1.0))?,
        v: r.array(d, n, |r| r.vec3(-1.0, 1.0))?,
        force: r.array(d, n, |r| r.vec3(-1.0, 1.0))?,
        mass: r.array(d, n, |r| r.between(0.5, 2.0))?,
        ratio: r.array(d, n, |r| r.between(0.1, 0.4))?,
        gravity: r.array(d, 1, |r| r.between(-9.0, -8.0))?,
        damping: r.array(d, 1, |r| r.between(0.9, 1.0))?,
        fixed: d.array(&(0..n as u32).map(|i| u32::from(i % 5 == 0)).collect::<Vec<_>>())?,
        index: d.array(&(0..n as u32).map(|i| i.wrapping_mul(7919) % n as u32).collect::<Vec<_>>())?,
        mu: d.zeros(n)?,
        lambda: d.zeros(n)?,
        squares: d.zeros(n)?,
        out: d.zeros(n)?,
        ground: GroundForce { push: real(3.0), width: real(1.0), friction: real(0.3), slip: real(0.1) },
        h: real(0.01),
    })
}

/// Two sets of points.
struct Sets {
    a: Array<Vec3<f32>>,
    index: Array<u32>,
}

fn sets(d: &Device) -> Result<Sets> {
    let (n, mut r) = (2048, Random(92));
    Ok(Sets { a: r.array(d, n, |r| r.vec3(-1.0, 1.0))?, index: d.zeros(n)? })
}

pub fn kernels() -> Vec<Kernel> {
    vec![
        kernel!(lame_parameters: vertices => |i| "elements" i.n, (i.n, &i.mass, &i.ratio, &i.mu, &i.lambda),
            writes [i.mu => 1.0, i.lambda => 1.0]),
        kernel!(ground_push: vertices => |i| "vertices" i.n, (i.n, &i.x, &i.fixed, &i.out, i.ground),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(ground_friction: vertices => |i| "vertices" i.n,
            (i.n, &i.x, &i.v, &i.mass, &i.fixed, &i.out, i.ground, i.h), writes [i.out => Vec3::splat(1.0)]),
        kernel!(damped_velocity: vertices => |i| "vertices" i.n,
            (i.n, &i.v, &i.force, &i.mass, &i.fixed, &i.gravity, &i.damping, &i.out, i.h),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(vertex_energies: vertices => |i| "vertices" i.n,
            (i.n, &i.x, &i.v, &i.mass, &i.gravity, &i.mu, &i.lambda), writes [i.mu => 1.0, i.lambda => 1.0]),
        kernel!(ground_energies: vertices => |i| "vertices" i.n, (i.n, &i.x, &i.fixed, &i.squares, i.ground),
            writes [i.squares => 1.0]),
        kernel!(held_positions: vertices => |i| "vertices" i.n, (i.n, &i.y, &i.x, &i.fixed, &i.out),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(implicit_residual: vertices => |i| "vertices" i.n,
            (i.n, &i.y, &i.x, &i.v, &i.force, &i.mass, &i.fixed, &i.gravity, &i.damping, &i.out, i.h),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(square_distances: vertices => |i| "points" i.n, (i.n, &i.x, &i.y, &i.index, &i.squares),
            writes [i.squares => 1.0]),
        kernel!(square_differences: vertices => |i| "points" i.n, (i.n, &i.x, &i.y, &i.squares), writes [i.squares => 1.0]),
        integers!(nearest: sets => |i| "points" i.a.len(), (i.a.len(), &i.a, &i.a, &i.index)),
    ]
}
