//! Every kernel at random interior points: its gradient by the dot-product identity and finite differences, and the same
//! values, gradient and tangent on every device as on the CPU.

mod common;

use common::{Random, check, shuffled};
use diffkern::prelude::*;
use diffkern_sim::collision::sdf_grid::grid_gaps;
use diffkern_sim::collision::{Capsule, Cuboid, HalfSpace, Pose, Shape, Sphere, Torus, move_poses, shape_gaps};
use diffkern_sim::contact::implicit::kernels::{Slide, barrier_energies, barrier_forces, carried_along};
use diffkern_sim::contact::kernels::{Touch, contact_force, friction_force, pack_contacts, project_velocity};
use diffkern_sim::contact::{Barrier, ContactModel, Hertz, HuntCrossley, KelvinVoigt, Layer, Penalty, SmoothPenalty};
use diffkern_sim::diffsim::kernels::{
    GroundForce, damped_velocity, ground_energies, ground_friction, ground_push, held_positions, implicit_residual,
    lame_parameters, nearest, square_differences, square_distances, vertex_energies,
};
use diffkern_sim::fem::tets::curvature::{Modes, elastic_blocks, elastic_products, implicit_blocks, implicit_product};
use diffkern_sim::fem::tets::kernels::{
    elastic_energies, elastic_forces, euler_residual, held_ahead, inertial_energies, lump_mass, mean_velocity,
    midpoint_end, rest_shape,
};
use diffkern_sim::material::{
    FixedCorotated, Material, NeoHookean, QuadraticNeoHookean, StVenantKirchhoff, StableNeoHookean,
};
use diffkern_sim::mesh::interpolate_3d;
use diffkern_sim::mpm::g2p::{grid_to_particles_2d, grid_to_particles_3d};
use diffkern_sim::mpm::grid_update::{NodeStep, update_grid_2d, update_grid_3d};
use diffkern_sim::mpm::lagrangian::gather::{gather_moved_2d, gather_moved_3d};
use diffkern_sim::mpm::lagrangian::nodes::{
    Kick, displaced_2d, displaced_3d, kick_nodes_2d, kick_nodes_3d, kinetic_energy_2d, kinetic_energy_3d,
    node_velocity_2d, node_velocity_3d, scaled_2d, scaled_3d, sharpen_2d, sharpen_3d,
};
use diffkern_sim::mpm::lagrangian::particles::{
    deformed_2d, deformed_3d, penalty_push_2d, penalty_push_3d, shifted_2d, shifted_3d, stress_slope_2d,
    stress_slope_3d,
};
use diffkern_sim::mpm::lagrangian::scatter::{scatter_affine_2d, scatter_affine_3d};
use diffkern_sim::mpm::obstacle::{particle_masses, pushed};
use diffkern_sim::mpm::p2g::{ParticleStep, particles_to_grid_2d, particles_to_grid_3d};
use diffkern_sim::mpm::pack::{pack_half_spaces, pack_material};
use diffkern_sim::mpm::reorder::{reorder_2d, reorder_3d, reorder_material};
use diffkern_sim::mpm::stencil::GridShape;
use diffkern_sim::mpm::{square_distance_2d, square_distance_3d};
use diffkern_sim::springs::kernels::spring_forces;
use diffkern_sim::vertices::kernels::{accelerate, drift, fall};

const DX: f64 = 0.1;
const DT: f64 = 1e-3;
const NODES: u32 = 12;

/// Material as packed: stiffnesses, viscosity, mass.
fn packed(r: &mut Random, n: usize) -> Vec<Vec4<f64>> {
    r.many(n, |r| Vec4::new(r.between(1.0, 2.0), r.between(1.0, 2.0), r.between(0.0, 0.1), r.between(0.5, 1.0)))
}

/// A floor that acts on particles up to the height of 0.55 and one that none touches, with friction.
fn planes() -> [Vec4<f64>; 4] {
    [
        Vec4::new(0.0, 1.0, 0.0, 0.55),
        Vec4::new(30.0, 1e-2, 0.3, 0.0),
        Vec4::new(1.0, 0.0, 0.0, -9.0),
        Vec4::new(30.0, 1e-2, 0.2, 0.0),
    ]
}

/// The grid of the particles; in the plane without z.
const GRID: GridShape<f64> =
    GridShape { origin: Vec3::from_array([0.01, 0.02, 0.0]), inv_dx: 1.0 / DX, nx: NODES, ny: NODES, nz: NODES };
const STEP: ParticleStep<f64> = ParticleStep { grid: GRID, dt: DT, touching: 3, touching_end: 2 };
const NODE_STEP: NodeStep<f64> = NodeStep { dt: DT, cutoff: 0.6, plane_count: 4 };

fn particles_to_grid_in_plane<M: Material>(seed: u64) -> Result<()> {
    let dev = Device::cpu();
    let mut r = Random(seed);
    let n = 37;
    let x = dev.array(&r.many(n, |r| r.vec2(0.32, 0.95)))?;
    let v = dev.array(&r.many(n, |r| r.vec2(-1.0, 1.0)))?;
    let c = dev.array(&r.many(n, |r| r.mat2(2.0)))?;
    let f = dev.array(&r.many(n, |r| Mat2::identity() + r.mat2(0.3)))?;
    let material = dev.array(&packed(&mut r, n))?;
    let planes = dev.array(&planes())?;
    let table = dev.array(&shuffled(&mut r, 4).0)?;
    let (f_next, grid) = (dev.zeros(n)?, dev.zeros(4 * 64)?);
    check!(particles_to_grid_2d::<M>, n, &x, &v, &c, &f, &material, &planes, &table, &f_next, &grid, STEP);
    Ok(())
}

