//! Every kernel of rigid bodies at random interior points: its gradient by the dot-product identity and finite differences, and on packs of lanes.

mod common;

use common::{Random, check};
use diffkern::prelude::*;
use diffkern_sim::collision::Pose;
use diffkern_sim::contact::{Barrier, ContactModel, HuntCrossley, KelvinVoigt, Penalty};
use diffkern_sim::rigid::between::{Pressed, press_body, surface_poses};
use diffkern_sim::rigid::contact::{add_contact, add_plane_contact, place_points};
use diffkern_sim::rigid::geometry::pack_points;
use diffkern_sim::rigid::impact::pair::{Change, apply_changes, collide_pairs};
use diffkern_sim::rigid::impact::plane::{Wall, pack_planes};
use diffkern_sim::rigid::impact::spot::{Look, Mobility, Spot, find_spots, mobilities};
use diffkern_sim::rigid::impact::sweep::{Motion, Rows, compress, pack_motions, restitute, unpack_motions};
use diffkern_sim::rigid::impact::time::{Near, find_impacts, free_motions, move_bodies};
use diffkern_sim::rigid::joints::kernels::{
    Block, JointFrame, JointPlace, Six, add_reactions, first_inverse, first_side, impulse_before, joint_errors,
    joint_frames, joint_friction, last_impulse, next_inverse, next_side, pack_joints, push_joints,
};
use diffkern_sim::rigid::kernels::{
    Wrench, accelerate, add_loads, launch, motions, place_vertices, start, turn, turn_in_body_frame,
};
use diffkern_sim::rigid::properties::{
    Integrals, MassProperties, add_integrals, divide_properties, from_density, from_mass, with_inertia,
};
use diffkern_sim::rigid::springs::add_springs;
use diffkern_sim::rigid::touching::{load_bodies, place_spread, push_bodies, yield_to_load};

fn random_pose(r: &mut Random) -> Pose<f64> {
    let mut v = |size: f64| r.vec3(-size, size).to_array();
    let (centre, turn, velocity, spin) = (v(0.5), v(1.5), v(1.0), v(2.0));
    let rotation = Quat::from_rotation_vector(Vec3::from_array(turn));
    let [centre, velocity, spin] = [centre, velocity, spin].map(Vec3::from_array);
    Pose { centre, rotation, velocity, spin }
}

const N: usize = 19;

fn inertia(r: &mut Random) -> Mat3<f64> {
    let a = r.mat3(0.3);
    a * a.transpose() + Mat3::from_diagonal(r.vec3(0.7, 1.6))
}

fn properties(r: &mut Random, n: usize) -> Vec<MassProperties<f64>> {
    r.many(n, |r| {
        let inertia = inertia(r);
        MassProperties { mass: r.between(0.5, 2.0), centre: r.vec3(-0.3, 0.3), inertia, inverse: inertia.inverse() }
    })
}

fn turns(r: &mut Random, n: usize) -> Vec<Quat<f64>> {
    r.many(n, |r| Quat::from_rotation_vector(r.vec3(-1.5, 1.5)))
}

fn wrenches(r: &mut Random, n: usize) -> Vec<Wrench<f64>> {
    r.many(n, |r| Wrench { force: r.vec3(-2.0, 2.0), torque: r.vec3(-2.0, 2.0) })
}

#[test]
fn mass_properties() -> Result<()> {
    let (dev, mut r) = (Device::cpu(), Random(3));
    let vertices = dev.array(&r.many(12, |r| r.vec3(-1.0, 1.0)))?;
    let triangles: Vec<u32> = (0..3 * N as u32).map(|k| (k * 7 + k / 5) % 12).collect();
    let triangles = dev.array(&triangles)?;
    let owner = dev.array(&(0..N as u32).map(|t| t % 3).collect::<Vec<_>>())?;
    let sums = dev.zeros::<Integrals<f64>>(3)?;
    check!(add_integrals, N, &vertices, &triangles, &owner, &sums);
    let integrals = r.many(N, |r| {
        let (volume, first) = (r.between(0.5, 1.5), r.vec3(-0.4, 0.4));
        Integrals { volume, first, second: inertia(r) }
    });
    let integrals = dev.array(&integrals)?;
    let out = dev.zeros(N)?;
    for density in [dev.array(&[1.7])?, dev.array(&r.many(N, |r| r.between(0.5, 2.0)))?] {
        check!(from_density, N, &integrals, &density, &out);
        check!(from_mass, N, &integrals, &density, &out);
    }
    let (given, bodies) = (dev.array(&r.many(N, inertia))?, dev.array(&properties(&mut r, N))?);
    check!(with_inertia, N, &bodies, &given, &out);
    Ok(())
}

