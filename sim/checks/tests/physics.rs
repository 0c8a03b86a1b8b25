//! What every simulator must get right, in f64.

use diffkern::interrupt;
use diffkern::prelude::*;
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{Blocks, Contact, Dim2, Dim3, Grid, HalfSpace, Law, Model, Params, State};
use diffkern_sim::scene::BlockSpec;
use diffkern_sim::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cube of 10 cm in the air.
fn cube() -> BlockSpec {
    BlockSpec { cells: 3, duration: 0.2, frame_rate: 10.0, ..BlockSpec::default() }
}

/// Sum of `mass * vector` over particles of equal mass, per unit of mass.
fn mean(vectors: &[Vec3<f64>]) -> [f64; 3] {
    [0, 1, 2].map(|a| vectors.iter().map(|v| v.to_array()[a]).sum::<f64>() / vectors.len() as f64)
}

fn largest(matrices: &[Mat3<f64>]) -> f64 {
    matrices.iter().flat_map(|m| (*m - Mat3::identity()).to_array()).fold(0.0, |m: f64, x| m.max(x.abs()))
}

#[test]
fn rest_stays_at_rest() -> Result<()> {
    let dev = Device::cpu();
    for law in Law::ALL {
        let floor = HalfSpace::through([0.0, 0.0, -0.01], [0.0, 0.0, 1.0], Contact::Separating);
        let scene = BlockSpec { law, half_spaces: vec![floor], ..cube() }.build::<f64>(&dev)?;
        let solver = scene.model.solver(&scene.params(&dev, 5e3, 1e4)?, scene.state.len())?;
        let end = solver.advance(&scene.state, 0, 50, Schedule::StoreAll)?;
        assert_eq!(end.x.to_vec()?, scene.state.x.to_vec()?);
        assert!(largest(&end.f.to_vec()?) < 1e-13);
    }
    Ok(())
}

#[test]
fn free_fall_follows_gravity_and_stays_undeformed() -> Result<()> {
    let dev = Device::cpu();
    let spec = BlockSpec { gravity: [0.3, -0.2, -9.81], velocity: [0.5, 0.0, 1.0], ..cube() };
    let scene = spec.build::<f64>(&dev)?;
    let solver = scene.model.solver(&scene.params(&dev, 5e3, 1e4)?, scene.state.len())?;
    let steps = scene.steps_per_frame;
    let end = solver.advance(&scene.state, 0, steps, Schedule::StoreAll)?;
    let (dt, n) = (scene.model.dt(), steps as f64);
    let (start, x, v) = (mean(&scene.state.x.to_vec()?), mean(&end.x.to_vec()?), mean(&end.v.to_vec()?));
    for a in 0..3 {
        // Symplectic Euler: t^2/2 becomes dt^2 n (n + 1) / 2.
        let fall = spec.velocity[a] * n * dt + spec.gravity[a] * dt * dt * n * (n + 1.0) / 2.0;
        assert!((x[a] - start[a] - fall).abs() < 1e-12, "axis {a}: {} instead of {fall}", x[a] - start[a]);
        assert!((v[a] - spec.velocity[a] - spec.gravity[a] * n * dt).abs() < 1e-11);
    }
    assert!(largest(&end.f.to_vec()?) < 1e-11);
    Ok(())
}

#[test]
fn momentum_and_mass_are_conserved() -> Result<()> {
    let dev = Device::cpu();
    let spec = BlockSpec { velocity: [1.0, -0.5, 0.2], angular_velocity: [3.0, -8.0, 5.0], ..cube() };
    let scene = spec.build::<f64>(&dev)?;
    let solver = scene.model.solver(&scene.params(&dev, 5e3, 1e4)?, scene.state.len())?;
    let end = solver.advance(&scene.state, 0, 200, Schedule::StoreAll)?;
    let (before, after) = (mean(&scene.state.v.to_vec()?), mean(&end.v.to_vec()?));
    for a in 0..3 {
        assert!((before[a] - after[a]).abs() < 1e-12, "axis {a}: {} becomes {}", before[a], after[a]);
    }
    let (l0, l1) = (angular(&scene.state, scene.model.grid().dx())?, angular(&end, scene.model.grid().dx())?);
    let size = l0.iter().map(|l| l * l).sum::<f64>().sqrt();
    for a in 0..3 {
        // Exact for the transfers; the update of F is first order in dt.
        assert!((l0[a] - l1[a]).abs() < 1e-3 * size, "angular momentum {l0:?} becomes {l1:?}");
    }
    Ok(())
}

/// Angular momentum per unit of particle mass, the affine part (`dx^2/4 C`) included.
fn angular(state: &State<Dim3, f64>, dx: f64) -> Result<[f64; 3]> {
    let mut sum = Vec3::zero();
    let (x, v, c) = (state.x.to_vec()?, state.v.to_vec()?, state.c.to_vec()?);
    for ((x, v), c) in x.iter().zip(&v).zip(&c) {
        let axial = Vec3::new(c[(2, 1)] - c[(1, 2)], c[(0, 2)] - c[(2, 0)], c[(1, 0)] - c[(0, 1)]);
        sum = sum + x.cross(*v) + axial * (0.25 * dx * dx);
    }
    Ok(sum.to_array())
}

