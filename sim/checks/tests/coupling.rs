//! A rigid box, a soft block and springs that touch: what they exchange, its closed forms, and the gradient of the whole.

mod common;

use common::Random;
use common::groups::Run;
use diffkern::prelude::*;
use diffkern_sim::collision::Pose as Motion;
use diffkern_sim::contact::Contact;
use diffkern_sim::coupling::{self, SurfaceContact};
use diffkern_sim::fem::lattice;
use diffkern_sim::material::Law;
use diffkern_sim::mesh::Pose;
use diffkern_sim::rigid::{self, SurfacePoints};
use diffkern_sim::shape::{Cuboid, Primitive};
use diffkern_sim::springs::{self, VertexPoints};
use diffkern_sim::vertices::VertexState;
use diffkern_sim::{At, Both, Coupled, Exchange, Model, Result, Span, Step, WithSecond};

fn device() -> Device {
    Device::cpu()
}

type OnSprings = SurfaceContact<f64, VertexPoints<f64>>;
type OnBox = SurfaceContact<f64, SurfacePoints<f64>>;
type Bed = Coupled<springs::Model<f64>, lattice::Model<f64>, OnSprings>;
type All = Coupled<rigid::Model<f64>, Bed, WithSecond<OnBox>>;
type Case = (All, <All as Model>::Params, <All as Model>::State);

/// Springs, their parameters, and where their vertices are.
type Posts = (springs::Model<f64>, springs::Params<f64>, Vec<[f64; 3]>);

/// Side of the cells of the block \[m\].
const CELL: f64 = 0.08;

/// Nine vertices on nine posts, a post a vertical spring; feet may be held.
fn posts(held: bool, seed: u64, depth: f64) -> Result<Posts> {
    let (dev, mut r) = (device(), Random(seed));
    let at = |k: usize, z: f64| [0.07 * (k / 3) as f64 - 0.07, 0.06 * (k % 3) as f64 - 0.06, z];
    let positions: Vec<[f64; 3]> = (0..9).map(|k| at(k, depth - 0.041)).chain((0..9).map(|k| at(k, -0.11))).collect();
    let positions: Vec<_> = positions.iter().map(|p| p.map(|x| x + r.between(-5e-4, 5e-4))).collect();
    let posts = (0..9).map(|k| [k, k + 9]);
    let along = (0..9).filter(|k| k % 3 < 2).map(|k| [k, k + 1]);
    let across = (0..6).map(|k| [k, k + 3]);
    let braces = (0..9).filter(|k| k % 3 < 2).flat_map(|k| [[k, k + 10], [k + 1, k + 9]]);
    let more = (0..6).flat_map(|k| [[k, k + 12], [k + 3, k + 9]]);
    let pairs: Vec<[u32; 2]> = posts.chain(along).chain(across).chain(braces).chain(more).collect();
    let length = |[a, b]: &[u32; 2]| {
        (Vec3::from_array(positions[*a as usize]) - Vec3::from_array(positions[*b as usize])).norm()
    };
    let feet: Vec<u32> = if held { (9..18).collect() } else { Vec::new() };
    let model = springs::Model::new(&dev, 18, &pairs, 1.0, &feet, &[])?;
    let mut params = springs::Params::uniform(&dev, 600.0, 0.1, 0.04, [0.0; 3])?;
    params.stiffness = dev.array(&r.many(pairs.len(), |r| r.between(450.0, 750.0)))?;
    params.rest = dev.array(&pairs.iter().map(length).collect::<Vec<_>>())?;
    params.spring_damping = dev.array(&[1.5])?;
    Ok((model, params, positions))
}

