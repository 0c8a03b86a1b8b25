//! Bodies cut from a lattice of splines: eight stress points a cell, control points between cells, points of a surface.

use diffkern::prelude::*;
use diffkern_sim::fem::activation::contract;
use diffkern_sim::fem::bulk::{pack_bulk, resist_compression};
use diffkern_sim::fem::lattice::kernels::{
    box_forces, box_gradients, carry, carry_pairs, forces_of_pairs, gradients, note_near, stress_forces, surface_forces,
};
use diffkern_sim::fem::lattice::loads::lump_loads;
use diffkern_sim::fem::lattice::mass::{
    box_inertia, inertia, kick, lump_cells, lumped_acceleration, next_term, pack_branch, pack_points, surface_mass,
};
use diffkern_sim::fem::relaxation::{relax, settle};
use diffkern_sim::fem::stress::{add_viscous_stress, stress};
use diffkern_sim::material::NeoHookean;

use crate::kernels::random::Random;
use crate::kernels::{Kernel, Size};

/// A cube of whole cells, and points all over it.
struct Lattice<F: Float> {
    cells: usize,
    nodes: usize,
    points: usize,
    surface: usize,
    x: Array<Vec3<F>>,
    v: Array<Vec3<F>>,
    rows: Array<u32>,
    ties: Array<u32>,
    at: Array<Vec3<F>>,
    deformation: Array<Mat3<F>>,
    rate: Array<Mat3<F>>,
    memory: Array<Mat3<F>>,
    branch: Array<Vec2<F>>,
    q: Array<Vec4<F>>,
    per_cell: Array<F>,
    point_volume: Array<F>,
    shape: Array<Vec4<F>>,
    second: Array<Mat3<F>>,
    lumped: Array<F>,
    gravity: Array<Vec3<F>>,
    damping: Array<F>,
    carrier: Array<u32>,
    place: Array<Vec3<F>>,
    traction: Array<Vec3<F>>,
    area: Array<F>,
    node_out: Array<Vec3<F>>,
    lumped_out: Array<F>,
    mass_out: Array<F>,
    point_out: [Array<Mat3<F>>; 2],
    branch_out: Array<Vec2<F>>,
    scalar_out: Array<F>,
    q_out: Array<Vec4<F>>,
    surface_out: Array<Vec3<F>>,
    near: Array<u32>,
    near_out: Array<u32>,
    surface_mass_out: Array<F>,
    spacing: Array<Vec3<F>>,
    dt: F,
}

