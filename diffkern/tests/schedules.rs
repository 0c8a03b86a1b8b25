//! Schedules proved by replay on a toy model: states are numbers, a tape is the fact that a step was recorded.

#![expect(clippy::unwrap_used, clippy::needless_range_loop, reason = "tables indexed as in the recurrence")]

use std::collections::BTreeSet;

use diffkern::schedule::{Action, Blocked, Multistage, Online, Revolve, StoreAll};

/// What a replay saw.
#[derive(Default)]
struct Replay {
    /// Steps run without their tape being walked.
    advances: usize,
    /// The same by step.
    repetitions: Vec<usize>,
    most_states: usize,
    most_tapes: usize,
    most_files: usize,
    written: usize,
    read: usize,
}

/// Executes actions and panics at the first that cannot be executed or reverses out of order.
fn replay(steps: usize, actions: impl Iterator<Item = Action>) -> Replay {
    let mut now = Some(0);
    let (mut states, mut tapes, mut files) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut left = steps;
    let mut seen = Replay { repetitions: vec![0; steps], ..Replay::default() };
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
            Action::Save { step } => {
                assert_eq!(now, Some(step), "file of another state");
                assert!(files.insert(step), "state {step} is in a file already");
                seen.written += 1;
            }
            Action::Load { step } => {
                assert!(files.contains(&step), "state {step} is in no file");
                now = Some(step);
                seen.read += 1;
            }
            Action::Erase { step } => assert!(files.remove(&step), "state {step} is in no file"),
            Action::Forward { from, to } => {
                assert_eq!(now, Some(from));
                assert!(from < to && to <= steps);
                seen.advances += to - from;
                seen.repetitions[from..to].iter_mut().for_each(|n| *n += 1);
                now = Some(to);
            }
            Action::Record { step } => {
                assert_eq!(now, Some(step));
                assert!(tapes.insert(step), "step {step} is recorded already");
                now = Some(step + 1);
            }
            Action::Forget { step } => {
                assert!(tapes.remove(&step), "step {step} is not recorded");
                seen.advances += 1;
                seen.repetitions[step] += 1;
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
        seen.most_files = seen.most_files.max(files.len());
    }
    assert_eq!(left, 0, "steps left");
    assert!(states.is_empty() && tapes.is_empty() && files.is_empty(), "something is kept for ever");
    seen
}

#[test]
fn store_all_records_each_step_once() {
    for steps in 0..=200 {
        let seen = replay(steps, StoreAll::new(steps));
        assert_eq!((seen.advances, seen.most_states, seen.most_tapes), (0, 0, steps));
    }
}

/// For all lengths, blocks and numbers of states: the tapes of one block at a time, and as many advances as announced.
#[test]
fn blocks_are_valid_and_cost_what_they_say() {
    for steps in 1..=60 {
        for (block, states) in (1..=steps + 1).flat_map(|block| [1, 2, 3, 8].map(|states| (block, states))) {
            let seen = replay(steps, Blocked::new(steps, states, block));
            assert_eq!(seen.advances as u128, Blocked::advances(steps, states, block), "{steps}, {block}, {states}");
            assert!(seen.most_tapes <= block && seen.most_states <= states, "{steps}, {block}, {states}");
            if block == 1 {
                assert_eq!(seen.advances as u128, Revolve::advances(steps, states));
            }
        }
    }
    assert_eq!((Blocked::advances(0, 1, 1), Blocked::best(0, |_| 1)), (0, None));
}

