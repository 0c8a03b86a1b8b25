//! What a budget chooses, in numbers that can be checked by hand.

use super::*;

const COSTS: Costs = Costs { state: 10, tape: 100, adjoints: 5, work: None, light: None, file: None };
const LIGHT: Light = Light { tape: 20, again: 50, share: 0.5 };

fn within(budget: usize, steps: usize, costs: Costs) -> Plan {
    Plan::within(budget, steps, costs).expect("enough")
}

#[test]
fn all_tapes_are_kept_where_they_fit() {
    // Three tapes, a state and the adjoints.
    let all = within(315, 3, COSTS);
    assert_eq!(all, Plan { kind: Kind::StoreAll, steps: 3, light: false, bytes: None, share: 0.0 });
    assert_eq!((all.steps(), all.runs(), all.factor(), all.files(), all.bytes()), (3, 3, 1.0, 0, None));
    assert!(all.keeps_tapes() && !all.recomputes());
    assert_eq!(all.to_string(), "all tapes kept");
    // One byte less: two tapes at a time, and as many states as there are blocks then, though 9 would fit.
    let fewer = within(314, 3, COSTS);
    assert_eq!((fewer.kind, fewer.bytes()), (Kind::Blocked { states: 2, block: 2 }, Some(235)));
    assert_eq!((fewer.runs(), fewer.factor(), fewer.files()), (4, 4.0 / 3.0, 0));
    assert!(!fewer.keeps_tapes());
    assert_eq!(fewer.to_string(), "2 states kept (revolve), tapes of 2 steps at a time");
    // Not two tapes and two states: as many states as there are steps.
    assert_eq!(within(224, 3, COSTS).kind, Kind::Revolve { states: 3 });
    // The last block has 2 steps, and the one before it 1, which is run once to get there.
    let one = within(225, 3, COSTS);
    assert_eq!((one.kind, one.runs(), one.bytes()), (Kind::Blocked { states: 1, block: 2 }, 4, Some(225)));
    assert_eq!(one.to_string(), "1 state kept, tapes of 2 steps at a time");
}

/// A step of 0.25 MiB of state and 1 MiB of tape, 96 times, in 64 MiB: all states alone are 24 MiB and run nearly each step
/// twice.
#[test]
fn a_budget_is_used() {
    const MIB: usize = 1 << 20;
    let costs = Costs { state: MIB / 4, tape: MIB, adjoints: MIB / 2, ..COSTS };
    let plan = within(64 * MIB, 96, costs);
    // The last 63 steps are recorded at once, the 33 before them run to get there and recorded from the start later.
    assert_eq!(plan.kind, Kind::Blocked { states: 1, block: 63 });
    assert_eq!((plan.runs(), plan.bytes()), (96 + 33, Some(64 * MIB)));
    // Whatever the budget is, more of it is never slower, and what is announced fits.
    let mut former = f64::INFINITY;
    for budget in (2 * MIB..=100 * MIB).step_by(MIB / 2) {
        let plan = within(budget, 96, costs);
        assert!(plan.bytes().is_none_or(|bytes| bytes <= budget), "{budget}");
        assert!(plan.factor() <= former, "{budget}: {} after {former}", plan.factor());
        former = plan.factor();
    }
    assert_eq!(former, 1.0);
}

#[test]
fn as_many_states_as_fit_are_kept() {
    // Reversing takes 115; the initial state is kept besides.
    for (budget, states) in [(125, 1), (134, 1), (135, 2), (144, 2), (145, 3)] {
        let plan = within(budget, 9, COSTS);
        assert_eq!((plan.kind, plan.bytes()), (Kind::Revolve { states }, Some(115 + 10 * states)), "{budget}");
        assert_eq!(endless_states(budget, COSTS).ok(), Some(states), "{budget}");
    }
    assert_eq!(within(125, 9, COSTS).to_string(), "1 state kept");
    let message = "124 B are too few: one step needs 115 B (tape 100 B, adjoints 5 B, its state 10 B) and one kept state \
                   10 B; give at least 125 B";
    for refused in [Plan::within(124, 9, COSTS).err(), endless_states(124, COSTS).err()] {
        assert!(refused.is_some_and(|error| error.to_string().contains(message)));
    }
    // One does not divide by states of no size.
    assert_eq!(endless_states(107, Costs { state: 0, ..COSTS }).ok(), Some(2));
}

