//! What is refused at run time, by name and with the way out; and states of the tape around a case.

use diffkern::prelude::*;
use diffkern::{Overwrite, Recording, jvp};

#[diff_kernel]
fn square<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
}

#[diff_kernel]
fn both<F: Float>(x: &Array<F>, y: &mut Array<F>, z: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].sin();
    z[i] += x[i];
}

#[diff_kernel]
fn add_up<F: Float>(x: &Array<F>, total: &mut Array<F>) {
    total[0] += x[ABSOLUTE_POS];
}

#[diff_kernel]
fn from_left<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] * x[i - 1];
}

#[diff_kernel]
fn by_table<F: Float>(x: &Array<F>, at: &Array<u32>, y: &mut Array<F>) {
    y[at[ABSOLUTE_POS]] = x[ABSOLUTE_POS];
}

#[diff_kernel]
fn one_writer_twice<F: Float>(x: &Array<F>, at: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[at[i]] = x[i];
    y[at[i]] = x[i] * x[i];
}

#[diff_kernel]
fn last<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut sum = F::new(0.0);
    for k in 0..x.len() {
        sum += x[k] * x[x.len() - 1 - k];
    }
    y[0] += sum;
}

type Refused = fn(&Device) -> Result<()>;

/// What is tried, and what the message must have.
fn refusals() -> Vec<(&'static str, Refused, &'static [&'static str])> {
    vec![
        (
            "one array read and written",
            |dev| {
                let x = dev.array(&[1.0, 2.0])?;
                square(2, &x, &x)
            },
            &["`square`", "`y`", "`x`", "two different arrays"],
        ),
        (
            "one array stored to and accumulated into",
            |dev| {
                let (x, y) = (dev.array(&[1.0, 2.0])?, dev.zeros(2)?);
                both(2, &x, &y, &y)
            },
            &["`both`", "`y`", "`z`"],
        ),
        (
            "views that share an element",
            |dev| {
                let x = dev.array(&[1.0, 2.0, 3.0])?;
                square(2, &x.slice(..2)?, &x.slice(1..)?)
            },
            &["`square`", "shares elements"],
        ),
        (
            "a parameter overwritten by a kernel",
            |dev| {
                let (x, y) = (dev.array(&[1.0])?, dev.array(&[1.0])?.requires_grad());
                Tape::record(|| square(1, &x, &y)).map(|_| ())
            },
            &["requires a gradient"],
        ),
        (
            "a parameter filled",
            |dev| {
                let y = dev.array(&[1.0, 2.0])?.requires_grad();
                Tape::record(|| y.slice(1..)?.fill(3.0)).map(|_| ())
            },
            &["requires a gradient"],
        ),
        (
            "a parameter copied into",
            |dev| {
                let (x, y) = (dev.array(&[1.0])?, dev.array(&[2.0])?.requires_grad());
                Tape::record(|| y.copy_from(&x)).map(|_| ())
            },
            &["requires a gradient"],
        ),
        (
            "a copy onto itself, shifted",
            |dev| {
                let x = dev.array(&[1.0, 2.0, 3.0])?;
                x.slice(..2)?.copy_from(&x.slice(1..)?)
            },
            &["overlap", "third array"],
        ),
        (
            "an index below zero, which wraps",
            |dev| {
                let (x, y) = (dev.array(&[1.0, 2.0])?, dev.zeros(2)?);
                from_left(2, &x, &y)
            },
            &["`from_left`", "refusals.rs:", "4294967295", "`x`", "length is 2"],
        ),
        (
            "a domain larger than the arrays",
            |dev| {
                let (x, y) = (dev.array(&[1.0, 2.0])?, dev.zeros(3)?);
                square(3, &x, &y)
            },
            &["`square`", "index 2 of `x`", "length is 2"],
        ),
        (
            "an index beyond an array that is written",
            |dev| {
                let (x, y) = (dev.array(&[1.0, 2.0, 3.0])?, dev.zeros(2)?);
                square(3, &x, &y)
            },
            &["`square`", "index 2 of `y`", "length is 2"],
        ),
        (
            "no elements, one thread",
            |dev| {
                let (x, y) = (dev.zeros::<f64>(0)?, dev.zeros(1)?);
                square(1, &x, &y)
            },
            &["`square`", "index 0 of `x`", "length is 0"],
        ),
        (
            "what a tape needs, overwritten, if so asked",
            |dev| {
                let x = dev.array(&[1.0])?.requires_grad();
                Recording::new()
                    .overwrite(Overwrite::Error)
                    .record_value(|| {
                        let (y, z) = (dev.zeros(1)?, dev.zeros(1)?);
                        square(1, &x, &y)?;
                        square(1, &y, &z)?;
                        square(1, &z, &y)
                    })
                    .map(|_| ())
            },
            &["`square`", "needs for its gradient", "Overwrite::Keep"],
        ),
        (
            "a step of a rollout that writes an array of the outside",
            |dev| {
                let (x, outside) = (dev.array(&[1.0])?.requires_grad(), dev.zeros(1)?);
                Tape::record(|| {
                    diffkern::rollout(3, Schedule::Checkpoints(1), x.clone(), move |s: &Array<f64>, _| {
                        let next = s.device().zeros(1)?;
                        square(1, s, &next)?;
                        add_up(1, &next, &outside)?;
                        Ok(next)
                    })
                    .map(|_| ())
                })
                .map(|_| ())
            },
            &["step 0", "array"],
        ),
        (
            "a recording in a recording",
            |_| Tape::record(|| Tape::record(|| Ok(())).map(|_| ())).map(|_| ()),
            &["records already"],
        ),
        (
            "a loss that depends on nothing",
            |dev| {
                let (x, y) = (dev.array(&[1.0])?.requires_grad(), dev.zeros::<f64>(1)?);
                Tape::record(|| square(1, &x, &dev.zeros(1)?))?.backward(&y)
            },
            &["does not depend"],
        ),
        (
            "a loss of two elements",
            |dev| {
                let (x, y) = (dev.array(&[1.0, 2.0])?.requires_grad(), dev.zeros::<f64>(2)?);
                Tape::record(|| square(2, &x, &y))?.backward(&y)
            },
            &["one real scalar", "seed"],
        ),
    ]
}

#[test]
fn each_is_refused_by_name() {
    let mut findings = Vec::new();
    for (what, tried, parts) in refusals() {
        match tried(&Device::cpu()) {
            Ok(()) => findings.push(format!("{what}: not refused")),
            Err(error) => {
                let message = error.to_string();
                findings.extend(
                    parts.iter().filter(|p| !message.contains(**p)).map(|p| format!("{what}: no {p} in: {message}")),
                );
            }
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn two_threads_at_one_element_are_named_and_one_thread_may_store_again() -> Result<()> {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[1.0, 2.0, 3.0])?, dev.zeros::<f64>(3)?);
    let message = by_table(3, &x, &dev.array(&[2u32, 0, 2])?, &y).unwrap_err().to_string();
    for part in ["`by_table`", "`y`", "element 2", "0", "2"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    one_writer_twice(3, &x, &dev.array(&[2u32, 0, 1])?, &y)?;
    assert_eq!(y.to_vec()?, [4.0, 9.0, 1.0]);
    assert!(one_writer_twice(3, &x, &dev.array(&[2u32, 0, 2])?, &y).is_err());
    Ok(())
}

#[test]
fn empty_arrays_and_domains_are_no_mistake() -> Result<()> {
    let dev = Device::cpu();
    let (x, y) = (dev.zeros::<f64>(0)?.requires_grad(), dev.array(&[2.0])?);
    let tape = Tape::record(|| {
        last(1, &x, &y)?;
        square(0, &x, &x.detached()?)?;
        square((4, 0, 3), &x, &y.slice(1..)?)
    })?;
    tape.backward(&y)?;
    assert!(x.grad()?.is_empty());
    assert_eq!(y.to_vec()?, [2.0]);
    // A view without elements shares none.
    let z = dev.array(&[1.0, 2.0])?;
    square(0, &z.slice(1..1)?, &z)
}

#[test]
fn backward_twice_accumulates_and_zero_grad_forgets() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[3.0, -2.0])?.requires_grad();
    let (tape, total) = Tape::record_value(|| -> Result<_> {
        let (y, total) = (dev.zeros(2)?, dev.zeros(1)?);
        square(2, &x, &y)?;
        add_up(2, &y, &total)?;
        y.fill(0.0)?;
        Ok(total)
    })?;
    for times in [1.0, 2.0, 3.0] {
        tape.backward(&total)?;
        assert_eq!(x.grad()?.to_vec()?, [6.0 * times, -4.0 * times]);
    }
    x.zero_grad();
    assert!(x.grad().is_err());
    tape.backward(&total)?;
    assert_eq!(x.grad()?.to_vec()?, [6.0, -4.0]);
    // Another tape over the same parameter adds to it.
    let other = Tape::record(|| add_up(2, &x, &total))?;
    other.backward(&total)?;
    assert_eq!(x.grad()?.to_vec()?, [7.0, -3.0]);
    Ok(())
}

#[test]
fn a_detached_array_passes_nothing_on() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[3.0])?.requires_grad();
    let (tape, total) = Tape::record_value(|| -> Result<_> {
        let (y, total) = (dev.zeros(1)?, dev.zeros(1)?);
        square(1, &x, &y)?;
        add_up(1, &y.detached()?, &total)?;
        add_up(1, &x, &total)?;
        Ok(total)
    })?;
    tape.backward(&total)?;
    assert_eq!((total.to_vec()?, x.grad()?.to_vec()?), (vec![12.0], vec![1.0]));
    Ok(())
}

