//! A block of gel that bounces in a box for as long as wanted, differentiated under any schedule.

use anyhow::{Result, ensure};
use diffkern::prelude::*;
use diffkern::{Report, Schedule};
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{Contact, Dim3, Grid, HalfSpace, Law, Model, Params, State, mean_square_distance};

use crate::harness::{Spent, clocked};

/// Distance of the particles \[m\]; two a cell and axis.
const SPACING: f64 = 0.00625;
/// Cells between the block and the walls.
const ROOM: f64 = 1.0;
/// Cells that the grid goes on behind a wall, as far as the spline of a particle there reaches.
const BEHIND: usize = 3;
/// Well below the limit of stability, the fastest wave crosses a fourteenth of a cell: 10,000 steps are two seconds \[s\].
const DT: f64 = 2e-4;
const MU: f64 = 5e3;
const LAMBDA: f64 = 1e4;
const DENSITY: f64 = 1e3;
/// Pressure of the floor per depth \[Pa/m\].
const STIFFNESS: f64 = 1e6;

/// Gradients of the mean square distance from a point at the end, as bits, so that equal means equal.
#[derive(PartialEq, Eq)]
pub struct Bits {
    pub loss: u32,
    /// By initial velocities, shear moduli and second Lamé parameters, one after the other.
    pub gradient: Vec<u32>,
}

/// One differentiated rollout.
pub struct Differentiated {
    pub bits: Bits,
    pub report: Report,
    pub record: Spent,
    pub backward: Spent,
}

/// The block and its box.
pub struct Bounce {
    model: Model<Dim3, f32>,
    start: State<Dim3, f32>,
    params: Params<Dim3, f32>,
    steps: usize,
}

impl Bounce {
    /// So many particles, as near to twice as long as wide as the number allows.
    pub fn new(device: &Device, particles: usize, steps: usize) -> Result<Bounce> {
        ensure!(particles > 0 && steps > 0, "--particles and --steps must be at least 1");
        let side = ((particles as f64 / 2.0).cbrt().round() as usize).max(2);
        let counts = [particles.div_ceil(side * side), side, side];
        let dx = 2.0 * SPACING;
        let cells = counts.map(|n| (n as f64 / 2.0 + 2.0 * ROOM).ceil() as usize);
        let grid = Grid::<Dim3>::new([-(BEHIND as f64) * dx; 3], dx, cells.map(|n| n + 2 * BEHIND + 1))?;
        let half_spaces = Self::walls(cells.map(|n| n as f64 * dx));
        let model = Model::new(device, grid, DT, Law::NeoHookean, &half_spaces)?
            .with_mass_cutoff(1e-9 * DENSITY * SPACING.powi(3))
            .with_contact_spacing(SPACING)?;
        let at = |p: usize| [p / (side * side), p / side % side, p % side];
        let place = |k: usize| (ROOM * dx + (k as f64 + 0.5) * SPACING) as f32;
        let x: Vec<_> = (0..particles).map(|p| Vec3::from_array(at(p).map(place))).collect();
        let v = vec![Vec3::new(0.4, 0.1, -0.2); particles];
        let mut start = State::undeformed(device, &x, &v)?;
        start.v = start.v.requires_grad();
        let mut params = Params::uniform(device, MU, LAMBDA, DENSITY, SPACING.powi(3), [0.0, 0.0, -9.81])?;
        params.mu = device.full(particles, MU as f32)?.requires_grad();
        params.lambda = device.full(particles, LAMBDA as f32)?.requires_grad();
        Ok(Bounce { model, start, params, steps })
    }

    /// A rough floor that pushes particles, walls and a ceiling that stop nodes.
    fn walls(size: [f64; 3]) -> Vec<HalfSpace<Dim3>> {
        let floor = HalfSpace::through([0.0; 3], [0.0, 0.0, 1.0], Contact::Penalty { stiffness: STIFFNESS });
        let mut all = vec![floor.with_friction(0.3)];
        for axis in 0..3 {
            let mut inwards = [0.0; 3];
            inwards[axis] = -1.0;
            all.push(HalfSpace::through(size, inwards, Contact::Separating));
            if axis < 2 {
                all.push(HalfSpace::through([0.0; 3], inwards.map(|n: f64| -n), Contact::Separating));
            }
        }
        all
    }

    fn loss(&self, steps: usize, schedule: Schedule) -> diffkern_sim::Result<Array<f32>> {
        let solver = self.model.solver(&self.params, self.start.len())?;
        let end = solver.advance(&self.start, 0, steps, schedule)?;
        mean_square_distance::<Dim3, f32>(&end.x, [0.1, 0.05, 0.05])
    }

    /// Without any record for gradients.
    pub fn forward(&self) -> Result<Spent> {
        Ok(clocked(|| self.loss(self.steps, Schedule::Auto)?.to_vec().map_err(anyhow::Error::from))?.1)
    }

    /// Loss and gradients.
    pub fn differentiate(&self, schedule: Schedule) -> Result<Differentiated> {
        self.differentiate_steps(self.steps, schedule)
    }

    fn differentiate_steps(&self, steps: usize, schedule: Schedule) -> Result<Differentiated> {
        let Params { mu, lambda, .. } = &self.params;
        self.start.v.zero_grad();
        mu.zero_grad();
        lambda.zero_grad();
        let ((tape, loss), record) = clocked(|| Tape::record_value(|| self.loss(steps, schedule)))?;
        let ((), backward) = clocked(|| tape.backward(&loss))?;
        let velocities = self.start.v.grad()?.to_vec()?.into_iter().flat_map(Vec3::to_array);
        let moduli = mu.grad()?.to_vec()?.into_iter().chain(lambda.grad()?.to_vec()?);
        let gradient: Vec<f32> = velocities.chain(moduli).collect();
        ensure!(gradient.iter().all(|g| g.is_finite()), "the gradient over {steps} steps is not finite");
        ensure!(gradient.iter().any(|&g| g != 0.0), "the gradient over {steps} steps is zero");
        let bits = Bits { loss: loss.to_vec()?[0].to_bits(), gradient: gradient.iter().map(|g| g.to_bits()).collect() };
        Ok(Differentiated { bits, report: tape.report(), record, backward })
    }

    /// Bytes of the tape if every step's is kept, from what two short rollouts keep.
    pub fn bytes_of_all(&self) -> Result<usize> {
        let short = self.steps.min(4);
        let peak =
            |steps| Ok::<_, anyhow::Error>(self.differentiate_steps(steps, Schedule::StoreAll)?.report.peak_bytes);
        let (one, more) = (peak(1)?, peak(short)?);
        Ok(one + more.saturating_sub(one) / short.saturating_sub(1).max(1) * self.steps)
    }
}