#[test]
fn viscosity_and_damping_take_energy_out() -> Result<()> {
    let dev = Device::cpu();
    let mut spec = BlockSpec { angular_velocity: [0.0, 0.0, 0.0], velocity: [1.0, 0.0, 0.0], ..cube() };
    spec.damping = [4.0; 2];
    let scene = spec.build::<f64>(&dev)?;
    let solver = scene.model.solver(&scene.params(&dev, 5e3, 1e4)?, scene.state.len())?;
    let end = solver.advance(&scene.state, 0, 100, Schedule::StoreAll)?;
    let expected = (-4.0 * 100.0 * scene.model.dt()).exp();
    assert!((mean(&end.v.to_vec()?)[0] - expected).abs() < 1e-12);
    Ok(())
}

/// One particle that slides over a floor, on nodes and by penalty.
#[test]
fn coulomb_friction_decelerates_by_mu_g() -> Result<()> {
    let dev = Device::cpu();
    let (g, friction, dt) = (10.0, 0.3, 1e-3);
    let grid = Grid::<Dim2>::new([0.0, 0.0], 0.1, [40, 10])?;
    for contact in [Contact::Separating, Contact::Slip, Contact::Penalty { stiffness: 1e5 }] {
        let on_nodes = !matches!(contact, Contact::Penalty { .. });
        let floor =
            HalfSpace::through([0.0, if on_nodes { 0.6 } else { 0.3 }], [0.0, 1.0], contact).with_friction(friction);
        let model = Model::<Dim2, f64>::new(&dev, grid, dt, Law::NeoHookean, &[floor])?;
        let model = if on_nodes { model } else { model.with_contact_spacing(0.05)? };
        // By penalty it starts where the floor carries its weight.
        let height = if on_nodes { 0.35 } else { 0.3 + 0.025 - g * 1.0 / (1e5 * 0.05) };
        let state = State::undeformed(&dev, &[Vec2::new(0.5, height)], &[Vec2::new(1.0, 0.0)])?;
        let params = Params::uniform(&dev, 1.0, 1.0, 1.0, 1.0, [0.0, -g])?;
        let solver = model.solver(&params, 1)?;
        let end = solver.advance(&state, 0, 100, Schedule::StoreAll)?;
        let v = end.v.to_vec()?[0].x;
        assert!((v - (1.0 - friction * g * 0.1)).abs() < 2e-3, "{contact:?}: {v}");
    }
    Ok(())
}

#[test]
fn faults_are_named_and_never_repaired() -> Result<()> {
    let dev = Device::cpu();
    let grid = Grid::<Dim2>::new([0.0, 0.0], 0.1, [12, 12])?;
    let model = Model::<Dim2, f64>::new(&dev, grid, 1e-2, Law::NeoHookean, &[])?;
    let params = Params::uniform(&dev, 1.0, 1.0, 1.0, 1e-2, [0.0, 0.0])?;
    let solver = model.solver(&params, 1)?;

    let state = State::undeformed(&dev, &[Vec2::new(0.5, 0.5)], &[Vec2::new(2.0, 0.0)])?;
    let error = solver.advance(&state, 0, 100, Schedule::StoreAll).unwrap_err();
    assert!(matches!(error, Error::Outside { particle: 0, step: 28, axis: 'x', .. }), "{error}");

    let state = State::undeformed(&dev, &[Vec2::new(0.5, 0.5)], &[Vec2::new(20.0, 0.0)])?;
    let error = solver.advance(&state, 0, 1, Schedule::StoreAll).unwrap_err();
    assert!(matches!(error, Error::TooFast { particle: 0, step: 0, .. }), "{error}");

    let crushed = State { f: dev.array(&[Mat2::new(-1.0, 0.0, 0.0, 1.0)])?, ..state.clone() };
    let error = solver.check(&crushed, 7).unwrap_err();
    assert!(matches!(error, Error::Inverted { index: 0, step: 7, .. }), "{error}");

    let error = BlockSpec { density: [-1.0, 1.0], ..cube() }.build::<f64>(&dev).unwrap_err();
    assert_eq!(error.to_string(), "smallest density is -1, expected a positive number");
    let error = BlockSpec { mu: [2.0, 1.0], ..cube() }.build::<f64>(&dev).unwrap_err();
    assert_eq!(error.to_string(), "range of mu is 2 to 1, expected smallest first");
    Ok(())
}

