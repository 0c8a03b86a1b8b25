//! Bodies that press on each other by forces.

use crate::common::Random;
use crate::common::groups::Run;
use crate::gradients::loss;
use crate::{cuboid, device, kinetic, pose, start};
use diffkern::jvp;
use diffkern::prelude::*;
use diffkern_sim::collision::Solid;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::rigid::{Body, Impacts, Mass, Model, Params, Plane, State};
use diffkern_sim::shape::{Primitive, Prism, Torus};
use diffkern_sim::{Model as _, Params as _, Result, Span, Step as _};

const G: f64 = 9.81;

fn slab(sides: [f64; 3]) -> Result<Body> {
    let [half_x, half_y, half_z] = sides.map(|s| 0.5 * s);
    Ok(Body::new(cuboid(sides)?).with_solid(Solid::Cuboid { half_x, half_y, half_z }))
}

type Case = (Model<f64>, Params<f64>, State<f64>);

/// A bracket, a box, a ball and a ring that meet in the middle, and do not touch before.
fn meeting(contact: Contact, seed: u64) -> Result<Case> {
    let (dev, mut r) = (device(), Random(seed));
    let bodies = [
        Body::new(Prism::bracket([0.4, 0.3], 0.1, 0.12).surface(0.08)?),
        slab([0.3, 0.2, 0.25])?,
        Body::ball(0.15, 0.1)?,
        Body::new(Primitive::Torus(Torus { radius: 0.2, tube: 0.08 }).surface(0.1)?)
            .with_solid(Solid::Torus { radius: 0.2, tube: 0.08 }),
    ];
    let model = Model::new(&dev, &bodies, 1e-3, &[])?.with_contact_between(contact, 0.3)?;
    let mut params = model.params(1.0, [0.0; 3])?;
    params.mass = Mass::Density(dev.array(&r.many(4, |r| r.between(80.0, 120.0)))?);
    params.grip = dev.array(&[2.0])?;
    let places = [[-0.36, 0.0, 0.02], [0.02, 0.31, 0.0], [0.34, -0.05, 0.03], [0.0, -0.1, -0.4]];
    let poses: Vec<_> = places
        .map(|at| {
            let at = Vec3::from_array(at) + r.vec3(-0.01, 0.01);
            let velocity = at * -r.between(5.0, 6.0);
            pose(at.to_array(), r.vec3(-0.5, 0.5).to_array(), velocity.to_array(), r.vec3(-2.0, 2.0).to_array())
        })
        .to_vec();
    let state = start(&model, &params, &poses)?;
    Ok((model, params, state))
}

/// Momentum and angular momentum about the origin.
fn momenta(model: &Model<f64>, params: &Params<f64>, state: &State<f64>) -> Result<[Vec3<f64>; 2]> {
    let (mut p, mut l) = (Vec3::zero(), Vec3::zero());
    let bodies = model.properties(params)?.to_vec()?;
    for (b, body) in bodies.iter().enumerate() {
        let (x, v) = (state.x.to_vec()?[b], state.v.to_vec()?[b]);
        p += v * body.mass;
        l += x.cross(v) * body.mass + state.l.to_vec()?[b];
    }
    Ok([p, l])
}

/// What one gets the other loses, turning included: forces act at one point. Angular momentum about a point is kept but for the motion of the bodies
/// within a step, of which semi-implicit Euler keeps `x cross v` exactly.
#[test]
fn momenta_stay_to_rounding() -> Result<()> {
    for (seed, contact) in [
        (1, Contact::HuntCrossley { stiffness: 900.0, damping: 0.5 }),
        (2, Contact::KelvinVoigt { stiffness: 900.0, damping: 5.0 }),
        (3, Contact::Penalty { stiffness: 900.0 }),
    ] {
        let (model, params, state) = meeting(contact, seed)?;
        let end = model.solver(&params, &state)?.advance(&state, 0, 200, Schedule::Auto)?;
        let turned = (end.l.to_vec()?[0] - state.l.to_vec()?[0]).norm();
        assert!(turned > 1e-3, "nothing has happened: {turned}");
        let (before, after) = (momenta(&model, &params, &state)?, momenta(&model, &params, &end)?);
        for (a, b) in before.iter().zip(&after) {
            assert!((*a - *b).norm() < 1e-13 * (1.0 + a.norm()), "{a:?} {b:?}");
        }
    }
    Ok(())
}

