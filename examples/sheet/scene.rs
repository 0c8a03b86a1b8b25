//! A sheet of springs that is thrown onto a rough ball.

use diffkern::prelude::*;
use diffkern_sim::collision::Solid;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::springs::{Model, Params};
use diffkern_sim::vertices::VertexState;
use diffkern_sim::{Model as _, Step as _};
use std::collections::HashMap;

/// Side of the sheet \[m\], its mass \[kg\], and the stiffness that a search begins with \[N/m\].
const SIDE: f64 = 0.8;
const MASS: f64 = 0.13;
pub const STIFFNESS: f64 = 50.0;
/// Angular velocity of the throw about the vertical \[rad/s\]: it keeps the sheet taut, which has no bending stiffness. A slack one
/// crumples, and how it does depends on everything: gradients are right and of no use.
const SPIN: f64 = 15.0;
/// Length of a run \[s\].
const DURATION: f64 = 0.1;
const GRAVITY: f64 = -9.81;

/// `n` by `n` vertices, springs along the sides and both diagonals of the cells between them, at rest.
pub struct Scene {
    pub device: Device,
    pub n: usize,
    pub positions: Vec<[f64; 3]>,
    pub springs: Vec<[u32; 2]>,
    pub triangles: Vec<[u32; 3]>,
}

/// `y = exp(x) * STIFFNESS`: what is searched for are logarithms, so a stiffness stays positive.
#[diff_kernel]
fn exponential<F: Float>(x: &Array<F>, y: &mut Array<F>, unit: F) {
    y[ABSOLUTE_POS] = unit * x[ABSOLUTE_POS].exp();
}

/// All vertices begin with the velocity of the throw and of its spin. Velocities of semi-implicit Euler are half a step before its
/// positions, and so many seconds `early` gravity has not acted yet: so positions are of second order until something is touched.
#[diff_kernel]
fn release<F: Float>(
    throw: &Array<Vec3<F>>,
    x: &Array<Vec3<F>>,
    v: &mut Array<Vec3<F>>,
    spin: F,
    gravity: F,
    early: F,
) {
    let (u, p) = (throw[0], x[ABSOLUTE_POS]);
    v[ABSOLUTE_POS] = Vec3::new(u.x - spin * p.y, u.y + spin * p.x, u.z - gravity * early);
}

impl Scene {
    pub fn new(n: usize) -> Scene {
        let h = SIDE / (n - 1) as f64;
        let place = |k: usize| [(k / n) as f64 * h - SIDE / 2.0, (k % n) as f64 * h - SIDE / 2.0, 0.0];
        let (mut springs, mut triangles) = (Vec::new(), Vec::new());
        for (i, j) in (0..n * n).map(|k| (k / n, k % n)) {
            let [a, b, c, d] = [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)].map(|(i, j)| (i * n + j) as u32);
            let (right, up) = (i + 1 < n, j + 1 < n);
            springs.extend(right.then_some([a, b]).into_iter().chain(up.then_some([a, c])));
            if right && up {
                springs.extend([[a, d], [b, c]]);
                triangles.extend([[a, b, d], [a, d, c]]);
            }
        }
        Scene { device: Device::cpu(), n, positions: (0..n * n).map(place).collect(), springs, triangles }
    }

    /// A time step with which the sheet is stable \[s\].
    pub fn dt(&self) -> f64 {
        8e-3 / self.n as f64
    }

    /// Times of the frames \[s\], after the start.
    pub fn times(&self, frames: usize) -> Vec<f64> {
        (0..=frames).map(|k| DURATION * k as f64 / frames as f64).collect()
    }

    /// The hidden stiffness: a wave over the middles of the springs, as a logarithm to the unit of the search.
    pub fn hidden(&self) -> Vec<f64> {
        let middle = |ends: &[u32; 2]| [0, 1].map(|a| ends.iter().map(|&e| self.positions[e as usize][a] / 2.0).sum());
        let wave = |[x, y]: [f64; 2]| 0.3 * (6.0 * x + 1.0).sin() + 0.2 * (5.0 * y - 3.0 * x).cos();
        self.springs.iter().map(|ends| wave(middle(ends))).collect()
    }

    /// Three springs of one direction whose middles are in a row along a side of the sheet: in a smooth field the middle one is as
    /// stiff as the mean of the others.
    pub fn rows(&self) -> Vec<u32> {
        let n = self.n as u32;
        let number: HashMap<_, _> = self.springs.iter().zip(0u32..).map(|(&ends, k)| (ends, k)).collect();
        let mut rows = Vec::new();
        for (&[a, b], k) in self.springs.iter().zip(0u32..) {
            let beside = |by: u32| number.get(&[a + by, b + by]).copied();
            // The vertex after the last of a line begins the next line, which is not beside it.
            let along_line = a % n + 2 < n && b % n + 2 < n;
            let one = along_line.then(|| [beside(1), beside(2)]);
            for pair in one.into_iter().chain([[beside(n), beside(2 * n)]]) {
                if let [Some(next), Some(last)] = pair {
                    rows.extend([k, next, last]);
                }
            }
        }
        rows
    }

    fn params(&self, logarithms: &Array<f64>) -> Result<Params<f64>> {
        let (device, mass) = (&self.device, MASS / (self.n * self.n) as f64);
        let stiffness = device.uninit(logarithms.len())?;
        exponential(logarithms.len(), logarithms, &stiffness, STIFFNESS)?;
        let apart = |&[a, b]: &[u32; 2]| {
            let [p, q] = [a, b].map(|k| Vec3::from_array(self.positions[k as usize]));
            (p - q).norm()
        };
        let mut params = Params::uniform(device, STIFFNESS, 1.0, mass, [0.0, 0.0, GRAVITY])?;
        params.rest = device.array(&self.springs.iter().map(apart).collect::<Vec<_>>())?;
        params.spring_damping = device.array(&[0.1 * (STIFFNESS * mass).sqrt()])?;
        Ok(Params { stiffness, ..params })
    }

    /// The sheet with these stiffnesses and this velocity, in steps of `dt`; `see` gets the positions at the times of the frames.
    pub fn run(
        &self,
        logarithms: &Array<f64>,
        throw: &Array<Vec3<f64>>,
        (dt, frames): (f64, usize),
        mut see: impl FnMut(usize, &VertexState<f64>) -> Result<()>,
    ) -> Result<()> {
        let contact = Contact::HuntCrossley { stiffness: 100.0, damping: 0.3 };
        let ball = Collider::new(Solid::Sphere { radius: 0.25 }, contact).at([0.05, 0.02, -0.28]).with_friction(0.3);
        let model = Model::new(&self.device, self.positions.len(), &self.springs, dt, &[], &[ball])?;
        let start = VertexState::new(&self.device, &self.positions, &vec![[0.0; 3]; self.positions.len()])?;
        let v = self.device.uninit(start.len())?;
        release(v.len(), throw, &start.x, &v, SPIN, GRAVITY, 0.5 * dt)?;
        let start = VertexState { v, ..start };
        let solver = model.bind(&self.params(logarithms)?, &start)?;
        solver.frames(&start, &self.times(frames), Schedule::Auto, |frame, state| match frame {
            0 => Ok(()),
            _ => Ok(see(frame - 1, state)?),
        })?;
        Ok(())
    }
}