#[test]
fn particles_to_grid_plane() -> Result<()> {
    particles_to_grid_in_plane::<NeoHookean>(11)?;
    particles_to_grid_in_plane::<FixedCorotated>(12)?;
    particles_to_grid_in_plane::<StableNeoHookean>(13)
}

fn particles_to_grid_in_space<M: Material>(seed: u64) -> Result<()> {
    let dev = Device::cpu();
    let mut r = Random(seed);
    let n = 37;
    let x = dev.array(&r.many(n, |r| r.vec3(0.22, 0.65)))?;
    let v = dev.array(&r.many(n, |r| r.vec3(-1.0, 1.0)))?;
    let c = dev.array(&r.many(n, |r| r.mat3(2.0)))?;
    let f = dev.array(&r.many(n, |r| Mat3::identity() + r.mat3(0.25)))?;
    let material = dev.array(&packed(&mut r, n))?;
    let planes = dev.array(&planes())?;
    let table = dev.array(&shuffled(&mut r, 27).0)?;
    let (f_next, grid) = (dev.zeros(n)?, dev.zeros(27 * 64)?);
    check!(particles_to_grid_3d::<M>, n, &x, &v, &c, &f, &material, &planes, &table, &f_next, &grid, STEP);
    Ok(())
}

#[test]
fn particles_to_grid_space() -> Result<()> {
    particles_to_grid_in_space::<NeoHookean>(21)?;
    particles_to_grid_in_space::<FixedCorotated>(22)?;
    particles_to_grid_in_space::<StableNeoHookean>(23)
}

#[test]
fn grid_update() -> Result<()> {
    let dev = Device::cpu();
    let mut r = Random(31);
    let n = 16;
    // Every subset of four half-spaces: sticky, slip, and two separating ones.
    let masks = dev.array(&(0..64 + n as u32).map(|i| i % 64).collect::<Vec<_>>())?;
    let list = dev.array(&[1u32])?;
    let kinds = dev.array(&[0u32, 1, 2, 2])?;
    let unit = 0.5f64.sqrt();
    let normals = [[1.0, 0.0], [unit, unit], [0.0, 1.0], [-unit, unit]];
    let plane =
        |(k, n): (usize, &[f64; 2])| [Vec4::new(n[0], n[1], 0.0, 0.1), Vec4::new(0.0, 0.0, 0.1 * k as f64, 0.0)];
    let planes = dev.array(&normals.iter().enumerate().flat_map(plane).collect::<Vec<_>>())?;
    let damping = dev.array(&[3.0])?;
    let nodes = r.many(n, |r| Vec3::new(r.between(-2.0, 2.0), r.between(-2.0, 2.0), r.between(0.5, 1.5)));
    let (nodes, out) = (dev.array(&nodes)?, dev.zeros(n)?);
    let gravity = dev.array(&[Vec2::new(0.5, -9.8)])?;
    check!(update_grid_2d, n, &nodes, &masks, &list, &planes, &kinds, &gravity, &damping, &out, NODE_STEP);

    let nodes =
        r.many(n, |r| Vec4::new(r.between(-2.0, 2.0), r.between(-2.0, 2.0), r.between(-2.0, 2.0), r.between(0.5, 1.5)));
    let (nodes, out) = (dev.array(&nodes)?, dev.zeros(n)?);
    let gravity = dev.array(&[Vec3::new(0.5, -9.8, 0.1)])?;
    check!(update_grid_3d, n, &nodes, &masks, &list, &planes, &kinds, &gravity, &damping, &out, NODE_STEP);
    Ok(())
}

#[test]
fn grid_to_particles() -> Result<()> {
    let dev = Device::cpu();
    let mut r = Random(41);
    let n = 37;
    let x = dev.array(&r.many(n, |r| r.vec2(0.2, 0.95)))?;
    let table = dev.array(&shuffled(&mut r, 4).0)?;
    let u = dev.array(&r.many(4 * 64, |r| r.vec2(-1.0, 1.0)))?;
    let (x1, v1, c1) = (dev.zeros(n)?, dev.zeros(n)?, dev.zeros(n)?);
    check!(grid_to_particles_2d, n, &x, &u, &table, &x1, &v1, &c1, GRID, DT);

    let x = dev.array(&r.many(n, |r| r.vec3(0.2, 0.65)))?;
    let table = dev.array(&shuffled(&mut r, 27).0)?;
    let u = dev.array(&r.many(27 * 64, |r| r.vec3(-1.0, 1.0)))?;
    let (x1, v1, c1) = (dev.zeros(n)?, dev.zeros(n)?, dev.zeros(n)?);
    check!(grid_to_particles_3d, n, &x, &u, &table, &x1, &v1, &c1, GRID, DT);
    Ok(())
}