#[test]
fn motion() -> Result<()> {
    let (dev, mut r) = (Device::cpu(), Random(5));
    let bodies = dev.array(&properties(&mut r, N))?;
    let poses = dev.array(&r.many(N, random_pose))?;
    let (x, v, l) =
        (r.many(N, |r| r.vec3(-1.0, 1.0)), r.many(N, |r| r.vec3(-1.0, 1.0)), r.many(N, |r| r.vec3(-3.0, 3.0)));
    let (x, v, l, q) = (dev.array(&x)?, dev.array(&v)?, dev.array(&l)?, dev.array(&turns(&mut r, N))?);
    let wrench = dev.array(&wrenches(&mut r, N))?;
    let gravity = dev.array(&[Vec3::new(0.3, 0.2, -9.81)])?;
    let (out, out_2, out_3, turned) = (dev.zeros(N)?, dev.zeros(N)?, dev.zeros(N)?, dev.zeros(N)?);
    check!(start, N, &poses, &bodies, &out, &turned, &out_2, &out_3);
    let motion = dev.array(&r.many(6 * N, |r| r.between(-1.0, 1.0)))?;
    check!(launch, N, &poses, &motion, &bodies, &gravity, &out, &turned, &out_2, &out_3, -0.05);
    let mass = dev.array(&r.many(N, |r| r.between(0.5, 2.0)))?;
    let inverse = dev.array(&r.many(N, |r| inertia(r).inverse()))?;
    check!(divide_properties, N, &bodies, &mass, &inverse);
    check!(motions, N, &x, &q, &v, &l, &inverse, &dev.zeros(N)?);
    check!(accelerate, N, &v, &l, &wrench, &mass, &gravity, &out, &out_2, 0.1);
    check!(turn, N, &q, &l, &inverse, &turned, 0.1);
    check!(turn_in_body_frame, N, &q, &l, &wrench, &bodies, &turned, &out, 0.1);
    Ok(())
}

#[test]
fn vertices_and_loads() -> Result<()> {
    let (dev, mut r) = (Device::cpu(), Random(7));
    let bodies = dev.array(&properties(&mut r, 4))?;
    let (x, q) = (dev.array(&r.many(4, |r| r.vec3(-1.0, 1.0)))?, dev.array(&turns(&mut r, 4))?);
    let vertices = dev.array(&r.many(N, |r| r.vec3(-0.5, 0.5)))?;
    let owner = dev.array(&(0..N as u32).map(|i| i % 4).collect::<Vec<_>>())?;
    check!(place_vertices, N, &x, &q, &bodies, &vertices, &owner, &dev.zeros(N)?);
    let (force, share) =
        (dev.array(&r.many(N, |r| r.vec3(-2.0, 2.0)))?, dev.array(&r.many(N, |r| r.between(0.0, 1.0)))?);
    check!(add_loads, N, &q, &bodies, &owner, &vertices, &force, &share, &dev.zeros::<Wrench<f64>>(4)?);
    let points = dev.array(&points(&mut r, N))?;
    check!(place_points, N, &x, &q, &points, &owner, &dev.zeros(N)?);
    Ok(())
}

