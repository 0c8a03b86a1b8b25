//! Implicit steps: energies, matrices of directions, barriers.

use diffkern::prelude::*;
use diffkern_sim::collision::Pose;
use diffkern_sim::contact::implicit::kernels::{
    Slide, Steepness, advance, barrier_blocks, barrier_energies, barrier_forces, carried_along, follow,
    least_of_blocks, negative_lengths,
};
use diffkern_sim::fem::tets::curvature::{
    Modes, elastic_blocks, elastic_modes, elastic_products, implicit_blocks, implicit_product,
};
use diffkern_sim::fem::tets::kernels::{elastic_energies, held_ahead, inertial_energies, midpoint_end};
use diffkern_sim::material::NeoHookean;

use crate::kernels::random::Random;
use crate::kernels::{Kernel, Size};

/// Elements that share no vertex, deformed by a little.
struct Tetrahedra<F: Float> {
    n: usize,
    x: Array<Vec3<F>>,
    tets: Array<u32>,
    rest: Array<Mat3<F>>,
    material: Array<Vec4<F>>,
    modes: Array<Modes<F>>,
    energy: Array<F>,
    product: Array<Vec3<F>>,
    blocks: Array<Mat3<F>>,
    /// Where the modes are written.
    found: Array<Modes<F>>,
}

fn tetrahedra<F: Float>(d: &Device, size: Size) -> Result<Tetrahedra<F>> {
    let (n, mut r) = (size.pick(16_384, 4), Random(93));
    let corner = |i: usize| Vec3::from_array([0, 1, 2].map(|a| F::from_f64(f64::from(i % 4 == a + 1))));
    let x: Vec<_> = (0..4 * n).map(|i| corner(i) + r.vec3(-0.1, 0.1)).collect();
    Ok(Tetrahedra {
        n,
        x: d.array(&x)?.requires_grad(),
        tets: d.array(&(0..4 * n as u32).collect::<Vec<_>>())?,
        rest: r.array(d, n, |r| Mat3::identity() + r.mat3(0.1))?,
        material: r.array(d, n, |r| Vec4::from_array([(); 4].map(|()| r.between(0.5, 1.0))))?,
        modes: r.array(d, n, |r| Modes {
            u: Mat3::identity() + r.mat3(0.2),
            v: Mat3::identity() + r.mat3(0.2),
            stretch: Mat3::identity() + r.mat3(0.2),
            flip: r.vec3(0.2, 1.0),
            twist: r.vec3(0.2, 1.0),
        })?,
        energy: d.zeros(n)?,
        product: d.zeros(4 * n)?,
        blocks: d.zeros(4 * n)?,
        found: d.zeros(n)?,
    })
}

/// Vertices in the barrier of a plane, some held.
struct Vertices<F: Float> {
    n: usize,
    y: Array<Vec3<F>>,
    x: Array<Vec3<F>>,
    v: Array<Vec3<F>>,
    mass: Array<F>,
    held: Array<u32>,
    gravity: Array<Vec3<F>>,
    damping: Array<F>,
    from: Array<Pose<F>>,
    to: Array<Pose<F>>,
    gap: Array<Vec4<F>>,
    before: Array<Vec4<F>>,
    laws: Array<Vec4<F>>,
    contact: Array<Mat3<F>>,
    elastic: Array<Mat3<F>>,
    slide: Slide<F>,
    h: F,
    out: Array<Vec3<F>>,
    out_2: Array<Vec3<F>>,
    numbers: Array<F>,
    blocks: Array<Mat3<F>>,
}

fn vertices<F: Float>(d: &Device, size: Size) -> Result<Vertices<F>> {
    let (n, mut r) = (size.pick(65_536, 16), Random(94));
    let real = F::from_f64;
    let mut pose = || Pose {
        centre: r.vec3(-0.1, 0.1),
        rotation: Quat::from_rotation_vector(r.vec3(0.3, 0.9)),
        velocity: r.vec3(-1.0, 1.0),
        spin: r.vec3(0.5, 1.0),
    };
    let (from, to) = (pose(), pose());
    let gap = |r: &mut Random| Vec4::new(real(0.36), real(0.48), real(0.8), r.between(0.2, 0.8));
    Ok(Vertices {
        n,
        y: r.array(d, n, |r| r.vec3(-1.0, 1.0))?,
        x: r.array(d, n, |r| r.vec3(-1.0, 1.0))?,
        v: r.array(d, n, |r| r.vec3(-1.0, 1.0))?,
        mass: r.array(d, n, |r| r.between(0.5, 2.0))?,
        held: d.array(&(0..n as u32).map(|i| u32::from(i % 5 == 0)).collect::<Vec<_>>())?,
        gravity: r.array(d, 1, |r| r.vec3(-9.0, 9.0))?,
        damping: r.array(d, 1, |r| r.between(0.5, 1.0))?,
        from: d.array(&[from])?.requires_grad(),
        to: d.array(&[to])?.requires_grad(),
        gap: r.array(d, n, gap)?,
        before: r.array(d, n, gap)?,
        laws: r.array(d, 1, |r| Vec4::new(r.between(5.0, 9.0), F::zero(), F::one(), r.between(0.1, 0.3)))?,
        contact: r.array(d, n, |r| r.mat3(1.0))?,
        elastic: r.array(d, n, |r| r.mat3(1.0))?,
        slide: Slide { collider: 0, slip: real(0.1) },
        h: real(0.1),
        out: d.zeros(n)?,
        out_2: d.zeros(n)?,
        numbers: d.zeros(n)?,
        blocks: d.zeros(n)?,
    })
}

