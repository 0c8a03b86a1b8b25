//! Second derivatives through rollouts: the same bits with every schedule, within the budget, nested.

use diffkern::prelude::*;
use diffkern::{Rollout, recompute, reduce, rollout};

use crate::common::{holds, point, products};

/// A pendulum that drives the next, one per index; `k[0]` pulls it, `k[1]` couples.
#[diff_kernel]
fn swing<F: Float>(x: &Array<F>, v: &Array<F>, k: &Array<F>, x_next: &mut Array<F>, v_next: &mut Array<F>, dt: F) {
    let i = ABSOLUTE_POS;
    let other = x[(i + 1) % x.len()];
    let speed = v[i] - (k[0] * x[i].sin() + k[1] * (x[i] - other)) * dt;
    v_next[i] = speed;
    x_next[i] = x[i] + speed * dt;
}

#[diff_kernel]
fn kick<F: Float>(by: &Array<F>, v: &mut Array<F>, scale: F) {
    v[ABSOLUTE_POS] += by[ABSOLUTE_POS].sin() * by[ABSOLUTE_POS].cos() * scale;
}

const N: usize = 8;

type Two = (Array<f64>, Array<f64>);

/// The first two numbers are the parameters, the others where the pendulums start.
fn run_as(all: &Array<f64>, steps: usize, how: &Rollout, unknown: bool) -> Result<Array<f64>> {
    let dev = all.device();
    let (k, start) = (all.slice(0..2)?, dev.zeros(N)?);
    start.copy_from(&all.slice(2..2 + N)?)?;
    let step = move |(x, v): &Two, step: usize| {
        let (x_next, v_next) = (x.device().uninit(N)?, x.device().uninit(N)?);
        swing(N, x, v, &k, &x_next, &v_next, 0.05)?;
        if step.is_multiple_of(3) {
            kick(N, x, &v_next, 0.01)?;
        }
        Ok((x_next, v_next))
    };
    let begin = (start, dev.zeros(N)?);
    let (x, v) = match unknown {
        true => how.run_while(move |_, k| Ok(k < steps), begin, step)?.0,
        false => how.run(steps, begin, step)?,
    };
    let energy = reduce::dot(&x, &x)?;
    reduce::sum_into(&reduce::dot(&v, &x)?, 0.3, &energy)?;
    Ok(energy)
}

fn run(all: &Array<f64>, steps: usize, schedule: Schedule) -> Result<Array<f64>> {
    run_as(all, steps, &Rollout::new(schedule), false)
}

/// Steps of steps: the inner rollout has its own schedule.
fn nested(all: &Array<f64>, outer: Schedule, inner: Schedule) -> Result<Array<f64>> {
    let dev = all.device();
    let (k, start) = (all.slice(0..2)?, dev.zeros(N)?);
    start.copy_from(&all.slice(2..2 + N)?)?;
    let (x, v) = rollout(4, outer, (start, dev.zeros(N)?), move |(x, v): &Two, _| {
        let k = k.clone();
        let (x, v) = rollout(3, inner, (x.clone(), v.clone()), move |(x, v): &Two, _| {
            let (x_next, v_next) = (x.device().uninit(N)?, x.device().uninit(N)?);
            swing(N, x, v, &k, &x_next, &v_next, 0.1)?;
            Ok((x_next, v_next))
        })?;
        let kicked = v.device().zeros(N)?;
        kicked.copy_from(&v)?;
        kick(N, &x, &kicked, 0.1)?;
        Ok((x, kicked))
    })?;
    reduce::dot(&x, &v)
}

#[test]
fn the_hessian_of_a_rollout_is_that_of_differences() -> Result<()> {
    for (steps, schedule) in [(1, Schedule::StoreAll), (25, Schedule::StoreAll), (25, Schedule::Checkpoints(3))] {
        holds(&format!("{steps} steps, {schedule:?}"), &|x| run(x, steps, schedule), &point(N + 2))?;
    }
    Ok(())
}

#[test]
fn every_schedule_gives_the_same_bits() -> Result<()> {
    let along = [point(N + 2), vec![1.0; N + 2]];
    for steps in [1, 2, 17] {
        let all = products(&|x| run(x, steps, Schedule::StoreAll), &point(N + 2), &along)?;
        let mut schedules = vec![Schedule::Auto, Schedule::Budget(3500), Schedule::Budget(6000)];
        schedules.extend([1, 2, 5, 1000].map(Schedule::Checkpoints));
        for schedule in schedules {
            let other = products(&|x| run(x, steps, schedule), &point(N + 2), &along)?;
            assert_eq!(all, other, "{steps} steps, {schedule:?}");
        }
    }
    Ok(())
}