#[test]
fn points_spread_over_surfaces() -> Result<()> {
    let (dev, mut r) = (Device::cpu(), Random(23));
    let bodies = dev.array(&properties(&mut r, 4))?;
    let poses = dev.array(&r.many(4, random_pose))?;
    let vertices = dev.array(&r.many(12, |r| r.vec3(-0.5, 0.5)))?;
    let corner: Vec<u32> = (0..3 * N as u32).map(|k| (k * 7 + k / 5) % 12).collect();
    let (corner, weight) = (dev.array(&corner)?, dev.array(&r.many(N, |r| r.vec3(0.1, 0.6)))?);
    let owner = dev.array(&(0..N as u32).map(|i| i % 4).collect::<Vec<_>>())?;
    let (place, speed) = (dev.zeros(N)?, dev.zeros(N)?);
    check!(place_spread, N, &poses, &bodies, &vertices, &corner, &weight, &owner, &place, &speed);
    let places = dev.array(&r.many(N, |r| r.vec3(-1.0, 1.0)))?;
    let (normal, numbers) = (dev.array(&r.many(N, |r| r.between(0.2, 2.0)))?, dev.zeros(N)?);
    check!(load_bodies, N, &poses, &bodies, &places, &owner, &normal, &dev.zeros(4)?, &numbers);
    let load = dev.array(&r.many(4, |r| r.between(0.2, 2.0)))?;
    check!(yield_to_load, N, &load, &owner, &normal, &numbers);
    let (x, force) = (dev.array(&r.many(4, |r| r.vec3(-1.0, 1.0)))?, dev.array(&r.many(N, |r| r.vec3(-2.0, 2.0)))?);
    check!(push_bodies, N, &x, &places, &force, &owner, &dev.zeros::<Wrench<f64>>(4)?);
    Ok(())
}

/// Springs and ties among bodies and the world, the number of which is 4.
#[test]
fn springs() -> Result<()> {
    const S: usize = 7;
    let (dev, mut r) = (Device::cpu(), Random(31));
    let (bodies, poses) = (dev.array(&properties(&mut r, 4))?, dev.array(&r.many(4, random_pose))?);
    let ends = dev.array(&[0u32, 1, 0, 1, 2, 1, 4, 3, 0, 2, 4, 1, 3, 0, 0, 2, 0, 1, 1, 4, 0])?;
    let points = dev.array(&r.many(2 * S, |r| r.vec3(-0.5, 0.5)))?;
    let mut some = |n: usize, low: f64, high: f64| dev.array(&r.many(n, |r| r.between(low, high)));
    let (stiffness, damping) = (some(S, 0.5, 2.0)?, some(1, 0.2, 0.5)?);
    let (rest, actuation) = (some(S, 0.2, 0.6)?, some(S, -0.2, 0.2)?);
    let wrench = dev.zeros::<Wrench<f64>>(4)?;
    check!(add_springs, S, &poses, &bodies, &ends, &points, &stiffness, &damping, &rest, &actuation, &wrench);
    Ok(())
}