#[test]
fn no_launch_outside_of_a_recording_has_a_part_in_it() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[3.0])?.requires_grad();
    let (y, total) = (dev.zeros(1)?, dev.zeros(1)?);
    square(1, &x, &y)?;
    let tape = Tape::record(|| add_up(1, &y, &total))?;
    // `y` was made before: a constant of this tape.
    assert!(tape.backward(&total).unwrap_err().to_string().contains("does not depend"));
    Ok(())
}

#[test]
fn normalize_of_the_zero_vector_is_not_a_number_and_says_so_in_its_gradient() -> Result<()> {
    #[diff_kernel]
    fn unit<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<Vec3<F>>) {
        y[ABSOLUTE_POS] = x[ABSOLUTE_POS].normalize();
    }
    let dev = Device::cpu();
    let x = dev.array(&[Vec3::new(0.0, 0.0, 0.0)])?.requires_grad();
    let (y, seed) = (dev.zeros::<Vec3<f64>>(1)?, dev.array(&[Vec3::new(1.0, 1.0, 1.0)])?);
    let tape = Tape::record(|| unit(1, &x, &y))?;
    tape.backward_from(&[(y.as_any(), seed.as_any())])?;
    assert!(y.to_vec()?[0].to_array().iter().all(|y| y.is_nan()));
    assert!(x.grad()?.to_vec()?[0].to_array().iter().all(|g| !g.is_finite()));
    Ok(())
}

#[test]
fn tangents_follow_what_adjoints_do_through_writes() -> Result<()> {
    let dev = Device::cpu();
    let (x, one) = (dev.array(&[3.0, 5.0])?, dev.full(2, 1.0)?);
    let (y, tangents) = jvp(&[&[(x.as_any(), one.as_any())]], || -> Result<_> {
        let y = dev.zeros::<f64>(2)?;
        square(2, &x, &y)?;
        y.slice(..1)?.write(&[7.0])?;
        Ok(y)
    })?;
    assert_eq!(tangents.get(0, &y)?.to_vec()?, [0.0, 10.0]);
    Ok(())
}
