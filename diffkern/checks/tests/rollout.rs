//! Rollouts: the same bits with every schedule, predicted costs that happen, and steps that are not pure.

use std::cell::Cell;
use std::rc::Rc;

use diffkern::prelude::*;
use diffkern::{Rollout, Schedule, jvp, reduce, rollout};

/// A damped pendulum, one per index.
#[diff_kernel]
fn swing<F: Float>(
    x: &Array<F>,
    v: &Array<F>,
    stiffness: &Array<F>,
    x_next: &mut Array<F>,
    v_next: &mut Array<F>,
    dt: F,
) {
    let i = ABSOLUTE_POS;
    let speed = (v[i] - stiffness[0] * x[i].sin() * dt) * 0.999;
    v_next[i] = speed;
    x_next[i] = x[i] + speed * dt;
}

#[diff_kernel]
fn scale<F: Float>(x: &Array<F>, factor: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * factor[0];
}

#[diff_kernel]
fn decay<F: Float>(x: &mut Array<F>, by: F) {
    x[ABSOLUTE_POS] += by;
}

type Two = (Array<f64>, Array<f64>);

const N: usize = 16;

struct Swing {
    x: Array<f64>,
    v: Array<f64>,
    stiffness: Array<f64>,
}

impl Swing {
    fn new() -> Result<Swing> {
        let dev = Device::cpu();
        Ok(Swing {
            x: dev.array(&(0..N).map(|k| 0.1 * k as f64).collect::<Vec<_>>())?.requires_grad(),
            v: dev.zeros(N)?,
            stiffness: dev.array(&[4.0])?.requires_grad(),
        })
    }

    fn run(&self, steps: usize, schedule: Schedule) -> Result<Array<f64>> {
        let stiffness = self.stiffness.clone();
        let (x, _) = rollout(steps, schedule, (self.x.clone(), self.v.clone()), move |(x, v): &Two, _| {
            let (x_next, v_next) = (x.device().uninit(N)?, x.device().uninit(N)?);
            swing(N, x, v, &stiffness, &x_next, &v_next, 0.01)?;
            Ok((x_next, v_next))
        })?;
        reduce::dot(&x, &x)
    }

    fn gradient(&self, steps: usize, schedule: Schedule) -> Result<(Vec<u64>, Tape)> {
        self.x.zero_grad();
        self.stiffness.zero_grad();
        let (tape, loss) = Tape::record_value(|| self.run(steps, schedule))?;
        tape.backward(&loss)?;
        let mut bits: Vec<u64> = self.x.grad()?.to_vec()?.into_iter().map(f64::to_bits).collect();
        bits.extend(self.stiffness.grad()?.to_vec()?.into_iter().map(f64::to_bits));
        Ok((bits, tape))
    }
}

#[test]
fn every_schedule_gives_the_same_bits_and_costs_what_it_says() -> Result<()> {
    let swing = Swing::new()?;
    for steps in [1, 2, 17, 100] {
        let (bits, tape) = swing.gradient(steps, Schedule::StoreAll)?;
        assert_eq!(tape.report().rollouts[0].measured_factor, 1.0);
        let mut schedules = vec![Schedule::Auto, Schedule::Budget(4096), Schedule::Budget(8192)];
        schedules.extend([1, 2, 3, 5, 10, 1000].map(Schedule::Checkpoints));
        for schedule in schedules {
            let (other, tape) = swing.gradient(steps, schedule)?;
            assert_eq!(bits, other, "{steps} steps, {schedule:?}");
            let report = &tape.report().rollouts[0];
            assert_eq!(report.predicted_factor, report.measured_factor, "{steps} steps, {schedule:?}");
        }
    }
    Ok(())
}

