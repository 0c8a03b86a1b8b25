//! The gradient of the whole program - simulator, renderer, loss - against finite differences.

use super::coordinates::Material;
use super::cost::{Cost, Task};
use super::failure::Failure;
use super::forward::{Program, viscous_room};
use super::resolution::Resolution;
use super::{device, material};
use crate::error::{Error, Result};
use crate::job::{DirectionCheck, Flow, Gradcheck, IdentifyOptions, Kink, Stop, Values};
use crate::scene::{Name, Scene};
use crate::video::Video;
use diffkern::gradcheck::{Along, along};
use diffkern::memory::collect;
use diffkern::prelude::*;
use diffkern_render::loss;

/// Materials and directions, each with its own seed.
const SEEDS: u64 = 3;
/// Draws that may meet a kink, and are drawn again: at most half of the seeds.
const REDRAWN: usize = SEEDS as usize / 2;
/// Steps of the simulator that the check should not stay below.
pub(super) const STEPS: usize = 1_000;
/// Place of the viscosity in a material, and its value as a part of its room.
const VISCOSITY: usize = 2;
const VISCOUS: f64 = 0.05;
/// Relative error allowed of a directional derivative, in 64 bits and in 32.
const BOUND: [f64; 2] = [1e-6, 3e-2];
/// Least rate at which the Taylor remainder shrinks, in 64 bits; in 32, rounding hides it.
const LEAST_RATE: f64 = 1.9;
/// Relative changes of the parameters that the ladder of differences begins with; in 64 bits so small that few of the
/// thousands of contacts that come or go with the parameters do so within it.
const FIRST_STEP: [f64; 2] = [1e-4, 3e-2];
/// Steps of the ladder.
const LADDER: usize = 7;
/// Part of a range (of its logarithm) that materials are drawn from: near the ends a coarse block may turn inside out.
const DRAWN: [f64; 2] = [0.2, 0.8];

/// Compares the derivative of the loss by the logarithms of the unknowns, by the adjoint and by forward mode, with finite
/// differences, over all frames. The materials are those that `options` start from, and random where they say nothing. The
/// grid is the coarsest of the search's with at least 1,000 steps, or its finest.
///
/// # Errors
/// As [`super::identify`]; [`Error::Interrupted`] when `stop` asks for an end.
pub fn gradcheck(scene: &Scene, video: &Video, options: &IdentifyOptions, stop: &Stop) -> Result<Gradcheck> {
    let device = device(&options.device)?;
    stop.scope(|| match device.supports_f64() {
        true => check_as::<f64>(scene, video, options, &device, 0),
        false => check_as::<f32>(scene, video, options, &device, 1),
    })
}

struct Whole<'a, F: Float> {
    program: Program<F>,
    targets: Vec<Array<F>>,
    unknowns: &'a [Name],
    /// Beside the scene's \[Pa s\].
    viscosity: f64,
}

/// A material, and a direction of the logarithms of the unknowns and of the viscosity.
struct Draw {
    at: Values,
    towards: Vec<f64>,
}

impl<F: Float> Whole<'_, F> {
    fn loss(&self, material: &[Array<F>; 3]) -> Result<Array<F>> {
        let images = self.program.silhouettes(material, self.targets.len(), &mut || Flow::Continue).map_err(error)?;
        let total = material[0].device().zeros::<F>(1)?;
        for (image, target) in images.iter().zip(&self.targets) {
            loss::l2_into(image, target, 1.0 / self.targets.len() as f64, &total)?;
        }
        Ok(total)
    }

    /// The loss at a distance `t` from the draw.
    fn value(&self, draw: &Draw, t: f64) -> Result<f64> {
        let mut values = self.material(draw)?;
        self.moving().zip(&draw.towards).for_each(|(k, d)| values[k] *= (t * d).exp());
        let total = self.loss(&self.program.inputs(values)?)?.to_vec()?;
        total.first().map(|v| v.to_f64()).ok_or_else(|| Error::Compute("the loss has no element".into()))
    }

    fn material(&self, draw: &Draw) -> Result<Material> {
        let [mu, lambda, _] = material(&draw.at)?;
        Ok([mu, lambda, self.viscosity])
    }

    /// What a direction moves: the unknowns and the viscosity that is fitted along.
    fn moving(&self) -> impl Iterator<Item = usize> {
        self.unknowns.iter().map(|name| index(*name)).chain([VISCOSITY])
    }

    /// The derivative of the material along the direction.
    fn tangent(&self, draw: &Draw) -> Result<Material> {
        let (at, mut tangent) = (self.material(draw)?, [0.0; 3]);
        self.moving().zip(&draw.towards).for_each(|(k, d)| tangent[k] = at[k] * d);
        Ok(tangent)
    }

    /// By the tape, with checkpoints.
    fn by_adjoint(&self, draw: &Draw) -> Result<f64> {
        let material = self.program.inputs(self.material(draw)?)?.map(|array| array.requires_grad());
        let (tape, total) = Tape::record_value(|| self.loss(&material))?;
        tape.backward(&total)?;
        // The same for the scene's viscosity, which the last input includes.
        let tangent = self.tangent(draw)?;
        let slope = |k: usize| -> Result<f64> {
            let grad = material[k].grad()?.to_vec()?;
            Ok(grad.first().map_or(0.0, |g| g.to_f64()) * tangent[k])
        };
        self.moving().map(slope).sum()
    }

    /// By tangents beside the launches, as the search does it.
    fn by_forward_mode(&self, draw: &Draw) -> Result<f64> {
        let (at, tangent) = (self.material(draw)?, self.tangent(draw)?);
        let linear =
            self.program.linearise(at, &[tangent], self.targets.len(), &mut || Flow::Continue).map_err(error)?;
        let mut slope = 0.0;
        for ((image, moved), target) in linear.coverage.iter().zip(&linear.derivatives[0]).zip(&self.targets) {
            let pixels = image.iter().zip(moved).zip(target.to_vec()?);
            let frame: f64 = pixels.map(|((c, d), target)| 2.0 * (c - target.to_f64()) * d).sum();
            slope += frame / (image.len() * self.targets.len()) as f64;
        }
        Ok(slope)
    }
}

