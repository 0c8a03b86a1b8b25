//! What is predicted, counted and reported of a rollout, by hand.

use std::cell::Cell;
use std::rc::Rc;

use diffkern::prelude::*;
use diffkern::{Rollout, rollout};

use super::{Folder, N, push, spread};

/// One array of the state.
const UNIT: usize = N * 8;

fn start() -> Result<Array<f64>> {
    Ok(Device::cpu().full(N, 0.01)?.requires_grad())
}

/// Its tape keeps `f` and `g`; there are adjoints of `x`, `f`, `g` and `y`.
fn step(x: &Array<f64>, _: usize) -> Result<Array<f64>> {
    let (f, g, y) = (x.device().uninit(N)?, x.device().uninit(N)?, x.device().uninit(N)?);
    spread(N, x, &f, &g)?;
    push(N, x, &f, &g, &y)?;
    Ok(y)
}

fn back(tape: &Tape, end: &Array<f64>) -> Result<()> {
    tape.backward_from(&[(end.as_any(), Device::cpu().full(N, 1.0)?.as_any())])
}

#[test]
fn what_steps_read_from_outside_is_counted() -> Result<()> {
    const STEPS: usize = 10;
    let c = Device::cpu().full(N, 0.5)?;
    let plan = |budget| {
        let c = c.clone();
        Rollout::new(Schedule::Budget(budget)).predict(STEPS, &start()?, move |x: &Array<f64>, _| {
            let y = x.device().uninit(N)?;
            push(N, x, x, &c, &y)?;
            Ok(y)
        })
    };
    // `x` in each step, the state, room for adjoints of `x`, `c` and `y`, and `c` itself, once.
    let all = (STEPS + 1 + 3 + 1) * UNIT;
    assert_eq!((plan(all)?.factor(), plan(all)?.bytes()), (1.0, None));
    assert!(plan(all - 1)?.factor() > 1.0);
    Ok(())
}

/// Once to measure it, and once more only where launches that are run again may be of use.
#[test]
fn a_prediction_runs_no_step_in_vain() -> Result<()> {
    for (budget, again, expected) in [(20, false, 1), (100, true, 1), (20, true, 2)] {
        let (calls, way) = (Rc::new(Cell::new(0)), Rollout::new(Schedule::Budget(budget * UNIT)));
        let way = if again { way.recompute(&["spread"]) } else { way };
        let count = calls.clone();
        way.predict(10, &start()?, move |x: &Array<f64>, k| {
            count.set(count.get() + 1);
            step(x, k)
        })?;
        assert_eq!(calls.get(), expected, "{budget}, {again}");
    }
    Ok(())
}

#[test]
fn a_prediction_inside_a_step_is_refused() -> Result<()> {
    let inside = rollout(1, Schedule::StoreAll, start()?, |x: &Array<f64>, _| {
        Rollout::new(Schedule::Auto).predict(2, x, step)?;
        Ok(x.clone())
    });
    assert!(inside.unwrap_err().to_string().contains("`predict` inside a recording"));
    Ok(())
}

#[test]
fn kept_states_do_not_hinder_launches_run_again() -> Result<()> {
    let way = Rollout::new(Schedule::Checkpoints(3)).recompute(&["spread"]);
    let (tape, end) = Tape::record_value(|| way.run(10, start()?, step))?;
    back(&tape, &end)?;
    assert_eq!(tape.report().launches_again, 10);
    Ok(())
}