#[test]
fn the_gradient_is_that_of_finite_differences() -> Result<()> {
    let swing = Swing::new()?;
    let (bits, _) = swing.gradient(60, Schedule::Checkpoints(4))?;
    let grad: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
    let mut at = swing.x.to_vec()?;
    at.extend(swing.stiffness.to_vec()?);
    let value = |p: &[f64]| {
        let mut at = Swing::new()?;
        at.x = Device::cpu().array(&p[..N])?;
        at.stiffness = Device::cpu().array(&p[N..])?;
        Ok(at.run(60, Schedule::StoreAll)?.to_vec()?[0])
    };
    let report = diffkern::gradcheck::function(value, &grad, &at, &Default::default())?;
    assert!(report.taylor_rate > 1.9 && report.taylor_rate_without < 1.1, "{report}");
    Ok(())
}

#[test]
fn a_budget_is_kept() -> Result<()> {
    let swing = Swing::new()?;
    for budget in [2_000, 5_000, 20_000, 1_000_000] {
        let (_, tape) = swing.gradient(1000, Schedule::Budget(budget))?;
        let report = tape.report();
        // The reduction after the rollout has its own share.
        assert!(report.peak_bytes <= budget + 2_000, "{budget}: {report}");
    }
    let message = swing.gradient(10, Schedule::Budget(300)).unwrap_err().to_string();
    assert!(message.contains("give at least"), "{message}");
    assert!(swing.gradient(10, Schedule::Checkpoints(0)).is_err());
    Ok(())
}

#[test]
fn backward_twice_accumulates_with_every_schedule() -> Result<()> {
    let swing = Swing::new()?;
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(1), Schedule::Checkpoints(4), Schedule::Budget(4096)] {
        swing.stiffness.zero_grad();
        let (tape, loss) = Tape::record_value(|| swing.run(30, schedule))?;
        tape.backward(&loss)?;
        let once = swing.stiffness.grad()?.to_vec()?[0];
        tape.backward(&loss)?;
        assert_eq!(swing.stiffness.grad()?.to_vec()?[0], 2.0 * once, "{schedule:?}");
    }
    Ok(())
}

#[test]
fn a_parameter_overwritten_before_backward_does_not_matter() -> Result<()> {
    let swing = Swing::new()?;
    let (bits, _) = swing.gradient(20, Schedule::StoreAll)?;
    swing.stiffness.zero_grad();
    let (tape, loss) = Tape::record_value(|| swing.run(20, Schedule::Checkpoints(3)))?;
    swing.stiffness.write(&[1e9])?;
    tape.backward(&loss)?;
    assert_eq!(swing.stiffness.grad()?.to_vec()?[0].to_bits(), bits[N]);
    assert_eq!(swing.stiffness.to_vec()?, [1e9], "put back");
    Ok(())
}

#[test]
fn forward_mode_through_a_rollout_takes_no_memory_and_agrees() -> Result<()> {
    let swing = Swing::new()?;
    let (bits, _) = swing.gradient(500, Schedule::Checkpoints(10))?;
    let (dot, one) = (Device::cpu().full(N, 1.0)?, Device::cpu().array(&[1.0])?);
    let (loss, tangents) =
        jvp(&[&[(swing.stiffness.as_any(), one.as_any())], &[(swing.x.as_any(), dot.as_any())]], || {
            swing.run(500, Schedule::Auto)
        })?;
    let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-11 * b.abs(), "{a} {b}");
    close(tangents.get(0, &loss)?.to_vec()?[0], f64::from_bits(bits[N]));
    close(tangents.get(1, &loss)?.to_vec()?[0], bits[..N].iter().map(|&b| f64::from_bits(b)).sum());
    Ok(())
}

