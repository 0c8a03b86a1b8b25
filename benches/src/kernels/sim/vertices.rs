//! Vertices: their motion, springs and elements between them, contact with a turning ball.

use diffkern::prelude::*;
use diffkern_sim::collision::sdf_grid::grid_gaps;
use diffkern_sim::collision::{Pose, Sphere, move_poses, shape_gaps};
use diffkern_sim::contact::HuntCrossley;
use diffkern_sim::contact::kernels::{Touch, contact_force, friction_force, pack_contacts, project_velocity};
use diffkern_sim::fem::tets::kernels::{elastic_forces, euler_residual, lump_mass, mean_velocity, rest_shape};
use diffkern_sim::material::NeoHookean;
use diffkern_sim::mpm::obstacle::{node_positions, particle_masses, pushed};
use diffkern_sim::mpm::stencil::GridShape;
use diffkern_sim::springs::kernels::spring_forces;
use diffkern_sim::springs::touching::{chosen, push_chosen, yield_to_force};
use diffkern_sim::vertices::kernels::{accelerate, drift, fall};

use crate::kernels::random::Random;
use crate::kernels::{Kernel, Size};

/// Nodes of the sampled distance along each axis.
const SAMPLES: u32 = 17;

/// Vertices about a ball of radius 1, with springs and elements.
struct Vertices<F: Float> {
    n: usize,
    springs: usize,
    elements: usize,
    x: Array<Vec3<F>>,
    y: Array<Vec3<F>>,
    v: Array<Vec3<F>>,
    force: Array<Vec3<F>>,
    mass: Array<F>,
    gravity: Array<Vec3<F>>,
    damping: Array<F>,
    held: Array<u32>,
    poses: Array<Pose<F>>,
    sizes: Array<Vec3<F>>,
    samples: Array<F>,
    gap: Array<Vec4<F>>,
    laws: Array<Vec4<F>>,
    one: Array<F>,
    ends: Array<u32>,
    tets: Array<u32>,
    rest: Array<Mat3<F>>,
    material: Array<Vec4<F>>,
    per_element: Array<F>,
    gap_out: Array<Vec4<F>>,
    out: Array<Vec3<F>>,
    out_2: Array<Vec3<F>>,
    number_out: Array<F>,
    poses_out: Array<Pose<F>>,
    laws_out: Array<Vec4<F>>,
    rest_out: Array<Mat3<F>>,
    material_out: Array<Vec4<F>>,
    dt: F,
}