/// What a search alone needs, in single precision.
fn searched(d: &Device) -> Result<Vertices<f32>> {
    vertices(d, Size::Usual)
}

fn elements(d: &Device) -> Result<Tetrahedra<f32>> {
    tetrahedra(d, Size::Usual)
}

pub fn kernels() -> Vec<Kernel> {
    vec![
        kernel!(elastic_energies<NeoHookean>: tetrahedra => |i| "elements" i.n,
            (i.n, &i.x, &i.tets, &i.rest, &i.material, &i.energy), writes [i.energy => 1.0]),
        integers!(elastic_modes<NeoHookean>: elements => |i| "elements" i.n,
            (i.n, &i.x, &i.tets, &i.rest, &i.material, &i.found)),
        kernel!(elastic_products: tetrahedra => |i| "elements" i.n,
            (i.n, &i.x, &i.tets, &i.rest, &i.modes, &i.product),
            writes [i.product => Vec3::splat(1.0)]),
        kernel!(elastic_blocks: tetrahedra => |i| "elements" i.n,
            (i.n, &i.tets, &i.rest, &i.modes, &i.blocks),
            writes [i.blocks => Mat3::identity()]),
        kernel!(implicit_product: vertices => |i| "vertices" i.n,
            (i.n, &i.x, &i.y, &i.contact, &i.mass, &i.held, &i.out, i.h), writes [i.out => Vec3::splat(1.0)]),
        kernel!(implicit_blocks: vertices => |i| "vertices" i.n,
            (i.n, &i.elastic, &i.contact, &i.mass, &i.held, &i.blocks, i.h), writes [i.blocks => Mat3::identity()]),
        kernel!(held_ahead: vertices => |i| "vertices" i.n, (i.n, &i.y, &i.x, &i.v, &i.held, &i.out, i.h),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(inertial_energies: vertices => |i| "vertices" i.n,
            (i.n, &i.y, &i.x, &i.v, &i.mass, &i.held, &i.gravity, &i.damping, &i.numbers, i.h),
            writes [i.numbers => 1.0]),
        kernel!(midpoint_end: vertices => |i| "vertices" i.n,
            (i.n, &i.y, &i.x, &i.v, &i.held, &i.damping, &i.out, &i.out_2, i.h),
            writes [i.out => Vec3::splat(1.0), i.out_2 => Vec3::splat(0.3)]),
        kernel!(carried_along: vertices => |i| "vertices" i.n, (i.n, &i.x, &i.from, &i.to, &i.out, 0, i.h),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(barrier_forces: vertices => |i| "vertices" i.n,
            (i.n, &i.y, &i.x, &i.gap, &i.before, &i.laws, &i.held, &i.out, i.slide),
            writes [i.out => Vec3::splat(1.0)]),
        kernel!(barrier_energies: vertices => |i| "vertices" i.n,
            (i.n, &i.y, &i.x, &i.gap, &i.before, &i.laws, &i.held, &i.numbers, i.slide),
            writes [i.numbers => 1.0]),
        integers!(barrier_blocks: searched => |i| "vertices" i.n,
            (i.n, &i.y, &i.x, &i.gap, &i.before, &i.laws, &i.held, &i.blocks, i.slide)),
        integers!(follow: searched => |i| "vertices" i.n,
            (i.n, &i.x, &i.mass, &i.held, &i.out)),
        integers!(advance: searched => |i| "vertices" i.n,
            (i.n, &i.y, &i.v, &i.before, &i.gap, &i.held, &i.numbers, &i.out, Steepness { most: 1.0, convex: 1 })),
        integers!(negative_lengths: searched => |i| "vertices" i.n, (i.n, &i.x, &i.numbers)),
        integers!(least_of_blocks: searched => |i| "vertices" i.n, (i.n / 64, &i.mass, &i.numbers, 64)),
    ]
}