/// A box that comes down on a block above posts, all a little askew. With a `depth` \[m\] they are pressed into each other from the beginning.
fn scene(contact: Contact, gravity: [f64; 3], held: bool, seed: u64, depth: f64) -> Result<Case> {
    let (dev, mut r) = (device(), Random(seed));
    let (posts, mut on_posts, positions) = posts(held, seed, depth)?;
    let shape = Primitive::Cuboid(Cuboid { sides: [0.24, 0.16, 0.08] });
    let pose = Pose { rotation: [0.01, -0.02, 0.05], translation: [r.between(0.002, 0.004), -0.003, 0.0] };
    let body = lattice::Body { pose, ..lattice::Body::new(shape, CELL) }.build()?;
    let block = lattice::Model::new(&dev, &body, Law::NeoHookean, 1.0, &[])?;
    let mut soft = lattice::Params::uniform(&dev, 5e3, 8e3, 900.0, gravity)?;
    soft.viscosity = Some(dev.array(&[3.0])?);
    soft.damping = dev.array(&[if held { 0.1 } else { 0.0 }])?;
    on_posts.damping = dev.array(&[if held { 0.3 } else { 0.0 }])?;
    on_posts.gravity = soft.gravity.clone();
    let chest = Primitive::Cuboid(Cuboid { sides: [0.1, 0.09, 0.06] }).surface(1e3)?;
    let chest = rigid::Model::new(&dev, &[rigid::Body::new(chest)], 1.0, &[])?;
    let heavy = chest.params(700.0, gravity)?;
    let way = Motion {
        centre: Vec3::new(0.02, 0.01, if depth > 0.0 { 0.07 - depth } else { 0.08 }),
        rotation: Quat::from_rotation_vector(if depth > 0.0 {
            Vec3::new(0.01, 0.02, 0.4)
        } else {
            Vec3::new(0.12, 0.1, 0.4)
        }),
        velocity: Vec3::new(0.2, -0.15, -0.9),
        spin: Vec3::new(1.0, -0.7, 2.0) + r.vec3(-0.4, 0.4),
    };
    let start = chest.start(&heavy, &dev.array(&[way])?)?;
    let chosen: Vec<_> = (0..9).map(|k| (k, 4e-3)).collect();
    let under = SurfaceContact::new(posts.vertex_points(&chosen)?, &block, contact, 0.4)?;
    let above = SurfaceContact::new(chest.surface_points(0.05)?, &block, contact, 0.5)?;
    let params =
        Both { exchange: above.params()?, a: heavy, b: Both { exchange: under.params()?, a: on_posts, b: soft } };
    let bed = Coupled { a: posts, b: block, exchange: under };
    let lying = VertexState::new(&dev, &positions, &vec![[0.05, 0.03, 0.1]; 18])?;
    let state = (start, (lying, body.state(&dev, [0.05, 0.02, -0.2], [0.0; 3])?));
    Ok((Coupled { a: chest, b: bed, exchange: WithSecond(above) }, params, state))
}

const SMOOTH: Contact = Contact::SmoothPenalty { stiffness: 6e5, width: 2e-3 };
const GRAVITY: [f64; 3] = [0.3, -0.2, -9.81];
/// Length of the steps \[s\].
const DT: f64 = 4e-4;

/// `f` for which the step adds `dt W f` to velocities that are `v`: the momentum of each control point, by conjugate gradients.
fn momenta(solver: &lattice::Solver<f64>, rest: &lattice::State<f64>, v: &[Vec3<f64>]) -> Result<Vec<Vec3<f64>>> {
    let dev = device();
    let still = lattice::State { v: dev.zeros(v.len())?, ..rest.clone() };
    let applied = |f: &[Vec3<f64>]| -> Result<Vec<Vec3<f64>>> {
        let control = lattice::Control { force: Some(dev.array(f)?), ..lattice::Control::default() };
        Ok(solver.step(&still, &control, Span::steps(0, 1, 1.0).tick(0))?.v.to_vec()?)
    };
    let dot = |a: &[Vec3<f64>], b: &[Vec3<f64>]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
    let (mut f, mut r) = (vec![Vec3::zero(); v.len()], v.to_vec());
    let (mut p, whole) = (r.clone(), dot(v, v));
    while dot(&r, &r) > 1e-30 * whole {
        let (q, square) = (applied(&p)?, dot(&r, &r));
        let along = square / dot(&p, &q);
        f.iter_mut().zip(&p).for_each(|(f, p)| *f += *p * along);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= *q * along);
        let again = dot(&r, &r) / square;
        p = r.iter().zip(&p).map(|(r, p)| *r + *p * again).collect();
    }
    Ok(f)
}

