//! Lagrangian phases of MPM: nodes that move with a block above a floor that pushes its lowest particles.

use diffkern::prelude::*;
use diffkern_sim::material::NeoHookean;
use diffkern_sim::mpm::lagrangian::gather::{gather_moved_2d, gather_moved_3d};
use diffkern_sim::mpm::lagrangian::nodes::{
    Kick, displaced_2d, displaced_3d, kick_nodes_2d, kick_nodes_3d, kinetic_energy_2d, kinetic_energy_3d,
    node_places_2d, node_places_3d, node_velocity_2d, node_velocity_3d, scaled_2d, scaled_3d, sharpen_2d, sharpen_3d,
};
use diffkern_sim::mpm::lagrangian::particles::{
    deformed_2d, deformed_3d, penalty_push_2d, penalty_push_3d, shifted_2d, shifted_3d, stress_slope_2d,
    stress_slope_3d,
};
use diffkern_sim::mpm::lagrangian::scatter::{scatter_affine_2d, scatter_affine_3d};
use diffkern_sim::mpm::p2g::ParticleStep;

use super::blocks::{cube, whole};
use crate::kernels::random::Random;
use crate::kernels::{Kernel, Size};

/// Arrays of a step; the grid starts at the origin.
struct Phase<F: Float, V: Element, M: Element, N: Element> {
    particles: usize,
    nodes: usize,
    side: u32,
    inv_dx: F,
    x: Array<V>,
    shift: Array<V>,
    before: Array<V>,
    h: Array<M>,
    slope: Array<M>,
    f: Array<M>,
    packed: Array<Vec4<F>>,
    planes: Array<Vec4<F>>,
    wider: Array<F>,
    kinds: Array<u32>,
    table: Array<u32>,
    list: Array<u32>,
    gravity: Array<V>,
    damping: Array<F>,
    forces: Array<N>,
    u: Array<V>,
    d: Array<V>,
    y: Array<V>,
    out_x: [Array<V>; 2],
    out_f: [Array<M>; 2],
    out_nodes: Array<N>,
    out_u: [Array<V>; 2],
    energy: Array<F>,
}

impl<F: Float, V: Element, M: Element, N: Element> Phase<F, V, M, N> {
    fn step(&self) -> ParticleStep<F> {
        let grid = cube(self.inv_dx, self.side);
        ParticleStep { grid, dt: F::from_f64(0.1), touching: 1, touching_end: 1 }
    }

    fn kick(&self) -> Kick<F> {
        let [dt, cutoff, rim] = [0.1, 1e-3, 1e-7].map(F::from_f64);
        Kick { dt, cutoff, rim, plane_count: 2, touching: 1, clamps: 0 }
    }
}