#[test]
fn in_place_steps_and_swapped_handles() -> Result<()> {
    let dev = Device::cpu();
    let factor = dev.array(&[1.1])?.requires_grad();
    let start = (dev.array(&[1.0])?.requires_grad(), dev.array(&[5.0])?.requires_grad());
    let mut results = Vec::new();
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(1), Schedule::Checkpoints(3)] {
        factor.zero_grad();
        let by = factor.clone();
        let step = move |(a, b): &Two, _: usize| {
            // `b` is overwritten in place, then the two change places.
            scale(1, a, &by, b)?;
            decay(1, a, 0.5)?;
            Ok((b.clone(), a.clone()))
        };
        let (tape, end) = Tape::record_value(|| rollout(7, schedule, start.clone(), step))?;
        tape.backward(&end.0)?;
        results.push((end.0.to_vec()?, end.1.to_vec()?, factor.grad()?.to_vec()?));
        assert_eq!(start.0.to_vec()?, [1.0], "the initial state keeps its values");
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{results:?}");
    // By hand: seven turns of (a, b) -> (a f, a + 1/2).
    let (mut a, mut b) = ((1.0, 0.0), (5.0, 0.0));
    for _ in 0..7 {
        (a, b) = ((a.0 * 1.1, a.1 * 1.1 + a.0), (a.0 + 0.5, a.1));
    }
    assert!((results[0].0[0] - a.0).abs() < 1e-12 && (results[0].1[0] - b.0).abs() < 1e-12);
    assert!((results[0].2[0] - a.1).abs() < 1e-12);
    Ok(())
}

#[test]
fn a_write_outside_the_state_is_named() -> Result<()> {
    let dev = Device::cpu();
    let outside = dev.zeros::<f64>(1)?;
    let factor = dev.array(&[2.0])?;
    for recorded in [false, true] {
        let (outside, factor) = (outside.clone(), factor.clone());
        let run = move || {
            rollout(3, Schedule::StoreAll, Device::cpu().array(&[1.0])?, move |x, _| {
                scale(1, x, &factor, &outside)?;
                Ok(x.clone())
            })
            .map(|_| ())
        };
        let error = if recorded { Tape::record(run).unwrap_err() } else { run().unwrap_err() };
        let message = error.to_string();
        assert!(message.contains("`scale`") && message.contains("`y`") && message.contains("step 0"), "{message}");
    }
    Ok(())
}

#[test]
fn a_step_that_does_something_else_on_replay_is_named() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0])?.requires_grad();
    for kind in 0..3 {
        let calls = Rc::new(Cell::new(0));
        let start = x.clone();
        let (tape, end) = Tape::record_value(|| {
            rollout(6, Schedule::Checkpoints(1), start, move |x: &Array<f64>, _| {
                calls.set(calls.get() + 1);
                let y = x.device().uninit(1)?;
                let late = calls.get() > 6;
                let factor = x.device().array(&[if late && kind == 0 { 3.0 } else { 2.0 }])?;
                scale(1, x, &factor, &y)?;
                if late && kind == 1 {
                    scale(1, x, &factor, &y)?;
                }
                decay(1, &y, if late && kind == 2 { 0.5 } else { 0.25 })?;
                Ok(y)
            })
        })?;
        let message = tape.backward(&end).unwrap_err().to_string();
        assert!(message.contains("step") && message.contains("replay"), "{message}");
    }
    Ok(())
}

/// The same launches on other arrays, on other elements, or with the results in another order.
#[test]
fn a_step_that_takes_other_arrays_on_replay_is_named() -> Result<()> {
    let dev = Device::cpu();
    let factor = dev.array(&[2.0, 3.0])?;
    let start = (dev.array(&[1.0, 2.0])?.requires_grad(), dev.array(&[3.0, 4.0])?.requires_grad());
    for kind in 0..6 {
        let calls = Cell::new(0);
        let factor = factor.clone();
        let step = move |(a, b): &Two, _: usize| {
            calls.set(calls.get() + 1);
            let late = |which: i32| calls.get() > 4 && kind == which;
            let y = a.device().uninit(2)?;
            scale(2, if late(0) { b } else { a }, &factor, &y)?;
            let z = a.device().uninit(2)?;
            scale(2, if late(1) { &y } else { b }, &factor, &z)?;
            decay(1, &if late(2) { b.slice(1..2)? } else { b.slice(0..1)? }, 0.5)?;
            decay(1, &b.slice(0..if late(3) { 2 } else { 1 })?, 0.5)?;
            scale(2, &y, &factor.slice(if late(4) { 1..2 } else { 0..1 })?, &z)?;
            Ok(if late(5) { (b.clone(), z) } else { (z, b.clone()) })
        };
        let (tape, end) = Tape::record_value(|| rollout(4, Schedule::Checkpoints(1), start.clone(), step))?;
        let message = tape.backward_from(&[(end.0.as_any(), dev.full(2, 1.0)?.as_any())]).unwrap_err().to_string();
        assert!(message.contains("step") && message.contains("replay"), "{kind}: {message}");
    }
    Ok(())
}

