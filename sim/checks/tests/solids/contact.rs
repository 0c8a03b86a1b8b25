//! What floors do to bodies: friction, bounces, and what does not depend on the floor.

use super::vibration::Vibration;
use super::*;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::fem::lattice::{Skin, contact_stiffness, floor};
use diffkern_sim::mesh::Pose;
use diffkern_sim::shape::{Cuboid, Primitive, Sphere};
use diffkern_sim::{Model as _, Observe as _};
use std::f64::consts::PI;

const MU: f64 = 8e3;
const LAMBDA: f64 = 1.2e4;
const G: f64 = 9.81;

/// Mean displacement along x and z \[m\] of the lower edge in front of a block, and of its top, `time` \[s\] after it is thrown along a floor of this friction at
/// `speed` \[m/s\]; the floor is as steep as a slope of `slope` along x.
fn thrown(sides: [f64; 3], friction: f64, [slope, speed, time]: [f64; 3]) -> Result<[[f64; 2]; 2]> {
    let (mu, lambda, cell) = (20.0 * MU, 20.0 * LAMBDA, 0.01);
    let block = Primitive::Cuboid(Cuboid { sides });
    let body = Body { pose: Pose::at([0.0, 0.0, 0.5 * sides[2]]), ..Body::new(block, cell) }.build()?;
    let ground = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], floor(mu, lambda, cell)).with_friction(friction);
    let down = G / f64::hypot(1.0, slope);
    let mut params = Params::<f64>::uniform(&device(), mu, lambda, 1e3, [slope * down, 0.0, -down])?;
    params.viscosity = Some(device().array(&[20.0])?);
    let state = body.state(&device(), [speed, 0.0, 0.0], [0.0; 3])?;
    let model = Model::new(&device(), &body, Law::NeoHookean, 1.0, &[ground])?;
    let steps = (time / model.max_dt(&params, &state)?).ceil();
    let solver = model.with_dt(time / steps)?.solver(&params, &state)?;
    let end = solver.advance(&state, 0, steps as usize, Schedule::Auto)?;
    let seen = Skin::new(&device(), &body)?.carried(&end.x)?.to_vec()?;
    let mean = |of: &dyn Fn(&[f64; 3]) -> bool| {
        let moved = seen.iter().zip(body.mesh().vertices()).filter(|(_, rest)| of(rest));
        let moved: Vec<_> = moved.map(|(x, rest)| [x.x - rest[0], x.z - rest[2]]).collect();
        [0, 1].map(|a| moved.iter().map(|m| m[a]).sum::<f64>() / moved.len() as f64)
    };
    let edge = mean(&|x| x[2] < 1e-9 && x[0] > 0.5 * sides[0] - 1e-9);
    Ok([edge, mean(&|x| x[2] > sides[2] - 1e-9)])
}

#[test]
fn tall_blocks_tip_over_where_they_cannot_slide() -> Result<()> {
    // Steeper than the block is wide by its height. Its edge gives way while it stands on it; without friction it would slide 16 cm.
    let on = |friction: f64| thrown([0.04, 0.04, 0.12], friction, [0.6, 0.0, 0.25]);
    let [[slid, _], [_, down]] = on(1.0)?;
    assert!(slid < 0.02 && down < -0.04, "{slid} {down}");
    // On a smoother one it slides as far as it should, but for its beginning, when it is held.
    let ([[slid, _], [_, down]], theory) = (on(0.2)?, 0.5 * 0.25f64.powi(2) * (0.6 - 0.2) * G / f64::hypot(1.0, 0.6));
    assert!((slid / theory - 1.0).abs() < 0.02 && down > -1e-3, "{slid} instead of {theory}, {down}");
    Ok(())
}

#[test]
fn blocks_slide_as_coulomb_says() -> Result<()> {
    let (friction, speed, time) = (0.2, 1.0, 0.25);
    let [[slid, _], _] = thrown([0.08, 0.08, 0.04], friction, [0.0, speed, time])?;
    let theory = speed * time - 0.5 * friction * G * time * time;
    assert!((slid / theory - 1.0).abs() < 2e-3, "{slid} instead of {theory}");
    Ok(())
}