/// Inputs in one dimension: vectors, matrices and nodes of it, nodes of a block along an axis, and how a node is drawn.
macro_rules! inputs {
    ($name:ident, $axes:literal, $side:literal, $sizes:expr, $vector:ident, $draw:ident, $matrix:ident, $mat:ident,
     $homogeneous:ident, $node:expr) => {
        fn $name<F: Float>(d: &Device, size: Size) -> Result<Phase<F, $vector<F>, $matrix<F>, $homogeneous<F>>> {
            // Two particles a cell and axis, row by row.
            let (across, side): (usize, u32) = $sizes(size);
            let (n, blocks) = (across.pow($axes), (side as usize).div_ceil($side).pow($axes));
            let (nodes, dx) = (64 * blocks, 1.0 / f64::from(side));
            let mut r = Random(19);
            let mut at = Vec::new();
            for p in 0..n {
                let axis = |a: u32| (p / across.pow(a) % across) as f64;
                let jitter = r.$draw::<f64>(-0.3, 0.3).to_array();
                let mut place = jitter;
                place.iter_mut().enumerate().for_each(|(a, x)| {
                    *x = dx * (2.0 + (axis($axes - 1 - a as u32) + 0.5 + jitter[a]) * 0.5);
                });
                at.push($vector::from_array(place.map(F::from_f64)));
            }
            let floor = |offset: f64| Vec4::new(F::zero(), F::one(), F::zero(), F::from_f64(offset * dx));
            let law = Vec4::new(F::from_f64(30.0), F::from_f64(1e-2), F::zero(), F::zero());
            let (table, list) = whole(blocks);
            Ok(Phase {
                particles: n,
                nodes,
                side,
                inv_dx: F::from_f64(1.0 / dx),
                x: d.array(&at)?.requires_grad(),
                shift: r.array(d, n, |r| r.$draw(-0.02, 0.02))?,
                before: r.array(d, n, |r| r.$draw(-0.02, 0.02))?,
                h: r.array(d, n, |r| r.$mat(0.15))?,
                slope: r.array(d, n, |r| r.$mat(0.15))?,
                f: r.array(d, n, |r| $matrix::identity() + r.$mat(0.15))?,
                packed: r.array(d, n, |r| {
                    Vec4::new(r.between(1.0, 2.0), r.between(1.0, 2.0), r.between(0.0, 0.1), r.between(0.5, 1.0))
                })?,
                wider: r.array(d, n, |r| r.between(-0.1 * dx, 0.1 * dx))?,
                planes: d.array(&[floor(2.52), law, floor(2.0), law])?.requires_grad(),
                kinds: d.array(&[2, 2])?,
                table: d.array(&table)?,
                list: d.array(&list)?,
                gravity: r.array(d, 1, |r| r.$draw(-9.0, 9.0))?,
                damping: d.array(&[F::from_f64(3.0)])?.requires_grad(),
                forces: r.array(d, nodes, $node)?,
                u: r.array(d, nodes, |r| r.$draw(-1.0, 1.0))?,
                d: r.array(d, nodes, |r| r.$draw(-0.02, 0.02))?,
                y: r.array(d, nodes, |r| r.$draw(0.0, 1.0))?,
                out_x: [d.zeros(n)?, d.zeros(n)?],
                out_f: [d.zeros(n)?, d.zeros(n)?],
                out_nodes: d.zeros(nodes)?,
                out_u: [d.zeros(nodes)?, d.zeros(nodes)?],
                energy: d.zeros(nodes)?,
            })
        }
    };
}

inputs!(plane, 2, 8, |size: Size| size.pick((90, 128), (2, 8)), Vec2, vec2, Mat2, mat2, Vec3, |r| Vec3::new(
    r.between(-2.0, 2.0),
    r.between(-2.0, 2.0),
    r.between(0.5, 1.5)
));
inputs!(space, 3, 4, |size: Size| size.pick((32, 64), (2, 7)), Vec3, vec3, Mat3, mat3, Vec4, |r| Vec4::new(
    r.between(-2.0, 2.0),
    r.between(-2.0, 2.0),
    r.between(-2.0, 2.0),
    r.between(0.5, 1.5)
));

type Plane = Phase<f32, Vec2<f32>, Mat2<f32>, Vec3<f32>>;
type Space = Phase<f32, Vec3<f32>, Mat3<f32>, Vec4<f32>>;

/// The first of two dimensions' places.
fn places(d: &Device) -> Result<Plane> {
    plane(d, Size::Usual)
}

fn places_in_space(d: &Device) -> Result<Space> {
    space(d, Size::Usual)
}