/// Joints in a chain of bodies and the world, the number of which is 4: balls and hinges.
#[test]
fn joints() -> Result<()> {
    const J: usize = 4;
    let (dev, mut r) = (Device::cpu(), Random(29));
    let bodies = dev.array(&properties(&mut r, 4))?;
    let (x, q) = (dev.array(&r.many(4, |r| r.vec3(-1.0, 1.0)))?, dev.array(&turns(&mut r, 4))?);
    let (v, l) = (dev.array(&r.many(4, |r| r.vec3(-1.0, 1.0)))?, dev.array(&r.many(4, |r| r.vec3(-1.0, 1.0)))?);
    let ends = dev.array(&[4u32, 0, 1, 1, 0, 1, 1, 0, 1, 2, 0, 1, 2, 3, 1, 0])?;
    let points = [dev.array(&r.many(J, |r| r.vec3(-0.5, 0.5)))?, dev.array(&r.many(J, |r| r.vec3(-0.5, 0.5)))?];
    let axes = dev.array(&r.many(2 * J, |r| r.vec3(-1.0, 1.0).normalize()))?;
    check!(pack_joints, J, &points[0], &points[1], &axes, &ends, &dev.zeros(J)?);
    let places = r.many(J, |r| JointPlace {
        parent: r.vec3(-0.5, 0.5),
        child: r.vec3(-0.5, 0.5),
        parent_axis: r.vec3(-1.0, 1.0).normalize(),
        child_axis: r.vec3(-1.0, 1.0).normalize(),
    });
    let places = dev.array(&places)?;
    check!(joint_frames, J, &q, &bodies, &ends, &places, &dev.zeros(J)?);
    let frames = r.many(J, |r| {
        let axis = r.vec3(-1.0, 1.0).normalize();
        JointFrame { parent: r.vec3(-0.5, 0.5), child: r.vec3(-0.5, 0.5), held: Mat3::identity() - axis.outer(axis) }
    });
    let frames = dev.array(&frames)?;
    let mobility = r.many(4, |r| Mobility { linear: r.between(0.5, 2.0), angular: inertia(r) });
    let (mobility, viscous) = (dev.array(&mobility)?, dev.array(&[0.3])?);
    let (dry, slip) = (dev.array(&r.many(J, |r| r.between(0.2, 0.9)))?, dev.array(&[0.6])?);
    let wrench = dev.zeros::<Wrench<f64>>(4)?;
    check!(joint_friction, J, &l, &mobility, &ends, &frames, &viscous, &dry, &slip, &wrench);
    let (errors, rate) = (dev.zeros::<Six<f64>>(J)?, 3.0);
    check!(joint_errors, J, &x, &q, &bodies, &ends, &places, &frames, &errors, rate);

    let six = |r: &mut Random, n| r.many(n, |r| Six { linear: r.vec3(-1.0, 1.0), angular: r.vec3(-1.0, 1.0) });
    let block = |r: &mut Random| {
        let la = r.mat3(0.2);
        Block { ll: inertia(r), la, al: la.transpose(), aa: inertia(r) }
    };
    // Chains that begin with joints 0 and 2, and go on with 1 and 3; or with 1 alone.
    let (level, next) = (dev.array(&[0u32, 2])?, dev.array(&[1u32, 3])?);
    let (blocks, blocks_out) = (dev.array(&r.many(2, block))?, dev.zeros::<Block<f64>>(2)?);
    check!(first_inverse, 2, &level, &ends, &frames, &mobility, &blocks_out);
    let small = r.many(2, |r| {
        let b = block(r);
        Block { ll: b.ll * 0.1, la: b.la * 0.1, al: b.al * 0.1, aa: b.aa * 0.1 }
    });
    check!(next_inverse, 2, &next, &level, &ends, &frames, &mobility, &dev.array(&small)?, &blocks_out);
    let (all, side, other) = (dev.array(&six(&mut r, J))?, dev.array(&six(&mut r, 2))?, dev.array(&six(&mut r, 2))?);
    let out = dev.zeros::<Six<f64>>(2)?;
    check!(first_side, 2, &level, &all, &out);
    check!(next_side, 2, &next, &level, &ends, &frames, &mobility, &blocks, &side, &all, &out);
    check!(last_impulse, 2, &blocks, &side, &out);
    check!(impulse_before, 2, &level, &next, &ends, &frames, &mobility, &blocks, &side, &other, &out);
    let (one, first) = (dev.array(&[1u32])?, dev.array(&six(&mut r, 1))?);
    check!(impulse_before, 2, &level, &one, &ends, &frames, &mobility, &blocks, &side, &first, &out);
    check!(push_joints, 2, &level, &ends, &frames, &mobility, &side, &v, &l);
    check!(add_reactions, 2, &level, &ends, &frames, &side, &dev.zeros::<Wrench<f64>>(J)?, rate);
    Ok(())
}

