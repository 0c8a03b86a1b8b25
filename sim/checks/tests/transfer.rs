//! What a transfer loses, in f64: a free vibration, a bounce, momentum, and noise that the grid does not see.

use diffkern::Rollout;
use diffkern::prelude::*;
use diffkern_sim::Step as _;
use diffkern_sim::material::{Material, NeoHookean};
use diffkern_sim::mpm::{
    Blocks, Contact, Grid, HalfSpace, Law, Model, Params, Solver, State, Transfer, mean_square_distance,
};
use diffkern_sim::scene::BlockSpec;
use diffkern_sim::{Error, Result};

/// Side of the block \[m\], its density, moduli \[Pa\] and wave speed.
const SIDE: f64 = 0.1;
const DENSITY: f64 = 1e3;
const MU: f64 = 14e3;
const WAVE: f64 = 5.291502622129181;
const G: f64 = 9.81;
/// Phases that last, and phases of some steps.
const PHASES: [Transfer; 2] = [Transfer::LAGRANGIAN, Transfer::Lagrangian { steps: Some(16) }];

/// A block in the plane without lateral contraction.
struct Block {
    cells: usize,
    solver: Solver<Dim2, f64>,
    state: State<Dim2, f64>,
    floor: bool,
    taken: usize,
}

impl Block {
    /// Turned by `tilt`, `gap` above a penalty floor if there is one, with velocities and their gradients by where it is at rest.
    fn new(
        (transfer, cells, cfl): (Transfer, usize, f64),
        floor: Option<f64>,
        tilt: f64,
        field: impl Fn(Vec2<f64>) -> (Vec2<f64>, Mat2<f64>),
    ) -> Result<Block> {
        let (device, dx, n) = (Device::cpu(), SIDE / cells as f64, 2 * cells);
        let at = |k: usize| (k as f64 + 0.5) * 0.5 * dx - 0.5 * SIDE;
        let rest: Vec<_> = (0..n * n).map(|p| Vec2::new(at(p / n), at(p % n))).collect();
        let (s, c) = f64::sin_cos(tilt);
        let turn = Mat2::new(c, -s, s, c);
        let centre = Vec2::new(0.13 * dx, 0.5 * SIDE * (c + s.abs()) + floor.unwrap_or(0.31 * dx));
        let grid = Grid::new([-4.0 * SIDE; 2], dx, [8 * cells; 2])?;
        let planes: Vec<_> = floor
            .iter()
            .map(|_| HalfSpace::through([0.0; 2], [0.0, 1.0], Contact::Penalty { stiffness: stiffness(dx) }))
            .collect();
        let model = Model::new(&device, grid, cfl * dx / WAVE, Law::NeoHookean, &planes)?.with_transfer(transfer)?;
        let model = if floor.is_some() { model.with_contact_spacing(0.5 * dx)? } else { model };
        let gravity = if floor.is_some() { [0.0, -G] } else { [0.0; 2] };
        let params = Params::uniform(&device, MU, 0.0, DENSITY, 0.25 * dx * dx, gravity)?;
        let fields: Vec<_> = rest.iter().map(|&x| field(x)).collect();
        let state = State {
            x: device.array(&rest.iter().map(|&x| turn * x + centre).collect::<Vec<_>>())?,
            v: device.array(&fields.iter().map(|(v, _)| turn * *v).collect::<Vec<_>>())?,
            c: device.array(&fields.iter().map(|(_, c)| turn * *c * turn.transpose()).collect::<Vec<_>>())?,
            f: device.full(rest.len(), turn)?,
            phase: None,
        };
        Ok(Block { cells, solver: model.solver(&params, n * n)?, state, floor: floor.is_some(), taken: 0 })
    }

    fn dx(&self) -> f64 {
        SIDE / self.cells as f64
    }

    fn run(&mut self, steps: usize) -> Result<()> {
        self.state = self.solver.advance(&self.state, self.taken, steps, Schedule::Auto)?;
        self.taken += steps;
        Ok(())
    }

    fn mass(&self) -> f64 {
        DENSITY * 0.25 * self.dx() * self.dx()
    }

    /// Of all kinds \[J/m\], the kinetic energy of the affine velocities included.
    fn energy(&self) -> Result<f64> {
        let State { x, v, c, f, .. } = &self.state;
        let (h, m, floor) = (0.5 * self.dx(), self.mass(), if self.floor { 1.0 } else { 0.0 });
        let potential = x.to_vec()?.iter().fold(0.0, |sum, x| {
            let depth = (0.5 * h - x.y).max(0.0);
            sum + floor * (m * G * x.y + 0.5 * stiffness(self.dx()) * h * depth * depth)
        });
        let elastic = f.to_vec()?.iter().fold(0.0, |sum, f| sum + h * h * elastic(*f));
        let moving = |v: &Vec2<f64>, c: &Mat2<f64>| 0.5 * m * (v.dot(*v) + h * h * c.ddot(*c));
        let kinetic = match self.solver.model().transfer() {
            Transfer::Apic => v.to_vec()?.iter().zip(&c.to_vec()?).map(|(v, c)| moving(v, c)).sum(),
            Transfer::Lagrangian { .. } => self.solver.nodal_kinetic_energy(&self.state)?,
        };
        Ok(kinetic + elastic + potential)
    }