fn error(failure: Failure) -> Error {
    super::answer::error(failure).unwrap_or(Error::Interrupted)
}

fn check_as<F: Float>(
    scene: &Scene,
    video: &Video,
    options: &IdentifyOptions,
    device: &Device,
    precision: usize,
) -> Result<Gradcheck> {
    let (program, room) = program::<F>(scene, options, device)?;
    let viscosity = VISCOUS * room;
    let target =
        |frame: &crate::video::Frame| device.array(&collect(frame.silhouette.iter().map(|&v| F::from_f64(v.into())))?);
    let targets = video.frames.iter().map(target).collect::<diffkern::Result<_>>()?;
    let whole = Whole { program, targets, unknowns: &options.unknowns, viscosity };
    let (mut directions, mut kinks) = (Vec::new(), Vec::new());
    // A seed that met a kink gives its place to the next that nobody has.
    for seed in 0.. {
        if directions.len() as u64 == SEEDS || kinks.len() > REDRAWN {
            break;
        }
        let seed = options.seed.wrapping_add(seed);
        match check_draw(&whole, scene, options, seed, precision)? {
            Ok(direction) => directions.push(direction),
            Err(kink) => kinks.push(kink),
        }
    }
    let bound = BOUND[precision];
    let right = |d: &DirectionCheck| d.error <= bound && (precision > 0 || d.taylor_rate > LEAST_RATE);
    Ok(Gradcheck {
        steps: whole.program.steps(),
        frames: whole.targets.len(),
        discretisation: whole.program.discretisation(),
        passed: directions.len() as u64 == SEEDS && directions.iter().all(right),
        directions,
        kinks,
        bound,
    })
}

/// On the coarsest grid with enough steps, and the viscosity that there is room for \[Pa s\].
fn program<F: Float>(scene: &Scene, options: &IdentifyOptions, device: &Device) -> Result<(Program<F>, f64)> {
    let cost = Cost::of(scene, Task::Identify(options), true, device)?;
    let nodes = cost.node_limit(&options.limits);
    let Resolution { coarse, fine } = super::resolution(scene);
    let mut cells = coarse;
    loop {
        let room = viscous_room(scene, &options.fixed, cells);
        let program = Program::<F>::new(scene, &options.fixed, cells, room, device, nodes)?;
        if program.steps() >= STEPS || cells >= fine {
            return Ok((program, room));
        }
        cells += 1;
    }
}

/// Both derivatives and the differences at the material and along the direction that `seed` gives.
fn check_draw<F: Float>(
    whole: &Whole<'_, F>,
    scene: &Scene,
    options: &IdentifyOptions,
    seed: u64,
    precision: usize,
) -> Result<std::result::Result<DirectionCheck, Kink>> {
    let draw = draw(scene, options, seed)?;
    let (analytic, forward) = (whole.by_adjoint(&draw)?, whole.by_forward_mode(&draw)?);
    let noise = [f64::EPSILON, f64::from(f32::EPSILON)][precision];
    let ladder = (FIRST_STEP[precision], LADDER);
    Ok(match along(|t| whole.value(&draw, t), analytic, ladder, noise, BOUND[precision])? {
        Along::Kink { left, right } => Err(Kink { seed, at: draw.at, left, right }),
        Along::Smooth { derivative: numeric, rate, rate_without } => Ok(DirectionCheck {
            seed,
            at: draw.at,
            analytic,
            forward,
            numeric,
            error: relative(analytic, numeric).max(relative(forward, numeric)),
            taylor_rate: rate,
            taylor_rate_without: rate_without,
        }),
    })
}

/// By the larger of the two; 1 when one of them is no number.
fn relative(slope: f64, numeric: f64) -> f64 {
    let error = (slope - numeric).abs() / slope.abs().max(numeric.abs()).max(f64::MIN_POSITIVE);
    if error.is_nan() { 1.0 } else { error }
}

/// A material, of known values as given, and a unit vector with no component near zero, so that each parameter takes part.
fn draw(scene: &Scene, options: &IdentifyOptions, seed: u64) -> Result<Draw> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut at = Values::new();
    for name in Name::ALL {
        let share = DRAWN[0] + (DRAWN[1] - DRAWN[0]) * next();
        let random = || scene.unknowns.iter().find(|r| r.name == name).map(|r| r.min * (r.max / r.min).powf(share));
        let given = if options.unknowns.contains(&name) { &options.start } else { &options.fixed };
        let value = given.get(&name).copied().or_else(random);
        at.insert(name, value.ok_or_else(|| Error::argument("start", format!("no value for {name}")))?);
    }
    let component = |_| {
        let size = 0.3 + 0.7 * next();
        if next() < 0.5 { -size } else { size }
    };
    let raw: Vec<f64> = (0..=options.unknowns.len()).map(component).collect();
    let norm = raw.iter().map(|x| x * x).sum::<f64>().sqrt();
    Ok(Draw { at, towards: raw.iter().map(|x| x / norm).collect() })
}

/// Place of a parameter in a material.
fn index(name: Name) -> usize {
    match name {
        Name::Mu => 0,
        Name::Lambda => 1,
    }
}