/// Balls that meet head on exchange their velocities, and are as deep in each other as one spring lets them be: the contact counts once.
#[test]
fn balls_exchange_velocities_on_one_spring() -> Result<()> {
    let (k, m, v, radius) = (4e3, 0.5, 1.2, 0.1);
    let bodies = [Body::ball(radius, 0.05)?, Body::ball(radius, 0.05)?];
    let model =
        Model::new(&device(), &bodies, 2e-5, &[])?.with_contact_between(Contact::Penalty { stiffness: k }, 0.0)?;
    let mut params = model.params(1.0, [0.0; 3])?;
    params.mass = Mass::Total(device().array(&[m])?);
    let line = Vec3::new(0.6, 0.0, 0.8);
    let from = [
        pose([0.0; 3], [0.0; 3], [0.0; 3], [0.0; 3]),
        pose((line * 0.25).to_array(), [0.0; 3], (line * -v).to_array(), [0.0; 3]),
    ];
    let mut state = start(&model, &params, &from)?;
    let (solver, mut nearest) = (model.solver(&params, &state)?, f64::INFINITY);
    for n in 0..400 {
        state = solver.advance(&state, 20 * n, 20, Schedule::Auto)?;
        let x = state.x.to_vec()?;
        nearest = nearest.min((x[0] - x[1]).norm());
    }
    let velocities = state.v.to_vec()?;
    assert!((velocities[0] + line * v).norm() < 1e-3 * v && velocities[1].norm() < 1e-3 * v, "{velocities:?}");
    // Of the reduced mass.
    let depth = v * (0.5 * m / k).sqrt();
    assert!((2.0 * radius - nearest - depth).abs() < 1e-3 * depth, "{} {depth}", 2.0 * radius - nearest);
    Ok(())
}

/// Damping in proportion to the force brings back the part `e` of a speed `v`, with `c v (1 + e) = ln((1 + c v) / (1 - c e v))`, whatever the stiffness, the masses and the power of the depth.
#[test]
fn damped_balls_come_back_as_their_law_says() -> Result<()> {
    let (c, radius) = (2.0, 0.1);
    for (contact, v) in [
        (Contact::HuntCrossley { stiffness: 4e3, damping: c }, 0.5),
        (Contact::Hertz { stiffness: 3e4, damping: c }, 0.5),
        (Contact::Hertz { stiffness: 3e4, damping: c }, 2.0),
    ] {
        let bodies = [Body::ball(radius, 0.05)?, Body::ball(radius, 0.05)?];
        let model = Model::new(&device(), &bodies, 1e-5, &[])?.with_contact_between(contact, 0.0)?;
        let mut params = model.params(1.0, [0.0; 3])?;
        params.mass = Mass::Total(device().array(&[0.4, 0.9])?);
        let at = |x: f64, v: f64| pose([x, 0.0, 0.0], [0.0; 3], [v, 0.0, 0.0], [0.0; 3]);
        let state = start(&model, &params, &[at(0.0, v), at(0.2 + 1e-4, 0.0)])?;
        let end = model.solver(&params, &state)?.advance(&state, 0, 12_000, Schedule::Auto)?;
        let v_end = end.v.to_vec()?;
        assert!((end.x.to_vec()?[1] - end.x.to_vec()?[0]).norm() > 2.0 * radius, "they have parted");
        let found = (v_end[1].x - v_end[0].x) / v;
        let over = |e: f64| c * v * (1.0 + e) - ((1.0 + c * v) / (1.0 - c * e * v)).ln();
        // Positive below the root that is not -1, up to where the logarithm ends.
        let (mut low, mut high) = (0.0, (1.0f64).min(1.0 / (c * v)));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if over(middle) > 0.0 { low = middle } else { high = middle }
        }
        assert!((found - low).abs() < 2e-3, "{contact:?} at {v} m/s: {found}, {low}");
    }
    Ok(())
}