    /// Momentum \[kg/s\] and angular momentum about the origin \[kg m/s\].
    fn momenta(&self) -> Result<[f64; 3]> {
        let State { x, v, c, .. } = self.solver.transferred(&self.state)?;
        let mut sum = [0.0; 3];
        for ((x, v), c) in x.to_vec()?.iter().zip(&v.to_vec()?).zip(&c.to_vec()?) {
            let spin = 0.25 * self.dx() * self.dx() * (c[(1, 0)] - c[(0, 1)]);
            [v.x, v.y, x.x * v.y - x.y * v.x + spin].iter().zip(&mut sum).for_each(|(p, s)| *s += self.mass() * p);
        }
        Ok(sum)
    }

    fn touches(&self) -> Result<bool> {
        Ok(self.state.x.to_vec()?.iter().any(|x| x.y < 0.25 * self.dx()))
    }
}

fn stiffness(dx: f64) -> f64 {
    1.2 * 2.0 * MU / (0.5 * dx)
}

fn elastic(f: Mat2<f64>) -> f64 {
    NeoHookean::energy_2d(f, MU, 0.0)
}

/// Half the logarithm of what is left of the energy of a free block, a period of its first mode. Over a period energies of explicit steps
/// swing, so that means over one are compared.
fn decrement(transfer: Transfer, cells: usize, cfl: f64) -> Result<f64> {
    let k = std::f64::consts::PI / SIDE;
    let mut block = Block::new((transfer, cells, cfl), None, 0.0, |x| {
        let (s, c) = (k * x.x).sin_cos();
        (Vec2::new(0.02 * WAVE * s, 0.0), Mat2::new(0.02 * WAVE * k * c, 0.0, 0.0, 0.0))
    })?;
    let period = (2.0 * cells as f64 / cfl).round() as usize;
    let mut mean = || -> Result<f64> {
        (0..period).try_fold(0.0, |sum, _| {
            block.run(1)?;
            Ok(sum + block.energy()? / period as f64)
        })
    };
    let (before, between) = (mean()?, 3);
    (0..between).try_for_each(|_| mean().map(drop))?;
    Ok(0.5 * (before / mean()?).ln() / f64::from(between + 1))
}

#[test]
fn a_free_block_keeps_its_first_mode() -> Result<()> {
    for cfl in [0.4, 0.1] {
        let lost = decrement(Transfer::LAGRANGIAN, 4, cfl)?;
        assert!(lost.abs() < 5e-4, "cfl {cfl}: {lost}");
        assert!(decrement(Transfer::Apic, 4, cfl)? > 0.05, "the test can fail");
    }
    // Phases that end lose what a transfer loses, less often.
    let (lost, by_apic) = (decrement(PHASES[1], 4, 0.1)?, decrement(Transfer::Apic, 4, 0.1)?);
    assert!(lost > 0.0 && lost < 0.2 * by_apic, "{lost} and {by_apic}");
    Ok(())
}

/// Loss, and most gain at any time, from before a bounce to after it, in parts of the kinetic energy of the impact.
fn bounce(transfer: Transfer, tilt: f64) -> Result<[f64; 2]> {
    let (speed, steps) = (1.0, 8);
    let mut block = Block::new((transfer, 8, 0.2), Some(0.005), tilt, |_| (Vec2::new(0.0, -speed), Mat2::zero()))?;
    let whole = 0.5 * DENSITY * SIDE * SIDE * speed * speed;
    let (before, mut gain, mut touched) = (block.energy()?, 0.0f64, false);
    for _ in 0..40 {
        block.run(steps)?;
        let now = (block.energy()? - before) / whole;
        gain = gain.max(now);
        touched |= block.touches()?;
        if touched && !block.touches()? {
            return Ok([-now, gain]);
        }
    }
    panic!("it does not leave the floor");
}

