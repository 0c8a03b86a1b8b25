//! W1 and W2: an elastic block thrown at the floor, through the kernels of `diffkern-sim`.

use anyhow::Result;
use diffkern::prelude::*;
use diffkern::{Direction, Schedule, jvp};
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{
    Contact, Dim2, Dim3, Dimension, Grid, HalfSpace, Law, Model, Params, State, mean_square_distance,
};

use crate::harness::{Sizes, Workload};

/// Poisson's ratio 0.2, Young's modulus 400 Pa.
const MU: f64 = 400.0 / 2.4;
const LAMBDA: f64 = 400.0 * 0.2 / (1.2 * 0.6);

pub struct Block<D: Dimension> {
    model: Model<D, f32>,
    start: State<D, f32>,
    params: Params<D, f32>,
    target: D::Coords,
    steps: usize,
    components: fn(&D::Vector<f32>) -> Vec<f64>,
}

/// Walls three cells from each side: a node loses the velocity that points out of the box.
fn walls<D: Dimension>(axes: usize, grid: usize, coords: impl Fn(usize, f64) -> D::Coords) -> Vec<HalfSpace<D>> {
    let dx = 1.0 / grid as f64;
    let wall = |normal, offset| HalfSpace { normal, offset, contact: Contact::Separating, friction: 0.0 };
    (0..axes)
        .flat_map(|axis| [wall(coords(axis, 1.0), 2.5 * dx), wall(coords(axis, -1.0), -(grid as f64 - 3.5) * dx)])
        .collect()
}

/// Shear and bulk modulus of particle `p`, different from its neighbours'.
fn materials(n: usize) -> (Vec<f32>, Vec<f32>) {
    let vary = |p: usize, period: usize, middle: f64| 1.0 + 0.05 * ((p % period) as f64 - middle);
    (
        (0..n).map(|p| (MU * vary(p, 5, 2.0)) as f32).collect(),
        (0..n).map(|p| (LAMBDA * vary(p, 3, 1.0)) as f32).collect(),
    )
}

pub fn plane(device: &Device, sizes: Sizes) -> Result<Block<Dim2>> {
    let (n, dx) = (sizes.particles, 1.0 / sizes.grid as f64);
    let nx = ((2 * n) as f64).sqrt().round() as usize;
    let ny = n / nx;
    let origin = [0.25, 3.5 * dx];
    let centre = [origin[0] + 0.25 * dx * nx as f64, origin[1] + 0.25 * dx * ny as f64];
    let (mut x, mut v) = (Vec::new(), Vec::new());
    for p in 0..n {
        let at = [origin[0] + ((p / ny) as f64 + 0.5) * dx / 2.0, origin[1] + ((p % ny) as f64 + 0.5) * dx / 2.0];
        x.push(Vec2::new(at[0] as f32, at[1] as f32));
        v.push(Vec2::new((1.0 + 8.0 * (at[0] - centre[0])) as f32, (-2.0 - 8.0 * (at[1] - centre[1])) as f32));
    }
    let half_spaces = walls::<Dim2>(2, sizes.grid, |axis, sign| if axis == 0 { [sign, 0.0] } else { [0.0, sign] });
    let grid = Grid::<Dim2>::new([0.0; 2], dx, [sizes.grid; 2])?;
    let gravity = [0.0, -9.8];
    let parts = Parts { x, v, half_spaces, gravity, target: [0.7, 0.4] };
    block(device, sizes, grid, parts, |v| vec![f64::from(v.x), f64::from(v.y)])
}