#[test]
fn launches_are_run_again_where_that_is_less_work() {
    let costs = Costs { light: Some(LIGHT), ..COSTS };
    // 3 tapes of 20, 50 that come back, a state and the adjoints.
    let light = within(125, 3, costs);
    let plan = Plan { kind: Kind::StoreAll, steps: 3, light: true, bytes: Some(125), share: 0.5 };
    assert_eq!((light, light.factor(), light.recomputes()), (plan, 1.5, true));
    assert_eq!(light.to_string(), "all tapes kept, launches run again");
    // Less memory holds fewer of those: two at a time, and a state.
    let fewer = within(124, 3, costs);
    assert_eq!((fewer.kind, fewer.recomputes()), (Kind::Blocked { states: 1, block: 2 }, true));
    assert_eq!(fewer.factor(), 4.0 / 3.0 + 0.5);
    let message = Plan::within(94, 3, costs).err().map(|error| error.to_string());
    assert!(message.is_some_and(|text| text.contains("give at least 95 B")));
    // With all tapes it would be more work.
    assert_eq!(within(315, 3, costs).kind, Kind::StoreAll);
    assert!(!within(315, 3, costs).recomputes());
    // One state kept runs six steps for three.
    let dear = Costs { light: Some(Light { share: 1.5, ..LIGHT }), ..COSTS };
    assert_eq!(within(125, 3, dear).kind, Kind::Revolve { states: 1 });
}

#[test]
fn files_are_used_where_they_pay() {
    let costs = |file| Costs { file: Some(file), ..COSTS };
    // Three states fit, one of them is the initial one.
    let plan = within(145, 100, costs(4.0));
    let period = Multistage::best_period(100, 2, 4.0);
    assert!(1 < period && period < 50, "{period}");
    assert_eq!((plan.kind, plan.bytes()), (Kind::Multistage { states: 2, period }, Some(145)));
    assert_eq!((plan.files(), plan.runs()), (99 / period, Multistage::advances(100, 2, period) + 100));
    assert_eq!(plan.to_string(), format!("2 states in memory, a file each {period} steps"));
    assert!(!plan.keeps_tapes());
    // A file as dear as a thousand steps; one state, which is the initial one.
    assert_eq!(within(145, 100, costs(1e3)).kind, Kind::Revolve { states: 3 });
    assert_eq!(within(134, 100, costs(0.5)).kind, Kind::Revolve { states: 1 });
    // The files count among the work: all tapes but two need no state again, and none a file.
    assert_eq!(within(135, 2, costs(0.5)).kind, Kind::Revolve { states: 2 });
}

/// Files and launches run again compete by their whole work.
#[test]
fn the_work_of_files_is_compared_by_step() {
    let plan = Plan::new(Kind::Multistage { states: 2, period: Multistage::best_period(100, 2, 4.0) }, 100);
    let work = plan.factor() + plan.files() as f64 * 4.0 / 100.0;
    let light = |share| Light { tape: 0, again: 0, share };
    let chosen = |share| within(145, 100, Costs { file: Some(4.0), light: Some(light(share)), ..COSTS }).kind;
    assert_eq!(chosen(work - 1.0 - 1e-9), Kind::StoreAll);
    assert_eq!(chosen(work - 1.0 + 1e-9), plan.kind);
}

#[test]
fn states_asked_for_by_number_get_files_where_there_may_be_any() {
    let kind = |states, steps, file| Plan::with_states(states, steps, file).kind;
    assert_eq!(kind(5, 100, None), Kind::Revolve { states: 5 });
    assert_eq!(kind(100, 5, None), Kind::Revolve { states: 5 });
    assert_eq!(kind(100, 5, Some(0.0)), Kind::Revolve { states: 5 });
    assert_eq!(kind(5, 5, Some(0.0)), Kind::Revolve { states: 5 });
    assert_eq!(kind(5, 100, Some(1e6)), Kind::Revolve { states: 5 });
    let period = Multistage::best_period(100, 5, 1.0);
    assert!(period < 100);
    assert_eq!(kind(5, 100, Some(1.0)), Kind::Multistage { states: 5, period });
    assert_eq!(Plan::with_states(5, 100, Some(1.0)).steps(), 100);
}

#[test]
fn a_schedule_says_its_budget() {
    assert_eq!(Schedule::Budget(7).budget(), 7);
    for other in [Schedule::Auto, Schedule::StoreAll, Schedule::Checkpoints(3)] {
        assert_eq!(other.budget(), 1 << 30);
    }
}

#[test]
fn factors_count_recordings_and_advances() {
    // Each step from the only state: 0 + 1 + .. + 6 advances, and 7 recordings.
    assert_eq!(Revolve::factor(7, 1), 4.0);
    assert_eq!(Revolve::factor(7, 7), 13.0 / 7.0);
    assert_eq!(Revolve::factor(0, 3), 1.0);
    // Two states and 199 repetitions reverse 201 * 200 / 2 steps; 199 * 20,100 less the 201 * 200 * 199 / 6 that are saved.
    assert_eq!(Revolve::advances(20_100, 2), 2_666_600);
    assert_eq!(Plan::new(Kind::Revolve { states: 1 }, 7).factor(), 4.0);
    assert_eq!(Plan::new(Kind::StoreAll, 0).factor(), 0.0);
}

#[test]
fn of_two_distances_that_cost_the_same_the_one_with_fewer_files_is_taken() {
    // One step run again, or one file that costs nothing.
    assert_eq!(Multistage::best_period(2, 1, 0.0), 2);
    assert_eq!(Multistage::files(2, 2), 0);
    // However dear files are, the search ends.
    assert_eq!(Multistage::endless_period(1, f64::INFINITY), 1 << 20);
}