macro_rules! cases {
    ($inputs:ident, $ones:expr, $identity:expr, $node_ones:expr, $scatter:ident, $gather:ident, $stress:ident, $push:ident,
     $shifted:ident, $deformed:ident, $velocity:ident, $sharpen:ident, $scaled:ident, $displaced:ident, $kick:ident, $energy:ident) => {
        vec![
            kernel!($scatter: $inputs => |p| "particles" p.particles, (
                p.particles, &p.x, &p.shift, &p.slope, &p.packed, &p.table, &p.out_nodes, cube(p.inv_dx, p.side),
            ), writes [p.out_nodes => $node_ones]),
            kernel!($gather: $inputs => |p| "particles" p.particles, (
                p.particles, &p.x, &p.u, &p.d, &p.shift, &p.h, &p.table, &p.out_x[0], &p.out_f[0], cube(p.inv_dx, p.side),
            ), writes [p.out_x[0] => $ones, p.out_f[0] => $identity]),
            kernel!($stress<NeoHookean>: $inputs => |p| "particles" p.particles, (
                p.particles, &p.h, &p.slope, &p.f, &p.packed, &p.out_f[0], p.step(), 1.5,
            ), writes [p.out_f[0] => $identity]),
            kernel!($push: $inputs => |p| "particles" p.particles, (
                p.particles, &p.x, &p.shift, &p.before, &p.packed, &p.planes, &p.wider, &p.out_x[0], p.step(),
            ), writes [p.out_x[0] => $ones]),
            kernel!($shifted: $inputs => |p| "particles" p.particles, (
                p.particles, &p.x, &p.shift, &p.before, &p.out_x[0], &p.out_x[1], 0.1,
            ), writes [p.out_x[0] => $ones, p.out_x[1] => $ones]),
            kernel!($deformed: $inputs => |p| "particles" p.particles, (
                p.particles, &p.h, &p.slope, &p.f, &p.out_f[0], &p.out_f[1],
            ), writes [p.out_f[0] => $identity, p.out_f[1] => $identity]),
            kernel!($velocity: $inputs => |p| "nodes" p.nodes, (
                p.nodes, &p.forces, &p.out_u[0], 1e-3,
            ), writes [p.out_u[0] => $ones]),
            kernel!($sharpen: $inputs => |p| "nodes" p.nodes, (
                p.nodes, &p.forces, &p.u, &p.d, &p.out_u[0], &p.out_u[1], 1e-3,
            ), writes [p.out_u[0] => $ones, p.out_u[1] => $ones]),
            kernel!($scaled: $inputs => |p| "nodes" p.nodes, (p.nodes, &p.u, &p.out_u[0], -0.1), writes [p.out_u[0] => $ones]),
            kernel!($displaced: $inputs => |p| "nodes" p.nodes, (
                p.nodes, &p.d, &p.u, &p.out_u[0], 0.1,
            ), writes [p.out_u[0] => $ones]),
            kernel!($kick: $inputs => |p| "nodes" p.nodes, (
                p.nodes, &p.u, &p.forces, &p.y, &p.y, &p.planes, &p.kinds, &p.gravity, &p.damping, &p.out_u[0], p.kick(),
            ), writes [p.out_u[0] => $ones]),
            kernel!($energy: $inputs => |p| "nodes" p.nodes, (
                p.nodes, &p.forces, &p.u, &p.energy,
            ), writes [p.energy => 1.0]),
        ]
    };
}

pub fn kernels() -> Vec<Kernel> {
    let plane: Vec<Kernel> = cases!(
        plane,
        Vec2::new(1.0, 1.0),
        Mat2::identity(),
        Vec3::new(1.0, 1.0, 1.0),
        scatter_affine_2d,
        gather_moved_2d,
        stress_slope_2d,
        penalty_push_2d,
        shifted_2d,
        deformed_2d,
        node_velocity_2d,
        sharpen_2d,
        scaled_2d,
        displaced_2d,
        kick_nodes_2d,
        kinetic_energy_2d
    );
    let space: Vec<Kernel> = cases!(
        space,
        Vec3::new(1.0, 1.0, 1.0),
        Mat3::identity(),
        Vec4::new(1.0, 1.0, 1.0, 1.0),
        scatter_affine_3d,
        gather_moved_3d,
        stress_slope_3d,
        penalty_push_3d,
        shifted_3d,
        deformed_3d,
        node_velocity_3d,
        sharpen_3d,
        scaled_3d,
        displaced_3d,
        kick_nodes_3d,
        kinetic_energy_3d
    );
    let integers = vec![
        integers!(node_places_2d: places => |p| "nodes" p.nodes, (p.nodes, &p.list, &p.out_u[0], cube(p.inv_dx, p.side))),
        integers!(node_places_3d: places_in_space => |p| "nodes" p.nodes, (p.nodes, &p.list, &p.out_u[0], cube(p.inv_dx, p.side))),
    ];
    [plane, space, integers].concat()
}
