//! Contact by forces against closed forms.

use crate::{cuboid, device, pose, start};
use diffkern::prelude::*;
use diffkern_sim::contact::{Collider, Contact, ContactModel as _, KelvinVoigt};
use diffkern_sim::rigid::contact::limited_friction;
use diffkern_sim::rigid::{Body, Model, Params, State};
use diffkern_sim::shape::Prism;
use diffkern_sim::{Model as _, Result, Step as _};

const G: f64 = 9.81;

/// A plate of a kilogram on a plane with `normal`, at the depth at which the plane carries it, sliding along the plane.
fn sliding(
    normal: Vec3<f64>,
    friction: f64,
    velocity: Vec3<f64>,
    h: f64,
) -> Result<(Model<f64>, Params<f64>, State<f64>)> {
    let (k, n) = (1e4, normal.normalize());
    let contact = Contact::KelvinVoigt { stiffness: k, damping: 30.0 };
    let floor = Collider::plane([0.1, 0.2, 0.3], n.to_array(), contact).with_friction(friction);
    let turn = floor.pose.rotation;
    let model = Model::new(&device(), &[Body::new(cuboid([0.5, 0.4, 0.02])?)], h, &[floor])?;
    let params = model.params(1.0 / 0.004, [0.0, 0.0, -G])?;
    let depth = G * n.z / (4.0 * k);
    let mut from = pose([0.0; 3], [0.0; 3], velocity.to_array(), [0.0; 3]);
    (from.rotation, from.centre) = (turn, Vec3::new(0.1, 0.2, 0.3) + n * (0.01 - depth));
    let state = start(&model, &params, &[from])?;
    Ok((model, params, state))
}

#[test]
fn coulomb_stops_what_slides_after_its_distance() -> Result<()> {
    let (mu, speed) = (0.4, 1.5);
    let along = Vec3::new(0.8, -0.6, 0.0);
    let (model, params, state) = sliding(Vec3::new(0.0, 0.0, 1.0), mu, along * speed, 1e-4)?;
    let end = model.solver(&params, &state)?.advance(&state, 0, 6000, Schedule::Auto)?;
    let way = end.x.to_vec()?[0] - state.x.to_vec()?[0];
    let exact = speed * speed / (2.0 * mu * G);
    assert!((way.dot(along) / exact - 1.0).abs() < 1e-3, "{} instead of {exact}", way.dot(along));
    assert!(end.v.to_vec()?[0].norm() < 1e-6, "{:?}", end.v.to_vec()?);
    Ok(())
}

/// On a floor that is tilted about no axis of the world friction acts against the motion, not along axes.
#[test]
fn a_tilted_floor_accelerates_down_its_steepest_line() -> Result<()> {
    let n = Vec3::new(0.25, -0.4, 1.0).normalize();
    let g = Vec3::new(0.0, 0.0, -G);
    let (normal, down) = (-g.dot(n), g - n * g.dot(n));
    let t = 0.3;
    // Across the slope, so that friction turns the motion.
    let across = n.cross(down).normalize();
    for (mu, velocity) in [(0.2, Vec3::zero()), (0.0, across * 0.7), (0.3, across * 0.7)] {
        let (model, params, state) = sliding(n, mu, velocity, 1e-4)?;
        let end = model.solver(&params, &state)?.advance(&state, 0, 3000, Schedule::Auto)?;
        // By small steps of the sliding point alone.
        let (mut v, h) = (velocity, 1e-5);
        for _ in 0..30_000 {
            let push = if v.norm() > 0.0 { v.normalize() * (mu * normal) } else { Vec3::zero() };
            v += (down - push) * h;
        }
        let found = end.v.to_vec()?[0];
        assert!((found - v).norm() < 1e-3 * down.norm() * t, "{mu}: {found:?}, {v:?}");
    }
    let (model, params, state) = sliding(n, 0.6, Vec3::zero(), 1e-4)?;
    let end = model.solver(&params, &state)?.advance(&state, 0, 3000, Schedule::Auto)?;
    assert!(end.v.to_vec()?[0].norm() < 2e-3, "a slope of {} holds by 0.6", down.norm() / normal);
    Ok(())
}

/// Without damping a ball comes back to where it fell from.
#[test]
fn a_ball_bounces_without_loss_on_a_spring() -> Result<()> {
    let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], Contact::KelvinVoigt { stiffness: 2e4, damping: 0.0 });
    let model = Model::new(&device(), &[Body::ball(0.1, 0.05)?], 5e-5, &[floor])?;
    let params = model.params(1000.0, [0.0, 0.0, -G])?;
    let mut state = start(&model, &params, &[pose([0.0, 0.0, 0.4], [0.0; 3], [0.0; 3], [0.0; 3])])?;
    let (solver, mut top, mut low) = (model.solver(&params, &state)?, 0.0f64, f64::INFINITY);
    for k in 0..60 {
        state = solver.advance(&state, k * 200, 200, Schedule::Auto)?;
        let z = state.x.to_vec()?[0].z;
        low = low.min(z);
        if k > 35 {
            top = top.max(z);
        }
    }
    assert!(low < 0.1 && (top - 0.4).abs() < 3e-4, "{low}, {top}");
    Ok(())
}