#[test]
fn a_bounce_neither_loses_nor_gains_energy() -> Result<()> {
    for tilt in [0.0, 0.3] {
        let [loss, gain] = bounce(Transfer::LAGRANGIAN, tilt)?;
        assert!(loss.abs() < 2e-3 && gain < 1e-3, "tilt {tilt}: loses {loss}, gains {gain}");
        assert!(bounce(Transfer::Apic, tilt)?[0] > 0.1, "the test can fail");
        // With transfers now and then nothing is gained, and less is lost.
        let [loss, gain] = bounce(PHASES[1], tilt)?;
        assert!(loss < 0.1 && gain < 1e-3, "tilt {tilt}: loses {loss}, gains {gain}");
    }
    Ok(())
}

#[test]
fn momentum_and_angular_momentum_stay() -> Result<()> {
    for transfer in PHASES {
        let spin = 40.0;
        // It turns, and is pulled at, so that no node moves as a rigid body.
        let field = |x: Vec2<f64>| {
            let stretch = 8.0 * x.x * x.x;
            (Vec2::new(0.3 - spin * x.y, 0.2 + spin * x.x + stretch), Mat2::new(0.0, -spin, spin + 16.0 * x.x, 0.0))
        };
        let mut block = Block::new((transfer, 4, 0.3), None, 0.4, field)?;
        let before = block.momenta()?;
        block.run(90)?;
        let after = block.momenta()?;
        for (k, (a, b)) in before.into_iter().zip(after).enumerate() {
            assert!((a - b).abs() < 1e-11 * a.abs(), "{transfer:?}, {k}: {a} becomes {b}");
        }
    }
    Ok(())
}

/// Root mean square of what neighbours in a cell do not have in common, once an affine field is taken off, beside that of all velocities.
fn roughness(block: &Block) -> Result<f64> {
    let v = block.state.v.to_vec()?;
    let (n, mut rough, mut all) = (2 * block.cells, 0.0, 0.0);
    let mean = v.iter().fold(Vec2::zero(), |sum, v| sum + *v) * (1.0 / v.len() as f64);
    for cell in 0..block.cells * block.cells {
        let first = cell / block.cells * 2 * n + cell % block.cells * 2;
        let own = [v[first], v[first + 1], v[first + n], v[first + n + 1]];
        // Of four values at the corners of a square an affine field leaves one number.
        let twist = (own[0] - own[1] - own[2] + own[3]) * 0.5;
        rough += twist.dot(twist);
        all += own.iter().map(|v| (*v - mean).dot(*v - mean)).sum::<f64>();
    }
    Ok((rough / all).sqrt())
}

#[test]
fn no_noise_gathers_within_cells() -> Result<()> {
    for transfer in [Transfer::Apic, PHASES[0], PHASES[1]] {
        let mut block = Block::new((transfer, 8, 0.3), Some(0.002), 0.2, |_| (Vec2::new(0.0, -0.5), Mat2::zero()))?;
        block.run(2000)?;
        let rough = roughness(&block)?;
        assert!(rough < 0.1, "{transfer:?}: {rough}");
    }
    Ok(())
}

#[test]
fn runs_in_pieces_give_the_same_bits() -> Result<()> {
    for transfer in PHASES {
        let start = || Block::new((transfer, 4, 0.3), Some(0.002), 0.2, |_| (Vec2::new(0.0, -1.0), Mat2::zero()));
        let (mut whole, mut pieces) = (start()?, start()?);
        whole.run(60)?;
        [7, 30, 23].into_iter().try_for_each(|steps| pieces.run(steps))?;
        assert_eq!(whole.state.x.to_vec()?, pieces.state.x.to_vec()?, "{transfer:?}");
        // One step by itself is one of a run.
        let solver = &whole.solver;
        let alone = (0..60).try_fold(start()?.state, |state, k| solver.step(&state, &(), solver.tick(k)))?;
        assert_eq!(whole.state.x.to_vec()?, alone.x.to_vec()?, "{transfer:?}");
        if transfer == Transfer::LAGRANGIAN {
            let (begun, own) = (solver.begun(&start()?.state)?, solver.clone());
            let rolled = Rollout::new(Schedule::Auto).run(60, begun, move |s, k| own.step(s, &(), own.tick(k)))?;
            assert_eq!(whole.state.x.to_vec()?, rolled.x.to_vec()?);
        }
    }
    Ok(())
}

#[test]
fn what_cannot_be_is_refused() -> Result<()> {
    let grid = Grid::<Dim2>::new([0.0; 2], 0.1, [9; 2])?;
    let model = Model::<Dim2, f64>::new(&Device::cpu(), grid, 1e-3, Law::NeoHookean, &[])?.with_blocks(Blocks::All);
    let error = model.with_transfer(Transfer::Lagrangian { steps: Some(0) }).unwrap_err();
    assert_eq!(error.to_string(), "steps from one transfer to the next is 0, expected at least 1, or none");
    let held = Model::<Dim2, f64>::new(&Device::cpu(), grid, 1e-3, Law::NeoHookean, &[HalfSpace::clamp(0, 0.1)])?;
    let expected =
        "transfer of material clamps is Apic, expected `Transfer::LAGRANGIAN`, by which nodes stay with the body";
    assert_eq!(held.clone().with_material_clamps().unwrap_err().to_string(), expected);
    let held = held.with_transfer(Transfer::LAGRANGIAN)?.with_material_clamps()?;
    assert!(held.with_transfer(Transfer::Lagrangian { steps: Some(8) }).is_err());
    Ok(())
}