/// Momentum and angular momentum of all three, of the largest of them too.
fn totals(
    step: &<All as Model>::Step,
    state: &<All as Model>::State,
    rest: &lattice::State<f64>,
) -> Result<[Vec3<f64>; 2]> {
    let (body, (net, block)) = state;
    let mass = step.a.properties().to_vec()?[0].mass;
    let (x, v) = (body.x.to_vec()?[0], body.v.to_vec()?[0]);
    let (mut p, mut l) = (v * mass, x.cross(v) * mass + body.l.to_vec()?[0]);
    for (x, v) in net.x.to_vec()?.into_iter().zip(net.v.to_vec()?) {
        (p, l) = (p + v * 0.04, l + x.cross(v) * 0.04);
    }
    let own = momenta(&step.b.b, rest, &block.v.to_vec()?)?;
    for (x, q) in block.x.to_vec()?.into_iter().zip(own) {
        (p, l) = (p + q, l + x.cross(q));
    }
    Ok([p, l])
}

/// Without gravity, and with nothing held: through impacts, friction and damping, springs and all.
#[test]
fn momentum_and_angular_momentum_stay_to_rounding() -> Result<()> {
    for contact in [SMOOTH, Contact::HuntCrossley { stiffness: 6e5, damping: 0.4 }] {
        let (model, params, start) = scene(contact, [0.0; 3], false, 7, 0.0)?;
        let rest = start.1.1.clone();
        let step = model.bind(&params, &start)?;
        let advance = |state: &_, steps| {
            step.advance_with(state, Span::steps(0, steps, DT), |_, _| Ok(Default::default()), Schedule::Auto)
        };
        let mut now = start.clone();
        let before = totals(&step, &now, &rest)?;
        for k in 0..6 {
            now = advance(&now, 60)?;
            let after = totals(&step, &now, &rest)?;
            for (what, (a, b)) in ["momentum", "angular momentum"].iter().zip(before.iter().zip(&after)) {
                assert!((*a - *b).norm() < 1e-12 * a.norm(), "{what} after {} steps: {a:?} and {b:?}", 60 * (k + 1));
            }
        }
        let (v, w) = (start.0.v.to_vec()?[0], now.0.v.to_vec()?[0]);
        assert!(w.z > v.z + 0.5 && now.1.0.v.to_vec()?[4].z < -0.02, "nothing has hit: {w:?}");
    }
    Ok(())
}