pub fn space(device: &Device, sizes: Sizes) -> Result<Block<Dim3>> {
    let (n, dx) = (sizes.particles, 1.0 / sizes.grid as f64);
    let m = (n as f64).cbrt().round() as usize;
    let origin = [0.375, 3.5 * dx, 0.375];
    let (mean, rate) = ([1.0, -3.0, 0.5], [8.0, -8.0, 4.0]);
    let (mut x, mut v) = (Vec::new(), Vec::new());
    for p in 0..n {
        let index = [p / (m * m), p / m % m, p % m];
        let at: [f64; 3] = std::array::from_fn(|d| origin[d] + (index[d] as f64 + 0.5) * dx / 2.0);
        let speed: [f64; 3] = std::array::from_fn(|d| mean[d] + rate[d] * (at[d] - origin[d] - 0.25 * dx * m as f64));
        x.push(Vec3::new(at[0] as f32, at[1] as f32, at[2] as f32));
        v.push(Vec3::new(speed[0] as f32, speed[1] as f32, speed[2] as f32));
    }
    let mut half_spaces =
        vec![HalfSpace { normal: [0.0, 1.0, 0.0], offset: 2.5 * dx, contact: Contact::Sticky, friction: 0.0 }];
    half_spaces.extend(walls::<Dim3>(3, sizes.grid, |axis, sign| {
        let mut normal = [0.0; 3];
        normal[axis] = sign;
        normal
    }));
    let grid = Grid::<Dim3>::new([0.0; 3], dx, [sizes.grid; 3])?;
    let gravity = [0.0, -9.8, 0.0];
    let parts = Parts { x, v, half_spaces, gravity, target: [0.7, 0.4, 0.6] };
    block(device, sizes, grid, parts, |v| vec![f64::from(v.x), f64::from(v.y), f64::from(v.z)])
}

struct Parts<D: Dimension> {
    x: Vec<D::Vector<f32>>,
    v: Vec<D::Vector<f32>>,
    half_spaces: Vec<HalfSpace<D>>,
    gravity: D::Coords,
    target: D::Coords,
}

fn block<D: Dimension>(
    device: &Device,
    sizes: Sizes,
    grid: Grid<D>,
    parts: Parts<D>,
    components: fn(&D::Vector<f32>) -> Vec<f64>,
) -> Result<Block<D>> {
    let dt = 0.0128 / sizes.grid as f64;
    let model = Model::new(device, grid, dt, Law::NeoHookean, &parts.half_spaces)?.with_mass_cutoff(1e-8);
    let mut start = State::undeformed(device, &parts.x, &parts.v)?;
    start.v = start.v.requires_grad();
    let mut params = Params::uniform(device, MU, LAMBDA, 1.0, 1.0, parts.gravity)?;
    let (mu, lambda) = materials(sizes.particles);
    params.mu = device.array(&mu)?.requires_grad();
    params.lambda = device.array(&lambda)?.requires_grad();
    Ok(Block { model, start, params, target: parts.target, steps: sizes.steps, components })
}

impl<D: Dimension> Block<D> {
    fn run(&self, schedule: Schedule) -> diffkern_sim::Result<Array<f32>> {
        let solver = self.model.solver(&self.params, self.start.len())?;
        let end = solver.advance(&self.start, 0, self.steps, schedule)?;
        mean_square_distance::<D, f32>(&end.x, self.target)
    }

    /// The loss and its derivatives along so many directions, at most three: the velocities, the shear and the bulk moduli.
    pub fn with_tangents(&self, directions: usize) -> Result<Vec<f64>> {
        let along = [self.start.v.as_any(), self.params.mu.as_any(), self.params.lambda.as_any()];
        let pairs: Vec<[_; 1]> = along.iter().take(directions).map(|array| [(*array, *array)]).collect();
        let pairs: Vec<Direction<'_>> = pairs.iter().map(|pair| pair.as_slice()).collect();
        let (loss, tangents) = jvp(&pairs, || self.run(Schedule::Auto))?;
        let mut all = vec![f64::from(loss.to_vec()?[0])];
        for k in 0..pairs.len() {
            all.push(f64::from(tangents.get(k, &loss)?.to_vec()?[0]));
        }
        Ok(all)
    }
}

impl<D: Dimension> Workload for Block<D> {
    fn forward(&self) -> Result<f64> {
        Ok(f64::from(self.run(Schedule::Auto)?.to_vec()?[0]))
    }

    fn forward_backward(&self) -> Result<f64> {
        self.start.v.zero_grad();
        self.params.mu.zero_grad();
        self.params.lambda.zero_grad();
        let (tape, loss) = Tape::record_value(|| self.run(Schedule::StoreAll))?;
        tape.backward(&loss)?;
        Ok(f64::from(loss.to_vec()?[0]))
    }

    fn gradients(&self) -> Result<[Vec<f64>; 2]> {
        let v = self.start.v.grad()?.to_vec()?;
        let (mu, lambda) = (self.params.mu.grad()?.to_vec()?, self.params.lambda.grad()?.to_vec()?);
        Ok([
            v.iter().flat_map(self.components).collect(),
            mu.iter().zip(&lambda).flat_map(|(&m, &l)| [f64::from(m), f64::from(l)]).collect(),
        ])
    }
}