/// Where the number of steps is not known: the states that fit, less one beside files, and all that in words.
#[test]
fn plans_for_unknown_lengths_are_as_the_budget_says() -> Result<()> {
    let folder = Folder::new("unknown");
    let words = |way: &Rollout, steps: usize| {
        let (tape, _) = Tape::record_value(|| way.run_while(move |_, k| Ok(k < steps), start()?, step))?;
        Ok::<_, Error>((tape.report().rollouts[0].schedule.clone(), folder.files().len()))
    };
    // A step takes its tape of 2, adjoints of 4, and its state.
    let budget = |states: usize| Rollout::new(Schedule::Budget((2 + 4 + 1 + states) * UNIT));
    let files = |way: Rollout| way.files(&folder.0).file_cost_steps(4.0);
    assert_eq!(words(&budget(3), 40)?.0, "3 states kept (revolve), placed online");
    assert_eq!(words(&budget(1), 40)?.0, "1 state kept, placed online");
    for (states, left) in [(1, 1), (2, 1), (4, 3)] {
        let (words, written) = words(&files(budget(states)), 100)?;
        assert!(words.starts_with(&format!("{left} states in memory, a file each ")) && written > 0, "{words}");
    }
    // No longer than the distance of files, none is written after the first state, and the words do not speak of files.
    let (long, _) = words(&files(budget(3)), 100)?;
    let period = long.split(' ').rev().find_map(|word| word.parse::<usize>().ok()).unwrap();
    assert!(period > 2, "{long}");
    assert_eq!(words(&files(budget(3)), period)?.0, "2 states kept (revolve), placed online");
    assert_eq!(words(&files(budget(3)), period + 1)?.0, long);
    // Launches run again are in the words too.
    for (way, plain) in [
        (Rollout::new(Schedule::StoreAll), "all tapes kept"),
        (Rollout::new(Schedule::Checkpoints(3)), "3 states kept (revolve), placed online"),
        (files(Rollout::new(Schedule::Checkpoints(2))), long.as_str()),
    ] {
        assert_eq!(words(&way, 100)?.0, plain);
        let again = plain.replace(", placed online", "") + ", launches run again";
        let again = if plain.contains("online") { again + ", placed online" } else { again };
        assert_eq!(words(&way.recompute_all(), 100)?.0, again);
    }
    Ok(())
}

/// The tape of a step has the tapes and the states of the rollout in it.
#[test]
fn a_rollout_in_a_step_is_part_of_what_the_step_costs() -> Result<()> {
    // What all six inner steps have: `f` and `g` on their tapes; adjoints of these, of what they start from and of what they
    // return, and of where the first one starts outside. Of those under a schedule the last step has this, beside three
    // states. Then the state of the outer step, and another one that is kept.
    for (inner, tape, adjoints) in [(Schedule::StoreAll, 6 * 2, 6 * 3 + 2), (Schedule::Checkpoints(3), 2 + 3, 4 + 1)] {
        let step = move |x: &Array<f64>, _: usize| rollout(6, inner, x.clone(), step);
        let budget = (tape + adjoints + 1 + 1) * UNIT;
        let way = Rollout::new(Schedule::Budget(budget));
        assert_eq!(way.predict(8, &start()?, step)?.bytes(), Some(budget), "{inner:?}");
        assert!(Rollout::new(Schedule::Budget(budget - 1)).predict(8, &start()?, step).is_err(), "{inner:?}");
        let (tape, end) = Tape::record_value(|| way.run(8, start()?, step))?;
        back(&tape, &end)?;
        assert!(tape.report().peak_bytes <= budget, "{inner:?}: {}", tape.report());
    }
    Ok(())
}

#[test]
fn files_go_when_they_are_no_longer_needed() -> Result<()> {
    let folder = Folder::new("erased");
    let way = Rollout::new(Schedule::Checkpoints(2)).files(&folder.0).file_cost_steps(0.5);
    let (tape, end) = Tape::record_value(|| way.run(60, start()?, step))?;
    assert!(folder.files().len() > 3);
    back(&tape, &end)?;
    assert!(folder.files().is_empty(), "the tape is still there");
    Ok(())
}

/// Those of steps that are run to get to others too.
#[test]
fn every_launch_is_counted() -> Result<()> {
    let (tape, end) = Tape::record_value(|| rollout(10, Schedule::Checkpoints(2), start()?, step))?;
    back(&tape, &end)?;
    let report = tape.report();
    assert!(report.rollouts[0].steps_run > 20, "{report}");
    assert_eq!(report.launches, 2 * report.rollouts[0].steps_run);
    Ok(())
}