/// A cube of three cells in space that turns, above a penalty floor if it is to fall.
fn cube(transfer: Transfer, falls: bool) -> BlockSpec {
    let floor = HalfSpace::through([0.0; 3], [0.0, 0.0, 1.0], Contact::Penalty { stiffness: 2e6 }).with_friction(0.3);
    BlockSpec {
        min: [0.0, 0.0, 0.002],
        max: [SIDE, SIDE, SIDE + 0.002],
        velocity: if falls { [0.2, 0.1, -1.0] } else { [0.2, 0.1, -0.3] },
        angular_velocity: [3.0, -8.0, 5.0],
        gravity: if falls { [0.0, 0.0, -G] } else { [0.0; 3] },
        half_spaces: if falls { vec![floor] } else { vec![] },
        duration: 0.1,
        cells: 3,
        transfer,
        ..BlockSpec::default()
    }
}

#[test]
fn in_space_momentum_and_angular_momentum_stay() -> Result<()> {
    let device = Device::cpu();
    for transfer in PHASES {
        let scene = cube(transfer, false).build::<f64>(&device)?;
        assert_eq!(scene.model.transfer(), transfer);
        let solver = scene.model.solver(&scene.params(&device, 5e3, 1e4)?, scene.state.len())?;
        let dx = scene.model.grid().dx();
        let momenta = |state: &State<Dim3, f64>| -> Result<[Vec3<f64>; 2]> {
            let State { x, v, c, .. } = solver.transferred(state)?;
            let mut sum = [Vec3::zero(); 2];
            for ((x, v), c) in x.to_vec()?.iter().zip(&v.to_vec()?).zip(&c.to_vec()?) {
                let axial = Vec3::new(c[(2, 1)] - c[(1, 2)], c[(0, 2)] - c[(2, 0)], c[(1, 0)] - c[(0, 1)]);
                sum = [sum[0] + *v, sum[1] + x.cross(*v) + axial * (0.25 * dx * dx)];
            }
            Ok(sum)
        };
        let end = solver.advance(&scene.state, 0, 60, Schedule::Auto)?;
        for (before, after) in momenta(&scene.state)?.into_iter().zip(momenta(&end)?) {
            let change = (before - after).norm();
            assert!(change < 1e-11 * before.norm(), "{transfer:?}: {before:?} becomes {after:?}");
        }
    }
    Ok(())
}

#[test]
fn in_space_gradients_are_those_of_differences() -> Result<()> {
    let device = Device::cpu();
    for transfer in PHASES {
        let scene = cube(transfer, true).build::<f64>(&device)?;
        let run = |params: &Params<Dim3, f64>| -> Result<Array<f64>> {
            let end = scene.model.solver(params, scene.state.len())?.advance(&scene.state, 0, 50, Schedule::Auto)?;
            mean_square_distance::<Dim3, f64>(&end.x, [0.3, 0.2, 0.1])
        };
        let at = |mu: f64, lambda: f64| scene.params(&device, mu, lambda);
        let mut params = at(5e3, 1e4)?;
        (params.mu, params.lambda) = (params.mu.requires_grad(), params.lambda.requires_grad());
        let (tape, loss) = Tape::record_value(|| run(&params))?;
        tape.backward(&loss)?;
        let loss = |mu, lambda| Ok::<_, Error>(run(&at(mu, lambda)?)?.to_vec()?[0]);
        let here = loss(5e3, 1e4)?;
        for (gradient, d) in [(params.mu.grad()?, [1.0, 0.0]), (params.lambda.grad()?, [0.0, 1.0])] {
            let slope = gradient.to_vec()?[0];
            let moved = |h: f64| loss(5e3 + h * d[0], 1e4 + h * d[1]);
            let difference = (moved(0.25)? - moved(-0.25)?) / 0.5;
            assert!((slope - difference).abs() < 1e-6 * slope.abs(), "{transfer:?}: {slope}, not {difference}");
            let remainder = |h: f64| Ok::<_, Error>((moved(h)? - here - h * slope).abs());
            let rate = (remainder(16.0)? / remainder(4.0)?).log(4.0);
            assert!(rate > 1.9, "{transfer:?}: rate {rate}");
        }
    }
    Ok(())
}
