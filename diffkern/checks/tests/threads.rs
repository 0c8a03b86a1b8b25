//! Programs on several threads: each tape has the gradient of what its thread did, and refuses what others did to its arrays.

use std::cell::RefCell;
use std::rc::Rc;

use diffkern::prelude::*;
use diffkern::{Schedule, jvp, rollout};

#[diff_kernel]
fn square<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
}

#[diff_kernel]
fn add<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] += x[ABSOLUTE_POS];
}

#[diff_kernel]
fn scale<F: Float>(x: &Array<F>, factor: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * factor[0];
}

/// Runs `work` on another thread, and waits for it.
fn elsewhere<R: Send>(work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    std::thread::scope(|scope| scope.spawn(work).join().map_err(|_| Error::Invalid("panic".to_owned()))?)
}

fn refused<R>(result: Result<R>, words: &str) {
    match result {
        Ok(_) => panic!("not refused: {words}"),
        Err(error) => assert!(error.to_string().contains(words), "{error}"),
    }
}

/// What depends on an array that asks for its gradient, though the tape has not met the array yet.
#[test]
fn another_thread_uses_an_input_before_the_tape_does() -> Result<()> {
    let dev = Device::cpu();
    let (x, y, z) = (dev.array(&[1.0, 2.0])?.requires_grad(), dev.zeros(2)?, dev.zeros(2)?);
    for recorded in [false, true] {
        refused(
            Tape::record(|| {
                elsewhere(
                    || if recorded { Tape::record(|| square(2, &x, &y)).map(|_| ()) } else { square(2, &x, &y) },
                )?;
                add(2, &x, &z)?;
                add(2, &y, &z)
            }),
            "another thread",
        );
    }
    Ok(())
}

/// A recording of another thread meanwhile, with the same arrays, takes nothing away from what this one knows.
#[test]
fn recordings_at_the_same_time_know_their_own() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0, 2.0])?;
    // As a constant here and there, then as an input here.
    refused(
        Tape::record(|| {
            square(2, &x, &dev.zeros(2)?)?;
            elsewhere(|| Tape::record(|| square(2, &x, &dev.zeros(2)?)).map(|_| ()))?;
            square(2, &x.clone().requires_grad(), &dev.zeros(2)?)
        }),
        "before the first launch that reads",
    );
    // An input of both: what the other computes from it in several launches is no constant.
    let x = dev.array(&[1.0, 2.0])?.requires_grad();
    for launches in [1, 2] {
        let (y, z) = (dev.zeros(2)?, dev.zeros(2)?);
        refused(
            Tape::record(|| {
                square(2, &x, &y)?;
                elsewhere(|| {
                    Tape::record(|| {
                        square(2, &x, &z)?;
                        (1..launches).try_for_each(|_| square(2, &z.clone(), &dev.zeros(2)?))?;
                        add(2, &y, &z)
                    })
                    .map(|_| ())
                })?;
                add(2, &z, &y)
            }),
            "another thread",
        );
    }
    Ok(())
}

/// From an array of this recording by one of the other's own.
#[test]
fn a_detour_by_arrays_of_another_recording_is_noticed() -> Result<()> {
    let dev = Device::cpu();
    let (x, w) = (dev.array(&[1.0, 2.0])?.requires_grad(), dev.array(&[3.0, 4.0])?.requires_grad());
    let (y, between, z) = (dev.zeros(2)?, dev.zeros(2)?, dev.zeros(2)?);
    refused(
        Tape::record(|| {
            square(2, &x, &y)?;
            elsewhere(|| {
                Tape::record(|| {
                    square(2, &w, &between)?;
                    add(2, &y, &between)?;
                    square(2, &between, &z)
                })
                .map(|_| ())
            })?;
            add(2, &z, &dev.zeros(2)?)
        }),
        "another thread",
    );
    Ok(())
}

/// Also in steps that are recorded only when they are replayed.
#[test]
fn a_step_that_has_another_thread_compute_is_refused_on_replay() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0, 2.0])?.requires_grad();
    let (tape, end) = Tape::record_value(|| {
        rollout(4, Schedule::Checkpoints(1), x.clone(), |x: &Array<f64>, k| {
            let y = x.device().zeros(2)?;
            if k == 0 {
                elsewhere(|| square(2, x, &y))?;
            }
            let z = x.device().zeros(2)?;
            add(2, x, &z)?;
            add(2, &y, &z)?;
            Ok(z)
        })
    })?;
    refused(tape.backward_from(&[(end.as_any(), dev.full(2, 1.0)?.as_any())]), "another thread");
    Ok(())
}