fn contact_of<L: ContactModel>(seed: u64, low: f64) -> Result<()> {
    let (dev, mut r) = (Device::cpu(), Random(seed));
    let placed = dev.array(&r.many(N, |r| r.vec3(-1.0, 1.0)))?;
    let bodies = r.many(4, random_pose);
    let owner = dev.array(&(0..N as u32).map(|i| i % 4).collect::<Vec<_>>())?;
    let radius = dev.array(&r.many(N, |r| r.between(0.0, 0.1)))?;
    let gap = r.many(N, |r| {
        let n = r.vec3(-1.0, 1.0).normalize();
        Vec4::new(n.x, n.y, n.z, r.between(low, 0.4))
    });
    let (gap, poses) = (dev.array(&gap)?, dev.array(&r.many(2, random_pose))?);
    let laws =
        dev.array(&r.many(2, |r| Vec4::new(r.between(5.0, 9.0), r.between(0.1, 0.3), 0.3, r.between(0.2, 0.6))))?;
    // Some at the limit, some below.
    let grip = dev.array(&[1.1])?;
    let wrench = dev.zeros::<Wrench<f64>>(4)?;
    let moving = dev.array(&bodies)?;
    check!(add_contact::<L>, N, &placed, &owner, &radius, &moving, &gap, &poses, &laws, &grip, &wrench, 1);
    // Groups of eight, of three and of one, near the plane.
    let (first, owner) = (dev.array(&[0u32, 8, 11, 12, 20])?, dev.array(&[2u32, 2, 0, 3])?);
    let points: Vec<_> = points(&mut r, 20).into_iter().map(|point| point * 0.2).collect();
    let points = dev.array(&points)?;
    let plane = poses.to_vec()?[1];
    let up = plane.rotation.rotate(Vec3::new(0.0, 0.0, 1.0));
    let mut near = |body| {
        let centre = plane.centre + up * (0.2 + r.between(low, 0.2)) + r.vec3(-0.02, 0.02);
        Pose { centre, ..body }
    };
    let moving: Vec<Pose<f64>> = bodies.into_iter().map(&mut near).collect();
    let moving = dev.array(&moving)?;
    check!(add_plane_contact::<L>, 4, &points, &first, &owner, &moving, &poses, &laws, &grip, &wrench, 1);
    Ok(())
}

fn contact_between<L: ContactModel>(seed: u64, low: f64) -> Result<()> {
    let (dev, mut r) = (Device::cpu(), Random(seed));
    let (x, bodies) = (dev.array(&r.many(N, |r| r.vec3(-1.0, 1.0)))?, dev.array(&r.many(4, random_pose))?);
    let owner = dev.array(&(0..N as u32).map(|i| i % 4).collect::<Vec<_>>())?;
    // Some points are vertices, some centres of balls.
    let radius: Vec<f64> = (0..N).map(|i| if i % 4 < 2 { 0.0 } else { r.between(0.05, 0.1) }).collect();
    let radius = dev.array(&radius)?;
    let gap = r.many(N, |r| {
        let n = r.vec3(-1.0, 1.0).normalize();
        Vec4::new(n.x, n.y, n.z, r.between(low, 0.4))
    });
    let law = Vec4::new(r.between(5.0, 9.0), r.between(0.1, 0.3), 0.3, r.between(0.2, 0.6));
    let (gap, law, grip) = (dev.array(&gap)?, dev.array(&[law])?, dev.array(&[1.1])?);
    for (body, ball) in [(1, 0), (2, 1)] {
        let (wrench, pressed) = (dev.zeros::<Wrench<f64>>(4)?, Pressed { body, ball });
        check!(press_body::<L>, N, &x, &owner, &radius, &bodies, &gap, &law, &grip, &wrench, pressed);
    }
    let properties = dev.array(&properties(&mut r, 4))?;
    check!(surface_poses, 4, &bodies, &properties, &dev.zeros(4)?);
    Ok(())
}

#[test]
fn contact() -> Result<()> {
    contact_between::<HuntCrossley>(15, -0.4)?;
    contact_between::<Barrier>(16, 0.12)?;
    contact_of::<KelvinVoigt>(11, -0.4)?;
    contact_of::<Penalty>(12, -0.4)?;
    contact_of::<HuntCrossley>(13, -0.4)?;
    contact_of::<Barrier>(14, 0.12)
}

fn walls(r: &mut Random) -> Vec<Wall<f64>> {
    r.many(2, |r| Wall {
        normal: Vec3::new(r.between(-0.3, 0.3), r.between(-0.3, 0.3), 1.0).normalize(),
        offset: r.between(-0.6, -0.5),
        restitution: r.between(0.3, 0.8),
        friction: r.between(0.2, 0.5),
    })
}

