//! A block of MPM particles that slides on a rough floor into a rough wall, as a function of all its numbers.

use diffkern::prelude::*;
use diffkern::{AnyArray, Schedule};
use diffkern_sim::Result;
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{
    Contact, Dim2, Grid, HalfSpace, Law, Model, Params, Solver, State, Transfer, mean_square_distance,
};

use super::Random;

/// Distance of the particles \[m\].
pub const H: f64 = 0.05;

/// `SIDE` by `SIDE` particles and `STEPS` steps.
pub struct Block<const SIDE: usize, const STEPS: usize> {
    pub device: Device,
    model: Model<Dim2, f64>,
}

/// What a gradient is asked for.
pub struct Inputs {
    pub params: Params<Dim2, f64>,
    pub state: State<Dim2, f64>,
}

impl<const SIDE: usize, const STEPS: usize> Block<SIDE, STEPS> {
    /// Particles.
    pub const N: usize = SIDE * SIDE;

    /// The groups of numbers and how many each has.
    pub const GROUPS: [(&str, usize); 11] = [
        ("mu", Self::N),
        ("lambda", 1),
        ("density", 1),
        ("viscosity", 1),
        ("volume", Self::N),
        ("damping", 1),
        ("friction", 2),
        ("stiffness", 2),
        ("gravity", 2),
        ("positions", 2 * Self::N),
        ("velocities", 2 * Self::N),
    ];

    /// A block that meets its wall within the run.
    pub fn new(law: Law, wall: f64) -> Result<Self> {
        let device = Device::cpu();
        let grid = Grid::new([-0.3, -0.3], 2.0 * H, [14, 12])?;
        let floor = HalfSpace::through([0.0, 0.0], [0.0, 1.0], Contact::Penalty { stiffness: 4e3 });
        let wall = HalfSpace::through([wall, 0.0], [-1.0, 0.0], Contact::Separating);
        let model = Model::new(&device, grid, 2e-3, law, &[floor, wall])?.with_contact_spacing(H)?;
        Ok(Self { device, model })
    }

    /// The same with another transfer.
    pub fn with_transfer(self, transfer: Transfer) -> Result<Self> {
        Ok(Self { model: self.model.with_transfer(transfer)?, ..self })
    }

    /// Where the tests look: no two numbers of a group alike.
    pub fn start(&self) -> Vec<f64> {
        let mut r = Random(7);
        let mut at = r.many(Self::N, |r| r.between(80.0, 120.0));
        at.extend([150.0, 2.0, 0.3]);
        at.extend(r.many(Self::N, |r| H * H * r.between(0.9, 1.1)));
        // The wall has no stiffness, whatever is given.
        at.extend([0.7, 0.4, 0.3, 3.6e3, 5e3, 0.6, -9.8]);
        for p in 0..Self::N {
            at.extend([(p / SIDE) as f64 * H + 0.13, (p % SIDE) as f64 * H + 0.023]);
        }
        at.extend(r.many(Self::N, |r| [2.0 + r.between(-0.2, 0.2), -1.0 + r.between(-0.2, 0.2)]).concat());
        at
    }

    /// Arrays of these numbers, which want gradients.
    pub fn inputs(&self, at: &[f64]) -> Result<Inputs> {
        let mut rest = at;
        let mut next = |group: usize| {
            let (head, tail) = rest.split_at(Self::GROUPS[group].1);
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
            mu: real(next(0))?,
            lambda: real(next(1))?,
            density: real(next(2))?,
            viscosity: real(next(3))?,
            volume: real(next(4))?,
            damping: real(next(5))?,
            friction: Some(real(next(6))?),
            stiffness: Some(real(next(7))?),
            contact: None,
            gravity: pairs(next(8))?,
        };
        let (x, v) = (pairs(next(9))?, pairs(next(10))?);
        let undeformed = State::undeformed(dev, &vec![Vec2::zero(); Self::N], &vec![Vec2::zero(); Self::N])?;
        Ok(Inputs { params, state: State { x, v, ..undeformed } })
    }

    /// How far from a point the particles end.
    pub fn simulate(&self, inputs: &Inputs, schedule: Schedule) -> Result<Array<f64>> {
        let solver: Solver<Dim2, f64> = self.model.solver(&inputs.params, Self::N)?;
        let end = solver.advance(&inputs.state, 0, STEPS, schedule)?;
        mean_square_distance::<Dim2, f64>(&end.x, [0.4, 0.3])
    }

    pub fn record(&self, at: &[f64], schedule: Schedule) -> Result<(Inputs, Tape, Array<f64>)> {
        let inputs = self.inputs(at)?;
        let (tape, loss) = Tape::record_value(|| self.simulate(&inputs, schedule))?;
        Ok((inputs, tape, loss))
    }

    pub fn loss(&self, at: &[f64]) -> Result<f64> {
        Ok(self.simulate(&self.inputs(at)?, Schedule::StoreAll)?.to_vec()?[0])
    }

    pub fn gradient(&self, at: &[f64], schedule: Schedule) -> Result<Vec<f64>> {
        let (inputs, tape, loss) = self.record(at, schedule)?;
        tape.backward(&loss)?;
        inputs.numbers(Array::grad, Array::grad)
    }
}

impl Inputs {
    fn scalars(&self) -> [&Array<f64>; 8] {
        let p = &self.params;
        let [friction, stiffness] = [&p.friction, &p.stiffness].map(|of| of.as_ref().expect("given as an array"));
        [&p.mu, &p.lambda, &p.density, &p.viscosity, &p.volume, &p.damping, friction, stiffness]
    }

    fn vectors(&self) -> [&Array<Vec2<f64>>; 3] {
        [&self.params.gravity, &self.state.x, &self.state.v]
    }

    /// All arrays, in the order of the numbers.
    pub fn all(&self) -> Vec<&AnyArray> {
        self.scalars().into_iter().map(Array::as_any).chain(self.vectors().into_iter().map(Array::as_any)).collect()
    }

    /// The numbers of what belongs to each array: its gradient, say.
    pub fn numbers(
        &self,
        scalar: impl Fn(&Array<f64>) -> diffkern::Result<Array<f64>>,
        vector: impl Fn(&Array<Vec2<f64>>) -> diffkern::Result<Array<Vec2<f64>>>,
    ) -> Result<Vec<f64>> {
        let mut numbers = Vec::new();
        for array in self.scalars() {
            numbers.extend(scalar(array)?.to_vec()?);
        }
        for array in self.vectors() {
            numbers.extend(vector(array)?.to_vec()?.iter().flat_map(|v| v.to_array()));
        }
        Ok(numbers)
    }
}