fn lattice<F: Float>(d: &Device, size: Size) -> Result<Lattice<F>> {
    let n = size.pick(16, 1);
    let (side, mut r) = (n + 2, Random(91));
    let (cells, nodes) = (n * n * n, side * side * side);
    let (points, surface) = (8 * cells, size.pick(4096, 8));
    let first = |c: usize, k: usize| ((c / (n * n) + k / 3) * side + c / n % n + k % 3) * side + c % n;
    let rows: Vec<u32> = (0..9 * cells).map(|i| first(i / 9, i % 9) as u32).collect();
    // Pairs of the first control points are tied, the last is held.
    let tie = |i: usize| if i < nodes / 4 * 2 { i ^ 1 } else { i };
    let mut ties: Vec<u32> = (0..nodes).map(|i| tie(i) as u32).collect();
    ties[nodes - 1] = u32::MAX;
    let mut node = 0;
    let x: Vec<Vec3<F>> = (0..nodes)
        .map(|_| {
            let at = [node / (side * side), node / side % side, node % side].map(|k| F::from_f64(k as f64));
            node += 1;
            Vec3::from_array(at) + r.vec3(-0.05, 0.05)
        })
        .collect();
    let mut carrier = 0;
    let carriers: Vec<u32> = (0..surface)
        .map(|_| {
            carrier = (carrier + 7) % cells as u32;
            carrier
        })
        .collect();
    Ok(Lattice {
        cells,
        nodes,
        points,
        surface,
        x: d.array(&x)?.requires_grad(),
        v: r.array(d, nodes, |r| r.vec3(-1.0, 1.0))?,
        rows: d.array(&rows)?,
        ties: d.array(&ties)?,
        at: r.array(d, points, |r| r.vec3(0.1, 0.9))?,
        deformation: r.array(d, points, |r| Mat3::identity() + r.mat3(0.1))?,
        rate: r.array(d, points, |r| r.mat3(1.0))?,
        memory: r.array(d, points, |r| Mat3::identity() + r.mat3(0.1))?,
        branch: r.array(d, points, |r| Vec2::new(r.between(0.5, 1.0), r.between(20.0, 50.0)))?,
        q: r.array(d, points, |r| Vec4::from_array([(); 4].map(|()| r.between(0.5, 1.0))))?,
        per_cell: r.array(d, cells, |r| r.between(0.5, 1.0))?,
        point_volume: r.array(d, points, |r| r.between(0.5, 1.0))?,
        shape: r.array(d, 27 * cells, |r| Vec4::from_array([(); 4].map(|()| r.between(-0.1, 0.2))))?,
        second: r.array(d, cells, |r| Mat3::identity() + r.mat3(0.1))?,
        lumped: r.array(d, nodes, |r| r.between(0.5, 1.0))?,
        gravity: r.array(d, 1, |r| r.vec3(-9.0, 9.0))?,
        damping: r.array(d, 1, |r| r.between(0.5, 1.0))?,
        carrier: d.array(&carriers)?,
        place: r.array(d, surface, |r| r.vec3(0.1, 0.9))?,
        traction: r.array(d, surface, |r| r.vec3(-1.0, 1.0))?,
        area: r.array(d, surface, |r| r.between(0.5, 1.0))?,
        node_out: d.zeros(nodes)?,
        lumped_out: d.zeros(nodes)?,
        mass_out: d.zeros(cells)?,
        point_out: [d.zeros(points)?, d.zeros(points)?],
        branch_out: d.zeros(points)?,
        scalar_out: d.zeros(points)?,
        q_out: d.zeros(points)?,
        surface_out: d.zeros(surface)?,
        // A quarter of the pairs is not near.
        near: d.array(&(0..surface).map(|k| u32::from(k % 8 > 1)).collect::<Vec<_>>())?,
        near_out: d.zeros(surface)?,
        surface_mass_out: d.zeros(surface)?,
        spacing: d.array(&[r.vec3(0.8, 1.2)])?,
        dt: F::from_f64(0.01),
    })
}

/// For those without a derivative.
fn usual(d: &Device) -> Result<Lattice<f32>> {
    lattice(d, Size::Usual)
}

