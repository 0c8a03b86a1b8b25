//! Gradients of runs by every group of parameters and by the initial state.

use super::*;
use crate::common::Random;
use crate::common::groups::Run;
use diffkern_sim::Span;
use diffkern_sim::collision::Solid;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::fem::bulk::QUADRATIC;
use diffkern_sim::fem::lattice::{Clamp, Relaxation};
use diffkern_sim::mesh::Pose;
use diffkern_sim::shape::{Cuboid, Primitive, Sphere};

/// A weighted mean square of the positions: no direction is left out.
pub(super) fn loss(state: &State<f64>) -> Result<Array<f64>> {
    let mut r = Random(3);
    let weights = device().array(&r.many(state.len(), |r| r.vec3(0.2, 1.0)))?;
    let out = device().zeros(state.len())?;
    weighted_squares(state.len(), &state.x, &weights, &out)?;
    Ok(diffkern::reduce::sum(&out)?)
}

#[diff_kernel]
fn weighted_squares<F: Float>(x: &Array<Vec3<F>>, w: &Array<Vec3<F>>, out: &mut Array<F>) {
    let p = x[ABSOLUTE_POS];
    out[ABSOLUTE_POS] = p.mul_elem(p).dot(w[ABSOLUTE_POS]);
}

/// A body out of shape and moving, and parameters, none of them alike.
fn check(body: &Body, law: Law, contact: Option<Contact>, leave_out: &[&str]) -> Result<()> {
    check_from([1.05, 0.0], 0.0, body, law, contact, leave_out)
}

/// From a body `size` times as wide that grows by the part `rate` a second, with bulk viscosity of `quadratic`.
fn check_from(
    [size, rate]: [f64; 2],
    quadratic: f64,
    body: &Body,
    law: Law,
    contact: Option<Contact>,
    leave_out: &[&str],
) -> Result<()> {
    let (dev, mut r) = (device(), Random(17));
    let cut = body.build()?;
    let ball = contact.map(|contact| {
        Collider::new(Solid::Sphere { radius: 0.3 }, contact)
            .at([0.03, -0.02, -0.36])
            .moving([0.1, 0.05, 0.2], [0.4, -0.3, 0.6])
            .with_friction(0.4)
    });
    let loads = [(0, [0.05, 0.02, 0.04]), (0, [-0.03, 0.01, 0.05])];
    let model =
        Model::new(&dev, &cut, law, 2e-3, ball.as_slice())?.with_loads(&loads)?.with_bulk_viscosity(quadratic)?;
    let mut params = Params::<f64>::uniform(&dev, 2e3, 3e3, 900.0, [0.4, -0.3, -9.81])?;
    let cells = cut.cells();
    params.mu = dev.array(&r.many(cells, |r| r.between(1.5e3, 2.5e3)))?;
    params.density = dev.array(&r.many(cells, |r| r.between(800.0, 1000.0)))?;
    params.damping = dev.array(&r.many(cut.rest().len(), |r| r.between(0.2, 0.5)))?;
    params.loads = Some(dev.array(&[0.3, 0.2])?);
    params.viscosity = Some(dev.array(&r.many(cells, |r| r.between(1.0, 2.0)))?);
    params.relaxation = Some(Relaxation {
        modulus: dev.array(&r.many(cells, |r| r.between(1e3, 2e3)))?,
        time: dev.array(&r.many(cells, |r| r.between(0.01, 0.03)))?,
    });
    params.contact = model.obstacles().map(|o| o.contacts(&dev)).transpose()?;
    let positions: Vec<_> = cut.rest().iter().map(|p| p.map(|x| size * x + r.between(-0.002, 0.002))).collect();
    let mut velocities =
        r.many(cut.rest().len(), |r| [r.between(0.1, 0.5), r.between(-0.4, 0.2), r.between(-0.8, -0.4)]);
    for (v, p) in velocities.iter_mut().zip(cut.rest()) {
        *v = std::array::from_fn(|k| v[k] + rate * p[k]);
    }
    // The branch is free of stress in another shape.
    let before: Vec<_> = cut.rest().iter().map(|p| p.map(|x| 0.97 * x + r.between(-0.002, 0.002))).collect();
    let memory = model.settled(&State::new(&dev, &before, &velocities)?)?.memory;
    let state = State { memory, ..State::new(&dev, &positions, &velocities)? };
    // A last step of a third of the length.
    let span = Span::until(0, 0.0, 0.04 + 2e-3 / 3.0, 2e-3)?;
    Run { model: &model, params, state, span, loss: &loss }.check(leave_out)
}

#[test]
fn gradients_of_a_cut_ball_on_a_damped_floor() -> Result<()> {
    let ball = Primitive::Sphere(Sphere { radius: 0.1 });
    let pose = Pose { rotation: [0.3, -0.2, 0.5], translation: [0.0, 0.0, 0.056] };
    let body = Body { pose, ..Body::new(ball, 0.09) };
    check(&body, Law::NeoHookean, Some(Contact::HuntCrossley { stiffness: 3e5, damping: 0.3 }), &[])
}

#[test]
fn gradients_of_a_cut_box_on_a_smooth_floor() -> Result<()> {
    let block = Primitive::Cuboid(Cuboid { sides: [0.2, 0.15, 0.1] });
    let pose = Pose { rotation: [0.2, 0.1, 0.3], translation: [0.0, 0.0, 0.02] };
    let body = Body { pose, corner: Some([-0.11, -0.08, -0.06]), ..Body::new(block, 0.08) };
    check(&body, Law::NeoHookean, Some(Contact::SmoothPenalty { stiffness: 3e5, width: 0.01 }), &["contact.damping"])
}

/// Flat, and pressed further. Ten times as much as usual, so that it is felt beside the other forces.
#[test]
fn gradients_of_a_clamped_box_with_bulk_viscosity() -> Result<()> {
    let bar = Primitive::Cuboid(Cuboid { sides: [0.3, 0.1, 0.1] });
    let clamps = vec![Clamp::below(0, -0.09)];
    let body = Body { clamps, pose: Pose::at([0.0, 0.0, 0.01]), ..Body::new(bar, 0.08) };
    check_from([0.85, -6.0], 10.0 * QUADRATIC, &body, Law::NeoHookean, None, &[])
}

#[test]
fn gradients_of_a_clamped_box_by_every_law() -> Result<()> {
    let bar = Primitive::Cuboid(Cuboid { sides: [0.3, 0.1, 0.1] });
    let clamps = vec![Clamp::below(0, -0.09)];
    let body = Body { clamps, pose: Pose::at([0.0, 0.0, 0.01]), ..Body::new(bar, 0.08) };
    for law in Law::ALL {
        check(&body, law, None, &[])?;
    }
    Ok(())
}
