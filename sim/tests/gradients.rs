//! The gradient of whole simulations to every parameter: Taylor remainders and central differences, f64.

mod common;

use common::Random;
use diffkern::Schedule;
use diffkern::prelude::*;
use diffkern_sim::Result;
use diffkern_sim::mpm::{Contact, Dim2, Grid, HalfSpace, Law, Model, Params, Solver, State, mean_square_distance};

const SIDE: usize = 6;
const N: usize = SIDE * SIDE;
const H: f64 = 0.05;
const STEPS: usize = 40;

/// A block that slides on a rough floor into a rough wall.
struct Scene {
    device: Device,
    model: Model<Dim2, f64>,
}

/// Everything that a gradient is asked for, by name.
const GROUPS: [(&str, usize); 10] = [
    ("mu", N),
    ("lambda", 1),
    ("density", 1),
    ("viscosity", 1),
    ("volume", N),
    ("damping", 1),
    ("friction", 2),
    ("gravity", 2),
    ("positions", 2 * N),
    ("velocities", 2 * N),
];

impl Scene {
    fn new(law: Law) -> Result<Scene> {
        let device = Device::cpu();
        let grid = Grid::new([-0.3, -0.3], 2.0 * H, [14, 12])?;
        let floor = HalfSpace::through([0.0, 0.0], [0.0, 1.0], Contact::Penalty { stiffness: 4e3 });
        let wall = HalfSpace::through([0.5, 0.0], [-1.0, 0.0], Contact::Separating);
        let model = Model::new(&device, grid, 2e-3, law, &[floor, wall])?.with_contact_spacing(H)?;
        Ok(Scene { device, model })
    }

    fn start(&self) -> Vec<f64> {
        let mut r = Random(7);
        let mut at = r.many(N, |r| r.between(80.0, 120.0));
        at.extend([150.0, 2.0, 0.3]);
        at.extend(r.many(N, |r| H * H * r.between(0.9, 1.1)));
        at.extend([0.7, 0.4, 0.3, 0.6, -9.8]);
        for p in 0..N {
            at.extend([(p / SIDE) as f64 * H + 0.13, (p % SIDE) as f64 * H + 0.023]);
        }
        at.extend(r.many(N, |r| [2.0 + r.between(-0.2, 0.2), -1.0 + r.between(-0.2, 0.2)]).concat());
        at
    }

    fn inputs(&self, at: &[f64]) -> Result<(Params<Dim2, f64>, State<Dim2, f64>)> {
        let mut rest = at;
        let mut next = |len: usize| {
            let (head, tail) = rest.split_at(len);
            rest = tail;
            head
        };
        let dev = &self.device;
        let real = |x: &[f64]| dev.array(x).map(Array::requires_grad);
        let pairs = |x: &[f64]| {
            let v: Vec<Vec2<f64>> = x.chunks(2).map(|c| Vec2::new(c[0], c[1])).collect();
            dev.array(&v).map(Array::requires_grad)
        };
        let params = Params {
            mu: real(next(N))?,
            lambda: real(next(1))?,
            density: real(next(1))?,
            viscosity: real(next(1))?,
            volume: real(next(N))?,
            damping: real(next(1))?,
            friction: real(next(2))?,
            gravity: pairs(next(2))?,
        };
        let (x, v) = (pairs(next(2 * N))?, pairs(next(2 * N))?);
        let undeformed = State::at_rest(dev, &[Vec2::zero(); N], &[Vec2::zero(); N])?;
        Ok((params, State { x, v, ..undeformed }))
    }

    fn simulate(&self, params: &Params<Dim2, f64>, state: &State<Dim2, f64>, schedule: Schedule) -> Result<Array<f64>> {
        let solver: Solver<Dim2, f64> = self.model.solver(params, N)?;
        let end = solver.advance(state, 0, STEPS, schedule)?;
        mean_square_distance::<Dim2, f64>(&end.x, [0.4, 0.3])
    }

    fn loss(&self, at: &[f64]) -> Result<f64> {
        let (params, state) = self.inputs(at)?;
        Ok(self.simulate(&params, &state, Schedule::StoreAll)?.to_vec()?[0])
    }

