//! A whole simulation and its gradient on every device, in f32 and where it has it in f64, against f64 on the CPU.
#![cfg(any(feature = "wgpu", feature = "wgpu-spirv", feature = "cuda"))]

mod common;

use common::{Random, relative};
use diffkern::Schedule;
use diffkern::prelude::*;
use diffkern_sim::Result;
use diffkern_sim::Step as _;
use diffkern_sim::contact::{Collider, Contact, Contacts};
use diffkern_sim::fem;
use diffkern_sim::mpm::{Blocks, Dim3, Grid, HalfSpace, Law, Model, Params, Sorting, State, mean_square_distance};
use diffkern_sim::vertices::VertexState;

const SIDE: usize = 4;
const N: usize = SIDE * SIDE * SIDE;
const H: f64 = 0.05;
const STEPS: usize = 36;

type Outcome = Vec<(&'static str, Vec<f64>)>;

fn scalars<F: Float>(a: &Array<F>) -> Result<Vec<f64>> {
    Ok(a.to_vec()?.into_iter().map(F::to_f64).collect())
}

fn components<F: Float>(a: &Array<Vec3<F>>) -> Result<Vec<f64>> {
    Ok(a.to_vec()?.iter().flat_map(|v| v.to_array().map(F::to_f64)).collect())
}

/// Where a soft block that slides on a rough floor into a wall ends, and how its mean distance from a point there
/// depends on material and start.
fn slide<F: Float>(device: &Device, law: Law, blocks: Blocks, sorting: Sorting) -> Result<Outcome> {
    let grid = Grid::new([-0.3; 3], 2.0 * H, [12, 10, 10])?;
    let floor = HalfSpace::through([0.0; 3], [0.0, 0.0, 1.0], Contact::Penalty { stiffness: 4e3 });
    let wall = HalfSpace::through([0.4, 0.0, 0.0], [-1.0, 0.0, 0.0], Contact::Separating);
    let model: Model<Dim3, F> = Model::new(device, grid, 2e-3, law, &[floor, wall])?.with_contact_spacing(H)?;
    let model = model.with_blocks(blocks).with_sorting(sorting);

    let mut r = Random(7);
    let reals = |x: Vec<f64>| device.array(&x.into_iter().map(F::from_f64).collect::<Vec<_>>());
    let vectors = |x: Vec<[f64; 3]>| {
        device.array(&x.into_iter().map(|v| Vec3::from_array(v.map(F::from_f64))).collect::<Vec<_>>())
    };
    let friction = reals(vec![0.4, 0.3])?.requires_grad();
    let params = Params::<Dim3, F> {
        mu: reals(r.many(N, |r| r.between(80.0, 120.0)))?.requires_grad(),
        lambda: reals(vec![150.0])?.requires_grad(),
        density: reals(vec![2.0])?.requires_grad(),
        viscosity: reals(vec![0.3])?.requires_grad(),
        volume: reals(vec![H * H * H])?,
        damping: reals(vec![0.7])?,
        gravity: vectors(vec![[0.3, 0.1, -9.8]])?.requires_grad(),
        friction: Some(friction.clone()),
        stiffness: None,
        contact: None,
    };
    let place = |p: usize| [p / (SIDE * SIDE), p / SIDE % SIDE, p % SIDE].map(|k| k as f64 * H);
    let start = (0..N).map(place).map(|[x, y, z]| [x + 0.2, y + 0.1, z + 0.023]).collect();
    let speed = r.many(N, |r| [3.0 + r.between(-0.2, 0.2), r.between(-0.2, 0.2), r.between(-1.2, -0.8)]);
    let undeformed = State::undeformed(device, &[Vec3::zero(); N], &[Vec3::zero(); N])?;
    let state = State { x: vectors(start)?.requires_grad(), v: vectors(speed)?.requires_grad(), ..undeformed };

    let (tape, (end, distance)) = Tape::record_value(|| -> Result<_> {
        let end = model.solver(&params, N)?.advance(&state, 0, STEPS, Schedule::Checkpoints(4))?;
        let distance = mean_square_distance::<Dim3, F>(&end.x, [0.2, 0.3, 0.1])?;
        Ok((end, distance))
    })?;
    tape.backward(&distance)?;

    let mut all =
        vec![("position", components(&end.x)?), ("velocity", components(&end.v)?), ("distance", scalars(&distance)?)];
    for (name, array) in [
        ("gradient of mu", &params.mu),
        ("gradient of lambda", &params.lambda),
        ("gradient of density", &params.density),
        ("gradient of viscosity", &params.viscosity),
        ("gradient of friction", &friction),
    ] {
        all.push((name, scalars(&array.grad()?)?));
    }
    for (name, array) in [
        ("gradient of gravity", &params.gravity),
        ("gradient of the position", &state.x),
        ("gradient of the velocity", &state.v),
    ] {
        all.push((name, components(&array.grad()?)?));
    }
    Ok(all)
}

/// Whether what was `found` is not farther from `exact` than ten times what was `rounded` to f32 is, in units of that, between the least and the most.
fn is_near(what: &str, [found, rounded, exact]: [&Outcome; 3], [least, most]: [f64; 2], unit: f64) {
    for (((name, found), (_, rounded)), (_, exact)) in found.iter().zip(rounded).zip(exact) {
        let (error, usual) = (relative(found, exact), unit * relative(rounded, exact));
        println!("{what}, {name}: {error:.1e}, {usual:.1e} to be expected");
        assert!(exact.iter().any(|x| *x != 0.0), "{name} is zero");
        assert!(error <= (10.0 * usual).clamp(least, most), "{what}, {name}: {error:e} off, {usual:e} to be expected");
    }
}

/// The rounding of an f64 as a part of that of an f32.
const DOUBLE: f64 = f64::EPSILON / f32::EPSILON as f64;

/// Rounding of f32, amplified by 36 steps and their reverses, is what separates the CPU's f32 from f64. Another device
/// rounds elsewhere, by as much, and adds in another order: it may be off by ten times that. Above 2e-3 nothing is
/// rounding any more, whatever the CPU does. In f64 all of this is as much smaller as the rounding is.
fn agrees(law: Law) -> Result<()> {
    let exact = slide::<f64>(&Device::cpu(), law, Blocks::All, Sorting::Never)?;
    let rounded = slide::<f32>(&Device::cpu(), law, Blocks::All, Sorting::Never)?;
    let check = |found: Outcome, unit: f64, place: String| {
        is_near(&format!("{law:?} on {place}"), [&found, &rounded, &exact], [1e-5 * unit, 2e-3 * unit], unit);
    };
    let ways = [(Blocks::All, Sorting::Never), (Blocks::Occupied, Sorting::Always)];
    let devices = diffkern::gradcheck::devices()?;
    for (device, (blocks, sorting)) in devices.iter().flat_map(|device| ways.map(|way| (device, way))) {
        let place = format!("{}, {blocks:?}, {sorting:?}", device.name());
        check(slide::<f32>(device, law, blocks, sorting)?, 1.0, format!("{place}, f32"));
        if device.supports_f64() {
            check(slide::<f64>(device, law, blocks, sorting)?, DOUBLE, format!("{place}, f64"));
        }
    }
    Ok(())
}

#[test]
fn neo_hookean_rollout() -> Result<()> {
    agrees(Law::NeoHookean)
}

#[test]
fn fixed_corotated_rollout() -> Result<()> {
    agrees(Law::FixedCorotated)
}

#[test]
fn stable_neo_hookean_rollout() -> Result<()> {
    agrees(Law::StableNeoHookean)
}

/// Where a soft block of tetrahedra is after implicit steps within the barrier of a rough, rising floor, and how its mean distance from a point depends on
/// material, friction and start.
fn implicit<F: Float>(device: &Device, law: Law) -> Result<Outcome> {
    let corner = |k: usize| [0.1 * (k / 4) as f64, 0.1 * (k / 2 % 2) as f64, 0.1 * (k % 2) as f64];
    let rest: Vec<_> = (0..8).map(corner).collect();
    let tets = [[0, 4, 6, 7], [0, 6, 2, 7], [0, 2, 3, 7], [0, 3, 1, 7], [0, 1, 5, 7], [0, 5, 4, 7]];
    let floor = Collider::plane([0.0, 0.0, -0.01], [0.1, 0.0, 1.0], Contact::Barrier { stiffness: 4.0, width: 0.03 });
    let floor = floor.moving([0.1, 0.0, 0.2], [0.1, 0.2, 0.3]).with_friction(0.4);
    let model =
        fem::Model::<F>::new(device, &rest, &tets, law, 4e-3, &[], &[floor])?.with_method(fem::Method::BackwardEuler);
    let mut params = fem::Params::uniform(device, 2e3, 3e3, 900.0, [0.0, 0.0, -9.81])?;
    let contacts = model.obstacles().map(|o| o.contacts(device)).transpose()?;
    for array in [&mut params.mu, &mut params.lambda, &mut params.density] {
        *array = array.clone().requires_grad();
    }
    let mut r = Random(11);
    let moved: Vec<_> = rest.iter().map(|p| p.map(|x| 1.05 * x + r.between(-0.004, 0.004))).collect();
    let velocities = r.many(8, |r| [r.between(0.4, 0.6), r.between(-0.4, -0.2), r.between(-0.5, -0.3)]);
    let start = VertexState::new(device, &moved, &velocities)?;
    let state = VertexState { x: start.x.requires_grad(), v: start.v.requires_grad() };
    let contacts = contacts.map(|c| Contacts { friction: c.friction.requires_grad(), ..c });
    let friction = contacts.as_ref().map(|c| c.friction.clone());
    params.contact = contacts;
    let (tape, (end, distance)) = Tape::record_value(|| {
        let end = model.solver(&params, &state)?.advance(&state, 0, 5, Schedule::StoreAll)?;
        let distance = mean_square_distance::<Dim3, F>(&end.x, [0.3, 0.2, 0.1])?;
        Ok::<_, diffkern_sim::Error>((end, distance))
    })?;
    tape.backward(&distance)?;
    let friction = friction.map(|friction| friction.grad()).transpose()?;
    Ok(vec![
        ("position", components(&end.x)?),
        ("velocity", components(&end.v)?),
        ("distance", scalars(&distance)?),
        ("gradient of mu", scalars(&params.mu.grad()?)?),
        ("gradient of lambda", scalars(&params.lambda.grad()?)?),
        ("gradient of density", scalars(&params.density.grad()?)?),
        ("gradient of friction", friction.as_ref().map(scalars).transpose()?.unwrap_or_default()),
        ("gradient of the position", components(&state.x.grad()?)?),
        ("gradient of the velocity", components(&state.v.grad()?)?),
    ])
}

/// Steps are solved to 1e-5 in f32 and to 1e-11 in f64, and what they and their gradients miss by that is amplified by the condition of matrices, 1e4 with friction
/// below its slip: two devices may end an iteration apart.
#[test]
fn implicit_steps_in_contact() -> Result<()> {
    for law in Law::ALL {
        let (exact, rounded) = (implicit::<f64>(&Device::cpu(), law)?, implicit::<f32>(&Device::cpu(), law)?);
        for device in diffkern::gradcheck::devices()? {
            let what = |precision: &str| format!("{law:?} on {}, {precision}", device.name());
            is_near(&what("f32"), [&implicit::<f32>(&device, law)?, &rounded, &exact], [1e-4, 1e-2], 1.0);
            if device.supports_f64() {
                is_near(&what("f64"), [&implicit::<f64>(&device, law)?, &rounded, &exact], [1e-7, 1e-6], 1e-6);
            }
        }
    }
    Ok(())
}
