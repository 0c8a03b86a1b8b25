//! What transfers between particles and grid lose: free vibration, a bounce, noise within cells.

use diffkern::prelude::*;
use diffkern_sim::Result;
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{Contact, Dim3, Grid, HalfSpace, Law, Model, Params, Solver, State, Transfer};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Side of the block \[m\] and its density.
pub const SIDE: f64 = 0.1;
pub const DENSITY: f64 = 1e3;

/// A block of two particles a cell and axis.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub transfer: Transfer,
    /// Cells along each side.
    pub cells: usize,
    /// Cells that the fastest wave crosses in a substep.
    pub cfl: f64,
    /// Lamé parameters \[Pa\].
    pub mu: f64,
    pub lambda: f64,
}

/// A block, ready to run.
pub struct Block {
    setting: Setting,
    solver: Solver<Dim3, f64>,
    state: State<Dim3, f64>,
    /// Places at rest.
    rest: Vec<Vec3<f64>>,
    taken: usize,
    floor: bool,
    gravity: f64,
}

/// What a block has.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Of all kinds \[J\].
    pub energy: f64,
    /// About the centre of mass \[kg m^2/s\].
    pub angular_momentum: Vec3<f64>,
    /// Whether it touches the floor.
    pub touches: bool,
}

impl Setting {
    fn dx(&self) -> f64 {
        SIDE / self.cells as f64
    }

    fn p_modulus(&self) -> f64 {
        self.lambda + 2.0 * self.mu
    }

    fn wave(&self) -> f64 {
        (self.p_modulus() / DENSITY).sqrt()
    }

    /// Time step \[s\].
    pub fn step(&self) -> f64 {
        self.cfl * self.dx() / self.wave()
    }

    fn particle_mass(&self) -> f64 {
        DENSITY * (0.5 * self.dx()).powi(3)
    }

    /// Floor stiffness \[Pa/m\]: as `identify` has it.
    fn stiffness(&self) -> f64 {
        1.2 * self.p_modulus() / (0.5 * self.dx())
    }

    /// A block with its lowest corner `gap` above the floor, turned by `tilt` about y, with velocities `v` and their gradients by the
    /// place at rest, from its centre.
    pub fn block(
        self,
        floor: Option<f64>,
        tilt: f64,
        field: impl Fn(Vec3<f64>) -> (Vec3<f64>, Mat3<f64>),
    ) -> Result<Block> {
        let device = Device::cpu();
        let (h, n) = (0.5 * self.dx(), 2 * self.cells);
        let at = |k: usize| (k as f64 + 0.5) * h - 0.5 * SIDE;
        let rest: Vec<Vec3<f64>> =
            (0..n * n * n).map(|p| Vec3::new(at(p / (n * n)), at(p / n % n), at(p % n))).collect();
        let (s, c) = tilt.sin_cos();
        let turn = Mat3::from_rows(Vec3::new(c, 0.0, s), Vec3::new(0.0, 1.0, 0.0), Vec3::new(-s, 0.0, c));
        // So that no particle is at a special place of the grid.
        let aside = Vec3::new(0.13, 0.29, 0.0) * self.dx();
        let centre = Vec3::new(0.0, 0.0, 0.5 * SIDE * (c + s.abs()) + floor.unwrap_or(0.31 * self.dx())) + aside;
        let fields: Vec<_> = rest.iter().map(|&x| field(x)).collect();
        let room = 3.0 * SIDE;
        let cells = (2.0 * room / self.dx()).ceil() as usize;
        let grid = Grid::new([-room, -room, -room], self.dx(), [cells; 3])?;
        let plane = HalfSpace::through([0.0; 3], [0.0, 0.0, 1.0], Contact::Penalty { stiffness: self.stiffness() });
        let planes = if floor.is_some() { vec![plane] } else { vec![] };
        let model = Model::new(&device, grid, self.step(), Law::NeoHookean, &planes)?.with_transfer(self.transfer)?;
        let model = if floor.is_some() { model.with_contact_spacing(h)? } else { model };
        let gravity = if floor.is_some() { 9.81 } else { 0.0 };
        let params = Params::uniform(&device, self.mu, self.lambda, DENSITY, h.powi(3), [0.0, 0.0, -gravity])?;
        let x: Vec<_> = rest.iter().map(|&x| turn * x + centre).collect();
        let v: Vec<_> = fields.iter().map(|(v, _)| turn * *v).collect();
        let slopes: Vec<_> = fields.iter().map(|(_, c)| turn * *c * turn.transpose()).collect();
        let state = State {
            x: device.array(&x)?,
            v: device.array(&v)?,
            c: device.array(&slopes)?,
            f: device.full(x.len(), turn)?,
            phase: None,
        };
        Ok(Block {
            setting: self,
            solver: model.solver(&params, x.len())?,
            state,
            rest,
            taken: 0,
            floor: floor.is_some(),
            gravity,
        })
    }
}