/// The forces of one step sum to nothing, and so do their torques about the origin.
#[test]
fn forces_are_equal_and_opposite() -> Result<()> {
    let (model, params, start) = scene(SMOOTH, GRAVITY, true, 7, 0.0)?;
    let step = model.bind(&params, &start)?;
    let span = Span::steps(0, 45, DT);
    let (chest, (net, block)) = step.advance_with(&start, span, |_, _| Ok(Default::default()), Schedule::Auto)?;
    let tick = span.tick(45);
    let exchange = &step.exchange.0;
    let (a, b) = (At { step: &step.a, state: &chest }, At { step: &step.b.b, state: &block });
    let (on_chest, on_block) = exchange.controls(a, b, Default::default(), tick)?;
    let wrench = on_chest.wrench.unwrap().to_vec()?[0];
    let forces = on_block.force.unwrap().to_vec()?;
    let middle: Vec<_> = block.x.to_vec()?.iter().zip(block.v.to_vec()?).map(|(x, v)| *x + v * (0.5 * DT)).collect();
    let sum = forces.iter().fold(wrench.force, |sum, f| sum + *f);
    let own = wrench.torque + chest.x.to_vec()?[0].cross(wrench.force);
    let torque = middle.iter().zip(&forces).fold(own, |sum, (x, f)| sum + x.cross(*f));
    assert!(wrench.force.norm() > 1.0, "nothing touches: {:?}", wrench.force);
    assert!(sum.norm() < 1e-13 * wrench.force.norm(), "{sum:?} of {:?}", wrench.force);
    assert!(torque.norm() < 1e-13 * wrench.force.norm(), "{torque:?} of {own:?}");
    // What acts from outside stays, and is added to.
    let pushed = rigid::Wrench { force: Vec3::new(1.0, 2.0, 3.0), torque: Vec3::new(0.1, 0.2, 0.3) };
    let outer = rigid::Control { wrench: Some(device().array(&[pushed])?), ..rigid::Control::default() };
    let lifted = lattice::Control {
        force: Some(device().full(forces.len(), Vec3::new(0.0, 0.0, 0.5))?),
        activation: Some(device().array(&[2.0])?),
        ..lattice::Control::default()
    };
    let (a, b) = (At { step: &step.a, state: &chest }, At { step: &step.b.b, state: &block });
    let (more_chest, more_block) = exchange.controls(a, b, (outer, lifted), tick)?;
    let more = more_chest.wrench.unwrap().to_vec()?[0];
    assert!(
        (more.force - wrench.force - pushed.force).norm() < 1e-12
            && (more.torque - wrench.torque - pushed.torque).norm() < 1e-12
    );
    assert_eq!(more_block.activation.unwrap().to_vec()?, [2.0]);
    let raised = more_block.force.unwrap().to_vec()?;
    assert!(raised.iter().zip(&forces).all(|(a, b)| (*a - *b - Vec3::new(0.0, 0.0, 0.5)).norm() < 1e-12));
    assert!(net.len() == 18);
    Ok(())
}

/// Without friction, viscosity and gravity, before the box has touched the block and after it has left it: kept but for an error that falls with the square of the step.
#[test]
fn elastic_contact_keeps_energy() -> Result<()> {
    let lost = |dt: f64| -> Result<f64> {
        let (all, params, (chest, (_, block))) = scene(SMOOTH, [0.0; 3], false, 7, 0.0)?;
        let model = Coupled { a: all.a, b: all.b.b, exchange: all.exchange.0 };
        let soft = lattice::Params { viscosity: None, ..params.b.b };
        let smooth = coupling::Params { friction: device().array(&[0.0])?, ..params.exchange };
        let start = (chest, block);
        let step = model.bind(&Both { a: params.a, b: soft, exchange: smooth }, &start)?;
        let body = step.a.properties().to_vec()?[0];
        let energy = |(chest, block): &(rigid::State<f64>, lattice::State<f64>)| -> Result<f64> {
            let own = chest.q.to_vec()?[0].conjugate().rotate(chest.l.to_vec()?[0]);
            let v = chest.v.to_vec()?[0];
            Ok(0.5 * body.mass * v.dot(v) + 0.5 * own.dot(body.inverse * own) + step.b.energy(block)?.total())
        };
        let span = Span::steps(0, (0.12 / dt).round() as usize, dt);
        let end = step.advance_with(&start, span, |_, _| Ok(Default::default()), Schedule::Auto)?;
        for (state, k) in [(&start, 0), (&end, span.len())] {
            let (a, b) = (At { step: &step.a, state: &state.0 }, At { step: &step.b, state: &state.1 });
            let (on_chest, _) = step.exchange.controls(a, b, Default::default(), span.tick(k))?;
            let force = on_chest.wrench.unwrap().to_vec()?[0].force;
            assert!(force.norm() == 0.0, "it touches: {force:?}");
        }
        assert!(end.0.v.to_vec()?[0].z > start.0.v.to_vec()?[0].z + 0.5, "it has not hit");
        Ok((energy(&end)? / energy(&start)? - 1.0).abs())
    };
    let (coarse, fine) = (lost(4e-4)?, lost(1e-4)?);
    assert!(fine < 1e-5 && fine < coarse / 8.0, "{coarse:e}, {fine:e}");
    Ok(())
}

