//! Hessian-vector products of whole simulations: against finite differences of the gradient, and against themselves.

mod common;

use common::Random;
use diffkern::Schedule;
use diffkern::prelude::*;
use diffkern_sim::Result;
use diffkern_sim::mpm::{Contact, Dim2, Grid, HalfSpace, Law, Model, Params, Solver, State, mean_square_distance};

const SIDE: usize = 5;
const N: usize = SIDE * SIDE;
const H: f64 = 0.05;
const STEPS: usize = 30;

/// Elements of each group of numbers: mu, lambda, density, viscosity, volume, damping, friction, gravity, x, v.
const GROUPS: [usize; 10] = [N, 1, 1, 1, N, 1, 2, 2, 2 * N, 2 * N];

struct Scene {
    device: Device,
    model: Model<Dim2, f64>,
}

struct Inputs {
    scalars: Vec<Array<f64>>,
    vectors: Vec<Array<Vec2<f64>>>,
}

impl Inputs {
    fn new(device: &Device, numbers: &[f64]) -> Result<Inputs> {
        let mut rest = numbers;
        let mut next = |len: usize| {
            let (head, tail) = rest.split_at(len);
            rest = tail;
            head
        };
        let scalars = GROUPS[..7].iter().map(|&len| device.array(next(len))).collect::<diffkern::Result<_>>()?;
        let pairs = |x: &[f64]| x.chunks(2).map(|c| Vec2::new(c[0], c[1])).collect::<Vec<_>>();
        let vectors =
            GROUPS[7..].iter().map(|&len| device.array(&pairs(next(len)))).collect::<diffkern::Result<_>>()?;
        Ok(Inputs { scalars, vectors })
    }

    fn all(&self) -> Vec<&diffkern::AnyArray> {
        self.scalars.iter().map(Array::any).chain(self.vectors.iter().map(Array::any)).collect()
    }

    fn numbers(
        &self,
        scalar: impl Fn(&Array<f64>) -> diffkern::Result<Array<f64>>,
        vector: impl Fn(&Array<Vec2<f64>>) -> diffkern::Result<Array<Vec2<f64>>>,
    ) -> Result<Vec<f64>> {
        let mut numbers = Vec::new();
        for array in &self.scalars {
            numbers.extend(scalar(array)?.to_vec()?);
        }
        for array in &self.vectors {
            numbers.extend(vector(array)?.to_vec()?.iter().flat_map(|v| v.to_array()));
        }
        Ok(numbers)
    }
}

impl Scene {
    fn new(law: Law) -> Result<Scene> {
        let device = Device::cpu();
        let grid = Grid::new([-0.3, -0.3], 2.0 * H, [14, 12])?;
        let floor = HalfSpace::through([0.0, 0.0], [0.0, 1.0], Contact::Penalty { stiffness: 4e3 });
        let wall = HalfSpace::through([0.44, 0.0], [-1.0, 0.0], Contact::Separating);
        let model = Model::new(&device, grid, 2e-3, law, &[floor, wall])?.with_contact_spacing(H)?;
        Ok(Scene { device, model })
    }

    /// A block that slides on a rough floor into a rough wall.
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

    fn record(&self, at: &[f64], schedule: Schedule) -> Result<(Inputs, Tape, Array<f64>)> {
        let mut inputs = Inputs::new(&self.device, at)?;
        inputs.scalars = inputs.scalars.into_iter().map(Array::requires_grad).collect();
        inputs.vectors = inputs.vectors.into_iter().map(Array::requires_grad).collect();
        let [mu, lambda, density, viscosity, volume, damping, friction] =
            [0, 1, 2, 3, 4, 5, 6].map(|k| inputs.scalars[k].clone());
        let [gravity, x, v] = [0, 1, 2].map(|k| inputs.vectors[k].clone());
        let params = Params { mu, lambda, density, viscosity, volume, damping, friction, gravity };
        let rest = State::at_rest(&self.device, &[Vec2::zero(); N], &[Vec2::zero(); N])?;
        let start = State { x, v, ..rest };
        let (tape, loss) = Tape::record_with(|| {
            let solver: Solver<Dim2, f64> = self.model.solver(&params, N)?;
            let end = solver.advance(&start, 0, STEPS, schedule)?;
            mean_square_distance::<Dim2, f64>(&end.x, [0.4, 0.3])
        })?;
        Ok((inputs, tape, loss))
    }