/// A box that lies on another, which lies on a floor: each is as deep as its weight presses it, and neither creeps nor turns.
#[test]
fn a_box_rests_on_a_box() -> Result<()> {
    let (k, side) = (2e4, 0.2);
    let contact = Contact::HuntCrossley { stiffness: k, damping: 4.0 };
    let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], contact).with_friction(0.4);
    let model = Model::new(&device(), &[slab([0.4, 0.4, 0.1])?, slab([side; 3])?], 2e-4, &[floor])?
        .with_contact_between(contact, 0.4)?;
    let params = model.params(500.0, [0.0, 0.0, -G])?;
    let at = |z: f64, shift: f64| pose([shift, -shift, z], [0.0, 0.0, 0.3], [0.0; 3], [0.0; 3]);
    let state = start(&model, &params, &[at(0.05, 0.0), at(0.2, 0.03)])?;
    let end = model.solver(&params, &state)?.advance(&state, 0, 10_000, Schedule::Auto)?;
    let mass = |volume: f64| 500.0 * volume;
    let (upper, both) = (mass(side.powi(3)), mass(side.powi(3)) + mass(0.016));
    let x = end.x.to_vec()?;
    let deep = [0.05 - x[0].z, 0.15 - (x[1].z - x[0].z)];
    // The upper box tilts the lower one, which stands on its corners, to the side where it lies.
    let tilted = 2.0 * upper * G * 0.03f64.powi(2) / (4.0 * k * 0.2f64.powi(2));
    for (deep, expected) in deep.into_iter().zip([both * G / (4.0 * k), upper * G / (4.0 * k) + tilted]) {
        assert!((deep / expected - 1.0).abs() < 2e-3, "{deep} {expected}");
    }
    let slid = (x[1] - x[0] - Vec3::new(0.03, -0.03, 0.15)).norm();
    assert!(slid < 1.5e-3, "{slid}");
    assert!(end.v.to_vec()?.iter().all(|v| v.norm() < 1e-3), "{:?}", end.v.to_vec()?);
    Ok(())
}

/// Samples of the surface are as good as its formula, but for edges.
#[test]
fn sampled_solids_act_as_exact_ones() -> Result<()> {
    let contact = Contact::HuntCrossley { stiffness: 2e3, damping: 0.4 };
    let run = |exact: bool| -> Result<Vec<Vec3<f64>>> {
        let plate = Body::new(cuboid([0.5, 0.4, 0.2])?);
        let half = Solid::Cuboid { half_x: 0.25, half_y: 0.2, half_z: 0.1 };
        let plate = if exact { plate.with_solid(half) } else { plate };
        let model =
            Model::new(&device(), &[plate, Body::ball(0.1, 0.05)?], 1e-3, &[])?.with_contact_between(contact, 0.3)?;
        let params = model.params(300.0, [0.0; 3])?;
        let from = [
            pose([0.0; 3], [0.2, 0.1, 0.4], [0.0; 3], [0.3, 0.2, -0.4]),
            pose([0.08, -0.05, 0.35], [0.0; 3], [0.2, 0.1, -1.5], [0.0; 3]),
        ];
        let state = start(&model, &params, &from)?;
        let end = model.solver(&params, &state)?.advance(&state, 0, 300, Schedule::Auto)?;
        Ok([end.v.to_vec()?, end.x.to_vec()?, end.l.to_vec()?].concat())
    };
    let (exact, sampled) = (run(true)?, run(false)?);
    assert!(exact[1].z > 0.0, "it has bounced: {:?}", exact[1]);
    for (a, b) in exact.iter().zip(&sampled) {
        assert!((*a - *b).norm() < 1e-3, "{a:?} {b:?}");
    }
    Ok(())
}

