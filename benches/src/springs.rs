//! W3: a sheet of springs, pinned at one side; two kernels a step, forces scattered to both ends of each spring.

use anyhow::Result;
use diffkern::prelude::*;
use diffkern::{Schedule, reduce};

use crate::harness::{Sizes, Workload};

#[diff_kernel]
fn spring_forces<F: Float>(
    x: &Array<Vec3<F>>,
    ends: &Array<u32>,
    rest: &Array<F>,
    stiffness: &Array<F>,
    force: &mut Array<Vec3<F>>,
) {
    let s = ABSOLUTE_POS;
    let a = ends[2 * s];
    let b = ends[2 * s + 1];
    let d = x[b] - x[a];
    let length = d.norm();
    let pull = d * (stiffness[s] * (length - rest[s]) / length);
    force[a] += pull;
    force[b] -= pull;
}

#[diff_kernel]
fn move_points<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    force: &Array<Vec3<F>>,
    free: &Array<F>,
    x_next: &mut Array<Vec3<F>>,
    v_next: &mut Array<Vec3<F>>,
    dt: F,
    decay: F,
    gravity: F,
) {
    let i = ABSOLUTE_POS;
    let v_new = (v[i] + (force[i] + Vec3::new(0.0, -gravity, 0.0)) * dt) * (decay * free[i]);
    v_next[i] = v_new;
    x_next[i] = x[i] + v_new * dt;
}

/// Of each point from its target, or from the one of all.
#[diff_kernel]
pub(crate) fn square_distance<F: Float>(x: &Array<Vec3<F>>, target: &Array<Vec3<F>>, out: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    out[i] = (x[i] - target[i.min(target.len() - 1)]).norm_squared();
}

pub struct Springs {
    device: Device,
    steps: usize,
    x: Array<Vec3<f32>>,
    v: Array<Vec3<f32>>,
    ends: Array<u32>,
    rest: Array<f32>,
    stiffness: Array<f32>,
    free: Array<f32>,
    target: Array<Vec3<f32>>,
}

impl Springs {
    pub fn new(device: &Device, sizes: Sizes) -> Result<Self> {
        let side = sizes.grid;
        let h = 1.0 / (side as f64 - 1.0);
        let at = |p: usize| [(p / side) as f64 * h, 0.5, (p % side) as f64 * h];
        let free = |p: usize| if p < side { 0.0 } else { 1.0 };
        let points = 0..side * side;
        let velocity = |p: usize| {
            let [x, _, z] = at(p);
            let wave = 0.5 * (std::f64::consts::TAU * x).sin() * (std::f64::consts::TAU * z).cos();
            [0.0, wave * free(p), 0.2 * z * free(p)]
        };
        let (mut ends, mut rest, mut stiffness) = (Vec::new(), Vec::new(), Vec::new());
        for (di, dj, k) in [(1, 0, 1.6e5), (0, 1, 1.6e5), (1, 1, 0.8e5), (1, -1, 0.8e5), (2, 0, 0.4e5), (0, 2, 0.4e5)] {
            for p in points.clone() {
                let (i, j) = (p / side + di, (p % side) as i64 + dj);
                let Some(j) = usize::try_from(j).ok().filter(|&j| i < side && j < side) else { continue };
                let (a, b) = (at(p), at(i * side + j));
                ends.extend([p as u32, (i * side + j) as u32]);
                rest.push(((a[0] - b[0]).powi(2) + (a[2] - b[2]).powi(2)).sqrt() as f32);
                let s = stiffness.len();
                stiffness.push((k * (1.0 + 0.05 * ((s % 5) as f64 - 2.0))) as f32);
            }
        }
        let vectors = |f: &dyn Fn(usize) -> [f64; 3]| {
            points.clone().map(|p| f(p).map(|v| v as f32)).map(|[x, y, z]| Vec3::new(x, y, z)).collect::<Vec<_>>()
        };
        Ok(Springs {
            device: device.clone(),
            steps: sizes.steps,
            x: device.array(&vectors(&at))?,
            v: device.array(&vectors(&velocity))?.requires_grad(),
            ends: device.array(&ends)?,
            rest: device.array(&rest)?,
            stiffness: device.array(&stiffness)?.requires_grad(),
            free: device.array(&points.clone().map(|p| free(p) as f32).collect::<Vec<_>>())?,
            target: device.array(&[Vec3::new(0.5, -0.3, 0.5)])?,
        })
    }

    fn run(&self) -> diffkern::Result<Array<f32>> {
        let (device, n) = (self.device.clone(), self.x.len());
        let (ends, rest, stiffness, free) =
            (self.ends.clone(), self.rest.clone(), self.stiffness.clone(), self.free.clone());
        let start = (self.x.clone(), self.v.clone());
        let (x, _) = diffkern::rollout(self.steps, Schedule::StoreAll, start, move |(x, v), _| {
            let force = device.zeros::<Vec3<f32>>(n)?;
            spring_forces(rest.len(), x, &ends, &rest, &stiffness, &force)?;
            let next = (device.uninit::<Vec3<f32>>(n)?, device.uninit::<Vec3<f32>>(n)?);
            move_points(n, x, v, &force, &free, &next.0, &next.1, 5e-4, 0.9995, 9.8)?;
            Ok(next)
        })?;
        let squares = self.device.uninit::<f32>(n)?;
        square_distance(n, &x, &self.target, &squares)?;
        reduce::mean(&squares)
    }
}

impl Workload for Springs {
    fn forward(&self) -> Result<f64> {
        Ok(f64::from(self.run()?.to_vec()?[0]))
    }

    fn forward_backward(&self) -> Result<f64> {
        self.v.zero_grad();
        self.stiffness.zero_grad();
        let (tape, loss) = Tape::record_value(|| self.run())?;
        tape.backward(&loss)?;
        Ok(f64::from(loss.to_vec()?[0]))
    }

    fn gradients(&self) -> Result<[Vec<f64>; 2]> {
        let v = self.v.grad()?.to_vec()?;
        Ok([
            v.iter().flat_map(|v| [v.x, v.y, v.z]).map(f64::from).collect(),
            self.stiffness.grad()?.to_vec()?.into_iter().map(f64::from).collect(),
        ])
    }
}