    fn gradient(&self, at: &[f64]) -> Result<Vec<f64>> {
        let (inputs, tape, loss) = self.record(at, Schedule::StoreAll)?;
        tape.backward(&loss)?;
        inputs.numbers(Array::grad, Array::grad)
    }

    /// The gradient and the products with all directions.
    fn products(&self, at: &[f64], along: &[Vec<f64>], schedule: Schedule) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
        let (inputs, tape, loss) = self.record(at, schedule)?;
        let moves = along.iter().map(|v| Inputs::new(&self.device, v)).collect::<Result<Vec<_>>>()?;
        let pairs: Vec<Vec<_>> = moves.iter().map(|m| inputs.all().into_iter().zip(m.all()).collect()).collect();
        let directions: Vec<&[_]> = pairs.iter().map(Vec::as_slice).collect();
        let found = tape.hvp(&loss, &directions)?;
        let part = |k: usize| inputs.numbers(|a| found.get(k, a), |a| found.get(k, a));
        let products = (0..along.len()).map(part).collect::<Result<_>>()?;
        Ok((inputs.numbers(|a| found.gradient(a), |a| found.gradient(a))?, products))
    }
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Moves all numbers, each by some part of its size.
fn direction(at: &[f64], seed: u64) -> Vec<f64> {
    let mut r = Random(seed);
    let first_x: usize = GROUPS[..8].iter().sum();
    let scale =
        |k: usize, x: f64| if (first_x..first_x + 2 * N).contains(&k) { 0.02 * H } else { 0.1 * x.abs().max(0.1) };
    at.iter().enumerate().map(|(k, x)| scale(k, *x) * r.between(-1.0, 1.0)).collect()
}

fn second_derivatives(law: Law) -> Result<()> {
    let scene = Scene::new(law)?;
    let at = scene.start();
    let [u, v] = [direction(&at, 3), direction(&at, 4)];
    let (gradient, products) = scene.products(&at, &[u.clone(), v.clone()], Schedule::StoreAll)?;
    assert_eq!(gradient, scene.gradient(&at)?);

    let (one, other) = (inner(&v, &products[0]), inner(&u, &products[1]));
    let terms = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a * b).powi(2)).sum::<f64>().sqrt();
    let size = terms(&v, &products[0]).max(terms(&u, &products[1]));
    assert!((one - other).abs() < 1e-10 * size, "{law:?}: <v, H u> = {one}, <u, H v> = {other}");

    // Of fourth order, at the best of some steps: contacts that come and go within one are not in a derivative.
    for (probe, product) in [(&u, &products[1]), (&v, &products[1]), (&v, &products[0])] {
        let (moves, exact) = (if std::ptr::eq(product, &products[0]) { &u } else { &v }, inner(probe, product));
        let slope = |t: f64| {
            let moved: Vec<f64> = at.iter().zip(moves).map(|(x, d)| x + t * d).collect();
            Ok::<_, diffkern_sim::Error>(inner(probe, &scene.gradient(&moved)?))
        };
        let mut best = f64::INFINITY;
        for h in [4e-3, 1e-3, 2.5e-4, 6e-5] {
            let pair = |h: f64| Ok::<_, diffkern_sim::Error>((slope(h)? - slope(-h)?) / (2.0 * h));
            let numeric = (4.0 * pair(0.5 * h)? - pair(h)?) / 3.0;
            best = best.min((numeric - exact).abs() / exact.abs());
        }
        assert!(best < 1e-6, "{law:?}: {exact} against differences: relative error {best:e}");
        println!("{law:?}: relative error {best:.1e}");
    }
    for schedule in [Schedule::Checkpoints(3), Schedule::Auto] {
        let other = scene.products(&at, &[u.clone(), v.clone()], schedule)?;
        assert_eq!(other, (gradient.clone(), products.clone()), "{schedule:?}");
    }
    Ok(())
}

#[test]
fn of_a_neo_hookean_block() -> Result<()> {
    second_derivatives(Law::NeoHookean)
}

#[test]
fn of_a_fixed_corotated_block() -> Result<()> {
    second_derivatives(Law::FixedCorotated)
}
