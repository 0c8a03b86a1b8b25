//! Random programs of launches on parts of arrays, copies, fills, rollouts in rollouts by every schedule, and implicit
//! operations. Their gradients against forward mode, which knows no tape, and against finite differences; with every
//! schedule the same bits.

mod hand;
mod kernels;
mod ops;

use diffkern::prelude::*;
use diffkern::{AnyArray, jvp, reduce};

use kernels::mix;
use ops::{N, Op, Place, Random, SCHEDULES};

const PROGRAMS: u64 = 150;
const INPUTS: usize = 3;

/// `PROGRAMS` of them, or those of `DIFFKERN_PROGRAMS=from..to`.
fn seeds() -> std::ops::Range<u64> {
    let asked = std::env::var("DIFFKERN_PROGRAMS").ok();
    let ends = asked.as_ref().and_then(|asked| asked.split_once(".."));
    ends.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?)).unwrap_or(0..PROGRAMS)
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

    /// A weighted sum of all arrays at the end.
    fn loss(&self, inputs: &[Array<f64>], schedule: Option<usize>) -> Result<Array<f64>> {
        let dev = Device::cpu();
        let at = dev.array(&[3u32, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])?;
        let mut place = Place { pool: inputs.to_vec(), at, step: 0, schedule };
        place.run(&self.ops)?;
        let loss = dev.zeros(1)?;
        for (array, weights) in place.pool.iter().zip(self.weights.chunks(N)) {
            let weighted = dev.uninit(N)?;
            mix(N, array, &dev.array(weights)?, &weighted)?;
            reduce::sum_into(&weighted, 1.0, &loss)?;
        }
        Ok(loss)
    }

    fn value(&self, numbers: &[f64]) -> Result<f64> {
        Ok(self.loss(&self.inputs(numbers)?, None)?.to_vec()?[0])
    }

    fn gradient(&self, numbers: &[f64], schedule: Option<usize>) -> Result<Vec<f64>> {
        let inputs: Vec<_> = self.inputs(numbers)?.into_iter().map(Array::requires_grad).collect();
        let (tape, loss) = Tape::record_with(|| self.loss(&inputs, schedule))?;
        tape.backward(&loss)?;
        let parts: Vec<Vec<f64>> = inputs.iter().map(|x| x.grad()?.to_vec()).collect::<Result<_>>()?;
        Ok(parts.concat())
    }

    fn tangent(&self) -> Result<f64> {
        let (inputs, along) = (self.inputs(&self.at)?, self.inputs(&self.along)?);
        let direction: Vec<(&AnyArray, &AnyArray)> =
            inputs.iter().zip(&along).map(|(x, v)| (x.any(), v.any())).collect();
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
    for seed in seeds() {
        let program = Program::new(seed);
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
        if (coarse - fine).abs() <= 1e-7 * size {
            assert!((fine - slope).abs() <= 1e-6 * size, "seed {seed}: {fine} {slope} {:#?}", program.ops);
        }
    }
    Ok(())
}

#[cfg(feature = "second-order")]
#[test]
fn second_derivatives_are_those_of_the_gradient() -> Result<()> {
    for seed in seeds() {
        let program = Program::new(seed);
        let inputs: Vec<_> = program.inputs(&program.at)?.into_iter().map(Array::requires_grad).collect();
        let along = program.inputs(&program.along)?;
        let direction: Vec<(&AnyArray, &AnyArray)> =
            inputs.iter().zip(&along).map(|(x, v)| (x.any(), v.any())).collect();
        let (tape, loss) = Tape::record_with(|| program.loss(&inputs, None))?;
        let products = tape.hvp(&loss, &[&direction])?;
        let parts: Vec<Vec<f64>> = inputs.iter().map(|x| products.get(0, x)?.to_vec()).collect::<Result<_>>()?;
        let product = parts.concat();
        let difference = |h: f64| -> Result<Vec<f64>> {
            let (a, b) = (program.gradient(&program.moved(h), None)?, program.gradient(&program.moved(-h), None)?);
            Ok(a.iter().zip(&b).map(|(a, b)| (a - b) / (2.0 * h)).collect())
        };
        let (coarse, fine) = (difference(2e-5)?, difference(1e-5)?);
        let size = product.iter().map(|x| x.abs()).sum::<f64>().max(1.0);
        for k in (0..product.len()).filter(|&k| (coarse[k] - fine[k]).abs() <= 1e-6 * size) {
            let found = product[k];
            assert!((found - fine[k]).abs() <= 1e-5 * size, "seed {seed}, {k}: {found} {} {:#?}", fine[k], program.ops);
        }
    }
    Ok(())
}
