//! W6: a block of linear tetrahedra on a held face, sheared and let go, through the explicit steps of `diffkern-sim`.

use anyhow::Result;
use diffkern::prelude::*;
use diffkern::{Schedule, reduce};
use diffkern_sim::Step as _;
use diffkern_sim::fem::{Model, Params};
use diffkern_sim::material::Law;
use diffkern_sim::vertices::VertexState;
use std::f64::consts::PI;

use crate::harness::{Sizes, Workload};
use crate::springs::square_distance;

/// Side of a cube of five elements \[m\], and the length of a step \[s\].
const SIDE: f64 = 0.02;
const STEP: f64 = 1e-4;
const DENSITY: f64 = 1e3;
/// Young's modulus 0.2 MPa, Poisson's ratio 0.3.
const MU: f64 = 2e5 / 2.6;
const LAMBDA: f64 = 2e5 * 0.3 / (1.3 * 0.4);
/// Corners of the elements of a cube, `4 x + 2 y + z`; in turn, so that faces of neighbours meet.
const EVEN: [[usize; 4]; 5] = [[0, 6, 3, 5], [4, 0, 5, 6], [2, 0, 6, 3], [1, 0, 3, 5], [7, 6, 5, 3]];
const ODD: [[usize; 4]; 5] = [[4, 2, 1, 7], [0, 4, 2, 1], [6, 4, 7, 2], [5, 4, 1, 7], [3, 2, 7, 1]];

pub struct Tets {
    device: Device,
    model: Model<f32>,
    params: Params<f32>,
    start: VertexState<f32>,
    target: Array<Vec3<f32>>,
    steps: usize,
    /// Vertices of the lowest layer stay where they are: their velocity is none of the inputs.
    held: Vec<u32>,
}

/// Elements of a cube at whose side `per_side` cubes lie.
fn elements(per_side: usize) -> Vec<[u32; 4]> {
    let vertex = |[i, j, k]: [usize; 3]| (i * (per_side + 1) + j) * (per_side + 1) + k;
    let cubes = (0..per_side.pow(3)).map(|c| [c / per_side.pow(2), c / per_side % per_side, c % per_side]);
    let of = |[i, j, k]: [usize; 3]| {
        let corners = if (i + j + k) % 2 == 0 { EVEN } else { ODD };
        let corner = move |c: usize| vertex([i + c / 4, j + c / 2 % 2, k + c % 2]) as u32;
        corners.into_iter().map(move |tet| tet.map(corner))
    };
    cubes.flat_map(of).collect()
}

impl Tets {
    pub fn new(device: &Device, sizes: Sizes) -> Result<Self> {
        let (per_side, n) = (sizes.grid, (sizes.grid + 1).pow(3));
        let height = per_side as f64 * SIDE;
        let index = |p: usize| [p / (per_side + 1).pow(2), p / (per_side + 1) % (per_side + 1), p % (per_side + 1)];
        let rest: Vec<[f64; 3]> = (0..n).map(|p| index(p).map(|i| i as f64 * SIDE)).collect();
        let held: Vec<u32> = (0..n).filter(|p| index(*p)[2] == 0).map(|p| p as u32).collect();
        let velocity = |[x, _, z]: &[f64; 3]| {
            let up = z / height;
            [0.5 * (0.5 * PI * up).sin(), 0.3 * up * (PI * x / height).cos(), -0.2 * up]
        };
        let tets = elements(per_side);
        let vary = |e: usize, period: usize| 1.0 + 0.05 * ((e % period) as f64 - (period / 2) as f64);
        let materials =
            |of: f64, period: usize| -> Vec<f32> { (0..tets.len()).map(|e| (of * vary(e, period)) as f32).collect() };
        let params = Params {
            mu: device.array(&materials(MU, 5))?.requires_grad(),
            lambda: device.array(&materials(LAMBDA, 3))?.requires_grad(),
            ..Params::uniform(device, MU, LAMBDA, DENSITY, [0.0, 0.0, -9.8])?
        };
        let start = VertexState::new(device, &rest, &rest.iter().map(velocity).collect::<Vec<_>>())?;
        Ok(Self {
            device: device.clone(),
            model: Model::new(device, &rest, &tets, Law::NeoHookean, STEP, &held, &[])?,
            params,
            start: VertexState { v: start.v.requires_grad(), ..start },
            target: device.array(&[Vec3::new(0.15, 0.1, 0.3)])?,
            steps: sizes.steps,
            held,
        })
    }

    fn run(&self) -> Result<Array<f32>> {
        let solver = self.model.solver(&self.params, &self.start)?;
        let end = solver.advance(&self.start, 0, self.steps, Schedule::StoreAll)?;
        let squares = self.device.uninit::<f32>(end.x.len())?;
        square_distance(squares.len(), &end.x, &self.target, &squares)?;
        Ok(reduce::mean(&squares)?)
    }
}

impl Workload for Tets {
    fn forward(&self) -> Result<f64> {
        Ok(f64::from(self.run()?.to_vec()?[0]))
    }

    fn forward_backward(&self) -> Result<f64> {
        self.start.v.zero_grad();
        self.params.mu.zero_grad();
        self.params.lambda.zero_grad();
        let (tape, loss) = Tape::record_value(|| self.run())?;
        tape.backward(&loss)?;
        Ok(f64::from(loss.to_vec()?[0]))
    }

    fn gradients(&self) -> Result<[Vec<f64>; 2]> {
        let mut v = self.start.v.grad()?.to_vec()?;
        self.held.iter().for_each(|&p| v[p as usize] = Vec3::zero());
        let (mu, lambda) = (self.params.mu.grad()?.to_vec()?, self.params.lambda.grad()?.to_vec()?);
        let pairs = mu.into_iter().zip(lambda);
        Ok([
            v.iter().flat_map(|v| [v.x, v.y, v.z]).map(f64::from).collect(),
            pairs.flat_map(|(mu, lambda)| [mu, lambda]).map(f64::from).collect(),
        ])
    }
}
