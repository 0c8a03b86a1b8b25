//! Schedules proved by replay on a toy model: states are numbers, a tape is the fact that a step was recorded.

#![expect(clippy::unwrap_used, clippy::needless_range_loop, reason = "tables indexed as in the recurrence")]

use std::collections::BTreeSet;

use diffkern::schedule::{Action, Revolve, StoreAll};

/// What a replay saw.
struct Replay {
    advances: usize,
    most_states: usize,
    most_tapes: usize,
}

/// Executes actions and panics at the first that cannot be executed or reverses out of order.
fn replay(steps: usize, actions: impl Iterator<Item = Action>) -> Replay {
    let mut now = Some(0);
    let (mut states, mut tapes) = (BTreeSet::new(), BTreeSet::new());
    let mut left = steps;
    let mut seen = Replay { advances: 0, most_states: 0, most_tapes: 0 };
    for action in actions {
        match action {
            Action::Snapshot { step } => {
                assert_eq!(now, Some(step), "snapshot of another state");
                assert!(states.insert(step), "state {step} is kept already");
            }
            Action::Restore { step } => {
                assert!(states.contains(&step), "state {step} is not kept");
                now = Some(step);
            }
            Action::Discard { step } => assert!(states.remove(&step), "state {step} is not kept"),
            Action::Forward { from, to } => {
                assert_eq!(now, Some(from));
                assert!(from < to && to <= steps);
                seen.advances += to - from;
                now = Some(to);
            }
            Action::Record { step } => {
                assert_eq!(now, Some(step));
                assert!(tapes.insert(step), "step {step} is recorded already");
                now = Some(step + 1);
            }
            Action::Reverse { step } => {
                assert_eq!(step + 1, left, "reversed out of order");
                assert!(tapes.remove(&step), "step {step} is not recorded");
                left = step;
                // The state after a reversed step may be gone.
                now = None;
            }
        }
        seen.most_states = seen.most_states.max(states.len());
        seen.most_tapes = seen.most_tapes.max(tapes.len());
    }
    assert_eq!(left, 0, "steps left");
    assert!(states.is_empty() && tapes.is_empty(), "something is kept for ever");
    seen
}

#[test]
fn store_all_records_each_step_once() {
    for steps in 0..=200 {
        let seen = replay(steps, StoreAll::new(steps));
        assert_eq!((seen.advances, seen.most_states, seen.most_tapes), (0, 0, steps));
    }
}

/// Fewest advances to reverse `n` steps with `s` states, by dynamic programming over all first splits.
fn optimum(longest: usize) -> Vec<Vec<usize>> {
    let mut best = vec![vec![0; longest + 1]; longest + 1];
    for s in 1..=longest {
        for n in 2..=longest {
            let all_from_first = n * (n - 1) / 2;
            let split = (1..n).map(|k| k + best[s - 1][n - k] + best[s][k]).min().unwrap();
            best[s][n] = if s == 1 { all_from_first } else { split };
        }
    }
    best
}

#[test]
fn revolve_is_valid_and_optimal_for_all_lengths_and_numbers_of_states() {
    const LONGEST: usize = 200;
    let best = optimum(LONGEST);
    for steps in 1..=LONGEST {
        for states in 1..=steps {
            let seen = replay(steps, Revolve::new(steps, states));
            assert_eq!(seen.advances, best[states][steps], "{steps} steps, {states} states");
            assert_eq!(seen.advances as u128, Revolve::advances(steps, states), "{steps} steps, {states} states");
            assert!(seen.most_states <= states, "{steps} steps, {states} states: {}", seen.most_states);
            assert_eq!(seen.most_tapes, 1);
        }
    }
}

#[test]
fn more_states_than_steps_change_nothing() {
    assert_eq!(Revolve::new(7, 100).collect::<Vec<_>>(), Revolve::new(7, 7).collect::<Vec<_>>());
    assert_eq!(Revolve::new(0, 3).count(), 0);
}

#[test]
fn ten_thousand_steps_take_a_few_repetitions() {
    let seen = replay(10_000, Revolve::new(10_000, 60));
    assert_eq!(seen.advances as u128, Revolve::advances(10_000, 60));
    assert!(Revolve::factor(10_000, 60) < 4.0);
    let long = replay(100_000, Revolve::new(100_000, 30));
    assert!(long.most_states <= 30);
}