/// A substep, long beside what particles move in it, so that rates are of the size of the rest.
const PHASE: ParticleStep<f64> = ParticleStep { dt: 0.1, ..STEP };
const KICK: Kick<f64> = Kick { dt: 0.1, cutoff: 0.6, rim: 1e-7, plane_count: 4, touching: 0b100, clamps: 0b1000 };

fn stress_slopes<M: Material>(seed: u64) -> Result<()> {
    let (dev, n, mut r) = (Device::cpu(), 37, Random(seed));
    let material = dev.array(&packed(&mut r, n))?;
    let [h, before] = [0.2, 0.2].map(|size| dev.array(&r.many(n, |r| r.mat2(size))));
    let f = dev.array(&r.many(n, |r| Mat2::identity() + r.mat2(0.2)))?;
    let (h, before) = (h?, before?);
    check!(stress_slope_2d::<M>, n, &h, &before, &f, &material, &dev.zeros(n)?, PHASE, 150.0);
    let [h, before] = [0.15, 0.15].map(|size| dev.array(&r.many(n, |r| r.mat3(size))));
    let f = dev.array(&r.many(n, |r| Mat3::identity() + r.mat3(0.15)))?;
    let (h, before) = (h?, before?);
    check!(stress_slope_3d::<M>, n, &h, &before, &f, &material, &dev.zeros(n)?, PHASE, 150.0);
    Ok(())
}

#[test]
fn stresses_of_phases() -> Result<()> {
    stress_slopes::<NeoHookean>(161)?;
    stress_slopes::<FixedCorotated>(162)?;
    stress_slopes::<StableNeoHookean>(163)
}

/// What bulk viscosity adds, by the formula: `4 Q max(1 - J / 0.9, 0)^2 min(J', 0)^2 (I + H)^-T`, whatever the mass and the grid.
#[test]
fn phases_resist_compression() -> Result<()> {
    let (dev, n, mut r) = (Device::cpu(), 37, Random(164));
    let material = dev.array(&packed(&mut r, n))?;
    let moved = r.many(n, |r| r.mat3(0.15) - Mat3::identity() * 0.1);
    let before = r.many(n, |r| r.mat3(0.15));
    let f = r.many(n, |r| Mat3::identity() + r.mat3(0.15));
    let slopes = |bulk: f64| -> Result<Vec<Mat3<f64>>> {
        let [h, before, f] = [&moved, &before, &f].map(|all| dev.array(all));
        let slope = dev.zeros(n)?;
        stress_slope_3d::<_, NeoHookean>(n, &h?, &before?, &f?, &material, &slope, PHASE, bulk)?;
        slope.to_vec()
    };
    let (with, without, mut felt) = (slopes(1.5)?, slopes(0.0)?, 0);
    for (k, (with, without)) in with.iter().zip(&without).enumerate() {
        let stretched = Mat3::identity() + moved[k];
        let j = (stretched * f[k]).determinant();
        let rate = ((moved[k] - before[k]) * stretched.inverse()).trace() / PHASE.dt;
        let resists = (1.0 - j / 0.9).max(0.0) * (j * rate).min(0.0);
        let expected = stretched.inverse().transpose() * (4.0 * 1.5 * resists * resists);
        let apart = *with - *without - expected;
        assert!(apart.ddot(apart).sqrt() < 1e-10 * (1.0 + without.ddot(*without).sqrt()), "{k}: {apart:?}");
        felt += usize::from(resists < -0.1);
    }
    assert!(felt > 5, "{felt}");
    Ok(())
}