/// The damping resists approach; it does not hold back what leaves, and the limit of friction counts it.
#[test]
fn damping_never_pulls_and_counts_for_friction() -> Result<()> {
    let q = Vec4::new(1000.0, 50.0, 1.0, 0.5);
    for (gap, rate, force) in
        [(-0.01, -2.0, 110.0), (-0.01, 0.0, 10.0), (-0.01, 3.0, 10.0), (0.01, -2.0, 0.0), (0.0, -2.0, 0.0)]
    {
        assert!((KelvinVoigt::force(gap, rate, q) - force).abs() < 1e-12, "{gap}, {rate}");
    }
    let strong = limited_friction(Vec3::new(3.0, -4.0, 0.0), 1e3, 0.5 * 110.0);
    assert!((strong - Vec3::new(-33.0, 44.0, 0.0)).norm() < 1e-6, "{strong:?}");
    // In a step: a ball that sinks at 2 m/s and slides at 1 m/s is pushed by spring and dashpot, and braked by half of both.
    let contact = Contact::KelvinVoigt { stiffness: 1000.0, damping: 50.0 };
    let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], contact).with_friction(0.5);
    let h = 1e-4;
    let model = Model::new(&device(), &[Body::ball(0.1, 0.05)?], h, &[floor])?;
    let params = model.params(1.0, [0.0; 3])?;
    let mass = model.properties(&params)?.to_vec()?[0].mass;
    let step = |vz: f64| -> Result<Vec3<f64>> {
        let state = start(&model, &params, &[pose([0.0, 0.0, 0.09], [0.0; 3], [1.0, 0.0, vz], [0.0; 3])])?;
        let end = model.solver(&params, &state)?.advance(&state, 0, 1, Schedule::Auto)?;
        Ok((end.v.to_vec()?[0] - Vec3::new(1.0, 0.0, vz)) * (mass / h))
    };
    let (sinking, leaving) = (step(-2.0)?, step(2.0)?);
    assert!((sinking - Vec3::new(-55.0, 0.0, 110.0)).norm() < 1e-6, "{sinking:?}");
    assert!((leaving - Vec3::new(-5.0, 0.0, 10.0)).norm() < 1e-6, "{leaving:?}");
    Ok(())
}

/// A ball that is thrown without spin slides until it rolls, at 5/7 of its speed.
#[test]
fn a_ball_rolls_without_slip_in_the_end() -> Result<()> {
    let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], Contact::HuntCrossley { stiffness: 1e4, damping: 1.0 });
    let (r, h) = (0.1, 1e-4);
    let model = Model::new(&device(), &[Body::ball(r, 0.05)?], h, &[floor.with_friction(0.3)])?;
    let params = model.params(250.0, [0.0, 0.0, -G])?;
    let body = model.properties(&params)?.to_vec()?[0];
    let depth = body.mass * G / 1e4;
    let state = start(&model, &params, &[pose([0.0, 0.0, r - depth], [0.1, 0.2, 0.3], [0.7, 0.0, 0.0], [0.0; 3])])?;
    let solver = model.solver(&params, &state)?;
    let end = solver.advance(&state, 0, 4000, Schedule::Auto)?;
    let motion = solver.poses(&end)?.to_vec()?[0];
    // What momentum about the point of contact makes of it, with the inertia that the triangles have; forces act on the surface of the
    // undeformed ball.
    let share = 1.0 / (1.0 + body.inertia[(0, 0)] / (body.mass * r * r));
    assert!((motion.velocity.x - motion.spin.y * r).abs() < 2e-5, "{motion:?}");
    assert!((motion.velocity.x / 0.7 - share).abs() < 1e-3 && (share - 5.0 / 7.0).abs() < 0.02, "{motion:?} {share}");
    Ok(())
}

#[test]
fn unstable_steps_and_foreign_contacts_are_refused() -> Result<()> {
    let sticky = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], Contact::Sticky);
    let bodies = [Body::new(cuboid([0.1; 3])?)];
    let error = Model::<f64>::new(&device(), &bodies, 1e-3, &[sticky]).unwrap_err().to_string();
    assert!(error.starts_with("contact of collider 0 is Sticky, expected one by forces"), "{error}");
    Ok(())
}

/// At the limit a body that falls on a corner of an L stays finite and loses energy; far beyond it does not.
#[test]
fn the_longest_step_is_stable() -> Result<()> {
    let contact = Contact::KelvinVoigt { stiffness: 1e4, damping: 5.0 };
    let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], contact).with_friction(0.4);
    let bodies = [Body::new(Prism::bracket([0.4, 0.3], 0.1, 0.1).surface(10.0)?)];
    let speed = |factor: f64| -> Result<f64> {
        let probe = Model::<f64>::new(&device(), &bodies, 1.0, std::slice::from_ref(&floor))?;
        let mut params = probe.params(500.0, [0.0, 0.0, -G])?;
        // So little that springs limit the step.
        params.grip = device().array(&[10.0])?;
        let state = start(&probe, &params, &[pose([0.0, 0.0, 0.3], [0.9, 0.4, 0.2], [0.2, 0.0, 0.0], [0.0; 3])])?;
        let dt = factor * probe.max_dt(&params, &state)?;
        let model = Model::<f64>::new(&device(), &bodies, dt, std::slice::from_ref(&floor))?;
        let steps = (1.5 / dt) as usize;
        let end = model.bind(&params, &state)?.advance(&state, 0, steps, Schedule::Auto)?;
        Ok(end.v.to_vec()?[0].norm())
    };
    assert!(speed(1.0)? < 0.5, "{}", speed(1.0)?);
    assert!(speed(40.0).map_or(true, |v| v > 1.0), "the limit is far away");
    Ok(())
}