/// Where a soft block is \[m\] that has come down on a rough floor at 1.3 m/s, its edge in front squeezed to half and its lower side sliding here and held there, in steps of this part of the longest.
fn landed(part: f64) -> Result<Vec3<f64>> {
    let (mu, lambda, cell, time) = (7e3, 1.2e4, 0.02, 0.06);
    let block = Primitive::Cuboid(Cuboid { sides: [0.18, 0.18, 0.12] });
    let body = Body { pose: Pose::at([0.0, 0.0, 0.061]), ..Body::new(block, cell) }.build()?;
    let ground = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], floor(mu, lambda, cell)).with_friction(0.4);
    let params = Params::<f64>::uniform(&device(), mu, lambda, 1e3, [0.0, 0.0, -G])?;
    let state = body.state(&device(), [1.2, -0.2, -1.3], [0.0; 3])?;
    let model = Model::new(&device(), &body, Law::NeoHookean, 1.0, &[ground])?;
    let steps = (time / (part * model.max_dt(&params, &state)?)).ceil();
    let solver = model.with_dt(time / steps)?.solver(&params, &state)?;
    let end = solver.advance(&state, 0, steps as usize, Schedule::Auto)?;
    let inside: Vec<_> = (0..1000)
        .map(|k| [(k % 10) as f64, (k / 10 % 10) as f64, (k / 100) as f64].map(|i| (i + 0.5) / 10.0 - 0.5))
        .map(|[x, y, z]| [0.18 * x, 0.18 * y, 0.061 + 0.12 * z])
        .collect();
    let places = Skin::of_points(&device(), &body, &inside)?.vertices(&end)?.to_vec()?;
    Ok(places.iter().fold(Vec3::zero(), |sum, x| sum + *x) / places.len() as f64)
}

/// By the velocity before all forces of a step, as friction once was, it goes a millimetre farther with the longest steps.
#[test]
fn friction_does_not_depend_on_the_step() -> Result<()> {
    let (long, short) = (landed(1.0)?, landed(0.2)?);
    assert!((long - short).norm() < 3e-4, "{long:?} {short:?}");
    Ok(())
}

/// A block that stands on a floor, hardly heavy, and vibrates: a quarter of a wave, of a frequency that a floor which gives way would lower. Of the stiffness found
/// from it that is `2 / FLOOR` of a cell by the height, and where contacts act takes it back.
#[test]
fn floors_do_not_show_in_the_stiffness() -> Result<()> {
    let (side, gravity, density) = (0.1, 0.1 * G, 1e3);
    for (cells, wide) in [(6, 0.1), (8, 0.1), (8, 0.025)] {
        let block = Primitive::Cuboid(Cuboid { sides: [wide, wide, side] });
        let body = Body { pose: Pose::at([0.0, 0.0, 0.5 * side]), ..Body::new(block, side / cells as f64) }.build()?;
        // Without lateral contraction.
        let e = 2.0 * MU;
        let params = Params::<f64>::uniform(&device(), MU, 0.0, density, [0.0, 0.0, -gravity])?;
        let stiffness = contact_stiffness(MU, 0.0, side / cells as f64);
        let ground = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], Contact::Penalty { stiffness });
        let weight = density * gravity;
        let about = |[_, _, z]: [f64; 3]| [0.0, 0.0, -weight / e * z * (side - 0.5 * z)];
        let mode = |[_, _, z]: [f64; 3]| [0.0, 0.0, -0.2 * weight * side * side / e * (0.5 * PI * z / side).sin()];
        let run =
            Vibration { body: &body, params: &params, colliders: &[ground], about: &about, mode: &mode, share: 1.0 };
        let off = (run.frequency(8)? / (0.5 * PI / side * (e / density).sqrt())).powi(2) - 1.0;
        assert!(off.abs() < 0.01, "{cells} cells, {wide} m: {off}");
    }
    Ok(())
}

/// Total energy after a ball has fallen on a floor and left it, relative to before.
fn bounced<F: Float>(cells: usize, speed: f64) -> Result<f64> {
    let (radius, cell) = (0.05, 0.1 / cells as f64);
    let ball = Primitive::Sphere(Sphere { radius });
    let body = Body { pose: Pose::at([0.0, 0.0, radius]), ..Body::new(ball, cell) }.build()?;
    let ground = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], floor(MU, LAMBDA, cell));
    let params = Params::<F>::uniform(&device(), MU, LAMBDA, 1e3, [0.0; 3])?;
    let state = body.state(&device(), [0.0, 0.0, -speed], [0.0; 3])?;
    let model = Model::new(&device(), &body, Law::NeoHookean, 1.0, &[ground])?;
    let dt = model.max_dt(&params, &state)?;
    let solver = model.with_dt(dt)?.solver(&params, &state)?;
    let mut end = solver.advance(&state, 0, (0.1 / dt) as usize, Schedule::Auto)?;
    let seen = Skin::new(&device(), &body)?.carried(&end.x)?.to_vec()?;
    assert!(seen.iter().all(|x| x.z.to_f64() > 0.0), "it has left");
    let mut sum = 0.0;
    for k in 0..20 {
        end = solver.advance(&end, k, 3, Schedule::Auto)?;
        sum += solver.energy(&end)?.total() / 20.0;
    }
    Ok(sum / solver.energy(&state)?.total())
}

/// Nine cells across, small parts of the ball are in many cells.
#[test]
fn balls_bounce_in_single_and_double_precision() -> Result<()> {
    for cells in [6, 9] {
        let kept = [bounced::<f32>(cells, 1.0)?, bounced::<f64>(cells, 1.0)?];
        assert!(kept.iter().all(|k| (k - 1.0).abs() < 5e-3), "{cells} cells: {kept:?}");
    }
    Ok(())
}
