//! Random programs of launches on parts of arrays, copies, fills, rollouts in rollouts by every schedule, and implicit
//! operations. Their gradients against forward mode, which knows no tape, and against finite differences; with every
//! schedule the same bits.

mod afterwards;
mod hand;
mod kernels;
mod ops;

use diffkern::prelude::*;
use diffkern::{AnyArray, jvp, reduce};

use kernels::{accumulate, mix};
use ops::{N, Op, Place, Random, SCHEDULES};

const PROGRAMS: u64 = 150;
const INPUTS: usize = 3;
/// Where derivatives of this size make differences say nothing.
const STEEP: f64 = 1e6;

/// `PROGRAMS` of them, or those of `DIFFKERN_PROGRAMS=from..to`, each so many, without those that grow out of bounds.
fn programs(each: usize) -> impl Iterator<Item = (u64, Program)> {
    let asked = std::env::var("DIFFKERN_PROGRAMS").ok();
    let ends = asked.as_ref().and_then(|asked| asked.split_once(".."));
    let seeds = ends.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?)).unwrap_or(0..PROGRAMS);
    let bounded = |program: &Program| match program.gradient(&program.at, None) {
        Err(Error::NotConverged { .. }) => false,
        gradient => gradient.map_or(true, |gradient| gradient.iter().all(|x| x.is_finite())),
    };
    seeds.step_by(each).map(|seed| (seed, Program::new(seed))).filter(move |(_, program)| bounded(program))
}

struct Program {
    ops: Vec<Op>,
    at: Vec<f64>,
    along: Vec<f64>,
    weights: Vec<f64>,
}

impl Program {
    fn new(seed: u64) -> Program {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (ops, pool) = random.ops(4 + seed as usize % 12, INPUTS, INPUTS, 2);
        let mut reals = |n: usize| (0..n * N).map(|_| random.real()).collect();
        Program { ops, at: reals(INPUTS), along: reals(INPUTS), weights: reals(pool) }
    }

    fn inputs(&self, numbers: &[f64]) -> Result<Vec<Array<f64>>> {
        numbers.chunks(N).map(|part| Device::cpu().array(part)).collect()
    }

    /// Where the program ends.
    fn end(&self, inputs: &[Array<f64>], schedule: Option<usize>) -> Result<Place> {
        let at = Device::cpu().array(&[3u32, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])?;
        let mut place = Place { pool: inputs.to_vec(), at, step: 0, schedule };
        place.run(&self.ops)?;
        Ok(place)
    }

    /// All arrays at the end, weighted.
    fn weighted(&self, place: &Place) -> Result<Vec<Array<f64>>> {
        let one = |(array, weights): (&Array<f64>, &[f64])| {
            let weighted = Device::cpu().uninit(N)?;
            mix(N, array, &Device::cpu().array(weights)?, &weighted)?;
            Ok(weighted)
        };
        place.pool.iter().zip(self.weights.chunks(N)).map(one).collect()
    }

    /// The same arrays, each with something of the first input.
    fn parts(&self, inputs: &[Array<f64>], schedule: Option<usize>) -> Result<Vec<Array<f64>>> {
        let parts = self.weighted(&self.end(inputs, schedule)?)?;
        parts.iter().try_for_each(|part| accumulate(N, &inputs[0], part))?;
        Ok(parts)
    }

    /// Where the program ends, and the sum of all arrays there, weighted.
    fn run(&self, inputs: &[Array<f64>], schedule: Option<usize>) -> Result<(Place, Array<f64>)> {
        let (place, loss) = (self.end(inputs, schedule)?, Device::cpu().zeros(1)?);
        self.weighted(&place)?.iter().try_for_each(|part| reduce::sum_into(part, 1.0, &loss))?;
        Ok((place, loss))
    }

    fn loss(&self, inputs: &[Array<f64>], schedule: Option<usize>) -> Result<Array<f64>> {
        Ok(self.run(inputs, schedule)?.1)
    }

    fn value(&self, numbers: &[f64]) -> Result<f64> {
        Ok(self.loss(&self.inputs(numbers)?, None)?.to_vec()?[0])
    }

