//! Binomial checkpointing: the fewest recomputed steps for a number of kept states.
//!
//! Griewank and Walther, "Algorithm 799: revolve", ACM TOMS 26 (2000). With `s` kept states (the initial one among
//! them) and no step run more than `r` times besides its recording, `beta(s, r) = binomial(s + r, s)` steps can be
//! reversed; `n` steps need `r n - beta(s + 1, r - 1)` advances for the least such `r`.

use super::Action;

/// Reverses steps from at most `snapshots` kept states, with the fewest steps run.
#[derive(Clone, Debug)]
pub struct Revolve {
    /// What is left to do, the next at the end.
    stack: Vec<Task>,
    /// Number of the present state.
    at: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Task {
    /// Reverse the steps `from..to`; state `from` is kept, and `free` more may be.
    Span {
        from: usize,
        to: usize,
        free: usize,
    },
    Do(Action),
    /// Make state `step` the present one, if it is not.
    Reach {
        step: usize,
    },
    /// Run without recording, from the present state.
    Advance {
        from: usize,
        to: usize,
    },
}

impl Revolve {
    /// For so many steps and kept states, the initial one included. With no snapshot there is nothing to restart from,
    /// so 0 counts as 1.
    pub fn new(steps: usize, snapshots: usize) -> Revolve {
        Revolve::stretch(0, steps, snapshots)
    }

    /// The steps `from..to` of a longer sequence; state `from` is the present one.
    pub(super) fn stretch(from: usize, to: usize, snapshots: usize) -> Revolve {
        let mut stack = Vec::new();
        if from < to {
            stack.push(Task::Do(Action::Discard { step: from }));
            stack.push(Task::Span { from, to, free: snapshots.max(1) - 1 });
            stack.push(Task::Do(Action::Snapshot { step: from }));
        }
        Revolve { stack, at: Some(from) }
    }

    /// The steps `from..to` of a longer sequence; state `from` is kept, and `free` more may be.
    pub(super) fn from_kept(from: usize, to: usize, free: usize) -> Revolve {
        Revolve { stack: vec![Task::Span { from, to, free }], at: None }
    }

    /// Steps that are run without being recorded, which each is once besides.
    pub fn advances(steps: usize, snapshots: usize) -> u128 {
        let (n, s) = (steps as u128, snapshots.max(1) as u128);
        if n == 0 {
            return 0;
        }
        if s == 1 {
            return n * (n - 1) / 2;
        }
        let mut r = 0;
        while binomial(s + r, r) < n {
            r += 1;
        }
        match r {
            0 => 0,
            _ => r * n - binomial(s + r, r - 1),
        }
    }

    /// How often the first step is run without being recorded.
    pub(super) fn advances_of_first(steps: usize, snapshots: usize) -> u128 {
        let (mut n, mut times) = (steps, 0);
        if snapshots <= 1 {
            return n.saturating_sub(1) as u128;
        }
        while n > 1 {
            n = split(n, snapshots);
            times += 1;
        }
        times
    }

    /// Steps run in all, per step.
    pub fn factor(steps: usize, snapshots: usize) -> f64 {
        match steps {
            0 => 1.0,
            _ => (Revolve::advances(steps, snapshots) + steps as u128) as f64 / steps as f64,
        }
    }
}

/// `n! / (k! (n - k)!)`, saturating.
fn binomial(n: u128, k: u128) -> u128 {
    let k = k.min(n - k);
    let mut value: u128 = 1;
    for i in 0..k {
        // The product of i + 1 consecutive numbers is divisible by (i + 1)!, so the division is exact.
        match value.checked_mul(n - i) {
            Some(product) => value = product / (i + 1),
            None => return u128::MAX,
        }
    }
    value
}

/// Where to keep the next state of `n > 1` steps with `s > 1` states, the kept first one included: after how many.
fn split(n: usize, s: usize) -> usize {
    let (n, s) = (n as u128, s as u128);
    let mut r = 1;
    while binomial(s + r, r) < n {
        r += 1;
    }
    // The first part is as long as r - 1 repetitions allow, which is less than n; but the second, to be reversed in r with
    // a state less, must not fall into a lower class than the optimum needs.
    let first = binomial(s + r - 1, r - 1);
    let least_second = binomial(s + r - 2, r - 1);
    first.min(n - least_second) as usize
}

impl Iterator for Revolve {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        loop {
            match self.stack.pop()? {
                Task::Do(action) => {
                    // What is left to do lies before a recorded step.
                    if let Action::Record { .. } = action {
                        self.at = None;
                    }
                    return Some(action);
                }
                Task::Reach { step } => {
                    if self.at != Some(step) {
                        self.at = Some(step);
                        return Some(Action::Restore { step });
                    }
                }
                Task::Advance { from, to } => {
                    self.at = Some(to);
                    return Some(Action::Forward { from, to });
                }
                Task::Span { from, to, free } => self.span(from, to, free),
            }
        }
    }
}

impl Revolve {
    fn span(&mut self, from: usize, to: usize, free: usize) {
        let later = |task| Task::Do(task);
        match to - from {
            1 => self.stack.extend([
                later(Action::Reverse { step: from }),
                later(Action::Record { step: from }),
                Task::Reach { step: from },
            ]),
            _ if free == 0 => self.stack.extend([
                Task::Span { from, to: to - 1, free },
                later(Action::Reverse { step: to - 1 }),
                later(Action::Record { step: to - 1 }),
                Task::Advance { from, to: to - 1 },
                Task::Reach { step: from },
            ]),
            n => {
                let middle = from + split(n, free + 1);
                self.stack.extend([
                    Task::Span { from, to: middle, free },
                    later(Action::Discard { step: middle }),
                    Task::Span { from: middle, to, free: free - 1 },
                    later(Action::Snapshot { step: middle }),
                    Task::Advance { from, to: middle },
                    Task::Reach { step: from },
                ]);
            }
        }
    }
}
