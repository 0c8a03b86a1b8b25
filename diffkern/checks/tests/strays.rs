//! What a tape cannot see a gradient through is refused: launches that failed, gradients asked for too late, arrays that
//! leave the steps of a rollout on another way than by its state.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use diffkern::prelude::*;
use diffkern::{AnyArray, Metric, Schedule, State, jvp, reduce, rollout};

#[diff_kernel]
fn square<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
}

#[diff_kernel]
fn multiply<F: Float>(x: &Array<F>, y: &Array<F>, z: &mut Array<F>) {
    z[ABSOLUTE_POS] = x[ABSOLUTE_POS] * y[ABSOLUTE_POS];
}

#[diff_kernel]
fn scale<F: Float>(x: &Array<F>, factor: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * factor[0];
}

#[diff_kernel]
fn total<F: Float>(x: &Array<F>, loss: &mut Array<F>) {
    loss[0] += x[ABSOLUTE_POS];
}

#[diff_kernel]
fn add<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] += x[ABSOLUTE_POS];
}

#[diff_kernel]
fn double<F: Float>(y: &mut Array<F>) {
    y[ABSOLUTE_POS] *= 2.0;
}

/// Something that a program does with an array.
type Use<'a> = &'a dyn Fn(&Array<f64>) -> Result<()>;

/// What a failed launch leaves behind has no gradient, even if the program does not mind.
#[test]
fn a_program_that_goes_on_after_a_failed_launch_is_refused() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0, 2.0, 3.0])?.requires_grad();
    let sum = |n| {
        let loss = dev.zeros(1)?;
        let _ = add(n, &x, &loss);
        total(3, &x, &loss)?;
        Ok::<_, Error>(loss)
    };
    assert!(Tape::record_value(|| sum(1)).is_ok());
    let message = Tape::record_value(|| sum(3)).unwrap_err().to_string();
    assert!(message.contains("`add` failed") && message.contains("return its error"), "{message}");
    let one = dev.full(3, 1.0)?;
    let tangent = jvp(&[&[(x.as_any(), one.as_any())]], || sum(3));
    assert!(tangent.unwrap_err().to_string().contains("`add` failed"));
    let in_a_step = Tape::record(|| {
        rollout(2, Schedule::StoreAll, dev.zeros::<f64>(1)?, move |loss: &Array<f64>, _| {
            let _ = square(2, loss, &loss.device().uninit(1)?);
            Ok(loss.clone())
        })
        .map(|_| ())
    });
    let message = in_a_step.unwrap_err().to_string();
    assert!(message.contains("step 0") && message.contains("`square` failed"), "{message}");
    // A launch that is refused before it runs has left nothing behind.
    assert!(
        Tape::record(|| {
            let _ = total(1, &x, &x);
            Ok(())
        })
        .is_ok()
    );
    Ok(())
}

#[test]
fn a_gradient_that_is_asked_for_too_late_is_refused() -> Result<()> {
    let dev = Device::cpu();
    let z = dev.array(&[1.0, 2.0])?.requires_grad();
    // By a launch, by a copy, by a rollout.
    let reads: [Use<'_>; 3] = [&|x| multiply(2, x, &z, &dev.uninit(2)?), &|x| dev.uninit(2)?.copy_from(x), &|x| {
        rollout(1, Schedule::Checkpoints(1), x.clone(), |x: &Array<f64>, _| Ok(x.clone())).map(|_| ())
    }];
    for (nth, read) in reads.iter().enumerate() {
        let x = dev.array(&[3.0, 4.0])?;
        let tape = Tape::record(|| {
            read(&x)?;
            total(2, &x.clone().requires_grad(), &dev.zeros(1)?)
        });
        let message = tape.unwrap_err().to_string();
        assert!(message.contains("before the first launch that reads"), "{nth}: {message}");
    }
    // What was only written before, or read by another tape, is in time.
    let x = dev.array(&[3.0, 4.0])?;
    Tape::record(|| reads[0](&x))?;
    let x = x.requires_grad();
    let (tape, loss) = Tape::record_value(|| {
        let y = dev.zeros(2)?;
        add(2, &dev.full(2, 1.0)?, &y)?;
        double(2, &y)?;
        let (y, product, loss) = (y.requires_grad(), dev.uninit(2)?, dev.zeros(1)?);
        multiply(2, &x, &y, &product)?;
        total(2, &product, &loss)?;
        Ok::<_, Error>((loss, y))
    })?;
    tape.backward(&loss.0)?;
    assert_eq!((x.grad()?.to_vec()?, loss.1.grad()?.to_vec()?), (vec![2.0, 2.0], vec![3.0, 4.0]));
    Ok(())
}

