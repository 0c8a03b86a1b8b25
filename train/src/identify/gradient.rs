//! The gradient of the whole program - simulator, renderer, loss - against finite differences.

use super::cost::{Cost, Task};
use super::device;
use super::observed::observed;
use crate::error::{Error, Result};
use crate::job::{DirectionCheck, Flow, Gradcheck, IdentifyOptions, Kink, Stop, Values};
use crate::program::{Failure, GridOptions, Inputs, Physics, Program, Resolution, Shot, shots, viscous_room};
use crate::scene::{Part, Scene, Target};
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
/// The viscosity beside the scene's, as a part of its room.
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

/// Compares the derivative of the loss by the unknowns - by their logarithms, where values differ by factors, else by shares of their
/// ranges -, by the adjoint and by forward mode, with finite differences, over all frames. The materials are those that `options` start from, and random where they say nothing. The
/// grid is the coarsest of the search's with at least 1,000 steps, or its finest.
///
/// # Errors
/// As [`super::identify`]; [`Error::Interrupted`] when `stop` asks for an end.
pub fn gradcheck(scene: &Scene, videos: &[Video], options: &IdentifyOptions, stop: &Stop) -> Result<Gradcheck> {
    let device = device(&options.device)?;
    stop.scope(|| match device.supports_f64() {
        true => check_as::<f64>(scene, videos, options, &device, 0),
        false => check_as::<f32>(scene, videos, options, &device, 1),
    })
}

struct Whole<F: Float> {
    program: Program<F>,
    frames: usize,
    /// What was observed, in the order in which the program draws them.
    targets: Vec<Array<F>>,
}

/// The numbers of a run, and a direction of the unknowns and of the viscosity beside the scene's.
struct Draw {
    named: Values,
    at: Physics,
    /// The derivative of the numbers along the direction.
    tangent: Physics,
}

impl<F: Float> Whole<F> {
    fn loss(&self, inputs: &[Inputs<F>]) -> Result<Array<F>> {
        let images = self.program.images(inputs, self.frames, &mut || Flow::Continue).map_err(error)?;
        let total = self.program.upload(&[0.0])?;
        for (image, target) in images.iter().zip(&self.targets) {
            loss::l2_into(image, target, 1.0 / self.targets.len() as f64, &total)?;
        }
        Ok(total)
    }

    /// The loss at a distance `t` from the draw.
    fn value(&self, draw: &Draw, t: f64) -> Result<f64> {
        let total = self.loss(&self.program.inputs(&draw.at.plus(t, &draw.tangent))?)?.to_vec()?;
        total.first().map(|v| v.to_f64()).ok_or_else(|| Error::Compute("the loss has no element".into()))
    }

    /// By the tape, with checkpoints; and the size of its parts, the root of the sum of their squares.
    fn by_adjoint(&self, draw: &Draw) -> Result<[f64; 2]> {
        let inputs: Vec<_> = self.program.inputs(&draw.at)?.into_iter().map(Inputs::requires_grad).collect();
        let (tape, total) = Tape::record_value(|| self.loss(&inputs))?;
        tape.backward(&total)?;
        let slope = |inputs: &Inputs<F>, take: usize, part: Part| -> Result<[f64; 2]> {
            let tangent = draw.tangent.part(part, take);
            if tangent.iter().all(|x| *x == 0.0) {
                return Ok([0.0; 2]);
            }
            let gradient = inputs[part].grad()?.to_vec()?;
            let each = gradient.iter().zip(&tangent).map(|(g, t)| g.to_f64() * t);
            Ok(each.fold([0.0; 2], |[sum, squares], x| [sum + x, squares + x * x]))
        };
        let takes = self.program.takes().zip(&inputs);
        let parts = takes.flat_map(|((take, _), inputs)| Part::ALL.map(|part| slope(inputs, take, part)));
        let parts = parts.collect::<Result<Vec<[f64; 2]>>>()?;
        Ok([parts.iter().map(|p| p[0]).sum(), parts.iter().map(|p| p[1]).sum::<f64>().sqrt()])
    }