#[test]
fn host_reads_inside_a_step_are_compared() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0, 2.0])?.requires_grad();
    // A pure step may read, and even branch on what it reads.
    let pure = |schedule| {
        x.zero_grad();
        let (tape, end) = Tape::record_value(|| {
            rollout(9, schedule, x.clone(), |x: &Array<f64>, _| {
                let y = x.device().uninit(2)?;
                let factor = if x.to_vec()?[0] > 3.0 { 0.5 } else { 1.5 };
                scale(2, x, &x.device().array(&[factor])?, &y)?;
                Ok(y)
            })
        })?;
        let one = Device::cpu().full(2, 1.0)?;
        tape.backward_from(&[(end.as_any(), one.as_any())])?;
        x.grad()?.to_vec()
    };
    assert_eq!(pure(Schedule::StoreAll)?, pure(Schedule::Checkpoints(2))?);
    // One that reads something that changes meanwhile is not.
    let outside = dev.array(&[1.0])?;
    let other = outside.clone();
    let (tape, end) = Tape::record_value(|| {
        rollout(4, Schedule::Checkpoints(1), x.clone(), move |x: &Array<f64>, _| {
            let y = x.device().uninit(2)?;
            scale(2, x, &x.device().array(&other.to_vec()?)?, &y)?;
            Ok(y)
        })
    })?;
    outside.write(&[2.0])?;
    let one = Device::cpu().full(2, 1.0)?;
    // What was read is kept like any captured array, so the replay reads it again.
    x.zero_grad();
    tape.backward_from(&[(end.as_any(), one.as_any())])?;
    assert_eq!((x.grad()?.to_vec()?, outside.to_vec()?), (vec![1.0, 1.0], vec![2.0]));
    Ok(())
}

#[test]
fn a_rollout_inside_a_step() -> Result<()> {
    let swing = Swing::new()?;
    let mut bits = Vec::new();
    for (outer, inner) in [
        (Schedule::StoreAll, Schedule::StoreAll),
        (Schedule::Checkpoints(2), Schedule::StoreAll),
        (Schedule::Checkpoints(1), Schedule::Checkpoints(2)),
        (Schedule::Budget(20_000), Schedule::Auto),
    ] {
        swing.x.zero_grad();
        swing.stiffness.zero_grad();
        let stiffness = swing.stiffness.clone();
        let (tape, loss) = Tape::record_value(|| {
            let start = (swing.x.clone(), swing.v.clone());
            let (x, _) = rollout(5, outer, start, move |state: &Two, _| {
                let stiffness = stiffness.clone();
                rollout(4, inner, state.clone(), move |(x, v): &Two, _| {
                    let (x_next, v_next) = (x.device().uninit(N)?, x.device().uninit(N)?);
                    swing_step(x, v, &stiffness, (&x_next, &v_next))?;
                    Ok((x_next, v_next))
                })
            })?;
            reduce::dot(&x, &x)
        })?;
        tape.backward(&loss)?;
        let grad = (swing.x.grad()?.to_vec()?, swing.stiffness.grad()?.to_vec()?);
        bits.push(grad);
    }
    assert!(bits.windows(2).all(|pair| pair[0] == pair[1]), "{bits:?}");
    let (plain, _) = swing.gradient(20, Schedule::StoreAll)?;
    assert_eq!(bits[0].1[0].to_bits(), plain[N]);
    Ok(())
}