/// A tape sees the launches of its own thread.
#[test]
fn what_other_threads_launch_meanwhile_is_refused() -> Result<()> {
    let dev = Device::cpu();
    let elsewhere = |work: &(dyn Fn() -> Result<()> + Sync)| {
        std::thread::scope(|scope| scope.spawn(work).join().map_err(|_| Error::Invalid("panic".to_owned()))?)
    };
    let x = dev.array(&[1.0, 2.0])?.requires_grad();
    let (y, z, constant) = (dev.zeros(2)?, dev.zeros(2)?, dev.full(2, 3.0)?);
    // From an array with a gradient, over one, by a copy, in two launches, in a rollout, on a tape there.
    let strays: [&(dyn Fn() -> Result<()> + Sync); 6] = [
        &|| add(2, &y, &z),
        &|| y.fill(1.0),
        &|| z.copy_from(&y),
        &|| {
            let between = dev.zeros(2)?;
            square(2, &y, &between)?;
            square(2, &between, &z)
        },
        &|| {
            z.copy_from(&rollout(2, Schedule::StoreAll, y.clone(), |y: &Array<f64>, _| {
                double(2, y)?;
                Ok(y.clone())
            })?)
        },
        &|| Tape::record(|| square(2, &y, &z)).map(|_| ()),
    ];
    for (nth, stray) in strays.iter().enumerate() {
        let tape = Tape::record(|| {
            square(2, &x, &y)?;
            elsewhere(stray)?;
            total(2, if nth == 1 { &y } else { &z }, &dev.zeros(1)?)
        });
        let message = tape.unwrap_err().to_string();
        assert!(message.contains("another thread"), "{nth}: {message}");
    }
    // Constants, and what is not used here, may come from anywhere; so may all that happens afterwards.
    let w = dev.zeros(2)?;
    let (tape, loss) = Tape::record_value(|| {
        square(2, &x, &y)?;
        elsewhere(&|| square(2, &constant, &w))?;
        elsewhere(&|| add(2, &y, &dev.zeros(2)?))?;
        let loss = dev.zeros(1)?;
        multiply(2, &y, &w, &z)?;
        total(2, &z, &loss)?;
        Ok::<_, Error>(loss)
    })?;
    elsewhere(&|| add(2, &y, &w))?;
    tape.backward(&loss)?;
    assert_eq!(x.grad()?.to_vec()?, [18.0, 36.0]);
    Tape::record(|| total(2, &w, &dev.zeros(1)?)).map(|_| ())
}

/// Arrays of the step of one shape: the launches are the same, another result is returned.
#[test]
fn a_step_that_returns_another_of_its_arrays_on_replay_is_named() -> Result<()> {
    let x = Device::cpu().array(&[0.3, 0.4])?.requires_grad();
    let factor = Device::cpu().array(&[2.0])?;
    for swapped in [false, true] {
        let (calls, factor) = (Cell::new(0), factor.clone());
        let (tape, end) = Tape::record_value(|| {
            rollout(4, Schedule::Checkpoints(1), x.clone(), move |x: &Array<f64>, _| {
                let (a, b) = (x.device().uninit(2)?, x.device().uninit(2)?);
                scale(2, x, &factor, &a)?;
                scale(2, &a, &factor, &b)?;
                calls.set(calls.get() + 1);
                Ok(if swapped && calls.get() > 4 { a } else { b })
            })
        })?;
        let back = tape.backward_from(&[(end.as_any(), Device::cpu().full(2, 1.0)?.as_any())]);
        match swapped {
            true => assert!(back.unwrap_err().to_string().contains("replay")),
            false => assert_eq!((back, x.grad()?.to_vec()?), (Ok(()), vec![256.0; 2])),
        }
    }
    Ok(())
}