pub fn kernels() -> Vec<Kernel> {
    vec![
        kernel!(gradients: lattice => |i| "cells" i.cells, (i.cells, &i.x, &i.rows, &i.at, &i.spacing, &i.point_out[0]),
            writes [i.point_out[0] => Mat3::identity()]),
        kernel!(box_gradients: lattice => |i| "cells" i.cells, (i.cells, &i.x, &i.rows, &i.at, &i.spacing, &i.point_out[0]),
            writes [i.point_out[0] => Mat3::identity()]),
        kernel!(stress<NeoHookean>: lattice => |i| "points" i.points, (i.points, &i.deformation, &i.q, &i.point_out[0]),
            writes [i.point_out[0] => Mat3::identity()]),
        kernel!(add_viscous_stress: lattice => |i| "points" i.points,
            (i.points, &i.deformation, &i.rate, &i.q, &i.point_out[0]), writes [i.point_out[0] => Mat3::identity()]),
        kernel!(settle: lattice => |i| "points" i.points, (i.points, &i.deformation, &i.point_out[0]),
            writes [i.point_out[0] => Mat3::identity()]),
        kernel!(relax: lattice => |i| "points" i.points,
            (i.points, &i.deformation, &i.memory, &i.branch, &i.point_out[0], &i.point_out[1], i.dt),
            writes [i.point_out[0] => Mat3::identity(), i.point_out[1] => Mat3::identity()]),
        kernel!(contract: lattice => |i| "points" i.points,
            (i.points, &i.deformation, &i.q, &i.spacing, &i.per_cell, &i.point_out[0]),
            writes [i.point_out[0] => Mat3::identity()]),
        kernel!(resist_compression: lattice => |i| "points" i.points,
            (i.points, &i.deformation, &i.rate, &i.point_volume, &i.point_out[0]),
            writes [i.point_out[0] => Mat3::identity()]),
        kernel!(pack_bulk: lattice => |i| "points" i.points,
            (i.points, &i.q, &i.per_cell, &i.per_cell, &i.scalar_out), writes [i.scalar_out => 1.0]),
        kernel!(stress_forces: lattice => |i| "cells" i.cells,
            (i.cells, &i.deformation, &i.rows, &i.at, &i.spacing, &i.node_out), writes [i.node_out => Vec3::splat(1.0)]),
        kernel!(box_forces: lattice => |i| "cells" i.cells,
            (i.cells, &i.deformation, &i.rows, &i.at, &i.spacing, &i.node_out), writes [i.node_out => Vec3::splat(1.0)]),
        kernel!(carry: lattice => |i| "points" i.surface,
            (i.surface, &i.x, &i.rows, &i.carrier, &i.place, &i.surface_out),
            writes [i.surface_out => Vec3::splat(1.0)]),
        kernel!(carry_pairs: lattice => |i| "pairs" i.surface / 2,
            (i.surface / 2, &i.x, &i.rows, &i.carrier, &i.place, &i.surface_out),
            writes [i.surface_out => Vec3::splat(1.0)]),
        integers!(note_near: usual => |i| "points" i.surface,
            (i.surface, &i.q, &i.area, &i.near, &i.near_out, 0.1)),
        kernel!(surface_forces: lattice => |i| "points" i.surface,
            (i.surface, &i.traction, &i.area, &i.rows, &i.carrier, &i.place, &i.node_out),
            writes [i.node_out => Vec3::splat(1.0)]),
        kernel!(forces_of_pairs: lattice => |i| "pairs" i.surface / 2,
            (i.surface / 2, &i.near, &i.traction, &i.area, &i.rows, &i.carrier, &i.place, &i.node_out),
            writes [i.node_out => Vec3::splat(1.0)]),
        kernel!(pack_points: lattice => |i| "points" i.points,
            (i.points, &i.per_cell, &i.per_cell, &i.per_cell, &i.point_volume, &i.q_out),
            writes [i.q_out => Vec4::splat(1.0)]),
        kernel!(pack_branch: lattice => |i| "points" i.points,
            (i.points, &i.q, &i.per_cell, &i.per_cell, &i.branch_out), writes [i.branch_out => Vec2::splat(1.0)]),
        kernel!(lump_cells: lattice => |i| "cells" i.cells,
            (i.cells, &i.per_cell, &i.per_cell, &i.rows, &i.shape, &i.mass_out, &i.lumped_out),
            writes [i.mass_out => 1.0, i.lumped_out => 1.0]),
        kernel!(lump_loads: lattice => |i| "points" i.surface,
            (i.surface, &i.area, &i.rows, &i.carrier, &i.place, &i.lumped_out), writes [i.lumped_out => 1.0]),
        kernel!(surface_mass: lattice => |i| "points" i.surface,
            (i.surface, &i.per_cell, &i.carrier, &i.per_cell, &i.surface_mass_out), writes [i.surface_mass_out => 1.0]),
        kernel!(lumped_acceleration: lattice => |i| "nodes" i.nodes,
            (i.nodes, &i.x, &i.lumped, &i.ties, &i.gravity, &i.node_out), writes [i.node_out => Vec3::splat(1.0)]),
        kernel!(inertia: lattice => |i| "cells" i.cells,
            (i.cells, &i.v, &i.rows, &i.shape, &i.second, &i.per_cell, &i.node_out),
            writes [i.node_out => Vec3::splat(1.0)]),
        kernel!(box_inertia: lattice => |i| "cells" i.cells,
            (i.cells, &i.v, &i.rows, &i.at, &i.second, &i.per_cell, &i.node_out),
            writes [i.node_out => Vec3::splat(1.0)]),
        kernel!(next_term: lattice => |i| "nodes" i.nodes,
            (i.nodes, &i.v, &i.x, &i.x, &i.lumped, &i.ties, &i.node_out), writes [i.node_out => Vec3::splat(1.0)]),
        kernel!(kick: lattice => |i| "nodes" i.nodes,
            (i.nodes, &i.v, &i.x, &i.x, &i.lumped, &i.ties, &i.damping, &i.gravity, &i.node_out, i.dt),
            writes [i.node_out => Vec3::splat(1.0)]),
    ]
}
