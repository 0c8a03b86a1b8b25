//! MLS-MPM in the plane: a block above a floor that pushes its lowest particles and stops nodes below it.

use diffkern::prelude::*;
use diffkern_sim::material::NeoHookean;
use diffkern_sim::mpm::g2p::grid_to_particles_2d;
use diffkern_sim::mpm::grid_update::{NodeStep, update_grid_2d};
use diffkern_sim::mpm::p2g::{ParticleStep, particles_to_grid_2d};
use diffkern_sim::mpm::square_distance_2d;

use super::blocks::{cube, whole};
use crate::kernels::random::Random;
use crate::kernels::{Kernel, Size};

/// Arrays of a step; the grid starts at the origin.
struct Block<F: Float> {
    particles: usize,
    nodes: usize,
    side: u32,
    x: Array<Vec2<F>>,
    v: Array<Vec2<F>>,
    c: Array<Mat2<F>>,
    f: Array<Mat2<F>>,
    packed: Array<Vec4<F>>,
    planes: Array<Vec4<F>>,
    table: Array<u32>,
    list: Array<u32>,
    masks: Array<u32>,
    kinds: Array<u32>,
    gravity: Array<Vec2<F>>,
    damping: Array<F>,
    target: Array<Vec2<F>>,
    momentum: Array<Vec3<F>>,
    velocity: Array<Vec2<F>>,
    x_next: Array<Vec2<F>>,
    v_next: Array<Vec2<F>>,
    c_next: Array<Mat2<F>>,
    f_next: Array<Mat2<F>>,
    grid: Array<Vec3<F>>,
    u: Array<Vec2<F>>,
    distance: Array<F>,
    inv_dx: F,
    dt: F,
}

fn block<F: Float>(d: &Device, size: Size) -> Result<Block<F>> {
    // Two particles a cell and axis, row by row.
    let (columns, rows, side) = size.pick((128, 64, 128), (3, 2, 8));
    let (n, blocks, dx) = (columns * rows, (side as usize).div_ceil(8).pow(2), 1.0 / side as f64);
    let mut r = Random(11);
    let mut at = Vec::new();
    for p in 0..n {
        let jitter = r.vec2::<f64>(-0.3, 0.3);
        let x = 2.0 + ((p / rows) as f64 + 0.5 + jitter.x) * 0.5;
        let y = 3.0 + ((p % rows) as f64 + 0.5 + jitter.y) * 0.5;
        at.push(Vec2::new(F::from_f64(x * dx), F::from_f64(y * dx)));
    }
    // The floor of the particles reaches above the lowest row of them; the floor of the nodes below all.
    let floor = |offset: f64| Vec4::new(F::zero(), F::one(), F::zero(), F::from_f64(offset * dx));
    let law = Vec4::new(F::from_f64(30.0), F::from_f64(1e-2), F::zero(), F::zero());
    let (nodes, across) = (64 * blocks, (side as usize).div_ceil(8));
    let (table, list) = whole(blocks);
    let masks: Vec<u32> = (0..nodes).map(|node| if node / 64 % across == 0 && node % 8 <= 3 { 2 } else { 0 }).collect();
    Ok(Block {
        particles: n,
        nodes,
        side: side as u32,
        x: d.array(&at)?.requires_grad(),
        v: r.array(d, n, |r| r.vec2(-1.0, 1.0))?,
        c: r.array(d, n, |r| r.mat2(2.0))?,
        f: r.array(d, n, |r| Mat2::identity() + r.mat2(0.2))?,
        packed: r.array(d, n, |r| {
            Vec4::new(r.between(1.0, 2.0), r.between(1.0, 2.0), r.between(0.0, 0.1), r.between(0.5, 1.0))
        })?,
        planes: d.array(&[floor(3.52), law, floor(3.0), law])?.requires_grad(),
        table: d.array(&table)?,
        list: d.array(&list)?,
        masks: d.array(&masks)?,
        kinds: d.array(&[2, 2])?,
        gravity: d.array(&[Vec2::new(F::zero(), F::from_f64(-9.8))])?.requires_grad(),
        damping: d.array(&[F::from_f64(3.0)])?.requires_grad(),
        target: d.array(&[Vec2::new(F::from_f64(0.7), F::from_f64(0.4))])?.requires_grad(),
        momentum: r.array(d, nodes, |r| Vec3::new(r.between(-2.0, 2.0), r.between(-2.0, 2.0), r.between(0.5, 1.5)))?,
        velocity: r.array(d, nodes, |r| r.vec2(-1.0, 1.0))?,
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
        kernel!(particles_to_grid_2d<NeoHookean>: block => |b| "particles" b.particles, (
            b.particles, &b.x, &b.v, &b.c, &b.f, &b.packed, &b.planes, &b.table, &b.f_next, &b.grid, ParticleStep {
                grid: cube(b.inv_dx, b.side), dt: b.dt, touching: 1, touching_end: 1,
            },
        ), writes [b.f_next => Mat2::identity(), b.grid => Vec3::new(1.0, 1.0, 1.0)]),
        kernel!(update_grid_2d: block => |b| "nodes" b.nodes, (
            b.nodes, &b.momentum, &b.masks, &b.list, &b.planes, &b.kinds, &b.gravity, &b.damping, &b.u,
            NodeStep { dt: b.dt, cutoff: 1e-3, plane_count: 2 },
        ), writes [b.u => Vec2::new(1.0, 1.0)]),
        kernel!(grid_to_particles_2d: block => |b| "particles" b.particles, (
            b.particles, &b.x, &b.velocity, &b.table, &b.x_next, &b.v_next, &b.c_next, cube(b.inv_dx, b.side), b.dt,
        ), writes [b.x_next => Vec2::new(1.0, 1.0), b.v_next => Vec2::new(1.0, 1.0), b.c_next => Mat2::identity()]),
        kernel!(square_distance_2d: block => |b| "particles" b.particles, (
            b.particles, &b.x, &b.target, &b.distance,
        ), writes [b.distance => 1.0]),
    ]
}