fn vertices<F: Float>(d: &Device, size: Size) -> Result<Vertices<F>> {
    let (elements, mut r) = (size.pick(16_384, 4), Random(71));
    let n = 4 * elements;
    // Four corners of a cell for each element, out of place by a little.
    let corner = |i: usize| Vec3::from_array([0, 1, 2].map(|a| if i % 4 == a + 1 { F::one() } else { F::zero() }));
    let mut count = 0;
    let x: Vec<_> = (0..n).map(|i| corner(i) + r.vec3(-0.1, 0.1)).collect();
    let ends: Vec<u32> = (0..n as u32).flat_map(|i| [i, (i + 1 + i % 3) % n as u32]).collect();
    let gap: Vec<_> = (0..n)
        .map(|_| {
            count += 1;
            let a = F::from_f64(f64::from(count)).sin();
            Vec4::new(a, (F::one() - a * a).sqrt(), F::zero(), r.between(-0.3, -0.1))
        })
        .collect();
    let pose = Pose {
        centre: r.vec3(-0.1, 0.1),
        rotation: Quat::from_rotation_vector(r.vec3(0.3, 0.9)),
        velocity: r.vec3(-1.0, 1.0),
        spin: r.vec3(0.5, 1.0),
    };
    Ok(Vertices {
        n,
        springs: n,
        elements,
        y: r.array(d, n, |r| r.vec3(-1.0, 1.0))?,
        v: r.array(d, n, |r| r.vec3(-1.0, 1.0))?,
        force: r.array(d, n, |r| r.vec3(-1.0, 1.0))?,
        mass: r.array(d, n, |r| r.between(0.5, 2.0))?,
        gravity: r.array(d, 1, |r| r.vec3(-9.0, 9.0))?,
        damping: r.array(d, 1, |r| r.between(0.5, 1.0))?,
        held: d.array(&(0..n as u32).map(|i| u32::from(i % 5 == 0)).collect::<Vec<_>>())?,
        poses: d.array(&[pose])?.requires_grad(),
        sizes: d.array(&[Vec3::splat(F::one())])?.requires_grad(),
        samples: r.array(d, SAMPLES.pow(3) as usize, |r| r.between(-1.0, 1.0))?,
        gap: d.array(&gap)?.requires_grad(),
        laws: r.array(d, 1, |r| Vec4::new(r.between(5.0, 9.0), r.between(0.1, 0.2), F::one(), r.between(0.1, 0.3)))?,
        one: r.array(d, 1, |r| r.between(0.5, 1.0))?,
        ends: d.array(&ends)?,
        tets: d.array(&(0..n as u32).collect::<Vec<_>>())?,
        rest: r.array(d, elements, |r| Mat3::identity() + r.mat3(0.1))?,
        material: r.array(d, elements, |r| Vec4::from_array([(); 4].map(|()| r.between(0.5, 1.0))))?,
        per_element: r.array(d, elements, |r| r.between(0.5, 1.0))?,
        gap_out: d.zeros(n)?,
        out: d.zeros(n)?,
        out_2: d.zeros(n)?,
        number_out: d.zeros(n)?,
        poses_out: d.zeros(1)?,
        laws_out: d.zeros(1)?,
        rest_out: d.zeros(elements)?,
        material_out: d.zeros(elements)?,
        dt: F::from_f64(0.01),
        x: d.array(&x)?.requires_grad(),
    })
}

/// A grid of samples around the ball.
fn samples<F: Float>() -> GridShape<F> {
    let origin = Vec3::splat(F::from_f64(-1.6));
    GridShape { origin, inv_dx: F::from_f64(5.0), nx: SAMPLES, ny: SAMPLES, nz: SAMPLES }
}

fn touch<F: Float>(dt: F) -> Touch<F> {
    Touch { collider: 0, dt, slip: F::from_f64(0.1), rubs: 1 }
}

/// Blocks of a grid whose nodes are asked for.
struct Nodes {
    list: Array<u32>,
    x: Array<Vec3<f32>>,
}

fn nodes(d: &Device) -> Result<Nodes> {
    let blocks = 16u32.pow(3);
    Ok(Nodes { list: d.array(&(0..blocks).collect::<Vec<_>>())?, x: d.zeros(64 * blocks as usize)? })
}

fn block_shape() -> GridShape<f32> {
    GridShape { origin: Vec3::zero(), inv_dx: 10.0, nx: 64, ny: 64, nz: 64 }
}