/// Arrays of the steps of a rollout within a step.
#[test]
fn arrays_of_an_inner_rollout_have_no_gradient_outside() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[0.3, 0.4])?.requires_grad();
    for (schedule, from) in [(Schedule::StoreAll, 0), (Schedule::Checkpoints(1), 0), (Schedule::Checkpoints(1), 5)] {
        let kept: Rc<RefCell<Vec<Array<f64>>>> = Rc::default();
        let log = kept.clone();
        refused(
            Tape::record(|| {
                rollout(3, schedule, x.clone(), move |x: &Array<f64>, _| {
                    let log = log.clone();
                    rollout(2, schedule, x.clone(), move |x: &Array<f64>, _| {
                        let (y, z) = (x.device().uninit(2)?, x.device().uninit(2)?);
                        square(2, x, &y)?;
                        square(2, &y, &z)?;
                        log.borrow_mut().push(y);
                        Ok(z)
                    })
                })?;
                add(2, &kept.borrow()[from].clone(), &dev.zeros(2)?)
            }),
            "is not what that returned",
        );
    }
    Ok(())
}

/// What a rollout reads is put back for its replays where only those see it.
#[test]
fn others_see_no_array_as_a_replay_sees_it() -> Result<()> {
    let dev = Device::cpu();
    let (x, factor) = (dev.array(&[1.0, 1.0])?.requires_grad(), dev.array(&[2.0])?);
    let inner = factor.clone();
    let seen: Rc<RefCell<Vec<f64>>> = Rc::default();
    let log = seen.clone();
    let (tape, end) = Tape::record_value(|| {
        rollout(3, Schedule::Checkpoints(1), x.clone(), move |x: &Array<f64>, _| {
            let y = x.device().zeros(2)?;
            scale(2, x, &inner, &y)?;
            log.borrow_mut().push(elsewhere(|| inner.to_vec())?[0]);
            Ok(y)
        })
    })?;
    factor.write(&[5.0])?;
    tape.backward_from(&[(end.as_any(), dev.full(2, 1.0)?.as_any())])?;
    assert_eq!(x.grad()?.to_vec()?, [8.0, 8.0]);
    assert_eq!(factor.to_vec()?, [5.0]);
    let seen = seen.borrow();
    assert_eq!(seen[..3], [2.0; 3]);
    assert!(seen.len() > 3 && seen[3..].iter().all(|&f| f == 5.0), "{seen:?}");
    Ok(())
}

/// From the first read on, while it runs and in replays.
#[test]
fn the_steps_of_a_rollout_read_the_same_array_whatever_others_write() -> Result<()> {
    let dev = Device::cpu();
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(1), Schedule::Checkpoints(2)] {
        let (x, factor) = (dev.array(&[1.0, 1.0])?.requires_grad(), dev.array(&[2.0])?);
        let inner = factor.clone();
        let (tape, end) = Tape::record_value(|| {
            rollout(4, schedule, x.clone(), move |x: &Array<f64>, k| {
                let y = x.device().zeros(2)?;
                if k > 0 {
                    elsewhere(|| inner.write(&[5.0 + k as f64]))?;
                }
                scale(2, x, &inner, &y)?;
                Ok(y)
            })
        })?;
        assert_eq!(end.to_vec()?, [16.0, 16.0]);
        tape.backward_from(&[(end.as_any(), dev.full(2, 1.0)?.as_any())])?;
        assert_eq!(x.grad()?.to_vec()?, [16.0, 16.0]);
    }
    Ok(())
}

/// Tangents are of one thread, too.
#[test]
fn forward_mode_refuses_what_other_threads_launch_meanwhile() -> Result<()> {
    let dev = Device::cpu();
    let (x, y, z) = (dev.array(&[1.0, 2.0])?, dev.zeros(2)?, dev.zeros(2)?);
    let along = dev.full(2, 1.0)?;
    refused(
        jvp(&[&[(x.as_any(), along.as_any())]], || {
            square(2, &x, &y)?;
            elsewhere(|| square(2, &y, &z))?;
            add(2, &z, &y)
        }),
        "another thread",
    );
    Ok(())
}

/// An array that a step makes and asks the gradient of.
#[test]
fn a_gradient_asked_for_inside_a_step() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[0.3, 0.4])?.requires_grad();
    let kept: Rc<RefCell<Vec<Array<f64>>>> = Rc::default();
    let log = kept.clone();
    let (tape, end) = Tape::record_value(|| {
        rollout(2, Schedule::StoreAll, x.clone(), move |x: &Array<f64>, _| {
            let y = x.device().array(&[1.0, 2.0])?.requires_grad();
            let z = x.device().zeros(2)?;
            add(2, x, &z)?;
            add(2, &y, &z)?;
            log.borrow_mut().push(y);
            Ok(z)
        })
    })?;
    tape.backward_from(&[(end.as_any(), dev.full(2, 1.0)?.as_any())])?;
    refused(kept.borrow()[0].grad(), "no `backward` has reached it");
    Ok(())
}