    /// By tangents beside the launches, as the search does it.
    fn by_forward_mode(&self, draw: &Draw) -> Result<f64> {
        let directions = std::slice::from_ref(&draw.tangent);
        let linear =
            self.program.linearise(&draw.at, directions, self.frames, &mut || Flow::Continue).map_err(error)?;
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
    videos: &[Video],
    options: &IdentifyOptions,
    device: &Device,
    precision: usize,
) -> Result<Gradcheck> {
    let (program, room) = program::<F>(scene, options, device)?;
    let viscosity = VISCOUS * room;
    let target = |shot: Shot| {
        let values = observed(scene, videos, shot)?.values;
        device.array(&collect(values.into_iter().map(F::from_f64))?)
    };
    let targets = shots(scene, scene.num_frames).into_iter().map(target).collect::<diffkern::Result<_>>()?;
    let whole = Whole { program, frames: scene.num_frames, targets };
    let (mut directions, mut kinks) = (Vec::new(), Vec::new());
    // A seed that met a kink gives its place to the next that nobody has.
    for seed in 0.. {
        if directions.len() as u64 == SEEDS || kinks.len() > REDRAWN {
            break;
        }
        let seed = options.seed.wrapping_add(seed);
        match check_draw(&whole, draw(scene, options, viscosity, seed)?, seed, precision)? {
            Ok(direction) => directions.push(direction),
            Err(kink) => kinks.push(kink),
        }
    }
    let bound = BOUND[precision];
    let right = |d: &DirectionCheck| d.error <= bound && (precision > 0 || d.taylor_rate > LEAST_RATE);
    Ok(Gradcheck {
        steps: whole.program.steps(),
        frames: whole.frames,
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
    let simulator = options.simulator;
    let Resolution { coarse, fine, .. } = super::resolution(scene, options.cells, simulator, false);
    let mut cells = coarse;
    loop {
        let room = viscous_room(scene, &options.fixed, cells);
        let program = Program::<F>::new(
            scene,
            &options.fixed,
            GridOptions { simulator, cells, room, fixed_steps: true, nodes },
            device,
        )?;
        if program.steps() >= STEPS || cells >= fine {
            return Ok((program, room));
        }
        cells += 1;
    }
}

/// Both derivatives and the differences at the material and along the direction that `seed` gives.
fn check_draw<F: Float>(
    whole: &Whole<F>,
    draw: Draw,
    seed: u64,
    precision: usize,
) -> Result<std::result::Result<DirectionCheck, Kink>> {
    let ([analytic, size], forward) = (whole.by_adjoint(&draw)?, whole.by_forward_mode(&draw)?);
    let noise = [f64::EPSILON, f64::from(f32::EPSILON)][precision];
    let ladder = (FIRST_STEP[precision], LADDER);
    Ok(match along(|t| whole.value(&draw, t), analytic, ladder, noise, BOUND[precision])? {
        Along::Kink { left, right } => Err(Kink { seed, at: draw.named, left, right }),
        Along::Smooth { derivative: numeric, rate, rate_without } => Ok(DirectionCheck {
            seed,
            at: draw.named,
            analytic,
            forward,
            numeric,
            error: relative(analytic, numeric, size).max(relative(forward, numeric, size)),
            taylor_rate: rate,
            taylor_rate_without: rate_without,
        }),
    })
}

/// By the larger of the two, at least a hundredth of the `size` of the parts: where these cancel, differences have the
/// rounding errors of what they are differences of. 1 when one of them is no number.
fn relative(slope: f64, numeric: f64, size: f64) -> f64 {
    let error = (slope - numeric).abs() / slope.abs().max(numeric.abs()).max(1e-2 * size).max(f64::MIN_POSITIVE);
    if error.is_nan() { 1.0 } else { error }
}

/// Numbers, of known values as given, and a unit vector of the unknowns and of the viscosity beside the scene's, with no
/// component near zero, so that each takes part.
fn draw(scene: &Scene, options: &IdentifyOptions, viscosity: f64, seed: u64) -> Result<Draw> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let target = |name| scene.target(name).map_err(|problem| Error::argument("unknowns", problem));
    let unknowns = options.unknowns.iter().map(target).collect::<Result<Vec<Target>>>()?;
    let mut at = Physics::of(scene, &options.fixed).with_extra(viscosity);
    let mut named = Values::new();
    for target in scene.targets() {
        let searched = unknowns.contains(&target);
        if !searched && !target.quantity.is_elastic() {
            continue;
        }
        let name = scene.name_of(target);
        let share = DRAWN[0] + (DRAWN[1] - DRAWN[0]) * next();
        let given = options.start.get(&name).copied();
        if let Some(range) = scene.range(target).filter(|_| searched) {
            let (min, max) = (range.min, range.max);
            let random = match target.quantity.is_positive() {
                true => min * (max / min).powf(share),
                false => min + share * (max - min),
            };
            at[target] = given.unwrap_or(random);
        }
        named.insert(name, at[target]);
    }
    let component = |_| {
        let size = 0.3 + 0.7 * next();
        if next() < 0.5 { -size } else { size }
    };
    let raw: Vec<f64> = (0..=unknowns.len()).map(component).collect();
    let norm = raw.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut tangent = Physics::zero(scene).with_extra(viscosity * raw[unknowns.len()] / norm);
    for (target, component) in unknowns.iter().zip(&raw) {
        let width = scene.range(*target).map_or(1.0, |range| range.max - range.min);
        let size = if target.quantity.is_positive() { at[*target] } else { width };
        tangent[*target] = size * component / norm;
    }
    Ok(Draw { named, at, tangent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_to_what_is_summed() {
        // Away from cancellation, to the larger of the two.
        assert_eq!(relative(2.0, 1.0, 3.0), 0.5);
        assert_eq!(relative(1.0, -2.0, 3.0), 1.5);
        // Parts of 10 that cancel to 0.01: a hundredth of them counts.
        assert!((relative(0.01, 0.011, 10.0) - 0.01).abs() < 1e-12);
        assert_eq!(relative(0.0, 0.0, 0.0), 0.0);
        assert_eq!(relative(f64::NAN, 1.0, 1.0), 1.0);
    }
}