/// A rollout runs on the nodes that its start lets expect; a block that a floor throws up leaves them.
#[test]
fn leaving_the_expected_part_of_the_grid_changes_nothing() -> Result<()> {
    let dev = Device::cpu();
    let floor = HalfSpace::through([0.0, 0.0, 0.01], [0.0, 0.0, 1.0], Contact::Penalty { stiffness: 1e7 });
    let spec = BlockSpec { half_spaces: vec![floor], reach: 0.2, ..cube() };
    let scene = spec.build::<f64>(&dev)?;
    let solver = scene.model.solver(&scene.params(&dev, 5e3, 1e4)?, scene.state.len())?;
    let steps = 200;
    let end = solver.advance(&scene.state, 0, steps, Schedule::StoreAll)?;
    let mut slow = scene.state.clone();
    for _ in 0..steps {
        slow = solver.step(&slow, &(), solver.tick(0))?;
    }
    let (a, b) = (mean(&end.x.to_vec()?), mean(&slow.x.to_vec()?));
    assert!(a[2] > 0.05 + 3.0 * scene.model.grid().dx(), "rose to {}", a[2]);
    assert!((a[2] - b[2]).abs() < 1e-12, "{} instead of {}", a[2], b[2]);
    Ok(())
}

#[test]
fn a_scene_beyond_any_memory_is_refused_with_its_size() {
    let dev = Device::cpu();
    let message = |spec: BlockSpec| spec.build::<f64>(&dev).unwrap_err().to_string();
    let wide = message(BlockSpec { reach: 1e20, ..cube() });
    assert!(wide.starts_with("number of grid nodes is ") && wide.contains("2^31"), "{wide}");
    let long = message(BlockSpec { max: [1e18, 0.1, 0.1], ..cube() });
    assert!(long.starts_with("number of particles is ") && long.contains("2^31"), "{long}");
    let stiff = message(BlockSpec { mu: [1e60; 2], ..cube() });
    assert!(stiff.starts_with("steps of a frame is ") && stiff.contains("1e15"), "{stiff}");
}

#[test]
fn the_plan_of_a_scene_is_what_is_built() -> Result<()> {
    for spec in [cube(), BlockSpec { velocity: [3.0, 0.0, 1.0], max: [0.3, 0.1, 0.12], ..cube() }] {
        let (plan, scene) = (spec.plan()?, spec.build::<f64>(&Device::cpu())?);
        assert_eq!(plan.particles(), scene.state.len() as f64);
        assert_eq!(plan.nodes(), scene.model.grid().len() as f64);
        assert_eq!(plan.steps_per_frame, scene.steps_per_frame as f64);
        assert_eq!(plan.dt, scene.model.dt());
        let seen = scene.surface.vertex_count() as f64;
        assert_eq!(plan.vertices(), seen);
        let occupied = scene.model.clone().with_blocks(Blocks::Occupied);
        let solver = occupied.solver(&scene.params(&Device::cpu(), 5e3, 1e4)?, scene.state.len())?;
        let active = solver.active_nodes(&scene.state)? as f64;
        let planned = plan.active_nodes(&Device::cpu());
        // With the margin of the part of the grid that a frame runs on.
        assert!(active <= planned && planned <= plan.near_nodes(), "{active} {planned}");
    }
    Ok(())
}

#[test]
fn an_interrupt_ends_a_run_between_two_steps() -> Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    let scene = cube().build::<f64>(&Device::cpu())?;
    let solver = scene.model.solver(&scene.params(&Device::cpu(), 5e3, 1e4)?, scene.state.len())?;
    let advance = |state, first| interrupt::scope(&stop, || solver.advance(state, first, 3, Schedule::Auto));
    let end = advance(&scene.state, 0)?;
    stop.store(true, Ordering::Relaxed);
    let error = advance(&end, 3).unwrap_err();
    assert!(matches!(error, Error::Runtime(diffkern::Error::Interrupted)), "{error}");
    Ok(())
}

#[test]
fn particles_that_scatter_are_an_error_with_the_step() -> Result<()> {
    // Neighbours part at ten metres a second: the grid grows with each step.
    let spec = BlockSpec { cells: 8, angular_velocity: [0.0, 0.0, 200.0], mu: [1.0; 2], lambda: [1.0; 2], ..cube() };
    let mut scene = spec.build::<f64>(&Device::cpu())?;
    let bare = scene.model.clone().with_blocks(Blocks::Occupied);
    let params = scene.params(&Device::cpu(), 1.0, 1.0)?;
    let at_rest = bare.solver(&params, scene.state.len())?.active_nodes(&scene.state)?;
    scene.model = bare.with_node_limit(at_rest + 64);
    let solver = scene.model.solver(&params, scene.state.len())?;
    let error = solver.advance(&scene.state, 100, scene.steps_per_frame, Schedule::Auto).unwrap_err();
    match error {
        Error::Scattered { step, nodes, limit } => {
            assert!(step > 100 && nodes > limit && limit == at_rest + 64, "{step} {nodes} {limit}");
        }
        other => panic!("{other}"),
    }
    Ok(())
}