#[test]
fn the_block_that_is_chosen_is_the_best_of_all() {
    for steps in 1..=120 {
        for (budget, tape) in (1..=40).flat_map(|budget| [1, 3, 7].map(|tape| (budget * 3, tape))) {
            let states = |block: usize| (budget as usize).saturating_sub(block * tape);
            let run = |block: usize| Blocked::advances(steps, states(block), block) + steps as u128;
            let best = (1..=steps).filter(|&block| states(block) > 0).map(run).min();
            let chosen = Blocked::best(steps, states).map(|(kept, block)| {
                assert!(kept <= states(block));
                run(block)
            });
            assert_eq!(best, chosen, "{steps} steps, {budget}, {tape}");
        }
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

/// Fewest repetitions of the step that is run most often, besides its recording.
fn least_repetitions(steps: usize, states: usize) -> usize {
    // One more repetition and one more state both add up: beta(s, r) = beta(s - 1, r) + beta(s, r - 1).
    let beta = |s: usize, r: usize| (1..=r).fold(1u128, |b, k| b * (s + k) as u128 / k as u128);
    (0..).find(|&r| beta(states, r) >= steps as u128).unwrap()
}

/// All actions of an online schedule that is told after `steps` steps that they end.
fn online(mut schedule: Online, steps: usize) -> impl Iterator<Item = Action> {
    let forward: Vec<Action> = (0..steps).flat_map(|_| schedule.step()).collect();
    assert_eq!(schedule.steps(), steps);
    forward.into_iter().chain(schedule.finish())
}

#[test]
fn online_repeats_no_step_more_than_the_optimum_with_a_state_less() {
    let mut worst: f64 = 0.0;
    for steps in 0..=200 {
        for states in 1..=steps.max(2) {
            let seen = replay(steps, online(Online::new(states), steps));
            assert!(seen.most_states <= states && seen.most_tapes <= 1, "{steps} steps, {states} states");
            let most = seen.repetitions.iter().copied().max().unwrap_or(0);
            // With one state there is no choice.
            let bound = least_repetitions(steps, if states == 1 { 1 } else { states - 1 });
            assert!(most <= bound, "{steps} steps, {states} states: {most} repetitions, {bound} are enough");
            if states > 1 && steps > 1 {
                worst = worst.max(seen.advances as f64 / Revolve::advances(steps, states - 1) as f64);
            }
        }
    }
    assert!(worst < 1.37, "{worst}");
}

#[test]
fn online_with_files_keeps_its_places_and_costs_what_its_stretches_cost() {
    for steps in 0..=200 {
        for states in [1, 2, 3, 4, 7, 12, 30] {
            for period in [1, 2, 3, 5, 8, 13, 40, 250] {
                let seen = replay(steps, online(Online::with_files(states, period), steps));
                let case = format!("{steps} steps, {states} states, {period} apart");
                assert!(seen.most_states <= states && seen.most_tapes <= 1, "{case}");
                let files = steps.div_ceil(period);
                assert_eq!((seen.written, seen.read), (files, files.saturating_sub(1)), "{case}");
                // Each whole stretch is swept once and reversed by revolve; the last one as if it were alone.
                let before = files.saturating_sub(1);
                let alone = replay(steps - before * period, online(Online::new(states), steps - before * period));
                let swept = before * (period + Revolve::advances(period, states) as usize);
                assert_eq!(seen.advances, swept + alone.advances, "{case}");
            }
        }
    }
}

#[test]
fn files_cost_what_the_formula_says_for_all_lengths_and_numbers_of_states() {
    let check = |steps: usize, states: usize, period: usize| {
        let seen = replay(steps, Multistage::new(steps, states, period));
        let case = || format!("{steps} steps, {states} states, {period} apart");
        assert_eq!(seen.advances as u128, Multistage::advances(steps, states, period), "{}", case());
        let files = Multistage::files(steps, period);
        assert_eq!((seen.written, seen.read, seen.most_files), (files, files, files), "{}", case());
        assert!(seen.most_states <= states && seen.most_tapes <= 1, "{}", case());
    };
    for steps in 0..=200 {
        for states in 1..=steps.max(1) {
            for file_cost in [0.0, 3.0] {
                check(steps, states, Multistage::best_period(steps, states, file_cost));
            }
        }
    }
    for steps in 0..=40 {
        for states in 1..=steps.max(1) {
            (1..=steps + 1).for_each(|period| check(steps, states, period));
        }
    }
}

#[test]
fn equal_stretches_come_near_the_best_of_all_distances() {
    const LONGEST: usize = 200;
    let mut worst: f64 = 1.0;
    for states in [1, 2, 3, 5, 10] {
        for file_cost in [0.0, 0.5, 1.0, 4.0, 20.0] {
            // Fewest advances and files: a first stretch of any length, and the best for what is left.
            let mut best = vec![0.0; LONGEST + 1];
            for n in 1..=LONGEST {
                let memory = |l: usize| Revolve::advances(l, states) as f64;
                let split = (1..n).map(|l| l as f64 + file_cost + memory(l) + best[n - l]);
                best[n] = split.fold(memory(n), f64::min);
                let period = Multistage::best_period(n, states, file_cost);
                let cost =
                    Multistage::advances(n, states, period) as f64 + file_cost * Multistage::files(n, period) as f64;
                assert!(cost >= best[n], "{n} steps, {states} states: less than the optimum");
                worst = worst.max((cost + n as f64) / (best[n] + n as f64));
            }
            let endless = Multistage::endless_period(states, file_cost);
            let rate = |l: usize| (l as f64 + Revolve::advances(l, states) as f64 + file_cost) / l as f64;
            assert!((1..=LONGEST).all(|l| rate(endless) <= rate(l) + 1e-12), "{states} states, {file_cost}: {endless}");
        }
    }
    assert!(worst < 1.11, "{worst}");
}