pub fn kernels() -> Vec<Kernel> {
    vec![
        kernel!(accelerate: vertices => |i| "vertices" i.n,
            (i.n, &i.v, &i.force, &i.mass, &i.held, &i.gravity, &i.damping, &i.out, i.dt),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(drift: vertices => |i| "vertices" i.n, (i.n, &i.x, &i.v, &i.out, i.dt), writes [i.out => Vec3::splat(1.0)]),
        kernel!(fall: vertices => |i| "vertices" i.n, (i.n, &i.x, &i.v, &i.gravity, &i.out, &i.out_2, i.dt),
            writes [i.out => Vec3::splat(1.0), i.out_2 => Vec3::splat(0.3)]),
        kernel!(spring_forces: vertices => |i| "springs" i.springs,
            (i.springs, &i.x, &i.v, &i.ends, &i.one, &i.one, &i.one, &i.one, &i.out),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(chosen: vertices => |i| "vertices" i.n, (i.n, &i.x, &i.v, &i.tets, &i.out, &i.out_2),
            writes [i.out => Vec3::splat(1.0), i.out_2 => Vec3::splat(0.3)]),
        kernel!(yield_to_force: vertices => |i| "vertices" i.n, (i.n, &i.mass, &i.mass, &i.tets, &i.number_out),
            writes [i.number_out => 1.0]),
        kernel!(push_chosen: vertices => |i| "vertices" i.n, (i.n, &i.force, &i.tets, &i.out),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(shape_gaps<Sphere>: vertices => |i| "vertices" i.n, (i.n, &i.x, &i.poses, &i.sizes, &i.gap_out, 0),
            writes [i.gap_out => Vec4::splat(1.0)]),
        kernel!(grid_gaps: vertices => |i| "vertices" i.n, (i.n, &i.x, &i.poses, &i.samples, &i.gap_out, samples(), 0),
            writes [i.gap_out => Vec4::splat(1.0)]),
        kernel!(move_poses: vertices => |i| "colliders" 1, (1, &i.poses, &i.poses_out, i.dt),
            writes [i.poses_out => unit_pose()]),
        kernel!(contact_force<HuntCrossley>: vertices => |i| "vertices" i.n,
            (i.n, &i.x, &i.v, &i.mass, &i.gap, &i.poses, &i.laws, &i.one, &i.out, touch(i.dt)),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(friction_force: vertices => |i| "vertices" i.n,
            (i.n, &i.x, &i.v, &i.y, &i.force, &i.gap, &i.poses, &i.laws, &i.out, touch(i.dt)),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(project_velocity: vertices => |i| "vertices" i.n,
            (i.n, &i.x, &i.v, &i.gap, &i.poses, &i.laws, &i.held, &i.out, 0, 1),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(pack_contacts: vertices => |i| "colliders" 1, (1, &i.one, &i.one, &i.one, &i.one, &i.laws_out),
            writes [i.laws_out => Vec4::splat(1.0)]),
        kernel!(rest_shape: vertices => |i| "elements" i.elements,
            (i.elements, &i.x, &i.tets, &i.per_element, &i.per_element, &i.per_element, &i.rest_out, &i.material_out),
            writes [i.rest_out => Mat3::identity(), i.material_out => Vec4::splat(1.0)]),
        kernel!(lump_mass: vertices => |i| "elements" i.elements, (i.elements, &i.tets, &i.material, &i.number_out),
            writes [i.number_out => 1.0]),
        kernel!(elastic_forces<NeoHookean>: vertices => |i| "elements" i.elements,
            (i.elements, &i.x, &i.tets, &i.rest, &i.material, &i.out), writes [i.out => Vec3::splat(1.0)]),
        kernel!(euler_residual: vertices => |i| "vertices" i.n,
            (i.n, &i.y, &i.x, &i.v, &i.force, &i.mass, &i.held, &i.gravity, &i.damping, &i.out, i.dt),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(mean_velocity: vertices => |i| "vertices" i.n, (i.n, &i.y, &i.x, &i.out, i.dt),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(particle_masses: vertices => |i| "particles" i.elements, (i.elements, &i.material, &i.number_out),
            writes [i.number_out => 1.0]),
        kernel!(pushed: vertices => |i| "particles" i.n, (i.n, &i.v, &i.force, &i.mass, &i.out, i.dt),
            writes [i.out => Vec3::splat(1.0)]),
        integers!(node_positions: nodes => |i| "nodes" i.x.len(), (i.x.len(), &i.list, &i.x, block_shape())),
    ]
}

/// One in every component.
fn unit_pose() -> Pose<f32> {
    let one = Vec3::splat(1.0);
    Pose { centre: one, rotation: Quat::new(1.0, 1.0, 1.0, 1.0), velocity: one, spin: one }
}
