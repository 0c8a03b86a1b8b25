//! Checkpointing while nobody knows how many steps there will be.
//!
//! Wang, Moin and Iaccarino, "Minimal repetition dynamic checkpointing algorithm for unsteady adjoint calculation",
//! SIAM J. Sci. Comput. 31 (2009). Every state is kept at first, with level 0. When all places are taken, one that a
//! later state of a higher level makes dispensable goes; where there is none, the last one does and passes its level,
//! plus one, on to the new state. Once the end is known, the stretches between kept states are reversed by revolve.
//! With `s` places (the initial state in one of them) no step is run more often, besides its recording, than the
//! optimum for a known number of steps needs with `s - 1` places.

use super::parts::{Part, Parts, from_file};
use super::{Action, Revolve};

/// Says what to keep before each step, and how to reverse once the steps end.
#[derive(Clone, Debug)]
pub struct Online {
    states: usize,
    /// Steps between two files.
    period: Option<usize>,
    /// Number and level of each kept state, in order.
    kept: Vec<(usize, usize)>,
    next: usize,
}

impl Online {
    /// With so many states in memory at a time, the initial one included; 0 counts as 1.
    pub fn new(states: usize) -> Online {
        Online { states: states.max(1), period: None, kept: Vec::new(), next: 0 }
    }

    /// The same with the state of each `period`-th step in a file: memory serves the steps after the last of them.
    pub fn with_files(states: usize, period: usize) -> Online {
        Online { period: Some(period.max(1)), ..Online::new(states) }
    }

    /// Steps so far.
    pub fn steps(&self) -> usize {
        self.next
    }

    /// What to do to get on by one step: up to its recording. The tape of the step before is forgotten, since it was
    /// not the last.
    pub fn step(&mut self) -> Vec<Action> {
        let step = self.next;
        let mut actions = Vec::new();
        if let Some(before) = step.checked_sub(1) {
            actions.push(Action::Forget { step: before });
        }
        if self.period.is_some_and(|period| step.is_multiple_of(period)) {
            actions.extend(self.kept.drain(..).map(|(step, _)| Action::Discard { step }));
            actions.push(Action::Save { step });
        }
        self.place(step, &mut actions);
        actions.push(Action::Record { step });
        self.next += 1;
        actions
    }

    fn place(&mut self, step: usize, actions: &mut Vec<Action>) {
        let mut level = 0;
        if self.kept.len() == self.states {
            let Some(go) = self.dispensable().or_else(|| self.kept.len().checked_sub(1).filter(|&last| last > 0))
            else {
                return;
            };
            let (gone, its_level) = self.kept.remove(go);
            if go == self.kept.len() {
                level = its_level + 1;
            }
            actions.push(Action::Discard { step: gone });
        }
        self.kept.push((step, level));
        actions.push(Action::Snapshot { step });
    }

    /// The last state, but the first of all, that has one of a higher level after it.
    fn dispensable(&self) -> Option<usize> {
        let mut highest = 0;
        for (k, &(_, level)) in self.kept.iter().enumerate().skip(1).rev() {
            if level < highest {
                return Some(k);
            }
            highest = level;
        }
        None
    }

    /// How to reverse all steps, the last of which is recorded.
    pub fn finish(self) -> impl Iterator<Item = Action> + Clone + use<> {
        let mut parts = Vec::new();
        let Some(last) = self.next.checked_sub(1) else { return Parts::default() };
        parts.push(Part::Do(Action::Reverse { step: last }));
        let mut to = last;
        let mut start = 0;
        for (k, &(from, _)) in self.kept.iter().enumerate().rev() {
            if from < to {
                // The states before it are kept, and itself.
                parts.push(Part::Span(Revolve::from_kept(from, to, self.states - (k + 1))));
            }
            parts.push(Part::Do(Action::Discard { step: from }));
            to = from;
            start = from;
        }
        if let Some(period) = self.period {
            parts.push(Part::Do(Action::Erase { step: start }));
            for from in (0..start).step_by(period).rev() {
                from_file(&mut parts, from, from + period, self.states);
            }
        }
        Parts::new(parts)
    }
}