/// Intermediate states that the program keeps for its loss beside what the rollout returns.
#[test]
fn arrays_of_a_step_have_no_gradient_outside() -> Result<()> {
    let dev = Device::cpu();
    let (x, factor) = (dev.array(&[0.3, 0.4])?.requires_grad(), dev.array(&[2.0])?.requires_grad());
    let kept: Rc<RefCell<Vec<Array<f64>>>> = Rc::default();
    let run = |schedule, detached: bool| {
        kept.borrow_mut().clear();
        let (log, factor) = (kept.clone(), factor.clone());
        rollout(3, schedule, x.clone(), move |x: &Array<f64>, _| {
            let y = x.device().uninit(2)?;
            scale(2, x, &factor, &y)?;
            log.borrow_mut().extend([if detached { x.detached()? } else { x.clone() }, y.clone()]);
            Ok(y)
        })
    };
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(1)] {
        // The state that a step got, and what it made.
        for k in [0, 3] {
            let uses: [Use<'_>; 4] = [
                &|y| reduce::sum(y).map(|_| ()),
                &|y| Device::cpu().uninit(2)?.copy_from(y),
                &|y| rollout(1, Schedule::StoreAll, y.clone(), |y: &Array<f64>, _| Ok(y.clone())).map(|_| ()),
                &|y| {
                    let y = y.clone();
                    rollout(1, Schedule::StoreAll, Device::cpu().zeros::<f64>(2)?, move |z: &Array<f64>, _| {
                        scale(2, z, &y.slice(0..1)?, &z.device().uninit(2)?)?;
                        Ok(z.clone())
                    })
                    .map(|_| ())
                },
            ];
            for (nth, used) in uses.iter().enumerate() {
                let tape = Tape::record(|| {
                    run(schedule, false)?;
                    used(&kept.borrow()[k].clone())
                });
                let message = tape.unwrap_err().to_string();
                assert!(message.contains("is not what that returned"), "{k} {nth}: {message}");
            }
        }
        // What it returned, a detached copy, and anything on a tape of its own, are all right.
        let (tape, loss) = Tape::record_value(|| {
            let end = run(schedule, true)?;
            let loss = reduce::sum(&kept.borrow()[5])?;
            reduce::sum_into(&kept.borrow()[0], 1.0, &loss)?;
            assert_eq!(kept.borrow()[5].id(), end.id());
            Ok::<_, Error>(loss)
        })?;
        x.zero_grad();
        tape.backward(&loss)?;
        assert_eq!(x.grad()?.to_vec()?, [8.0, 8.0]);
        assert!(Tape::record(|| reduce::sum(&kept.borrow()[1]).map(|_| ())).is_ok());
    }
    Ok(())
}

#[test]
fn a_detached_copy_in_a_step_is_of_what_was_there_at_first() -> Result<()> {
    let dev = Device::cpu();
    let (x, factor) = (dev.array(&[0.3, 0.4])?.requires_grad(), dev.array(&[2.0])?);
    let inner = factor.clone();
    let (tape, end) = Tape::record_value(|| {
        rollout(4, Schedule::Checkpoints(1), x.clone(), move |x: &Array<f64>, _| {
            let y = x.device().uninit(2)?;
            scale(2, x, &inner.detached()?, &y)?;
            Ok(y)
        })
    })?;
    factor.write(&[5.0])?;
    tape.backward_from(&[(end.as_any(), dev.full(2, 1.0)?.as_any())])?;
    assert_eq!(x.grad()?.to_vec()?, [16.0, 16.0]);
    Ok(())
}

