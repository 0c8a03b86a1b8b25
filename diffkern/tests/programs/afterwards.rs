//! Random programs whose tapes are walked in other ways, several times, by options that change nothing, beside others, and
//! after their arrays have got other contents.

use diffkern::prelude::*;
use diffkern::{AnyArray, Metric, Overwrite, Recording, jvp};

use crate::{Program, bits, programs};

/// Part of the programs of the other tests.
const EVERY: usize = 3;

fn gradient(inputs: &[Array<f64>]) -> Result<Vec<u64>> {
    let parts: Vec<Vec<f64>> = inputs.iter().map(|x| x.grad()?.to_vec()).collect::<Result<_>>()?;
    inputs.iter().for_each(Array::zero_grad);
    Ok(bits(&parts.concat()))
}

fn leaves(program: &Program) -> Result<Vec<Array<f64>>> {
    Ok(program.inputs(&program.at)?.into_iter().map(Array::requires_grad).collect())
}

#[test]
fn a_tape_is_walked_again_whatever_its_arrays_have_now() -> Result<()> {
    for (seed, program) in programs(EVERY) {
        let other = Program::new(seed + 1);
        let inputs = leaves(&program)?;
        let (tape, (place, loss)) = Tape::record_value(|| program.run(&inputs, None))?;
        tape.backward(&loss)?;
        let first = gradient(&inputs)?;
        tape.backward(&loss)?;
        assert_eq!(gradient(&inputs)?, first, "seed {seed}, again");
        let later = Tape::record_value(|| other.loss(&inputs, None)).ok();
        for array in inputs.iter().chain(&place.pool) {
            array.fill(f64::from(seed as u32 % 7) - 3.5)?;
        }
        place.at.fill(1)?;
        if let Some((later, its_loss)) = &later {
            later.backward(its_loss)?;
        }
        inputs.iter().for_each(Array::zero_grad);
        tape.backward(&loss)?;
        assert_eq!(gradient(&inputs)?, first, "seed {seed}, after writes: {:#?}", program.ops);
    }
    Ok(())
}

#[test]
fn a_recording_that_looks_closer_has_the_same_gradient() -> Result<()> {
    let mut refused = 0;
    for (seed, program) in programs(EVERY) {
        let expected = bits(&program.gradient(&program.at, None)?);
        let options =
            [Recording::new().check_finite(), Recording::new().timed(), Recording::new().overwrite(Overwrite::Error)];
        for (k, recording) in options.into_iter().enumerate() {
            let inputs = leaves(&program)?;
            let (tape, loss) = match recording.record_value(|| program.loss(&inputs, None)) {
                Err(Error::Overwrite { .. }) if k == 2 => {
                    refused += 1;
                    continue;
                }
                recorded => recorded?,
            };
            match tape.backward(&loss) {
                // Of a step that only now is recorded.
                Err(Error::Overwrite { .. }) if k == 2 => continue,
                walked => walked?,
            }
            assert_eq!(gradient(&inputs)?, expected, "seed {seed}, {k}: {:#?}", program.ops);
        }
    }
    assert!(refused > 0);
    Ok(())
}

/// `J^T J v` by forward mode and a walk back.
#[test]
fn gauss_newton_products_are_those_of_both_modes() -> Result<()> {
    for (seed, program) in programs(EVERY) {
        let (inputs, along) = (leaves(&program)?, program.inputs(&program.along)?);
        let direction: Vec<(&AnyArray, &AnyArray)> =
            inputs.iter().zip(&along).map(|(x, v)| (x.as_any(), v.as_any())).collect();
        let (tape, parts) = Tape::record_value(|| program.parts(&inputs, None))?;
        let outputs: Vec<&AnyArray> = parts.iter().map(|part| part.as_any()).collect();
        let products = tape.gauss_newton(&outputs, Metric::Identity, &[&direction])?;
        let (moved, tangents) = jvp(&[&direction], || program.parts(&inputs, None))?;
        let moved: Vec<Array<f64>> = moved.iter().map(|part| tangents.get(0, part)).collect::<Result<_>>()?;
        let seeds: Vec<(&AnyArray, &AnyArray)> = outputs.iter().zip(&moved).map(|(y, v)| (*y, v.as_any())).collect();
        tape.backward_from(&seeds)?;
        for x in &inputs {
            let (found, expected) = (products.get(0, x)?.to_vec()?, x.grad()?.to_vec()?);
            let size = expected.iter().map(|x| x.abs()).sum::<f64>().max(1.0);
            let close = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-10 * size);
            assert!(close, "seed {seed}: {found:?} {expected:?} {:#?}", program.ops);
        }
    }
    Ok(())
}

