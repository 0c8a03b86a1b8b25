//! A schedule put together from single actions and stretches that are reversed by revolve.

use super::{Action, Revolve};

/// One after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// The next at the end.
    rest: Vec<Part>,
    now: Option<Revolve>,
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    Do(Action),
    Span(Revolve),
}

impl Parts {
    pub(super) fn new(mut parts: Vec<Part>) -> Parts {
        parts.reverse();
        Parts { rest: parts, now: None }
    }
}

impl Iterator for Parts {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        loop {
            if let Some(action) = self.now.as_mut().and_then(Iterator::next) {
                return Some(action);
            }
            match self.rest.pop()? {
                Part::Do(action) => return Some(action),
                Part::Span(span) => self.now = Some(span),
            }
        }
    }
}

/// Reverses the steps `from..to`, whose first state is in a file.
pub(super) fn from_file(parts: &mut Vec<Part>, from: usize, to: usize, states: usize) {
    parts.extend([
        Part::Do(Action::Load { step: from }),
        Part::Span(Revolve::stretch(from, to, states)),
        Part::Do(Action::Erase { step: from }),
    ]);
}