/// The kernels of a phase in one dimension: vectors and matrices of it, nodes with a mass, blocks, and the kernels by what they do.
macro_rules! phases {
    ($vector:ident, $matrix:ident, $mat:ident, $node:expr, $blocks:literal, $scatter:ident, $gather:ident, $push:ident,
     $shifted:ident, $deformed:ident, $velocity:ident, $sharpen:ident, $scaled:ident, $displaced:ident, $kick:ident, $energy:ident) => {{
        let (dev, n, mut r) = (Device::cpu(), 37, Random(171));
        let x = dev.array(&r.many(n, |r| r.$vector(0.22, 0.65)))?;
        let [a, b, c] = [0.3, 0.2, 0.1].map(|size| dev.array(&r.many(n, |r| r.$vector(-size, size))));
        let [h, l] = [0.2, 2.0].map(|size| dev.array(&r.many(n, |r| r.$mat(size))));
        let (a, b, c, h, l) = (a?, b?, c?, h?, l?);
        let material = dev.array(&packed(&mut r, n))?;
        let table = dev.array(&shuffled(&mut r, $blocks).0)?;
        let nodes = $blocks * 64;
        check!($scatter, n, &x, &a, &l, &material, &table, &dev.zeros(nodes)?, GRID);
        let [u, d] = [1.0, 0.02].map(|size| dev.array(&r.many(nodes, |r| r.$vector(-size, size))));
        let (u, d) = (u?, d?);
        check!($gather, n, &x, &u, &d, &c, &h, &table, &dev.zeros(n)?, &dev.zeros(n)?, GRID);
        let wider = dev.array(&Random(172).many(n, |r| r.between(-0.1, 0.1)))?;
        check!($push, n, &x, &b, &c, &material, &dev.array(&planes())?, &wider, &dev.zeros(n)?, PHASE);
        check!($shifted, n, &x, &b, &c, &dev.zeros(n)?, &dev.zeros(n)?, 0.1);
        let f = dev.array(&r.many(n, |r| $matrix::identity() + r.$mat(0.2)))?;
        check!($deformed, n, &h, &l, &f, &dev.zeros(n)?, &dev.zeros(n)?);

        // Some nodes have less mass than the cutoff.
        let few = 24;
        let forces = dev.array(&r.many(few, $node))?;
        let [u, d, y] = [1.0, 0.5, 0.4].map(|size| dev.array(&r.many(few, |r| r.$vector(-size, size))));
        let (u, d, y) = (u?, d?, y?);
        check!($velocity, few, &forces, &dev.zeros(few)?, 0.6);
        check!($sharpen, few, &forces, &u, &d, &dev.zeros(few)?, &dev.zeros(few)?, 0.6);
        check!($scaled, few, &u, &dev.zeros(few)?, -0.3);
        check!($displaced, few, &d, &u, &dev.zeros(few)?, 0.3);
        check!($energy, few, &forces, &u, &dev.zeros(few)?);
        let unit = 0.5f64.sqrt();
        let normals = [[1.0, 0.0], [unit, unit], [0.0, 1.0], [-unit, unit]];
        let plane =
            |(k, n): (usize, &[f64; 2])| [Vec4::new(n[0], n[1], 0.0, 0.1), Vec4::new(0.0, 0.0, 0.1 * k as f64, 0.0)];
        let planes = dev.array(&normals.iter().enumerate().flat_map(plane).collect::<Vec<_>>())?;
        let kinds = dev.array(&[0u32, 1, 2, 2])?;
        let (gravity, damping) = (dev.array(&[r.$vector(-9.0, 9.0)])?, dev.array(&[3.0])?);
        let places = dev.array(&Random(173).many(few, |r| r.$vector(-0.4, 0.4)))?;
        check!($kick, few, &u, &forces, &y, &places, &planes, &kinds, &gravity, &damping, &dev.zeros(few)?, KICK);
    }};
}

