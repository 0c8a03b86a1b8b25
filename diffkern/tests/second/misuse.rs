//! What second derivatives refuse, and where they are one-sided.

use diffkern::prelude::*;
use diffkern::{Metric, jvp, reduce, rollout};

#[diff_kernel]
fn kinked<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = (v * v).max(v) + (v * v * v).abs();
}

fn recorded(x: &Array<f64>) -> Result<(Tape, Array<f64>)> {
    Tape::record_value(|| {
        let y = x.device().zeros(x.len())?;
        kinked(x.len(), x, &y)?;
        reduce::sum(&y)
    })
}

#[test]
fn at_a_kink_it_is_that_of_the_side_taken() -> Result<()> {
    // `x^2` wins the tie at 1 as the first of `max`; `abs` at 0 has slope 0 and so no curvature.
    let x = Device::cpu().array(&[1.0, 0.5, -2.0, 0.0])?.requires_grad();
    let (tape, loss) = recorded(&x)?;
    let one = x.device().full(4, 1.0)?;
    let found = tape.hvp(&loss, &[&[(x.as_any(), one.as_any())]])?;
    assert_eq!(found.get(0, &x)?.to_vec()?, [2.0 + 6.0, 3.0, 2.0 + 12.0, 2.0]);
    Ok(())
}

#[test]
fn misuse_is_refused() -> Result<()> {
    let dev = Device::cpu();
    let (x, other) = (dev.array(&[1.0, 2.0])?.requires_grad(), dev.array(&[1.0, 2.0])?);
    let late = dev.array(&[0.0, 0.0])?;
    let (tape, loss) = recorded(&x)?;
    let late = late.requires_grad();
    let refuses = |found: Result<diffkern::Products>, part: &str| {
        let message = found.expect_err(part).to_string();
        assert!(message.contains(part), "{message}");
    };
    refuses(tape.hvp(&loss, &[&[(other.as_any(), x.as_any())]]), "requires_grad");
    refuses(tape.hvp(&loss, &[&[(late.as_any(), x.as_any())]]), "requires_grad");
    let three = dev.array(&[1.0, 2.0, 3.0])?;
    refuses(tape.hvp(&loss, &[&[(x.as_any(), three.as_any())]]), "shape");
    refuses(tape.hvp(&x, &[&[(x.as_any(), other.as_any())]]), "one real scalar");
    refuses(
        tape.gauss_newton(&[other.as_any()], Metric::Identity, &[&[(x.as_any(), other.as_any())]]),
        "does not depend",
    );
    let weights = [three.as_any()];
    refuses(
        tape.gauss_newton(&[loss.as_any()], Metric::Diagonal(&weights), &[&[(x.as_any(), other.as_any())]]),
        "weights",
    );
    let pair = [(x.as_any(), other.as_any())];
    let inside = Tape::record(|| tape.hvp(&loss, &[&pair]).map(|_| ())).expect_err("inside").to_string();
    assert!(inside.contains("leave it first"), "{inside}");
    let inside = jvp(&[&pair], || tape.hvp(&loss, &[&pair])).expect_err("inside").to_string();
    assert!(inside.contains("leave it first"), "{inside}");
    let found = tape.hvp(&loss, &[&pair])?;
    assert!(found.get(1, &x).is_err() && found.get(0, &other).is_err());
    Ok(())
}

#[test]
fn a_budget_too_small_for_the_tangents_is_an_error_that_says_how_much() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&vec![0.5; 100])?.requires_grad();
    let (tape, loss) = Tape::record_value(|| {
        let end = rollout(20, Schedule::Budget(9_000), x.clone(), |x: &Array<f64>, _| {
            let y = x.device().uninit(x.len())?;
            kinked(x.len(), x, &y)?;
            Ok(y)
        })?;
        reduce::sum(&end)
    })?;
    let pair = [(x.as_any(), x.as_any())];
    let message = tape.hvp(&loss, &[&pair[..]; 3]).expect_err("small").to_string();
    assert!(message.contains("give at least"), "{message}");
    tape.backward(&loss)?;
    Ok(())
}
