//! Two levels: states in files at a fixed distance, and between them binomial checkpointing in memory.
//!
//! Aupy, Herrmann, Hovland and Robert, "Optimal multistage algorithm for adjoint computation", SIAM J. Sci. Comput. 38
//! (2016), show that files belong at the starts of stretches that memory alone reverses, and Aupy and Herrmann,
//! "Periodicity in optimal hierarchical checkpointing schemes for adjoint computations", Optim. Methods Softw. 32
//! (2017), that for long sequences equal stretches are optimal. With `m` stretches of `l` steps (the last of what is
//! left, `e`) and `s` states in memory this runs `(m - 1) (l + A(l, s)) + A(e, s)` steps besides the `n` recordings,
//! where `A` is what revolve needs, and writes and reads `m - 1` files.

use super::parts::{Part, Parts, from_file};
use super::{Action, Revolve};

/// Reverses steps from states in files, one at the start of each stretch but the last, and states in memory.
#[derive(Clone, Debug)]
pub struct Multistage(Parts);

impl Multistage {
    /// For so many steps, states in memory at a time, and steps between two files; 0 counts as 1.
    pub fn new(steps: usize, states: usize, period: usize) -> Multistage {
        let period = period.max(1);
        let mut parts = Vec::new();
        let last = match steps {
            0 => return Multistage(Parts::default()),
            _ => (steps - 1) / period * period,
        };
        for from in (0..last).step_by(period) {
            parts.push(Part::Do(Action::Save { step: from }));
            parts.push(Part::Do(Action::Forward { from, to: from + period }));
        }
        parts.push(Part::Span(Revolve::stretch(last, steps, states)));
        for from in (0..last).step_by(period).rev() {
            from_file(&mut parts, from, from + period, states);
        }
        Multistage(Parts::new(parts))
    }

    /// Files written, and read.
    pub fn files(steps: usize, period: usize) -> usize {
        steps.saturating_sub(1) / period.max(1)
    }

    /// Steps that are run without being recorded, which each is once besides.
    pub fn advances(steps: usize, states: usize, period: usize) -> u128 {
        let period = period.max(1);
        let files = Multistage::files(steps, period);
        let whole = period as u128 + Revolve::advances(period, states);
        files as u128 * whole + Revolve::advances(steps - files * period, states)
    }

    /// The distance of files that makes advances and files together cheapest, where a file (written and read) costs as
    /// much as `file_cost` steps; the number of steps itself where files do not pay.
    pub fn best_period(steps: usize, states: usize, file_cost: f64) -> usize {
        let cost = |period| {
            Multistage::advances(steps, states, period) as f64 + file_cost * Multistage::files(steps, period) as f64
        };
        // Beyond the best distance for endless sequences the cost per step rises; a last stretch that is not whole
        // shifts that by less than a few times the distance.
        let most = Multistage::endless_period(states, file_cost).saturating_mul(4).saturating_add(64);
        let mut best = (cost(steps.max(1)), steps.max(1));
        for period in (1..steps.min(most)).rev() {
            let at = cost(period);
            if at < best.0 {
                best = (at, period);
            }
        }
        best.1
    }

    /// The distance that costs least per step when the number of steps is not known, and large.
    pub fn endless_period(states: usize, file_cost: f64) -> usize {
        // Per step: (l + A(l, s) + c) / l. It falls while a file costs more than what a longer stretch adds, and rises
        // from there on, since A grows by ever more per step.
        let rate = |l: usize| ((l as u128 + Revolve::advances(l, states)) as f64 + file_cost) / l as f64;
        let mut l = 1;
        while l < 1 << 20 && rate(l + 1) <= rate(l) {
            l += 1;
        }
        l
    }
}

impl Iterator for Multistage {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        self.0.next()
    }
}