/// Its first state may come from outside of the step: replays take that as it was.
#[test]
fn a_rollout_inside_a_step_starts_from_what_was_recorded() -> Result<()> {
    let x = Device::cpu().array(&[0.3, 0.4])?.requires_grad();
    for unknown in [false, true] {
        let outside = Device::cpu().array(&[2.0])?;
        let start = outside.clone();
        let step = move |x: &Array<f64>, _: usize| {
            let square = |f: &Array<f64>, _: usize| {
                let next = f.device().uninit(1)?;
                scale(1, f, f, &next)?;
                Ok(next)
            };
            let factor = match unknown {
                true => Rollout::new(Schedule::StoreAll).run_while(|_, k| Ok(k < 2), start.clone(), square)?.0,
                false => rollout(2, Schedule::StoreAll, start.clone(), square)?,
            };
            let next = x.device().uninit(2)?;
            scale(2, x, &factor, &next)?;
            Ok(next)
        };
        let (tape, end) = Tape::record_value(|| rollout(4, Schedule::Checkpoints(1), x.clone(), step))?;
        outside.write(&[5.0])?;
        x.zero_grad();
        tape.backward_from(&[(end.as_any(), Device::cpu().full(2, 1.0)?.as_any())])?;
        assert_eq!(x.grad()?.to_vec()?, [65536.0; 2]);
    }
    Ok(())
}

#[test]
fn a_vector_of_states_is_a_state() -> Result<()> {
    type State = (Vec<Array<f64>>, Array<f64>);
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(1)] {
        let all = [2.0, 3.0, 5.0].map(|x| Device::cpu().array(&[x]).map(Array::requires_grad));
        let [a, b, c] = all;
        let (a, b, c) = (a?, b?, c?);
        let (tape, (ends, _)) = Tape::record_value(|| {
            rollout(3, schedule, (vec![a.clone(), b.clone()], c.clone()), |(pair, c): &State, _| {
                let next = c.device().uninit(1)?;
                scale(1, &pair[0], c, &next)?;
                Ok((vec![pair[1].clone(), next], c.clone()))
            })
        })?;
        assert_eq!((ends[0].to_vec()?, ends[1].to_vec()?), (vec![15.0], vec![50.0]), "b c and a c^2");
        let one = Device::cpu().full(1, 1.0)?;
        tape.backward_from(&[(ends[0].as_any(), one.as_any()), (ends[1].as_any(), one.as_any())])?;
        let found = [&a, &b, &c].map(|x| x.grad().and_then(|grad| grad.to_vec()));
        assert_eq!(found, [Ok(vec![25.0]), Ok(vec![5.0]), Ok(vec![23.0])]);
    }
    Ok(())
}

fn swing_step(x: &Array<f64>, v: &Array<f64>, stiffness: &Array<f64>, next: (&Array<f64>, &Array<f64>)) -> Result<()> {
    swing(N, x, v, stiffness, next.0, next.1, 0.01)
}

#[test]
fn wrong_states_are_refused() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.zeros::<f64>(4)?;
    let view = x.slice(1..)?;
    assert!(rollout(1, Schedule::Auto, view, |x, _| Ok(x.clone())).unwrap_err().to_string().contains("view"));
    let grown = rollout(1, Schedule::Auto, x.clone(), |x: &Array<f64>, _| x.device().zeros(5));
    assert!(grown.unwrap_err().to_string().contains("shapes must stay"));
    assert_eq!(rollout(0, Schedule::Auto, x.clone(), |_, _| Err(Error::Invalid(String::new())))?.id(), x.id());
    Ok(())
}