/// Several threads, each with tapes of its own over arrays of all.
#[test]
fn tapes_of_several_threads_share_arrays() -> Result<()> {
    const THREADS: u64 = 4;
    let chosen: Vec<(u64, Program)> = programs(EVERY).take(40).collect();
    for own in [true, false] {
        let at = Program::new(1).at;
        let shared: Vec<Array<f64>> = Program::new(1).inputs(&at)?;
        let shared: Vec<Array<f64>> = if own { shared } else { shared.into_iter().map(Array::requires_grad).collect() };
        let inputs = |k: u64| -> Result<Vec<Array<f64>>> {
            let mut inputs = shared.clone();
            if own {
                let leaf = Device::cpu().array(&[0.25 + k as f64 * 0.1; crate::ops::N])?;
                inputs[k as usize % 3] = leaf.requires_grad();
            }
            Ok(inputs)
        };
        // With arrays of its own the gradient by that one; else nothing, but what is added to the gradients of all.
        let run = |k: u64| -> Result<Vec<Vec<u64>>> {
            let one = |(seed, program): &(u64, Program)| {
                let (inputs, schedule) = (inputs(k)?, Some((seed + k) as usize % crate::ops::SCHEDULES));
                let (tape, loss) = Tape::record_value(|| program.loss(&inputs, schedule))?;
                tape.backward(&loss)?;
                if own { gradient(&inputs[k as usize % 3..][..1]) } else { Ok(Vec::new()) }
            };
            chosen.iter().map(one).collect()
        };
        let total = || -> Result<Vec<f64>> {
            let parts: Vec<Vec<f64>> = shared.iter().map(|x| x.grad()?.to_vec()).collect::<Result<_>>()?;
            shared.iter().for_each(Array::zero_grad);
            Ok(parts.concat())
        };
        let alone: Vec<Vec<Vec<u64>>> = (0..THREADS).map(run).collect::<Result<_>>()?;
        let sum = if own { Vec::new() } else { total()? };
        let run = &run;
        let together: Vec<Result<Vec<Vec<u64>>>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|k| scope.spawn(move || run(k))).collect();
            threads.into_iter().map(|t| t.join().unwrap_or_else(|_| Err(Error::Invalid("panic".to_owned())))).collect()
        });
        assert_eq!(together.into_iter().collect::<Result<Vec<_>>>()?, alone);
        if !own {
            let size = sum.iter().map(|x| x.abs()).sum::<f64>();
            assert!(total()?.iter().zip(&sum).all(|(a, b)| (a - b).abs() <= 1e-12 * size));
        }
    }
    Ok(())
}

/// Products with several directions at once are those with each alone, to the bit.
#[test]
fn directions_do_not_disturb_each_other() -> Result<()> {
    for (seed, program) in programs(EVERY) {
        let inputs = leaves(&program)?;
        let along: Vec<Vec<Array<f64>>> = [program.along.clone(), program.at.clone(), vec![0.0; program.at.len()]]
            .iter()
            .map(|numbers| program.inputs(numbers))
            .collect::<Result<_>>()?;
        let directions: Vec<Vec<(&AnyArray, &AnyArray)>> = along
            .iter()
            .map(|along| inputs.iter().zip(along).map(|(x, v)| (x.as_any(), v.as_any())).collect())
            .collect();
        let (tape, parts) = Tape::record_value(|| program.parts(&inputs, None))?;
        let outputs: Vec<&AnyArray> = parts.iter().map(|part| part.as_any()).collect();
        let seeds: Vec<(&AnyArray, &AnyArray)> = outputs.iter().map(|&y| (y, along[0][0].as_any())).collect();
        let product = |directions: &[&[(&AnyArray, &AnyArray)]], k: usize, second: bool| -> Result<Vec<u64>> {
            let products = match second {
                false => tape.gauss_newton(&outputs, Metric::Identity, directions)?,
                true => tape.hvp_from(&seeds, directions)?,
            };
            let parts = inputs.iter().map(|x| products.get(k, x)?.to_vec()).collect::<Result<Vec<_>>>()?;
            Ok(bits(&parts.concat()))
        };
        for second in [false, true].into_iter().filter(|second| !second || cfg!(feature = "second-order")) {
            let all: Vec<_> = directions.iter().map(Vec::as_slice).collect();
            for k in 0..all.len() {
                let (together, alone) = (product(&all, k, second)?, product(&all[k..=k], 0, second)?);
                assert_eq!(together, alone, "seed {seed}, direction {k}, second {second}: {:#?}", program.ops);
            }
        }
    }
    Ok(())
}