impl Block {
    /// A step; its length \[s\].
    pub fn step(&mut self) -> Result<f64> {
        self.run(1)?;
        Ok(self.solver.dt())
    }

    /// So many steps.
    pub fn run(&mut self, steps: usize) -> Result<()> {
        self.state = self.solver.advance(&self.state, self.taken, steps, Schedule::Auto)?;
        self.taken += steps;
        Ok(())
    }

    pub fn totals(&self) -> Result<Totals> {
        let set = &self.setting;
        let (m, h) = (set.particle_mass(), 0.5 * set.dx());
        let carried = self.solver.transferred(&self.state)?;
        let (x, v) = (carried.x.to_vec()?, carried.v.to_vec()?);
        let (c, f) = (carried.c.to_vec()?, carried.f.to_vec()?);
        let count = x.len() as f64;
        let mean = |of: &[Vec3<f64>]| of.iter().fold(Vec3::zero(), |sum, x| sum + *x) * (1.0 / count);
        let (middle, drift) = (mean(&x), mean(&v));
        let (mut energy, mut angular, mut touches) = (0.0, Vec3::zero(), false);
        if set.transfer != Transfer::Apic {
            energy += self.solver.nodal_kinetic_energy(&self.state)?;
        }
        for (((x, v), c), f) in x.iter().zip(&v).zip(&c).zip(&f) {
            let inertia = 0.25 * set.dx() * set.dx();
            if set.transfer == Transfer::Apic {
                energy += 0.5 * m * (v.dot(*v) + inertia * c.ddot(*c));
            }
            energy += m * self.gravity * x.z;
            let log = f.determinant().ln();
            let elastic = 0.5 * set.mu * (f.ddot(*f) - 3.0) - set.mu * log + 0.5 * set.lambda * log * log;
            energy += h.powi(3) * elastic;
            let depth = if self.floor { (0.5 * h - x.z).max(0.0) } else { 0.0 };
            energy += 0.5 * set.stiffness() * h * h * depth * depth;
            touches |= depth > 0.0;
            let spin = Vec3::new(c[(2, 1)] - c[(1, 2)], c[(0, 2)] - c[(2, 0)], c[(1, 0)] - c[(0, 1)]);
            angular += ((*x - middle).cross(*v - drift) + spin * inertia) * m;
        }
        Ok(Totals { energy, angular_momentum: angular, touches })
    }

    /// Root mean square of what an affine field within each cell does not explain of the velocities, as a part of that of the
    /// velocities about their mean.
    pub fn roughness(&self) -> Result<f64> {
        let v = self.state.v.to_vec()?;
        let dx = self.setting.dx();
        let mut cells: BTreeMap<[i64; 3], Vec<usize>> = BTreeMap::new();
        for (p, x) in self.rest.iter().enumerate() {
            let of = |x: f64| ((x + 0.5 * SIDE) / dx).floor() as i64;
            cells.entry([of(x.x), of(x.y), of(x.z)]).or_default().push(p);
        }
        let mean = v.iter().fold(Vec3::zero(), |sum, v| sum + *v) * (1.0 / v.len() as f64);
        let (mut rough, mut all) = (0.0, 0.0);
        for own in cells.values() {
            let average = |of: &dyn Fn(usize) -> Vec3<f64>| {
                own.iter().fold(Vec3::zero(), |sum, &p| sum + of(p)) * (1.0 / own.len() as f64)
            };
            let (x0, v0) = (average(&|p| self.rest[p]), average(&|p| v[p]));
            // Corners of a cube: each slope is a mean by itself.
            let arm = 0.25 * dx;
            let slopes = [0, 1, 2].map(|a| average(&|p| (v[p] - v0) * ((self.rest[p] - x0)[a] / (arm * arm))));
            for &p in own {
                let r = self.rest[p] - x0;
                let left = v[p] - v0 - slopes[0] * r.x - slopes[1] * r.y - slopes[2] * r.z;
                rough += left.dot(left);
                all += (v[p] - mean).dot(v[p] - mean);
            }
        }
        Ok((rough / all).sqrt())
    }
}

