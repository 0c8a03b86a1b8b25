//! Trains a small network of Burn that steers a chain of masses and springs, through the simulator.
//!
//! The network sees where the three masses of a chain are and how fast, and gives the pull on the last one for each of
//! eight parts of a second. The chain is simulated by diffkern, a batch of starts at once; the loss is how far it is from
//! rest at the end. Prints the loss, and fails if it does not fall to a tenth.
//!
//! `cd burn && cargo run --release --example controller`; with `--features wgpu` network, simulator and optimizer share the
//! memory of a GPU, and it fails if a byte of an array goes through the host in between.

use burn::backend::Autodiff;
use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::backend::Backend;
use burn::tensor::{ElementConversion, Tensor, TensorData};
use diffkern::prelude::*;
use diffkern::{Schedule, rollout};
use diffkern_burn::Share;

const BATCH: usize = 64;
/// Positions of three masses, then their velocities.
const STATE: usize = 6;
const PULLS: usize = 8;
const STEPS: usize = 160;
const DT: f32 = 1.0 / 160.0;
const TURNS: usize = 300;

/// Its force stiffens, so that no linear controller is perfect.
#[diff_fn]
fn spring<F: Float>(stretch: F) -> F {
    40.0 * stretch + 60.0 * stretch * stretch * stretch
}

/// A symplectic Euler step of each chain: three masses in a row, the first held by a wall, the last one pulled.
#[diff_kernel]
fn step<F: Float>(now: &Array<F>, pulls: &Array<F>, next: &mut Array<F>, part: usize, parts: usize, dt: F) {
    let b = ABSOLUTE_POS;
    let s = 6 * b;
    let x0 = now[s];
    let x1 = now[s + 1];
    let x2 = now[s + 2];
    let f0: F = spring(x0);
    let f1: F = spring(x1 - x0);
    let f2: F = spring(x2 - x1);
    let v0 = now[s + 3] + (f1 - f0) * dt;
    let v1 = now[s + 4] + (f2 - f1) * dt;
    let v2 = now[s + 5] + (20.0 * pulls[parts * b + part] - f2) * dt;
    next[s] = x0 + v0 * dt;
    next[s + 1] = x1 + v1 * dt;
    next[s + 2] = x2 + v2 * dt;
    next[s + 3] = v0;
    next[s + 4] = v1;
    next[s + 5] = v2;
}

fn simulate(start: &Array<f32>, pulls: &Array<f32>) -> Result<Array<f32>> {
    let pulls = pulls.clone();
    rollout(STEPS, Schedule::Auto, start.clone(), move |now, k| {
        let next = now.device().uninit(now.len())?;
        step(BATCH, now, &pulls, &next, k * PULLS / STEPS, PULLS, DT)?;
        Ok(next)
    })
}

#[derive(Module, Debug)]
struct Controller<B: Backend> {
    first: Linear<B>,
    last: Linear<B>,
}

impl<B: Backend> Controller<B> {
    fn new(place: &B::Device) -> Self {
        Self { first: LinearConfig::new(STATE, 32).init(place), last: LinearConfig::new(32, PULLS).init(place) }
    }

    fn pulls(&self, state: Tensor<B, 2>) -> Tensor<B, 2> {
        self.last.forward(self.first.forward(state).tanh())
    }
}

/// Network and simulator on the CPU; what Burn has reaches diffkern through the host.
#[cfg(not(feature = "wgpu"))]
fn main() -> Result<()> {
    train::<burn::backend::NdArray<f32>>(&Device::cpu(), &Default::default())
}

/// Both on one GPU.
#[cfg(feature = "wgpu")]
fn main() -> Result<()> {
    let device = Device::wgpu()?;
    train::<burn_wgpu::Wgpu<f32, i32>>(&device, &burn_wgpu::WgpuDevice::DefaultDevice)?;
    assert_eq!(device.transferred(), (0, 0), "arrays went through the host");
    Ok(())
}

fn train<B: Share<Real = f32>>(device: &Device, place: &B::Device) -> Result<()> {
    B::seed(place, 1);
    let mut controller = Controller::<Autodiff<B>>::new(place);
    let mut adam = AdamConfig::new().init();
    let wave = |k: usize| 0.5 * (1.7 * k as f32 + 0.3 * (k as f32).sin()).sin();
    let starts: Vec<f32> = (0..BATCH * STATE).map(wave).collect();
    let starts = Tensor::<Autodiff<B>, 2>::from_data(TensorData::new(starts, [BATCH, STATE]), place);
    let mut losses = Vec::<f32>::new();
    for turn in 0..TURNS {
        let pulls = controller.pulls(starts.clone());
        let flat = [starts.clone().reshape([BATCH * STATE]), pulls.reshape([BATCH * PULLS])];
        let last = diffkern_burn::apply(device, flat, |[start, pulls]| simulate(start, pulls))?;
        let loss = last.powi_scalar(2).mean();
        losses.push(loss.clone().into_scalar().elem());
        if turn % 50 == 0 || turn + 1 == TURNS {
            println!("turn {turn:>4}  loss {:.5}", losses[turn]);
        }
        let grads = GradientsParams::from_grads(loss.backward(), &controller);
        controller = adam.step(1e-2, controller, grads);
    }
    assert!(losses[TURNS - 1] < 0.1 * losses[0], "the loss fell from {} to {} only", losses[0], losses[TURNS - 1]);
    Ok(())
}