#[diff_kernel]
fn weigh<F: Float>(x: &Array<Vec3<F>>, w: &Array<Vec3<F>>, out: &mut Array<F>) {
    let p = x[ABSOLUTE_POS];
    out[0] += (p.mul_elem(p) + p * 0.3).dot(w[ABSOLUTE_POS]);
}

/// A weighted sum of squares of all positions and velocities, so that no direction is left out.
fn loss((chest, (net, block)): &<All as Model>::State) -> Result<Array<f64>> {
    let (dev, mut r) = (device(), Random(3));
    let out = dev.zeros(1)?;
    let all = [
        (&chest.x, 1.0),
        (&chest.v, 0.1),
        (&chest.l, 3.0),
        (&net.x, 1.0),
        (&net.v, 0.1),
        (&block.x, 0.4),
        (&block.v, 0.02),
    ];
    for (array, scale) in all {
        let w = dev.array(&r.many(array.len(), |r| r.vec3(0.2, 1.0) * scale))?;
        weigh(array.len(), array, &w, &out)?;
    }
    let turned = dev.uninit(1)?;
    axes(1, &chest.q, &turned)?;
    weigh(1, &turned, &dev.array(&[Vec3::new(0.3, -0.4, 0.5)])?, &out)?;
    Ok(out)
}

#[diff_kernel]
fn axes<F: Float>(q: &Array<Quat<F>>, out: &mut Array<Vec3<F>>) {
    out[ABSOLUTE_POS] = q[ABSOLUTE_POS].rotate(Vec3::new(0.3, -0.8, 0.5));
}

/// Some steps, the last a third of the others, in which the box hits and the block presses on the posts.
fn every_gradient(contact: Contact, seed: u64, (depth, steps): (f64, usize), leave_out: &[&str]) -> Result<()> {
    let (model, params, state) = scene(contact, GRAVITY, true, seed, depth)?;
    let span = Span::until(0, 0.0, (steps as f64 + 1.0 / 3.0) * 8e-4, 8e-4)?;
    Run { model: &model, params, state, span, loss: &loss }.check(leave_out)
}

#[test]
fn gradients_of_smooth_contact() -> Result<()> {
    // It is not damped.
    every_gradient(SMOOTH, 7, (0.0, 12), &["exchange.damping", "b.exchange.damping"])
}

/// Of contacts that begin with a kink, while nothing begins to touch.
#[test]
fn gradients_of_damped_contact() -> Result<()> {
    for (contact, seed) in [
        (Contact::HuntCrossley { stiffness: 6e5, damping: 0.4 }, 11),
        (Contact::Hertz { stiffness: 1.3e7, damping: 0.4 }, 12),
    ] {
        every_gradient(contact, seed, (4e-3, 8), &[])?;
    }
    Ok(())
}

#[test]
fn longest_steps_are_stable_and_not_far_from_the_limit() -> Result<()> {
    let (model, params, start) = scene(SMOOTH, GRAVITY, true, 7, 0.0)?;
    let dt = model.max_dt(&params, &start)?;
    let step = model.bind(&params, &start)?;
    let fastest = |factor: f64| -> Result<f64> {
        let span = Span::until(0, 0.0, 0.6, factor * dt)?;
        let end = step.advance_with(&start, span, |_, _| Ok(Default::default()), Schedule::Auto)?;
        Ok(end.1.1.v.to_vec()?.iter().map(|v| v.norm()).fold(0.0, f64::max))
    };
    let usual = fastest(0.2)?;
    assert!(fastest(1.0)? < 1.5 * usual, "{} m/s instead of {usual}", fastest(1.0)?);
    assert!(fastest(24.0).map_or(true, |v| v > 10.0 * usual), "the limit is far away: {:?} m/s", fastest(24.0));
    Ok(())
}