/// Energy falls where contact is damped and rubs, and stays where it does neither.
#[test]
fn energy_is_not_made() -> Result<()> {
    for (damping, friction, kept) in [(0.0, 0.0, 0.99..1.01), (0.5, 0.3, 0.1..0.97)] {
        let (model, params, state) = meeting(Contact::HuntCrossley { stiffness: 900.0, damping }, 4)?;
        let model = Model::new(&device(), model.bodies(), 1e-4, &[])?
            .with_contact_between(Contact::HuntCrossley { stiffness: 900.0, damping }, friction)?;
        let params = Params { between: model.params(1.0, [0.0; 3])?.between, ..params };
        let end = model.solver(&params, &state)?.advance(&state, 0, 5000, Schedule::Auto)?;
        let bodies = model.properties(&params)?.to_vec()?;
        let energy = |s: &State<f64>| -> Result<f64> {
            let (q, v, l) = (s.q.to_vec()?, s.v.to_vec()?, s.l.to_vec()?);
            Ok(bodies.iter().enumerate().map(|(b, body)| kinetic(body, q[b], v[b], l[b])).sum())
        };
        let part = energy(&end)? / energy(&state)?;
        assert!(kept.contains(&part), "{damping} {friction}: {part}");
    }
    Ok(())
}

/// Of the seeds 1 to 8 the differences of the others meet kinks, where one of the many points begins to touch.
#[test]
fn gradients_of_bodies_that_meet() -> Result<()> {
    for (seed, contact, leave_out) in [
        (5, Contact::HuntCrossley { stiffness: 900.0, damping: 0.3 }, ["surface.vertices"].as_slice()),
        (6, Contact::Barrier { stiffness: 100.0, width: 0.03 }, &["surface.vertices", "between.damping"]),
    ] {
        let (model, params, state) = meeting(contact, seed)?;
        let span = Span::until(0, 0.0, 0.05 + 1e-3 / 3.0, 1e-3)?;
        Run { model: &model, params, state, span, loss: &loss }.check(leave_out)?;
    }
    Ok(())
}

/// Impulses of a floor and forces between bodies in one step.
#[test]
fn gradients_beside_impacts() -> Result<()> {
    let contact = Contact::HuntCrossley { stiffness: 900.0, damping: 0.3 };
    let floor = Plane { normal: [0.0, 0.0, 1.0], offset: 0.0, restitution: 0.5, friction: 0.3 };
    let model = Model::new(&device(), &[slab([0.3, 0.3, 0.1])?, Body::ball(0.1, 0.1)?], 1e-3, &[])?
        .with_impacts(Impacts::new(vec![floor]))?
        .with_contact_between(contact, 0.3)?;
    let params = model.params(100.0, [0.2, 0.1, -G])?;
    let from = [
        pose([0.0, 0.0, 0.09], [0.2, -0.1, 0.3], [0.3, 0.1, -1.0], [0.5, -0.4, 0.3]),
        pose([0.03, 0.04, 0.25], [0.3, 0.2, 0.1], [0.1, -0.2, -1.8], [1.0, 2.0, 0.5]),
    ];
    let state = start(&model, &params, &from)?;
    let span = Span::until(0, 0.0, 0.06 + 1e-3 / 3.0, 1e-3)?;
    Run { model: &model, params, state, span, loss: &loss }.check(&["surface.vertices"])
}

/// Solids do not follow the vertices: a gradient to these would lack what that does, so there is none.
#[test]
fn vertices_are_no_parameters_of_bodies_that_touch_each_other() -> Result<()> {
    let (model, params, state) = meeting(Contact::Penalty { stiffness: 900.0 }, 1)?;
    let refused = |params: &Params<f64>| {
        let said = model.solver(params, &state).map(drop).expect_err("vertices are refused").to_string();
        assert!(said.contains("surface.vertices") && said.contains("do not follow"), "{said}");
    };
    refused(&Params { vertices: device().array(&params.vertices.to_vec()?)?.requires_grad(), ..params.clone() });
    let moved: Vec<_> = params.vertices.to_vec()?.iter().map(|v| *v * 1.1).collect();
    refused(&Params { vertices: device().array(&moved)?, ..params.clone() });
    let vertices = device().array(&params.vertices.to_vec()?)?;
    let along = device().array(&vec![Vec3::new(1.0, 0.0, 0.0); vertices.len()])?;
    jvp(&[&[(vertices.as_any(), along.as_any())]], || {
        refused(&Params { vertices: vertices.clone(), ..params.clone() });
        Ok::<_, diffkern_sim::Error>(())
    })?;
    // What depends on something that wants a gradient, too.
    let scale = device().array(&[1.0])?.requires_grad();
    Tape::record_value(|| {
        let scaled = device().uninit(vertices.len())?;
        scaled_vertices(vertices.len(), &vertices, &scale, &scaled)?;
        refused(&Params { vertices: scaled, ..params.clone() });
        device().zeros::<f64>(1).map_err(diffkern_sim::Error::from)
    })?;
    model.solver(&Params { vertices, ..params.clone() }, &state)?;
    Ok(())
}

