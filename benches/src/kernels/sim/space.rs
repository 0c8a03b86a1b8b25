//! MLS-MPM in space: a block above a floor that pushes its lowest particles and stops nodes below it.

use diffkern::prelude::*;
use diffkern_sim::material::NeoHookean;
use diffkern_sim::mpm::g2p::grid_to_particles_3d;
use diffkern_sim::mpm::grid_update::{NodeStep, update_grid_3d};
use diffkern_sim::mpm::p2g::{ParticleStep, particles_to_grid_3d};
use diffkern_sim::mpm::square_distance_3d;

use super::blocks::{cube, whole};
use crate::kernels::random::Random;
use crate::kernels::{Kernel, Size};

/// Arrays of a step; the grid starts at the origin.
struct Block<F: Float> {
    particles: usize,
    nodes: usize,
    side: u32,
    x: Array<Vec3<F>>,
    v: Array<Vec3<F>>,
    c: Array<Mat3<F>>,
    f: Array<Mat3<F>>,
    packed: Array<Vec4<F>>,
    planes: Array<Vec4<F>>,
    table: Array<u32>,
    list: Array<u32>,
    masks: Array<u32>,
    kinds: Array<u32>,
    gravity: Array<Vec3<F>>,
    damping: Array<F>,
    target: Array<Vec3<F>>,
    momentum: Array<Vec4<F>>,
    velocity: Array<Vec3<F>>,
    x_next: Array<Vec3<F>>,
    v_next: Array<Vec3<F>>,
    c_next: Array<Mat3<F>>,
    f_next: Array<Mat3<F>>,
    grid: Array<Vec4<F>>,
    u: Array<Vec3<F>>,
    distance: Array<F>,
    inv_dx: F,
    dt: F,
}

fn block<F: Float>(d: &Device, size: Size) -> Result<Block<F>> {
    // Two particles a cell and axis, row by row.
    let (columns, rows, side) = size.pick((32, 32, 64), (2, 2, 7));
    let (n, blocks, dx) = (columns * rows * rows, (side as usize).div_ceil(4).pow(3), 1.0 / side as f64);
    let mut r = Random(11);
    let mut at = Vec::new();
    for p in 0..n {
        let jitter = r.vec3::<f64>(-0.3, 0.3);
        let x = 2.0 + ((p / (rows * rows)) as f64 + 0.5 + jitter.x) * 0.5;
        let y = 3.0 + ((p / rows % rows) as f64 + 0.5 + jitter.y) * 0.5;
        let z = 2.0 + ((p % rows) as f64 + 0.5 + jitter.z) * 0.5;
        at.push(Vec3::new(F::from_f64(x * dx), F::from_f64(y * dx), F::from_f64(z * dx)));
    }
    // The floor of the particles reaches above the lowest row of them; the floor of the nodes below all.
    let floor = |offset: f64| Vec4::new(F::zero(), F::one(), F::zero(), F::from_f64(offset * dx));
    let law = Vec4::new(F::from_f64(30.0), F::from_f64(1e-2), F::zero(), F::zero());
    let (nodes, across) = (64 * blocks, (side as usize).div_ceil(4));
    let (table, list) = whole(blocks);
    let masks: Vec<u32> = (0..nodes).map(|node| if node / 64 / across % across == 0 { 2 } else { 0 }).collect();
    Ok(Block {
        particles: n,
        nodes,
        side: side as u32,
        x: d.array(&at)?.requires_grad(),
        v: r.array(d, n, |r| r.vec3(-1.0, 1.0))?,
        c: r.array(d, n, |r| r.mat3(2.0))?,
        f: r.array(d, n, |r| Mat3::identity() + r.mat3(0.2))?,
        packed: r.array(d, n, |r| {
            Vec4::new(r.between(1.0, 2.0), r.between(1.0, 2.0), r.between(0.0, 0.1), r.between(0.5, 1.0))
        })?,
        planes: d.array(&[floor(3.52), law, floor(3.0), law])?.requires_grad(),
        table: d.array(&table)?,
        list: d.array(&list)?,
        masks: d.array(&masks)?,
        kinds: d.array(&[2, 2])?,
        gravity: d.array(&[Vec3::new(F::zero(), F::from_f64(-9.8), F::zero())])?.requires_grad(),
        damping: d.array(&[F::from_f64(3.0)])?.requires_grad(),
        target: d.array(&[Vec3::new(F::from_f64(0.7), F::from_f64(0.4), F::from_f64(0.6))])?.requires_grad(),
        momentum: r.array(d, nodes, |r| {
            Vec4::new(r.between(-2.0, 2.0), r.between(-2.0, 2.0), r.between(-2.0, 2.0), r.between(0.5, 1.5))
        })?,
        velocity: r.array(d, nodes, |r| r.vec3(-1.0, 1.0))?,
        x_next: d.zeros(n)?,
        v_next: d.zeros(n)?,
        c_next: d.zeros(n)?,
        f_next: d.zeros(n)?,
        grid: d.zeros(nodes)?,
        u: d.zeros(nodes)?,
        distance: d.zeros(n)?,
        inv_dx: F::from_f64(side as f64),
        dt: F::from_f64(1e-4),
    })
}

pub fn kernels() -> Vec<Kernel> {
    vec![
        kernel!(particles_to_grid_3d<NeoHookean>: block => |b| "particles" b.particles, (
            b.particles, &b.x, &b.v, &b.c, &b.f, &b.packed, &b.planes, &b.table, &b.f_next, &b.grid, ParticleStep {
                grid: cube(b.inv_dx, b.side), dt: b.dt, touching: 1, touching_end: 1,
            },
        ), writes [b.f_next => Mat3::identity(), b.grid => Vec4::new(1.0, 1.0, 1.0, 1.0)]),
        kernel!(update_grid_3d: block => |b| "nodes" b.nodes, (
            b.nodes, &b.momentum, &b.masks, &b.list, &b.planes, &b.kinds, &b.gravity, &b.damping, &b.u,
            NodeStep { dt: b.dt, cutoff: 1e-3, plane_count: 2 },
        ), writes [b.u => Vec3::new(1.0, 1.0, 1.0)]),
        kernel!(grid_to_particles_3d: block => |b| "particles" b.particles, (
            b.particles, &b.x, &b.velocity, &b.table, &b.x_next, &b.v_next, &b.c_next, cube(b.inv_dx, b.side), b.dt,
        ), writes [b.x_next => Vec3::new(1.0, 1.0, 1.0), b.v_next => Vec3::new(1.0, 1.0, 1.0), b.c_next => Mat3::identity()]),
        kernel!(square_distance_3d: block => |b| "particles" b.particles, (
            b.particles, &b.x, &b.target, &b.distance,
        ), writes [b.distance => 1.0]),
    ]
}