fn points(r: &mut Random, n: usize) -> Vec<Vec4<f64>> {
    r.many(n, |r| {
        let arm = r.vec3(-0.5, 0.5);
        Vec4::new(arm.x, arm.y, arm.z, r.between(0.0, 0.1))
    })
}

/// Bodies that sink towards the walls: some meet them in the step, some later, some are there.
#[test]
fn times_of_impact() -> Result<()> {
    let (dev, mut r) = (Device::cpu(), Random(17));
    let (n, each) = (6, 4);
    let bodies = dev.array(&properties(&mut r, n))?;
    let mut poses = r.many(n, random_pose);
    for (k, pose) in poses.iter_mut().enumerate() {
        pose.centre = Vec3::new(0.1, -0.1, 0.3 - 0.12 * k as f64);
        pose.velocity.z = r.between(-3.0, -2.0);
    }
    // Up and away.
    (poses[5].centre.z, poses[5].velocity.z) = (2.0, 3.0);
    let motions = dev.array(&poses)?;
    let first = dev.array(&(0..=n as u32).map(|b| each * b).collect::<Vec<_>>())?;
    let count = n * each as usize;
    let owner = dev.array(&(0..count as u32).map(|i| i / each).collect::<Vec<_>>())?;
    let (points, walls, left) = (dev.array(&points(&mut r, count))?, dev.array(&walls(&mut r))?, dev.full(n, 0.2)?);
    let (time, hit, near) =
        (dev.zeros(n)?, dev.zeros::<u32>(n)?, Near { gap: 1e-7, rounding: 1e-15, speed: 1e-14, points: each });
    check!(find_impacts, n, &motions, &left, &points, &first, &walls, &time, &hit, near);
    find_impacts(n, &motions, &left, &points, &first, &walls, &time, &hit, near)?;
    let times = time.to_vec()?;
    assert!(times.iter().any(|&t| t > 0.0) && hit.to_vec()?.contains(&0), "{times:?} {hit:?}");
    check!(move_bodies, n, &motions, &time, &left, &dev.zeros(n)?, &dev.zeros(n)?, &dev.zeros(n)?);
    let (x, v, l) =
        (r.many(n, |r| r.vec3(-1.0, 1.0)), r.many(n, |r| r.vec3(-1.0, 1.0)), r.many(n, |r| r.vec3(-3.0, 3.0)));
    let (x, v, l, q) = (dev.array(&x)?, dev.array(&v)?, dev.array(&l)?, dev.array(&turns(&mut r, n))?);
    let left = dev.array(&r.many(n, |r| r.between(0.05, 0.2)))?;
    let inverse = dev.array(&r.many(n, |r| inertia(r).inverse()))?;
    check!(free_motions, n, &x, &q, &v, &l, &inverse, &left, &dev.zeros(n)?);
    let vertex: Vec<u32> = (0..count as u32).map(|i| if i % 5 == 0 { u32::MAX } else { i }).collect();
    let (vertices, vertex) = (dev.array(&r.many(count, |r| r.vec3(-0.5, 0.5)))?, dev.array(&vertex)?);
    let radius = dev.array(&r.many(count, |r| r.between(0.0, 0.1)))?;
    check!(pack_points, count, &vertices, &vertex, &owner, &radius, &bodies, &dev.zeros(count)?);
    let planes = dev.array(&r.many(3, |r| Vec4::new(r.between(-1.0, 1.0), 0.4, r.between(0.5, 1.5), 0.3)))?;
    let (e, mu) = (dev.array(&[0.6])?, dev.array(&r.many(3, |r| r.between(0.2, 0.5)))?);
    check!(pack_planes, 3, &planes, &e, &mu, &dev.zeros(3)?);
    Ok(())
}