#[diff_kernel]
fn scaled_vertices<F: Float>(x: &Array<Vec3<F>>, scale: &Array<F>, y: &mut Array<Vec3<F>>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * scale[0];
}

#[test]
fn wrong_contacts_are_refused() -> Result<()> {
    let balls = [Body::ball(0.1, 0.1)?, Body::ball(0.1, 0.1)?];
    let said = |bodies: &[Body], contact, friction| -> Result<String> {
        let model = Model::<f64>::new(&device(), bodies, 1e-3, &[])?;
        Ok(model.with_contact_between(contact, friction).map(drop).expect_err("it is wrong").to_string())
    };
    let penalty = Contact::Penalty { stiffness: 1e3 };
    assert!(said(&balls, Contact::Sticky, 0.0)?.contains("by forces"));
    assert!(said(&balls, penalty, -0.1)?.contains("friction between bodies"));
    assert!(
        said(&balls, Contact::Penalty { stiffness: -1.0 }, 0.0)?.contains("stiffness of the contact between bodies")
    );
    assert!(said(&balls[..1], penalty, 0.0)?.contains("at least 2"));
    let point = [balls[0].clone().with_solid(Solid::Sphere { radius: 0.0 }), balls[1].clone()];
    assert!(said(&point, penalty, 0.0)?.contains("the solid of body 0"));
    let alone = Model::<f64>::new(&device(), &balls, 1e-3, &[])?;
    let model = alone.clone().with_contact_between(penalty, 0.1)?;
    let mut params = model.params(100.0, [0.0; 3])?;
    assert_eq!(params.group("between.friction")?.array.len(), 1);
    let from = vec![pose([0.0; 3], [0.0; 3], [0.0; 3], [0.0; 3]); 2];
    let state = start(&alone, &alone.params(100.0, [0.0; 3])?, &from)?;
    assert!(alone.solver(&params, &state).is_err());
    params.replace("between.friction", device().array(&[0.1, 0.2])?.as_any().clone())?;
    let said = model.solver(&params, &state).map(drop).expect_err("two numbers").to_string();
    assert!(said.contains("between.friction") && said.contains('2'), "{said}");
    Ok(())
}

/// Two boxes on each other keep still at the stable step, and at twice the limit of linear theory do not.
#[test]
fn stable_steps_count_both_bodies() -> Result<()> {
    let contact = Contact::Penalty { stiffness: 1e4 };
    let bodies = || -> Result<[Body; 2]> { Ok([slab([0.2; 3])?, slab([0.2; 3])?]) };
    let probe = Model::new(&device(), &bodies()?, 1e-3, &[])?.with_contact_between(contact, 0.0)?;
    let mut params = probe.params(100.0, [0.0; 3])?;
    params.grip = device().array(&[0.0])?;
    // Face to face: all corners of one are in the other where that is a little larger than its surface.
    let from = [pose([0.0; 3], [0.0; 3], [0.0; 3], [0.0; 3]), pose([0.0, 0.0, 0.1999], [0.0; 3], [0.0; 3], [0.0; 3])];
    let state = start(&probe, &params, &from)?;
    let longest = probe.max_dt(&params, &state)?;
    let alone = Model::new(&device(), &bodies()?, 1e-3, &[])?;
    let free = alone.max_dt(&alone.params(100.0, [0.0; 3])?, &state)?;
    // Of sixteen points on two bodies, each of 0.8 kg.
    let reach = 3.0 * 0.1f64.powi(2);
    let compliance = 2.0 * (1.0 / 0.8 + reach / (0.8 * 0.04 / 6.0));
    let expected = 0.5 * 2.0 / (1e4 * 16.0 * compliance).sqrt();
    assert!((longest / expected - 1.0).abs() < 1e-9 && free > longest, "{longest} {expected} {free}");
    Ok(())
}
