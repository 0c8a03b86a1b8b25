//! Gradients that are zero whatever the values are, and where their paths end.

use std::collections::BTreeSet;
use std::fmt;

use super::graph::{Entry, Graph, Part};
use crate::ids::Label;

/// Steps of a rollout that are followed one by one; what has not come out by then is taken not to.
const STEPS: usize = 1000;

/// An array that requires a gradient and gets none, because no path leads from it to the loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZeroGradient {
    /// The array.
    pub array: Label,
    /// Where paths from it end, in the order of the program: the last one is the farthest that it gets.
    pub ends: Vec<PathEnd>,
}

/// Why a path from an array ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// A launch reads it in ways without a derivative alone: for an integer, a branch, an index or a detached value.
    NoDerivative {
        /// Name of the kernel.
        kernel: &'static str,
        /// Source file of the kernel.
        file: &'static str,
        /// Line there.
        line: u32,
        /// Name of the parameter that it is bound to.
        param: &'static str,
        /// The array that arrives there.
        array: Label,
    },
    /// All elements of an array that depends on it are overwritten by values without a gradient.
    Overwritten {
        /// The array.
        array: Label,
    },
    /// A state of a rollout depends on it, and the states that the rollout ends with do not.
    InRollout {
        /// Steps of the rollout.
        steps: usize,
    },
    /// Nothing that leads to the loss reads an array that depends on it.
    Unused {
        /// The array.
        array: Label,
        /// Kernel that wrote it last; none if it is the array itself.
        by: Option<&'static str>,
    },
}

impl fmt::Display for PathEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathEnd::NoDerivative { kernel, file, line, param, array } => write!(
                f,
                "kernel `{kernel}` ({file}:{line}) takes no derivative by `{param}` ({array}): it uses it for \
                 integers, branches or detached values, or not at all"
            ),
            PathEnd::Overwritten { array } => write!(f, "{array} is overwritten by values without a gradient"),
            PathEnd::InRollout { steps } => write!(f, "inside a rollout of {steps} steps, none of which returns it"),
            PathEnd::Unused { array, by: Some(kernel) } => {
                write!(f, "{array}, which kernel `{kernel}` wrote, does not lead to the loss")
            }
            PathEnd::Unused { array, by: None } => write!(f, "no recorded launch that leads to the loss reads {array}"),
        }
    }
}

impl fmt::Display for ZeroGradient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} gets no gradient", self.array)?;
        self.ends.last().map_or(Ok(()), |end| write!(f, ": {end}"))
    }
}

/// Those of `leaves` from which no path leads to `losses`.
pub(crate) fn zero_gradients(graph: &Graph, leaves: &[Label], losses: &[Label]) -> Vec<ZeroGradient> {
    let zero = |leaf: &Label| {
        if losses.is_empty() {
            return None;
        }
        let mut flow = Flow { reached: BTreeSet::from([leaf.id()]), writers: Vec::new(), ends: Vec::new() };
        flow.follow(graph);
        if losses.iter().any(|loss| flow.reached.contains(&loss.id())) {
            return None;
        }
        // The array that was written last is the farthest that it got.
        let dead = flow
            .writers
            .iter()
            .rev()
            .find(|(written, _)| flow.reached.contains(&written.id()) && written.id() != leaf.id());
        match dead {
            Some((array, kernel)) => flow.ends.push(PathEnd::Unused { array: array.clone(), by: Some(kernel) }),
            None if flow.ends.is_empty() => flow.ends.push(PathEnd::Unused { array: leaf.clone(), by: None }),
            None => {}
        }
        Some(ZeroGradient { array: leaf.clone(), ends: flow.ends })
    };
    leaves.iter().filter_map(zero).collect()
}

struct Flow {
    /// Arrays that depend on the leaf.
    reached: BTreeSet<u64>,
    /// Arrays that became so, and by which kernel.
    writers: Vec<(Label, &'static str)>,
    ends: Vec<PathEnd>,
}

impl Flow {
    fn follow(&mut self, graph: &Graph) {
        graph.entries.iter().for_each(|entry| self.pass(entry));
    }

    fn end(&mut self, end: PathEnd) {
        if !self.ends.contains(&end) {
            self.ends.push(end);
        }
    }

    fn pass(&mut self, entry: &Entry) {
        match entry {
            Entry::Launch { kernel, file, line, arrays, .. } => {
                let mut flows = false;
                for used in arrays.iter().filter(|used| used.read) {
                    if !self.reached.contains(&used.part.id) {
                        continue;
                    }
                    match used.passes {
                        true => flows = true,
                        false => self.end(PathEnd::NoDerivative {
                            kernel,
                            file,
                            line: *line,
                            param: used.param,
                            array: used.part.label(),
                        }),
                    }
                }
                for used in arrays.iter().filter(|used| flows && used.written && used.passes) {
                    self.reached.insert(used.part.id);
                    self.writers.push((used.part.label(), kernel));
                }
            }
            Entry::Write { to } | Entry::Copy { to, from: None } => self.overwrite(to),
            Entry::Copy { to, from: Some(from) } => match self.reached.contains(&from.id) {
                true => {
                    self.reached.insert(to.id);
                }
                false => self.overwrite(to),
            },
            Entry::Rollout { steps, starts, ends, inputs, outputs, step, .. } => {
                self.roll(*steps, [starts, ends], [inputs, outputs], step);
            }
        }
    }

    fn overwrite(&mut self, to: &Part) {
        if to.whole && self.reached.remove(&to.id) {
            self.end(PathEnd::Overwritten { array: to.label() });
        }
    }

    fn roll(&mut self, steps: usize, [starts, ends]: [&[Part]; 2], [inputs, outputs]: [&[Part]; 2], step: &Graph) {
        let outside = self.reached.clone();
        let state = |parts: &[Part], reached: &BTreeSet<u64>| -> Vec<bool> {
            parts.iter().map(|part| reached.contains(&part.id)).collect()
        };
        let mut now = state(starts, &outside);
        let mut entered = now.contains(&true);
        let mut seen = BTreeSet::from([now.clone()]);
        for _ in 0..steps.min(STEPS) {
            self.reached.clone_from(&outside);
            self.reached.extend(inputs.iter().zip(&now).filter(|(_, is)| **is).map(|(part, _)| part.id));
            self.follow(step);
            now = state(outputs, &self.reached);
            entered |= now.contains(&true);
            // The state before it is the same: nothing new comes.
            if !seen.insert(now.clone()) && seen.len() == 1 {
                break;
            }
        }
        self.reached = outside;
        if entered && !now.contains(&true) {
            self.end(PathEnd::InRollout { steps });
        }
        for (part, _) in ends.iter().zip(&now).filter(|(_, is)| **is) {
            self.reached.insert(part.id);
            self.writers.push((part.label(), "of a rollout"));
        }
    }
}