#[test]
fn impulses() -> Result<()> {
    let (dev, mut r) = (Device::cpu(), Random(19));
    let (n, each) = (5, 4u32);
    let count = n * each as usize;
    let bodies = dev.array(&properties(&mut r, n))?;
    let poses = dev.array(&r.many(n, random_pose))?;
    let mobility = dev.zeros::<Mobility<f64>>(n)?;
    check!(mobilities, n, &poses, &bodies, &mobility);
    mobilities(n, &poses, &bodies, &mobility)?;
    let owner = dev.array(&(0..count as u32).map(|i| i / each).collect::<Vec<_>>())?;
    let first = dev.array(&(0..=n as u32).map(|b| each * b).collect::<Vec<_>>())?;
    let (points, walls) = (dev.array(&points(&mut r, count))?, dev.array(&walls(&mut r))?);
    let hit = dev.array(&[1u32, 1, 0, 1, 1])?;
    let (spots, active) = (dev.zeros::<Spot<f64>>(2 * count)?, dev.zeros::<u32>(2 * count)?);
    let look = Look { ahead: 0.1, near: Near { gap: 0.4, rounding: 0.01, speed: 0.0, points: each }, rest_speed: 0.05 };
    check!(find_spots, 2 * count, &poses, &mobility, &points, &owner, &walls, &hit, &spots, &active, look);
    find_spots(2 * count, &poses, &mobility, &points, &owner, &walls, &hit, &spots, &active, look)?;
    assert!(active.to_vec()?.iter().sum::<u32>() > 10, "{active:?}");
    let motions =
        dev.array(&r.many(n, |r| Motion { v: r.vec3(-1.0, 1.0) - Vec3::new(0.0, 0.0, 2.0), l: r.vec3(-0.5, 0.5) }))?;
    let impulses = |r: &mut Random| {
        r.many(2 * count, |r| Vec3::new(r.between(-0.1, 0.1), r.between(-0.1, 0.1), r.between(0.2, 0.6)))
    };
    let (base, old) = (dev.array(&impulses(&mut r))?, dev.array(&impulses(&mut r))?);
    let (swept, new, rows) = (dev.zeros(n)?, dev.zeros(2 * count)?, Rows { walls: 2, most: 2 * each });
    check!(compress, n, &motions, &mobility, &spots, &active, &first, &old, &swept, &new, rows);
    check!(restitute, n, &motions, &mobility, &spots, &active, &first, &base, &old, &swept, &new, rows);
    let (v, l) = (dev.array(&r.many(n, |r| r.vec3(-1.0, 1.0)))?, dev.array(&r.many(n, |r| r.vec3(-1.0, 1.0)))?);
    check!(pack_motions, n, &v, &l, &swept);
    check!(unpack_motions, n, &motions, &dev.zeros(n)?, &dev.zeros(n)?);
    Ok(())
}

#[test]
fn pairs() -> Result<()> {
    let (dev, mut r) = (Device::cpu(), Random(23));
    let n = 8;
    let bodies = dev.array(&properties(&mut r, n))?;
    // Each flies towards the middle, where some meet.
    let x = r.many(n, |r| r.vec3(-1.0, 1.0));
    let v: Vec<_> = x.iter().map(|x| *x * -r.between(2.0, 3.0) + r.vec3(-0.1, 0.1)).collect();
    let ends: Vec<u32> = (0..n as u32).flat_map(|a| (a + 1..n as u32).flat_map(move |b| [a, b])).collect();
    let (x, v, radius) = (dev.array(&x)?, dev.array(&v)?, dev.array(&r.many(n, |r| r.between(0.1, 0.3)))?);
    let (ends, e, change) = (dev.array(&ends)?, dev.array(&[0.6])?, dev.zeros::<Change<f64>>(n)?);
    for from_begin in [0, 1] {
        check!(collide_pairs, ends.len() / 2, &x, &v, &ends, &radius, &bodies, &e, &change, 0.3, 1e-14, from_begin);
    }
    collide_pairs(ends.len() / 2, &x, &v, &ends, &radius, &bodies, &e, &change, 0.3, 1e-14, 0)?;
    assert!(change.to_vec()?.iter().filter(|c| c.v.norm() > 0.0).count() > 3, "{change:?}");
    check!(apply_changes, n, &x, &v, &change, &dev.zeros(n)?, &dev.zeros(n)?);
    Ok(())
}