/// What a step had read before it panicked is not known any more, and may have changed.
#[test]
fn a_rollout_that_has_panicked_is_not_replayed() -> Result<()> {
    let dev = Device::cpu();
    let (x, factor) = (dev.array(&[0.3, 0.4])?.requires_grad(), dev.array(&[2.0])?);
    let (calls, inner) = (Cell::new(0), factor.clone());
    let (tape, end) = Tape::record_value(|| {
        rollout(4, Schedule::Checkpoints(1), x.clone(), move |x: &Array<f64>, _| {
            calls.set(calls.get() + 1);
            assert!(calls.get() != 6, "on purpose");
            let y = x.device().uninit(2)?;
            scale(2, x, &inner, &y)?;
            Ok(y)
        })
    })?;
    let seed = dev.full(2, 1.0)?;
    let back = || tape.backward_from(&[(end.as_any(), seed.as_any())]);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(back)).is_err());
    factor.write(&[5.0])?;
    let message = back().unwrap_err().to_string();
    assert!(message.contains("panicked") && message.contains("record it again"), "{message}");
    Ok(())
}

#[test]
fn a_direction_names_an_element_once() -> Result<()> {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[1.0, 2.0])?.requires_grad(), dev.zeros(2)?);
    let (part, other, by) = (x.slice(1..)?, x.slice(..1)?, dev.full(1, 1.0)?);
    let twice = [(part.as_any(), by.as_any()), (other.as_any(), by.as_any()), (part.as_any(), by.as_any())];
    let tape = Tape::record(|| square(2, &x, &y))?;
    for (directions, fits) in [(&twice[..2], true), (&twice[..], false)] {
        let found = [
            jvp(&[directions], || square(2, &x, &y)).map(|_| ()).map_err(|e| e.to_string()),
            tape.gauss_newton(&[y.as_any()], Metric::Identity, &[directions]).map(|_| ()).map_err(|e| e.to_string()),
        ];
        for found in found {
            assert_eq!(found.as_ref().err().is_some_and(|e| e.contains("twice; add up")), !fits, "{found:?}");
        }
    }
    Ok(())
}

/// A state whose author has forgotten an array.
#[derive(Clone)]
struct Forgetful(Array<f64>, Array<f64>);

impl State for Forgetful {
    fn arrays(&self) -> Vec<AnyArray> {
        vec![self.0.as_any().clone(), self.1.as_any().clone()]
    }

    fn with_arrays(&self, arrays: Vec<AnyArray>) -> Forgetful {
        let first = arrays.into_iter().next().and_then(|array| Array::try_from(array).ok());
        Forgetful(first.unwrap_or_else(|| self.0.clone()), self.1.clone())
    }
}

#[test]
fn steps_return_arrays_of_their_own_and_states_are_whole() -> Result<()> {
    let dev = Device::cpu();
    let (x, outside) = (dev.array(&[1.0])?, dev.array(&[2.0])?);
    let kept = outside.clone();
    let returned = rollout(2, Schedule::StoreAll, x.clone(), move |_, _| Ok(kept.clone()));
    assert!(returned.unwrap_err().to_string().contains("return a copy"));
    let stash: Cell<Option<Array<f64>>> = Cell::new(None);
    let late = rollout(2, Schedule::StoreAll, x.clone(), move |x: &Array<f64>, _| {
        Ok(stash.replace(Some(x.device().zeros(1)?)).unwrap_or_else(|| x.clone()))
    });
    assert!(late.unwrap_err().to_string().contains("return a copy"));
    let state = rollout(1, Schedule::StoreAll, Forgetful(x, outside), |state, _| Ok(state.clone()));
    assert!(state.map(|_| ()).unwrap_err().to_string().contains("with_arrays"));
    Ok(())
}