#[test]
fn phases_in_the_plane() -> Result<()> {
    phases!(
        vec2,
        Mat2,
        mat2,
        |r: &mut Random| Vec3::new(r.between(-2.0, 2.0), r.between(-2.0, 2.0), r.between(0.5, 1.5)),
        4,
        scatter_affine_2d,
        gather_moved_2d,
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
    Ok(())
}

#[test]
fn phases_in_space() -> Result<()> {
    phases!(
        vec3,
        Mat3,
        mat3,
        |r: &mut Random| {
            Vec4::new(r.between(-2.0, 2.0), r.between(-2.0, 2.0), r.between(-2.0, 2.0), r.between(0.5, 1.5))
        },
        27,
        scatter_affine_3d,
        gather_moved_3d,
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
    Ok(())
}

#[test]
fn packing_distances_and_surfaces() -> Result<()> {
    let dev = Device::cpu();
    let mut r = Random(51);
    let n = 37;
    let each = |r: &mut Random| r.between(0.5, 2.0);
    let (mu, lambda) = (dev.array(&r.many(n, each))?, dev.array(&[1.3])?);
    let (eta, rho, volume) = (dev.array(&[0.2])?, dev.array(&r.many(n, each))?, dev.array(&r.many(n, each))?);
    check!(pack_material, n, &mu, &lambda, &eta, &rho, &volume, &dev.zeros(n)?);

    for (friction, stiffness) in [(vec![0.3], vec![1.7, 2.4]), (vec![0.3, 0.4], vec![0.6])] {
        let (friction, stiffness) = (dev.array(&friction)?, dev.array(&stiffness)?);
        check!(pack_half_spaces, 2usize, &dev.array(&planes())?, &friction, &stiffness, &dev.zeros(4)?);
    }

    let (x, t) = (dev.array(&r.many(n, |r| r.vec2(0.0, 1.0)))?, dev.array(&[Vec2::new(0.3, 0.2)])?);
    check!(square_distance_2d, n, &x, &t, &dev.zeros(n)?);
    let (x, t) = (dev.array(&r.many(n, |r| r.vec3(0.0, 1.0)))?, dev.array(&[Vec3::new(0.3, 0.2, 0.1)])?);
    check!(square_distance_3d, n, &x, &t, &dev.zeros(n)?);

    let index: Vec<u32> = (0..16).map(|k| (k * 5 % 6) as u32).collect();
    let (index, weight) = (dev.array(&index)?, dev.array(&r.many(16, each))?);
    check!(interpolate_3d, 2usize, &x, &index, &weight, &dev.zeros(2)?);
    Ok(())
}

#[test]
fn reordering() -> Result<()> {
    let dev = Device::cpu();
    let mut r = Random(61);
    let n = 37;
    let order = dev.array(&(0..n as u32).map(|i| i * 5 % n as u32).collect::<Vec<_>>())?;
    let x = dev.array(&r.many(n, |r| r.vec2(-1.0, 1.0)))?;
    let c = dev.array(&r.many(n, |r| r.mat2(2.0)))?;
    let (v, f) = (dev.array(&r.many(n, |r| r.vec2(-1.0, 1.0)))?, dev.array(&r.many(n, |r| r.mat2(2.0)))?);
    let (x1, v1, c1, f1) = (dev.zeros(n)?, dev.zeros(n)?, dev.zeros(n)?, dev.zeros(n)?);
    check!(reorder_2d, n, &x, &v, &c, &f, &order, &x1, &v1, &c1, &f1);

    let x = dev.array(&r.many(n, |r| r.vec3(-1.0, 1.0)))?;
    let c = dev.array(&r.many(n, |r| r.mat3(2.0)))?;
    let (v, f) = (dev.array(&r.many(n, |r| r.vec3(-1.0, 1.0)))?, dev.array(&r.many(n, |r| r.mat3(2.0)))?);
    let (x1, v1, c1, f1) = (dev.zeros(n)?, dev.zeros(n)?, dev.zeros(n)?, dev.zeros(n)?);
    check!(reorder_3d, n, &x, &v, &c, &f, &order, &x1, &v1, &c1, &f1);

    let material = dev.array(&packed(&mut r, n))?;
    check!(reorder_material, n, &material, &order, &dev.zeros(n)?);
    Ok(())
}

/// Two poses in motion, the second away from where the first is.
fn poses(r: &mut Random) -> Vec<Pose<f64>> {
    r.many(2, |r| Pose {
        centre: r.vec3(-0.2, 0.2),
        rotation: Quat::from_rotation_vector(r.vec3(0.3, 1.2)),
        velocity: r.vec3(-1.0, 1.0),
        spin: r.vec3(0.5, 2.0),
    })
}

fn gaps_of<S: Shape>(seed: u64) -> Result<()> {
    let (dev, n, mut r) = (Device::cpu(), 37, Random(seed));
    let x = dev.array(&r.many(n, |r| r.vec3(-1.0, 1.0)))?;
    let poses = dev.array(&poses(&mut r))?;
    let sizes = dev.array(&r.many(2, |r| r.vec3(0.2, 0.5)))?;
    let gap = dev.zeros(n)?;
    check!(shape_gaps::<S>, n, &x, &poses, &sizes, &gap, 1);
    Ok(())
}

#[test]
fn gaps() -> Result<()> {
    gaps_of::<HalfSpace>(101)?;
    gaps_of::<Sphere>(102)?;
    gaps_of::<Capsule>(103)?;
    gaps_of::<Cuboid>(104)?;
    // The first of these rings has no hole.
    for seed in [106, 107, 108] {
        gaps_of::<Torus>(seed)?;
    }
    let (dev, n, mut r) = (Device::cpu(), 37, Random(105));
    // Some of the points are beyond the samples.
    let x = dev.array(&r.many(n, |r| r.vec3(-1.0, 1.0)))?;
    let poses = dev.array(&poses(&mut r))?;
    let values = dev.array(&r.many(5 * 4 * 6, |r| r.between(-1.0, 1.0)))?;
    let grid = GridShape { origin: Vec3::new(-0.6, -0.5, -0.7), inv_dx: 4.0, nx: 5, ny: 4, nz: 6 };
    let gap = dev.zeros(n)?;
    check!(grid_gaps, n, &x, &poses, &values, &gap, grid, 1);
    let moved = dev.zeros(2)?;
    check!(move_poses, 2, &poses, &moved, 0.3);
    Ok(())
}

fn forces_of<L: ContactModel>(seed: u64, nearest: f64) -> Result<()> {
    let (dev, n, mut r) = (Device::cpu(), 37, Random(seed));
    let [x, v] = [-1.0, -2.0].map(|low| dev.array(&r.many(n, |r| r.vec3(low, 1.0))));
    let (x, v, mass) = (x?, v?, dev.array(&r.many(n, |r| r.between(0.5, 2.0)))?);
    let gap = r.many(n, |r| {
        let n = r.vec3(-1.0, 1.0).normalize();
        Vec4::new(n.x, n.y, n.z, r.between(nearest, nearest + 0.4))
    });
    let (gap, poses) = (dev.array(&gap)?, dev.array(&poses(&mut r))?);
    let laws =
        dev.array(&r.many(2, |r| {
            Vec4::new(r.between(3.0, 9.0), r.between(0.1, 0.3), r.between(0.3, 0.5), r.between(0.2, 0.6))
        }))?;
    let force = dev.zeros(n)?;
    let touch = Touch { collider: 1, dt: 0.1, slip: 0.2, rubs: 1 };
    let radius = dev.array(&r.many(n, |r| r.between(0.01, 0.05)))?;
    check!(contact_force::<L>, n, &x, &v, &mass, &gap, &poses, &laws, &radius, &force, touch);
    let one = dev.array(&[0.03])?;
    check!(contact_force::<L>, n, &x, &v, &mass, &gap, &poses, &laws, &one, &force, Touch { rubs: 0, ..touch });
    Ok(())
}

#[test]
fn contacts() -> Result<()> {
    forces_of::<Penalty>(111, -0.3)?;
    forces_of::<HuntCrossley>(112, -0.3)?;
    forces_of::<KelvinVoigt>(119, -0.3)?;
    forces_of::<Barrier>(113, 0.1)?;
    // Some are deeper than the width and some are not.
    for nearest in [-0.3, -0.6] {
        forces_of::<SmoothPenalty>(118, nearest)?;
        forces_of::<Layer>(120, nearest)?;
    }
    for seed in [115, 116, 117] {
        forces_of::<Hertz>(seed, -0.3)?;
    }
    let (dev, n, mut r) = (Device::cpu(), 37, Random(121));
    let [x, v, pushed] = [-1.0, -2.0, -0.5].map(|low| dev.array(&r.many(n, |r| r.vec3(low, 1.0))));
    let normals = r.many(n, |r| r.vec3(-1.0, 1.0).normalize());
    // Of a third of the vertices nothing pushes.
    let pushes = r.many(n, |r| r.between(-0.5, 1.0).max(0.0));
    let push: Vec<_> = normals.iter().zip(pushes).map(|(n, push)| *n * push).collect();
    let gap: Vec<_> = normals.iter().map(|n| Vec4::new(n.x, n.y, n.z, -0.1)).collect();
    let (x, v, pushed, push, gap) = (x?, v?, pushed?, dev.array(&push)?, dev.array(&gap)?);
    let laws = dev.array(&r.many(2, |r| Vec4::new(1.0, 0.0, 1.0, r.between(0.2, 0.9))))?;
    let (placed, force, touch) =
        (dev.array(&poses(&mut r))?, dev.zeros(n)?, Touch { collider: 1, dt: 0.1, slip: 0.2, rubs: 1 });
    check!(friction_force, n, &x, &v, &pushed, &push, &gap, &placed, &laws, &force, touch);
    let (dev, n, mut r) = (Device::cpu(), 37, Random(114));
    let [x, v] = [-1.0, -2.0].map(|low| dev.array(&r.many(n, |r| r.vec3(low, 1.0))));
    let gap = r.many(n, |r| {
        let n = r.vec3(-1.0, 1.0).normalize();
        Vec4::new(n.x, n.y, n.z, r.between(-0.3, 0.1))
    });
    let (x, v, gap, poses) = (x?, v?, dev.array(&gap)?, dev.array(&poses(&mut r))?);
    let laws = dev.array(&r.many(2, |r| Vec4::new(0.0, 0.0, 1.0, r.between(0.1, 0.3))))?;
    let held = dev.array(&(0..n as u32).map(|i| u32::from(i % 5 == 0)).collect::<Vec<_>>())?;
    for kind in 0..3 {
        let out = dev.zeros(n)?;
        check!(project_velocity, n, &x, &v, &gap, &poses, &laws, &held, &out, 1, kind);
    }
    let [a, b, c] = [1.0, 2.0, 3.0].map(|scale| dev.array(&r.many(2, |r| r.between(0.5, 1.0) * scale)));
    let (one, widths, packed) = (dev.array(&[0.7])?, dev.array(&[0.2, 0.4])?, dev.zeros(2)?);
    let (a, b, c) = (a?, b?, c?);
    check!(pack_contacts, 2, &a, &b, &c, &widths, &packed);
    check!(pack_contacts, 2, &one, &one, &one, &widths, &packed);
    Ok(())
}

/// A [`Layer`] does what one of a neo-Hookean material with `lambda = 2 mu` does that is squeezed and cannot go sideways, but for half of the depth in which it begins.
#[test]
fn a_layer_stiffens_as_matter_does() {
    let (thickness, mu) = (0.02, 0.5);
    let stiffness = 4.0 * mu / thickness;
    let q = Vec4::new(stiffness, 0.0, thickness, 0.0);
    for (squeezed, near) in [(0.1, 3e-3), (0.2, 1e-2), (0.3, 0.03), (0.4, 0.05), (0.5, 0.1)] {
        let j: f64 = 1.0 - squeezed;
        let expected = mu * (1.0 / j - j) - 2.0 * mu * j.ln() / j;
        let force = Layer::force(-squeezed * thickness, 0.0, q) + 0.05 * thickness * stiffness;
        assert!((force / expected - 1.0).abs() < near, "{squeezed}: {force}, not {expected}");
    }
}

#[test]
fn vertices_and_springs() -> Result<()> {
    let (dev, n, mut r) = (Device::cpu(), 23, Random(121));
    let [x, v, f] = [1.0, 2.0, 5.0].map(|size| dev.array(&r.many(n, |r| r.vec3(-size, size))));
    let (x, v, f) = (x?, v?, f?);
    let held = dev.array(&(0..n as u32).map(|i| u32::from(i % 5 == 0)).collect::<Vec<_>>())?;
    let (mass, gravity, damping) =
        (dev.array(&r.many(n, |r| r.between(0.5, 2.0)))?, dev.array(&[r.vec3(-9.0, 9.0)])?, dev.array(&[0.7])?);
    let out = dev.zeros(n)?;
    check!(accelerate, n, &v, &f, &mass, &held, &gravity, &damping, &out, 0.1);
    check!(drift, n, &x, &v, &out, 0.1);
    let speeds = dev.zeros(n)?;
    check!(fall, n, &x, &v, &gravity, &out, &speeds, 0.1);
    check!(pushed, n, &v, &f, &mass, &out, 0.1);
    let (material, masses) = (dev.array(&packed(&mut r, n))?, dev.zeros(n)?);
    check!(particle_masses, n, &material, &masses);
    let springs = 40;
    let ends: Vec<u32> = r
        .many(springs, |r| {
            let a = r.between(0.0, n as f64) as u32;
            [a, (a + 1 + r.between(0.0, n as f64 - 1.0) as u32) % n as u32]
        })
        .concat();
    let ends = dev.array(&ends)?;
    let [k, c, l, a] = [9.0, 0.5, 0.8, 0.2].map(|size| dev.array(&r.many(springs, |r| r.between(0.5, 1.0) * size)));
    let (k, c, l, a) = (k?, c?, l?, a?);
    check!(spring_forces, springs, &x, &v, &ends, &k, &c, &l, &a, &out);
    let one = dev.array(&[0.6])?;
    check!(spring_forces, springs, &x, &v, &ends, &one, &one, &one, &one, &out);
    Ok(())
}

fn elements_of<M: Material>(seed: u64) -> Result<()> {
    let (dev, elements, mut r) = (Device::cpu(), 11, Random(seed));
    let n = 4 * elements;
    // Two elements on the same corners: forces and masses of both add up.
    let tets: Vec<u32> = (0..elements as u32).flat_map(|e| [0, 1, 2, 3].map(|k| 4 * (e / 2) + k)).collect();
    let x: Vec<_> =
        (0..n).map(|i| Vec3::from_array([0, 1, 2].map(|a| f64::from(i % 4 == a + 1))) + r.vec3(-0.15, 0.15)).collect();
    let (x, tets) = (dev.array(&x)?, dev.array(&tets)?);
    let [mu, lambda, density] =
        [3.0, 5.0, 2.0].map(|size| dev.array(&r.many(elements, |r| r.between(0.5, 1.0) * size)));
    let (mu, lambda, density) = (mu?, lambda?, density?);
    let (inverse, q, mass, force) = (dev.zeros(elements)?, dev.zeros(elements)?, dev.zeros(n)?, dev.zeros(n)?);
    check!(rest_shape, elements, &x, &tets, &mu, &lambda, &density, &inverse, &q);
    let rest = dev.array(&r.many(elements, |r| Mat3::identity() + r.mat3(0.1)))?;
    let material = dev.array(&r.many(elements, |r| {
        Vec4::new(r.between(1.0, 2.0), r.between(1.0, 2.0), r.between(0.5, 1.0), r.between(0.1, 0.2))
    }))?;
    check!(lump_mass, elements, &tets, &material, &mass);
    check!(elastic_energies::<M>, elements, &x, &tets, &rest, &material, &dev.zeros(elements)?);
    check!(elastic_forces::<M>, elements, &x, &tets, &rest, &material, &force);
    Ok(())
}

#[test]
fn elements() -> Result<()> {
    elements_of::<NeoHookean>(131)?;
    elements_of::<FixedCorotated>(132)?;
    elements_of::<StableNeoHookean>(134)?;
    elements_of::<QuadraticNeoHookean>(135)?;
    elements_of::<StVenantKirchhoff>(136)?;
    let (dev, n, mut r) = (Device::cpu(), 23, Random(133));
    let [y, x, v, f] = [1.0, 2.0, 3.0, 4.0].map(|size| dev.array(&r.many(n, |r| r.vec3(-size, size))));
    let (y, x, v, f) = (y?, x?, v?, f?);
    let held = dev.array(&(0..n as u32).map(|i| u32::from(i % 5 == 0)).collect::<Vec<_>>())?;
    let (mass, gravity) = (dev.array(&r.many(n, |r| r.between(0.5, 2.0)))?, dev.array(&[r.vec3(-9.0, 9.0)])?);
    let out = dev.zeros(n)?;
    let damping = dev.array(&[0.7])?;
    check!(euler_residual, n, &y, &x, &v, &f, &mass, &held, &gravity, &damping, &out, 0.1);
    check!(mean_velocity, n, &y, &x, &out, 0.1);
    check!(held_ahead, n, &y, &x, &v, &held, &out, 0.1);
    check!(inertial_energies, n, &y, &x, &v, &mass, &held, &gravity, &damping, &dev.zeros(n)?, 0.1);
    check!(midpoint_end, n, &y, &x, &v, &held, &damping, &out, &dev.zeros(n)?, 0.1);
    Ok(())
}

#[test]
fn implicit_steps() -> Result<()> {
    let (dev, n, mut r) = (Device::cpu(), 23, Random(141));
    let [y, x] = [1.0, 2.0].map(|size| dev.array(&r.many(n, |r| r.vec3(-size, size))));
    let (y, x, out) = (y?, x?, dev.zeros(n)?);
    let held = dev.array(&(0..n as u32).map(|i| u32::from(i % 5 == 0)).collect::<Vec<_>>())?;
    let mut pose = || {
        let rotation = Quat::from_rotation_vector(r.vec3(-1.0, 1.0));
        let (centre, velocity, spin) = (r.vec3(-1.0, 1.0), r.vec3(-1.0, 1.0), r.vec3(-1.0, 1.0));
        dev.array(&[Pose { centre, rotation, velocity, spin }])
    };
    let (from, to) = (pose()?, pose()?);
    check!(carried_along, n, &x, &from, &to, &out, 0, 0.3);
    // Displacements below and beyond the one from which friction is full, held vertices below the surface.
    let carried = y.to_vec()?.into_iter().enumerate();
    let carried: Vec<_> = carried.map(|(i, y)| y + r.vec3(0.2, 0.5) * if i % 2 == 0 { 1.0 } else { 0.1 }).collect();
    let carried = dev.array(&carried)?;
    let mut gap = |low: f64| {
        let at = (0..n).map(|i| if i % 5 == 0 { -0.1 } else { r.between(low, 1.2) });
        let heights: Vec<f64> = at.collect();
        dev.array(&heights.into_iter().map(|h| Vec4::new(0.36, 0.48, 0.8, h)).collect::<Vec<_>>())
    };
    let (now, before) = (gap(0.1)?, gap(0.2)?);
    let laws = dev.array(&[Vec4::new(5.0, 0.0, 1.0, 0.4)])?;
    let slide = Slide { collider: 0, slip: 0.2 };
    check!(barrier_forces, n, &y, &carried, &now, &before, &laws, &held, &out, slide);
    check!(barrier_energies, n, &y, &carried, &now, &before, &laws, &held, &dev.zeros(n)?, slide);
    let (e, elements) = (5, dev.array(&(0..20).collect::<Vec<_>>())?);
    let d = dev.array(&r.many(4 * e, |r| r.vec3(-1.0, 1.0)))?;
    let near_one = |r: &mut Random, size: f64| Mat3::identity() + r.mat3(size);
    let rest = dev.array(&r.many(e, |r| near_one(r, 0.1)))?;
    let modes = dev.array(&r.many(e, |r| Modes {
        u: near_one(r, 0.2),
        v: near_one(r, 0.3),
        stretch: near_one(r, 0.4),
        flip: r.vec3(0.2, 1.0),
        twist: r.vec3(0.2, 1.0),
    }))?;
    check!(elastic_products, e, &d, &elements, &rest, &modes, &dev.zeros(4 * e)?);
    check!(elastic_blocks, e, &elements, &rest, &modes, &dev.zeros(4 * e)?);
    let [a, b] = [1.0, 2.0].map(|s| dev.array(&r.many(n, |r| r.mat3(s))));
    let (a, b, mass) = (a?, b?, dev.array(&r.many(n, |r| r.between(0.5, 2.0)))?);
    check!(implicit_product, n, &y, &x, &a, &mass, &held, &out, 0.1);
    check!(implicit_blocks, n, &a, &b, &mass, &held, &dev.zeros(n)?, 0.1);
    Ok(())
}

#[test]
fn of_the_facade() -> Result<()> {
    let (dev, n, mut r) = (Device::cpu(), 23, Random(151));
    let mut each = |size: f64| dev.array(&r.many(n, |r| r.between(0.5, 1.0) * size));
    let (young, poisson, mass) = (each(3.0)?, each(0.4)?, each(2.0)?);
    check!(lame_parameters, n, &young, &poisson, &dev.zeros(n)?, &dev.zeros(n)?);
    let one = dev.array(&[0.3])?;
    check!(lame_parameters, n, &young, &one, &dev.zeros(n)?, &dev.zeros(n)?);
    check!(lame_parameters, 1, &one, &one, &dev.zeros(1)?, &dev.zeros(1)?);

    // Some within the width of the ground, some above it, and fixed ones that are below.
    let fixed: Vec<u32> = (0..n as u32).map(|i| u32::from(i % 5 == 0)).collect();
    let mut height = |i: usize| if fixed[i] != 0 { -0.3 } else { r.between(0.2, 0.9) + (i % 2) as f64 };
    let heights: Vec<f64> = (0..n).map(&mut height).collect();
    let x: Vec<_> = heights.iter().map(|&y| Vec3::new(r.between(-1.0, 1.0), y, r.between(-1.0, 1.0))).collect();
    let (x, fixed) = (dev.array(&x)?, dev.array(&fixed)?);
    let [y, v, f] = [1.0, 2.0, 3.0].map(|size| dev.array(&r.many(n, |r| r.vec3(-size, size))));
    let (y, v, f, out) = (y?, v?, f?, dev.zeros(n)?);
    let ground = GroundForce { push: 3.0, width: 1.0, friction: 0.4, slip: 0.1 };
    check!(ground_push, n, &x, &fixed, &out, ground);
    check!(ground_friction, n, &x, &v, &mass, &fixed, &out, ground, 0.1);
    let (gravity, damping) = (dev.array(&[-9.0])?, dev.array(&[0.9])?);
    check!(damped_velocity, n, &v, &f, &mass, &fixed, &gravity, &damping, &out, 0.1);
    check!(held_positions, n, &y, &x, &fixed, &out);
    check!(implicit_residual, n, &y, &x, &v, &f, &mass, &fixed, &gravity, &damping, &out, 0.1);

    check!(vertex_energies, n, &x, &v, &mass, &gravity, &dev.zeros(n)?, &dev.zeros(n)?);
    check!(ground_energies, n, &x, &fixed, &dev.zeros(n)?, ground);

    let (b, index) = (dev.array(&r.many(7, |r| r.vec3(-1.0, 1.0)))?, dev.zeros(n)?);
    nearest(n, &x, &b, &index)?;
    check!(square_distances, n, &x, &b, &index, &dev.zeros(n)?);
    check!(square_differences, n, &x, &y, &dev.zeros(n)?);
    Ok(())
}