/// Lengths that are not known, launches run again, states in files.
#[test]
fn rollouts_of_every_kind_give_the_same_bits() -> Result<()> {
    let along = [point(N + 2), vec![1.0; N + 2]];
    let steps = 23;
    let all = products(&|x| run(x, steps, Schedule::StoreAll), &point(N + 2), &along)?;
    let dir = std::env::temp_dir().join(format!("diffkern-second-{}", std::process::id()));
    std::fs::create_dir_all(&dir).map_err(|e| Error::Invalid(e.to_string()))?;
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(2), Schedule::Budget(5000), Schedule::Auto] {
        let plain = Rollout::new(schedule);
        for (how, unknown) in [
            (plain.clone(), true),
            (plain.clone().recompute_all(), false),
            (plain.clone().recompute(&["swing"]), true),
            (plain.clone().files(&dir).file_cost_steps(0.5), false),
            (plain.files(&dir).file_cost_steps(0.5).recompute_all(), true),
        ] {
            let other = products(&|x| run_as(x, steps, &how, unknown), &point(N + 2), &along)?;
            assert_eq!(all, other, "{how:?}, {unknown}");
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
    let within = |x: &Array<f64>| recompute(|| nested(x, Schedule::StoreAll, Schedule::Checkpoints(1)));
    let plain = |x: &Array<f64>| nested(x, Schedule::StoreAll, Schedule::StoreAll);
    assert_eq!(products(&within, &point(N + 2), &along)?, products(&plain, &point(N + 2), &along)?);
    Ok(())
}

#[test]
fn rollouts_in_steps_of_rollouts() -> Result<()> {
    use Schedule::{Checkpoints, StoreAll};
    let along = [point(N + 2)];
    holds("nested", &|x| nested(x, StoreAll, StoreAll), &point(N + 2))?;
    let all = products(&|x| nested(x, StoreAll, StoreAll), &point(N + 2), &along)?;
    for (outer, inner) in [(Checkpoints(2), StoreAll), (StoreAll, Checkpoints(1)), (Checkpoints(1), Checkpoints(2))] {
        let other = products(&|x| nested(x, outer, inner), &point(N + 2), &along)?;
        assert_eq!(all, other, "{outer:?}, {inner:?}");
    }
    Ok(())
}

/// Recording fills its budget with tapes; with tangents beside them fewer fit, so recording's go.
#[test]
fn a_budget_is_kept() -> Result<()> {
    let dev = Device::cpu();
    for (steps, budget, directions) in [(60, 40_000, 1), (60, 40_000, 4), (400, 12_000, 1), (400, 12_000, 3)] {
        let x = dev.array(&point(N + 2))?.requires_grad();
        let (tape, loss) = Tape::record_value(|| run(&x, steps, Schedule::Budget(budget)))?;
        let v = dev.array(&point(N + 2))?;
        let pair = [(x.as_any(), v.as_any())];
        let all = vec![&pair[..]; directions];
        tape.hvp(&loss, &all)?;
        let report = tape.report();
        // What is outside of the rollout has its own share.
        let beside = 1_500 * (1 + directions);
        assert!(report.peak_bytes <= budget + beside, "{budget}, {directions} directions: {report}");
        // The gradient still stands.
        let (grad, _) = products(&|x| run(x, steps, Schedule::StoreAll), &point(N + 2), &[point(N + 2)])?;
        tape.backward(&loss)?;
        assert_eq!(x.grad()?.to_vec()?, grad);
        assert!(tape.report().peak_bytes <= budget + beside, "{}", tape.report());
    }
    Ok(())
}

#[diff_kernel]
fn spread<F: Float>(x: &Array<F>, f: &mut Array<F>, g: &mut Array<F>, h: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let twice = x[i] + x[i];
    f[i] = twice;
    g[i] = twice + x[i];
    h[i] = twice + twice;
}

#[diff_kernel]
fn push<F: Float>(x: &Array<F>, f: &Array<F>, g: &Array<F>, h: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] - f[i] * g[i] * h[i];
}

/// Launches that are run again make room for tangents, also after the first product has given up recording's tapes.
#[test]
fn launches_run_again_make_room_for_every_product() -> Result<()> {
    let program = |x: &Array<f64>, way: &Rollout| {
        let end = way.run(10, x.clone(), |x: &Array<f64>, _| {
            let dev = x.device();
            let (f, g, h, y) = (dev.uninit(N)?, dev.uninit(N)?, dev.uninit(N)?, dev.uninit(N)?);
            spread(N, x, &f, &g, &h)?;
            push(N, x, &f, &g, &h, &y)?;
            Ok(y)
        })?;
        reduce::dot(&end, &end)
    };
    // What `spread` reads, adjoints of five arrays, the state and another, all with tangents, and what `spread` brings back.
    // On a tape without launches to run again there are three arrays with tangents: one array more.
    let budget = (2 * (1 + 5 + 2) + 3) * N * 8;
    let (at, along) = (vec![0.01; N], [(0..N).map(|k| 0.1 * k as f64).collect::<Vec<_>>()]);
    let all = products(&|x| program(x, &Rollout::new(Schedule::StoreAll)), &at, &along)?;
    let way = Rollout::new(Schedule::Budget(budget)).recompute(&["spread"]);
    assert_eq!(products(&|x| program(x, &way), &at, &along)?, all);
    Ok(())
}
