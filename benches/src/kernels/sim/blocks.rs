//! Blocks of the grid, and particles in another order.

use diffkern::prelude::*;
use diffkern_sim::mpm::blocks::NOWHERE;
use diffkern_sim::mpm::occupied::{base_nodes_2d, base_nodes_3d, flag_blocks, mark_blocks, number_blocks};
use diffkern_sim::mpm::reorder::{invert_order, reorder_2d, reorder_3d, reorder_material};
use diffkern_sim::mpm::stencil::GridShape;

use crate::kernels::random::Random;
use crate::kernels::{Kernel, Size};

/// The table and the list of a grid of so many blocks that all have nodes.
pub(super) fn whole(blocks: usize) -> (Vec<u32>, Vec<u32>) {
    let list: Vec<u32> = (0..blocks as u32).collect();
    (list.iter().map(|b| 64 * b).chain([NOWHERE]).collect(), list)
}

/// A grid with as many nodes along each axis, the first at the origin.
pub(super) fn cube<F: Float>(inv_dx: F, side: u32) -> GridShape<F> {
    GridShape { origin: Vec3::zero(), inv_dx, nx: side, ny: side, nz: side }
}

/// A body in a grid of `SIDE`^3 nodes that it fills an eighth of.
struct Body {
    particles: usize,
    blocks: usize,
    plane: Array<Vec2<f32>>,
    space: Array<Vec3<f32>>,
    bases: Array<u32>,
    nodes: Array<u32>,
    marks: Array<u32>,
    counts: Array<u32>,
    flags: Array<u32>,
    flagged: Array<u32>,
    before: Array<u32>,
    table: Array<u32>,
    list: Array<u32>,
    order: Array<u32>,
    inverse: Array<u32>,
}

const SIDE: u32 = 64;

fn body(d: &Device) -> Result<Body> {
    let (n, blocks) = (32_768, (SIDE as usize / 4).pow(3));
    let mut r = Random(71);
    let space = r.array(d, n, |r| r.vec3(0.25, 0.75))?;
    let bases = d.zeros(n)?;
    base_nodes_3d(n, &space, &bases, cube(SIDE as f32, SIDE))?;
    let (marks, flags) = (d.zeros(blocks)?, d.zeros(blocks + 1)?);
    mark_blocks(n, &bases, &marks)?;
    flag_blocks(blocks + 1, &marks, &flags, SIDE / 4, SIDE / 4)?;
    let before = diffkern::ops::exclusive_sum_u32(&flags)?;
    let count = flags.to_vec()?.into_iter().sum::<u32>() as usize;
    Ok(Body {
        particles: n,
        blocks,
        plane: r.array(d, n, |r| r.vec2(0.25, 0.75))?,
        space,
        nodes: d.zeros(n)?,
        counts: d.zeros(blocks)?,
        flagged: d.zeros(blocks + 1)?,
        table: d.zeros(blocks + 1)?,
        list: d.zeros(count)?,
        order: diffkern::ops::sort(&bases)?.order,
        inverse: d.zeros(n)?,
        bases,
        marks,
        flags,
        before,
    })
}

/// Particles, and a random order of them.
struct Particles<F: Float> {
    n: usize,
    order: Array<u32>,
    x2: [Array<Vec2<F>>; 4],
    m2: [Array<Mat2<F>>; 4],
    x3: [Array<Vec3<F>>; 4],
    m3: [Array<Mat3<F>>; 4],
    packed: [Array<Vec4<F>>; 2],
}

fn particles<F: Float>(d: &Device, size: Size) -> Result<Particles<F>> {
    let n = size.pick(32_768, 7);
    let mut r = Random(81);
    let mut order: Vec<u32> = (0..n as u32).collect();
    (1..n).rev().for_each(|k| order.swap(k, r.between::<f64>(0.0, (k + 1) as f64) as usize));
    Ok(Particles {
        n,
        order: d.array(&order)?,
        x2: [r.array(d, n, |r| r.vec2(-1.0, 1.0))?, r.array(d, n, |r| r.vec2(-1.0, 1.0))?, d.zeros(n)?, d.zeros(n)?],
        m2: [r.array(d, n, |r| r.mat2(1.0))?, r.array(d, n, |r| r.mat2(1.0))?, d.zeros(n)?, d.zeros(n)?],
        x3: [r.array(d, n, |r| r.vec3(-1.0, 1.0))?, r.array(d, n, |r| r.vec3(-1.0, 1.0))?, d.zeros(n)?, d.zeros(n)?],
        m3: [r.array(d, n, |r| r.mat3(1.0))?, r.array(d, n, |r| r.mat3(1.0))?, d.zeros(n)?, d.zeros(n)?],
        packed: [
            r.array(d, n, |r| Vec4::new(r.between(1.0, 2.0), r.between(1.0, 2.0), r.between(0.0, 0.1), F::one()))?,
            d.zeros(n)?,
        ],
    })
}

pub fn kernels() -> Vec<Kernel> {
    vec![
        integers!(base_nodes_2d: body => |b| "particles" b.particles, (
            b.particles, &b.plane, &b.nodes, cube(SIDE as f32, SIDE),
        )),
        integers!(base_nodes_3d: body => |b| "particles" b.particles, (
            b.particles, &b.space, &b.nodes, cube(SIDE as f32, SIDE),
        )),
        integers!(mark_blocks: body => |b| "particles" b.particles, (b.particles, &b.bases, &b.counts)),
        integers!(flag_blocks: body => |b| "blocks" b.blocks, (
            b.blocks + 1, &b.marks, &b.flagged, SIDE / 4, SIDE / 4,
        )),
        integers!(number_blocks: body => |b| "blocks" b.blocks, (
            b.blocks + 1, &b.flags, &b.before, &b.table, &b.list,
        )),
        integers!(invert_order: body => |b| "particles" b.particles, (b.particles, &b.order, &b.inverse)),
        kernel!(reorder_2d: particles => |p| "particles" p.n, (
            p.n, &p.x2[0], &p.x2[1], &p.m2[0], &p.m2[1], &p.order, &p.x2[2], &p.x2[3], &p.m2[2], &p.m2[3],
        ), writes [
            p.x2[2] => Vec2::new(1.0, 1.0), p.x2[3] => Vec2::new(1.0, 1.0), p.m2[2] => Mat2::identity(),
            p.m2[3] => Mat2::identity()
        ]),
        kernel!(reorder_3d: particles => |p| "particles" p.n, (
            p.n, &p.x3[0], &p.x3[1], &p.m3[0], &p.m3[1], &p.order, &p.x3[2], &p.x3[3], &p.m3[2], &p.m3[3],
        ), writes [
            p.x3[2] => Vec3::new(1.0, 1.0, 1.0), p.x3[3] => Vec3::new(1.0, 1.0, 1.0), p.m3[2] => Mat3::identity(),
            p.m3[3] => Mat3::identity()
        ]),
        kernel!(reorder_material: particles => |p| "particles" p.n, (
            p.n, &p.packed[0], &p.order, &p.packed[1],
        ), writes [p.packed[1] => Vec4::new(1.0, 1.0, 1.0, 1.0)]),
    ]
}
