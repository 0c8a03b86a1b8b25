//! Binomial checkpointing of blocks of steps: the tapes of a block are recorded together and kept until it is reversed.
//!
//! Where there is room for the tapes of `b` steps, states are needed at the starts of blocks alone, and the last block
//! needs no step to be run again. All blocks have `b` steps but the first, which has what is left: revolve runs the first
//! block most often.

use std::cmp::Reverse;

use super::{Action, Revolve};

/// Reverses steps from states at the starts of blocks, with the tapes of one block at a time.
#[derive(Clone, Debug)]
pub struct Blocked {
    blocks: Revolve,
    steps: usize,
    block: usize,
    /// Steps of the present block that are still to be recorded, or reversed.
    rest: Rest,
}

#[derive(Clone, Copy, Debug)]
enum Rest {
    None,
    Record { next: usize, to: usize },
    Reverse { from: usize, next: usize },
}

impl Blocked {
    /// For so many steps, kept states (the initial one included) and steps in a block; 0 of either counts as 1.
    pub fn new(steps: usize, states: usize, block: usize) -> Blocked {
        let block = block.max(1);
        Blocked { blocks: Revolve::new(steps.div_ceil(block), states), steps, block, rest: Rest::None }
    }

    /// Steps that are run without being recorded, which each is once besides.
    pub fn advances(steps: usize, states: usize, block: usize) -> u128 {
        if steps == 0 {
            return 0;
        }
        let block = block.max(1);
        let blocks = steps.div_ceil(block);
        let missing = (blocks * block - steps) as u128;
        block as u128 * Revolve::advances(blocks, states) - missing * Revolve::advances_of_first(blocks, states)
    }

    /// States at a time and steps in a block with the fewest steps run, where `states(block)`, which falls as blocks grow, fit
    /// beside the tapes of a block; nothing if not even one does beside one tape.
    pub fn best(steps: usize, states: impl Fn(usize) -> usize) -> Option<(usize, usize)> {
        if steps == 0 {
            return None;
        }
        let fitting = |kept: usize| longest(steps, |block| states(block) >= kept);
        let (most, root) = (fitting(1), steps.isqrt() + 1);
        // Short blocks one by one; of longer ones the shortest and longest for each number of blocks and the longest that
        // leaves room for each number of states.
        let longer = (1..=root).flat_map(|n| [steps.div_ceil(n), (steps - 1) / n.saturating_sub(1).max(1), fitting(n)]);
        let lengths = (1..=root).chain(longer).filter(|&block| (1..=most).contains(&block));
        let way = |block| (states(block).min(steps.div_ceil(block)), block);
        lengths.map(way).min_by_key(|&(states, block)| (Blocked::estimate(steps, states, block), Reverse(block)))
    }

    /// The advances; of many blocks, where it takes long to find how often the short first one is run, as if it were not short.
    fn estimate(steps: usize, states: usize, block: usize) -> u128 {
        match steps.div_ceil(block) {
            ..=1000 => Blocked::advances(steps, states, block),
            blocks => block as u128 * Revolve::advances(blocks, states),
        }
    }

    /// The first step of a block.
    fn start(&self, block: usize) -> usize {
        let after = (self.steps.div_ceil(self.block) - block) * self.block;
        self.steps.saturating_sub(after)
    }
}

/// The largest of `1..=most` that fits, where all below it do; 0 if none does.
fn longest(most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

impl Iterator for Blocked {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        match self.rest {
            Rest::Record { next, to } if next < to => {
                self.rest = Rest::Record { next: next + 1, to };
                return Some(Action::Record { step: next });
            }
            Rest::Reverse { from, next } if next > from => {
                self.rest = Rest::Reverse { from, next: next - 1 };
                return Some(Action::Reverse { step: next - 1 });
            }
            _ => self.rest = Rest::None,
        }
        let action = self.blocks.next()?;
        let start = |block| self.start(block);
        Some(match action {
            Action::Record { step: block } => {
                self.rest = Rest::Record { next: start(block), to: start(block + 1) };
                return self.next();
            }
            Action::Reverse { step: block } => {
                self.rest = Rest::Reverse { from: start(block), next: start(block + 1) };
                return self.next();
            }
            Action::Forward { from, to } => Action::Forward { from: start(from), to: start(to) },
            Action::Snapshot { step } => Action::Snapshot { step: start(step) },
            Action::Restore { step } => Action::Restore { step: start(step) },
            Action::Discard { step } => Action::Discard { step: start(step) },
            // Revolve has no others; steps are no blocks there.
            other @ (Action::Forget { .. } | Action::Save { .. } | Action::Load { .. } | Action::Erase { .. }) => other,
        })
    }
}
