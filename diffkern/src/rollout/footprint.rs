//! What a step costs, from its recorded tape.

use std::sync::Arc;

use super::machine::{Machine, StepTape};
use crate::ids::IdMap;
use crate::tape::{Kept, Node};

/// Bytes of a step.
pub(super) struct Footprint {
    /// Kept by its tape (captured arrays aside, which all tapes share).
    pub(super) tape: usize,
    /// Of the adjoints that its reversal needs, and of captured arrays.
    pub(super) adjoints: usize,
    /// Written by launches that are run again.
    pub(super) again: usize,
    /// Work of these.
    pub(super) work_again: f64,
}

impl Footprint {
    pub(super) fn of(tape: &StepTape, machine: &Machine) -> Footprint {
        let captured = |kept: &Kept| {
            let same = |c: &Kept| Arc::ptr_eq(c.buffer(), kept.buffer());
            machine.captured.values().any(|c| c.kept.as_ref().is_some_and(same))
        };
        let mut kept = IdMap::<usize, usize>::default();
        let mut bars = IdMap::<usize>::default();
        for shape in tape.inputs.iter().chain(&tape.outputs).filter(|shape| shape.elem.is_real()) {
            bars.insert(shape.id, shape.base_bytes());
        }
        let (mut again, mut work_again) = (0, 0.0);
        for node in &tape.nodes {
            node.visit(&mut |shape, buffer| {
                bars.insert(shape.id, shape.base_bytes());
                if let Some(buffer) = buffer.filter(|buffer| !captured(buffer)) {
                    kept.insert(Arc::as_ptr(buffer.buffer()) as usize, buffer.buffer().bytes());
                }
            });
            if let Node::Again(launch) = node
                && let Some(launch) = launch.upgrade()
            {
                again += launch.output_bytes();
                work_again += launch.work();
            }
        }
        let captured: usize = machine.captured.values().map(|c| c.array.base_bytes()).sum();
        Footprint { tape: kept.values().sum(), adjoints: bars.values().sum::<usize>() + captured, again, work_again }
    }
}