    fn gradient(&self, numbers: &[f64], schedule: Option<usize>) -> Result<Vec<f64>> {
        let inputs: Vec<_> = self.inputs(numbers)?.into_iter().map(Array::requires_grad).collect();
        let (tape, loss) = Tape::record_value(|| self.loss(&inputs, schedule))?;
        tape.backward(&loss)?;
        let parts: Vec<Vec<f64>> = inputs.iter().map(|x| x.grad()?.to_vec()).collect::<Result<_>>()?;
        Ok(parts.concat())
    }

    fn tangent(&self) -> Result<f64> {
        let (inputs, along) = (self.inputs(&self.at)?, self.inputs(&self.along)?);
        let direction: Vec<(&AnyArray, &AnyArray)> =
            inputs.iter().zip(&along).map(|(x, v)| (x.as_any(), v.as_any())).collect();
        let (loss, tangents) = jvp(&[&direction], || self.loss(&inputs, None))?;
        Ok(tangents.get(0, &loss)?.to_vec()?[0])
    }

    fn moved(&self, by: f64) -> Vec<f64> {
        self.at.iter().zip(&self.along).map(|(x, v)| x + by * v).collect()
    }
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn gradients_are_those_of_forward_mode_and_of_every_schedule() -> Result<()> {
    for (seed, program) in programs(1) {
        let gradient = program.gradient(&program.at, None)?;
        let size = gradient.iter().map(|x| x.abs()).sum::<f64>().max(1.0);
        let slope: f64 = gradient.iter().zip(&program.along).map(|(g, v)| g * v).sum();
        let tangent = program.tangent()?;
        assert!((slope - tangent).abs() <= 1e-10 * size, "seed {seed}: {slope} {tangent} {:#?}", program.ops);
        for schedule in 0..SCHEDULES {
            let same = program.gradient(&program.at, Some(schedule))?;
            assert_eq!(bits(&same), bits(&gradient), "seed {seed}, schedule {schedule}: {:#?}", program.ops);
        }
        let difference = |h: f64| {
            Ok::<_, Error>((program.value(&program.moved(h))? - program.value(&program.moved(-h))?) / (2.0 * h))
        };
        let (coarse, fine) = (difference(2e-5)?, difference(1e-5)?);
        // A program whose differences do not agree with each other is at a kink, or too steep.
        if size < STEEP && (coarse - fine).abs() <= 1e-7 * size {
            assert!((fine - slope).abs() <= 1e-6 * size, "seed {seed}: {fine} {slope} {:#?}", program.ops);
        }
    }
    Ok(())
}

#[cfg(feature = "second-order")]
#[test]
fn second_derivatives_are_those_of_the_gradient() -> Result<()> {
    for (seed, program) in programs(1) {
        let inputs: Vec<_> = program.inputs(&program.at)?.into_iter().map(Array::requires_grad).collect();
        let along = program.inputs(&program.along)?;
        let direction: Vec<(&AnyArray, &AnyArray)> =
            inputs.iter().zip(&along).map(|(x, v)| (x.as_any(), v.as_any())).collect();
        let (tape, loss) = Tape::record_value(|| program.loss(&inputs, None))?;
        let products = tape.hvp(&loss, &[&direction])?;
        let parts: Vec<Vec<f64>> = inputs.iter().map(|x| products.get(0, x)?.to_vec()).collect::<Result<_>>()?;
        let product = parts.concat();
        let difference = |h: f64| -> Result<Vec<f64>> {
            let (a, b) = (program.gradient(&program.moved(h), None)?, program.gradient(&program.moved(-h), None)?);
            Ok(a.iter().zip(&b).map(|(a, b)| (a - b) / (2.0 * h)).collect())
        };
        let (coarse, fine) = (difference(2e-5)?, difference(1e-5)?);
        let size = product.iter().map(|x| x.abs()).sum::<f64>().max(1.0);
        let known = |&k: &usize| size < STEEP && (coarse[k] - fine[k]).abs() <= 1e-6 * size;
        for k in (0..product.len()).filter(known) {
            let found = product[k];
            assert!((found - fine[k]).abs() <= 1e-5 * size, "seed {seed}, {k}: {found} {} {:#?}", fine[k], program.ops);
        }
    }
    Ok(())
}