    fn gradient(&self, at: &[f64], schedule: Schedule) -> Result<Vec<f64>> {
        let (params, state) = self.inputs(at)?;
        let mut loss = None;
        let tape = Tape::record(|| {
            let value = self.simulate(&params, &state, schedule);
            loss = Some(value.map_err(|e| diffkern::Error::Invalid(e.to_string()))?);
            Ok(())
        })?;
        tape.backward(&loss.expect("recorded"))?;
        let mut gradient = Vec::new();
        let scalars = [&params.mu, &params.lambda, &params.density, &params.viscosity, &params.volume];
        for array in scalars.into_iter().chain([&params.damping, &params.friction]) {
            gradient.extend(array.grad()?.to_vec()?);
        }
        for array in [&params.gravity, &state.x, &state.v] {
            gradient.extend(array.grad()?.to_vec()?.iter().flat_map(|v| v.to_array()));
        }
        Ok(gradient)
    }
}

/// Best relative error of a central difference, and best rate of the Taylor remainder, along `direction`.
fn compare(scene: &Scene, at: &[f64], direction: &[f64], slope: f64) -> Result<(f64, f64)> {
    let moved = |h: f64| scene.loss(&at.iter().zip(direction).map(|(x, d)| x + h * d).collect::<Vec<_>>());
    let here = scene.loss(at)?;
    let (mut error, mut rate, mut last) = (f64::INFINITY, 0.0f64, f64::NAN);
    for k in 0..6 {
        let h = 1e-3 * 0.25f64.powi(k);
        let (up, down) = (moved(h)?, moved(-h)?);
        error = error.min(((up - down) / (2.0 * h) - slope).abs() / slope.abs());
        let remainder = (up - here - h * slope).abs();
        rate = rate.max((last / remainder).log(4.0));
        last = remainder;
    }
    Ok((error, rate))
}

fn every_parameter(law: Law) -> Result<()> {
    let scene = Scene::new(law)?;
    let at = scene.start();
    let gradient = scene.gradient(&at, Schedule::StoreAll)?;
    let mut failures = Vec::new();
    for seed in [1, 2, 3] {
        let mut r = Random(seed);
        let mut first = 0;
        for (name, len) in GROUPS {
            let range = first..first + len;
            first += len;
            let scale = if ["positions"].contains(&name) { 0.05 * H } else { 0.2 };
            let direction: Vec<f64> = (0..at.len())
                .map(|k| if range.contains(&k) { r.between(-1.0, 1.0) * scale * at[k].abs().max(0.1) } else { 0.0 })
                .collect();
            let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
            assert!(slope != 0.0, "{name} has no influence");
            let (error, rate) = compare(&scene, &at, &direction, slope)?;
            if error > 1e-6 || rate < 1.9 {
                failures.push(format!("{name}, seed {seed}: slope {slope:e}, relative error {error:e}, rate {rate}"));
            }
            // The test can fail: a slope that is off by a thousandth is seen.
            let (error, _) = compare(&scene, &at, &direction, slope * 1.001)?;
            assert!(error > 5e-4, "{name}");
        }
    }
    assert!(failures.is_empty(), "{law:?}:\n{}", failures.join("\n"));
    Ok(())
}

#[test]
fn neo_hookean_to_every_parameter() -> Result<()> {
    every_parameter(Law::NeoHookean)
}

#[test]
fn fixed_corotated_to_every_parameter() -> Result<()> {
    every_parameter(Law::FixedCorotated)
}

#[test]
fn schedules_give_the_same_bits() -> Result<()> {
    let scene = Scene::new(Law::NeoHookean)?;
    let at = scene.start();
    let all = scene.gradient(&at, Schedule::StoreAll)?;
    for schedule in [Schedule::Checkpoints(4), Schedule::Checkpoints(STEPS)] {
        assert_eq!(scene.gradient(&at, schedule)?, all);
    }
    Ok(())
}

#[test]
fn forward_mode_agrees_with_the_gradient() -> Result<()> {
    let scene = Scene::new(Law::NeoHookean)?;
    let at = scene.start();
    let gradient = scene.gradient(&at, Schedule::StoreAll)?;
    let (params, state) = scene.inputs(&at)?;
    let mut r = Random(5);
    let along_mu = r.many(N, |r| r.between(-1.0, 1.0));
    let (mu, lambda) = (scene.device.array(&along_mu)?, scene.device.array(&[1.0])?);
    let directions: [&[_]; 2] = [&[(params.mu.any(), mu.any())], &[(params.lambda.any(), lambda.any())]];
    let (loss, tangents) = diffkern::jvp(&directions, || scene.simulate(&params, &state, Schedule::StoreAll))?;
    let expected = [gradient[..N].iter().zip(&along_mu).map(|(g, d)| g * d).sum(), gradient[N]];
    for (k, expected) in expected.into_iter().enumerate() {
        let found: f64 = tangents.get(k, &loss)?.to_vec()?[0];
        assert!((found - expected).abs() < 1e-10 * expected.abs(), "direction {k}: {found} instead of {expected}");
    }
    Ok(())
}