/// Logarithmic decrement of the first mode along x of a free block without lateral contraction: half the slope of the logarithm of its
/// energy, by least squares over so many periods.
pub fn decrement(setting: Setting, periods: f64) -> Result<f64> {
    let setting = Setting { lambda: 0.0, ..setting };
    let (wave, k) = (setting.wave(), PI / SIDE);
    // Strains of up to two percent.
    let top = 0.02 * wave;
    let field = |x: Vec3<f64>| {
        let mut slope = Mat3::zero();
        slope[(0, 0)] = top * k * (k * x.x).cos();
        (Vec3::new(top * (k * x.x).sin(), 0.0, 0.0), slope)
    };
    let mut block = setting.block(None, 0.0, field)?;
    let period = 2.0 * SIDE / wave;
    let (mut points, mut time) = (Vec::new(), 0.0);
    while time < periods * period || points.len() < 5 {
        time += block.step()?;
        points.push((time / period, block.totals()?.energy.ln()));
    }
    let count = points.len() as f64;
    let (t, e) = points.iter().fold((0.0, 0.0), |(t, e), p| (t + p.0 / count, e + p.1 / count));
    let (tt, te) =
        points.iter().fold((0.0, 0.0), |(tt, te), p| (tt + (p.0 - t) * (p.0 - t), te + (p.0 - t) * (p.1 - e)));
    Ok(-0.5 * te / tt)
}

/// A bounce.
#[derive(Clone, Copy, Debug)]
pub struct Bounce {
    /// Energy when it has left the floor and at the end, less that at the beginning, and the most at any time, in parts of the kinetic energy
    /// of the impact.
    pub left: f64,
    pub end: f64,
    pub most: f64,
    /// Largest change of angular momentum about the centre of mass in flight after the bounce, as a part of `M v L`.
    pub turned: f64,
    /// See [`Block::roughness`].
    pub roughness: f64,
}

/// A block hits the floor with `speed`; `time` is that of the run \[s\].
pub fn bounce(setting: Setting, tilt: f64, speed: f64, time: f64) -> Result<Bounce> {
    let mut block = setting.block(Some(0.01), tilt, |_| (Vec3::zero(), Mat3::zero()))?;
    let v = vec![Vec3::new(0.0, 0.0, -speed); block.rest.len()];
    block.state.v = Device::cpu().array(&v)?;
    let mass = DENSITY * SIDE.powi(3);
    let whole = 0.5 * mass * speed * speed;
    let begin = block.totals()?;
    let (mut now, mut most, mut touched, mut left) = (0.0, f64::NEG_INFINITY, false, None);
    let (mut turned, mut last) = (0.0f64, begin);
    while now < time {
        now += block.step()?;
        last = block.totals()?;
        touched |= last.touches;
        most = most.max((last.energy - begin.energy) / whole);
        if touched && !last.touches {
            let (_, then) = *left.get_or_insert((last.energy, last.angular_momentum));
            turned = turned.max((last.angular_momentum - then).norm() / (mass * speed * SIDE));
        } else if touched && last.touches {
            left = None;
        }
    }
    let part = |energy: f64| (energy - begin.energy) / whole;
    let left = left.map_or(f64::NAN, |(energy, _)| part(energy));
    Ok(Bounce { left, end: part(last.energy), most, turned, roughness: block.roughness()? })
}
