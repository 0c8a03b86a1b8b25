//! The gradient of the whole program - simulator, renderer, loss - against finite differences.

use super::coordinates::Material;
use super::differences::compare;
use super::forward::{Program, viscous_room};
use super::resolution::Resolution;
use super::{device, material};
use crate::error::{Error, Result};
use crate::job::{DirectionCheck, Flow, GradientCheck, IdentifyOptions, Values};
use crate::scene::{Name, Scene};
use crate::video::Video;
use diffkern::prelude::*;
use diffkern_render::loss;

/// Directions, each with its own seed.
const DIRECTIONS: u64 = 3;
/// Steps of the simulator that the check should not stay below.
const STEPS: usize = 1_000;
/// Relative error allowed of a directional derivative, in 64 bits and in 32.
const BOUND: [f64; 2] = [1e-6, 3e-2];
/// Relative changes of the parameters that the ladder of differences begins with.
const FIRST_STEP: [f64; 2] = [1e-3, 3e-2];

/// Compares the adjoint gradient of the loss by the logarithms of the unknowns with finite differences,
/// at the start and on the coarse grid.
///
/// # Errors
/// As [`super::identify`].
pub fn check_gradient(scene: &Scene, video: &Video, options: &IdentifyOptions) -> Result<GradientCheck> {
    let device = device(&options.device)?;
    match device.supports_f64() {
        true => check_as::<f64>(scene, video, options, &device, 0),
        false => check_as::<f32>(scene, video, options, &device, 1),
    }
}

struct Whole<'a, F: Float> {
    program: Program<F>,
    targets: Vec<Array<F>>,
    unknowns: &'a [Name],
    at: Material,
}

impl<F: Float> Whole<'_, F> {
    /// The material with the unknowns scaled by `exp(x)`.
    fn values(&self, x: &[f64]) -> Material {
        let mut values = self.at;
        self.unknowns.iter().zip(x).for_each(|(name, x)| values[index(*name)] *= x.exp());
        values
    }

    fn loss(&self, material: &[Array<F>; 3]) -> Result<Array<F>> {
        let mut tick = || Flow::Continue;
        let images = self
            .program
            .silhouettes(material, self.targets.len(), &mut tick)
            .map_err(|failure| super::answer::error(failure).unwrap_or_else(|| Error::Compute("stopped".into())))?;
        let total = material[0].device().zeros::<F>(1)?;
        for (image, target) in images.iter().zip(&self.targets) {
            loss::l2_into(image, target, 1.0 / self.targets.len() as f64, &total)?;
        }
        Ok(total)
    }

    fn value(&self, x: &[f64]) -> Result<f64> {
        let total = self.loss(&self.program.inputs(self.values(x))?)?.to_vec()?;
        total.first().map(|v| v.to_f64()).ok_or_else(|| Error::Compute("the loss has no element".into()))
    }

    /// By the tape, with checkpoints.
    fn gradient(&self) -> Result<Vec<f64>> {
        let material = self.program.inputs(self.at)?.map(|array| array.requires_grad());
        let (tape, total) = Tape::record_with(|| self.loss(&material))?;
        tape.backward(&total)?;
        let slope = |name: &Name| -> Result<f64> {
            let grad = material[index(*name)].grad()?.to_vec()?;
            Ok(grad.first().map_or(0.0, |g| g.to_f64()) * self.at[index(*name)])
        };
        self.unknowns.iter().map(slope).collect()
    }
}

fn check_as<F: Float>(
    scene: &Scene,
    video: &Video,
    options: &IdentifyOptions,
    device: &Device,
    precision: usize,
) -> Result<GradientCheck> {
    let start = start(scene, options)?;
    let sides = [0, 1, 2].map(|a| scene.block.max[a] - scene.block.min[a]);
    let cells = Resolution::of(sides).coarse;
    let room = viscous_room(scene, &options.fixed, cells);
    let program = Program::<F>::new(scene, &options.fixed, cells, room, device)?;
    let frames = (STEPS.div_ceil(program.steps_per_frame()) + 1).min(scene.num_frames);
    let target = |k: usize| {
        let pixels: Vec<F> = video.frames[k].silhouette.iter().map(|&v| F::from_f64(v.into())).collect();
        device.array(&pixels)
    };
    let targets = (0..frames).map(target).collect::<diffkern::Result<_>>()?;
    let whole = Whole { program, targets, unknowns: &options.unknowns, at: material(&start)? };
    let gradient = whole.gradient()?;
    let bound = BOUND[precision];
    let directions: Vec<DirectionCheck> = (0..DIRECTIONS)
        .map(|seed| direction(&whole, &gradient, options.seed.wrapping_add(seed), precision))
        .collect::<Result<_>>()?;
    let right = |d: &DirectionCheck| d.error <= bound && (precision > 0 || d.taylor_rate > 1.9);
    Ok(GradientCheck { at: start, passed: directions.iter().all(right), directions, bound })
}

/// Along a random direction of the logarithms of the unknowns.
fn direction<F: Float>(whole: &Whole<'_, F>, gradient: &[f64], seed: u64, precision: usize) -> Result<DirectionCheck> {
    let towards = random_direction(gradient.len(), seed);
    let slope: f64 = gradient.iter().zip(&towards).map(|(g, d)| g * d).sum();
    let along = |t: f64| whole.value(&towards.iter().map(|d| t * d).collect::<Vec<_>>());
    let noise = [f64::EPSILON, f64::from(f32::EPSILON)][precision];
    compare(along, slope, FIRST_STEP[precision], noise)
}

/// A unit vector with no component near zero, so that each parameter takes part.
fn random_direction(parameters: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let size = 0.3 + 0.7 * (state >> 40) as f64 / (1u64 << 24) as f64;
        if state >> 33 & 1 == 0 { size } else { -size }
    };
    let raw: Vec<f64> = (0..parameters).map(|_| next()).collect();
    let norm = raw.iter().map(|x| x * x).sum::<f64>().sqrt();
    raw.iter().map(|x| x / norm).collect()
}

/// As given, else the middle of the ranges.
fn start(scene: &Scene, options: &IdentifyOptions) -> Result<Values> {
    Name::ALL
        .into_iter()
        .map(|name| {
            let middle = || scene.unknowns.iter().find(|r| r.name == name).map(|r| (r.min * r.max).sqrt());
            let given = if options.unknowns.contains(&name) { &options.start } else { &options.fixed };
            let value = given.get(&name).copied().or_else(middle);
            value.map(|value| (name, value)).ok_or_else(|| Error::argument("start", format!("no value for {name}")))
        })
        .collect()
}

fn index(name: Name) -> usize {
    match name {
        Name::Mu => 0,
        Name::Lambda => 1,
    }
}
