//! Keep everything.

use super::Action;

/// Records every step, then reverses every step.
#[derive(Clone, Debug)]
pub struct StoreAll {
    steps: usize,
    next: usize,
}

impl StoreAll {
    /// For so many steps.
    pub fn new(steps: usize) -> StoreAll {
        StoreAll { steps, next: 0 }
    }
}

impl Iterator for StoreAll {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        let at = self.next;
        let action = match at {
            _ if at < self.steps => Action::Record { step: at },
            _ if at < 2 * self.steps => Action::Reverse { step: 2 * self.steps - 1 - at },
            _ => return None,
        };
        self.next += 1;
        Some(action)
    }
}
