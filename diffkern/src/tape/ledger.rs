//! What a tape costs: bytes kept, launches made, time spent.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::buffer::Buffer;
use crate::ids::Label;
use crate::ids::{IdMap, fresh_id};
use crate::kernel::KernelDef;
use crate::report::{Graph, KernelReport, Report, RolloutReport, zero_gradients};
use crate::tape::Recording;
use crate::unoptimised;

/// Account of one tape and of the steps recorded inside its rollouts.
pub(crate) struct Ledger {
    pub(crate) options: Recording,
    /// Number of the recording, not 0.
    pub(crate) recording: u64,
    held: RefCell<Held>,
    work: RefCell<Work>,
}

#[derive(Default)]
struct Held {
    /// References by address, so that a buffer kept twice counts once.
    count: IdMap<u32, usize>,
    now: usize,
    peak: usize,
}

#[derive(Default)]
struct Work {
    kernels: IdMap<KernelReport, usize>,
    rollouts: Vec<RolloutReport>,
}

impl Ledger {
    pub(crate) fn new(options: Recording) -> Ledger {
        Ledger { options, recording: fresh_id(), held: RefCell::default(), work: RefCell::default() }
    }

    /// Bytes that the tape keeps alive now.
    pub(crate) fn bytes(&self) -> usize {
        self.held.borrow().now
    }

    /// Whether the tape holds this buffer.
    pub(crate) fn holds(&self, buffer: &Arc<Buffer>) -> bool {
        self.held.borrow().count.contains_key(&address(buffer))
    }

    /// `lack`: what kept the launch from packs of lanes.
    pub(crate) fn forward(&self, def: &'static KernelDef, lack: Option<&'static str>, seconds: f64) {
        let mut work = self.work.borrow_mut();
        let kernel = work.kernels.entry(std::ptr::from_ref(def) as usize).or_insert_with(|| KernelReport::of(def));
        kernel.launches += 1;
        kernel.in_scalar = kernel.in_scalar.or(lack);
        kernel.seconds += seconds;
    }

    /// A launch was run again by backward.
    pub(crate) fn again(&self, def: &'static KernelDef) {
        let mut work = self.work.borrow_mut();
        let kernel = work.kernels.entry(std::ptr::from_ref(def) as usize).or_insert_with(|| KernelReport::of(def));
        kernel.launches_again += 1;
    }

    /// As [`Ledger::forward`], of the adjoint.
    pub(crate) fn backward(&self, def: &'static KernelDef, lack: Option<&'static str>, seconds: f64) {
        let mut work = self.work.borrow_mut();
        let kernel = work.kernels.entry(std::ptr::from_ref(def) as usize).or_insert_with(|| KernelReport::of(def));
        kernel.adjoint_launches += 1;
        kernel.adjoint_in_scalar = kernel.adjoint_in_scalar.or(lack);
        kernel.adjoint_seconds += seconds;
    }

    /// Opens the account of a rollout.
    pub(crate) fn rollout(&self, report: RolloutReport) -> usize {
        let mut work = self.work.borrow_mut();
        work.rollouts.push(report);
        work.rollouts.len() - 1
    }

    pub(crate) fn with_rollout(&self, index: usize, change: impl FnOnce(&mut RolloutReport)) {
        if let Some(report) = self.work.borrow_mut().rollouts.get_mut(index) {
            change(report);
        }
    }

    /// `graph` is what was recorded; `leaves` asked for a gradient, and backward started from `losses`.
    pub(crate) fn report(&self, graph: Graph, leaves: Vec<Label>, losses: Vec<Label>) -> Report {
        let (held, work) = (self.held.borrow(), self.work.borrow());
        let mut kernels: Vec<KernelReport> = work.kernels.values().cloned().collect();
        kernels.sort_by(|a, b| b.total_seconds().total_cmp(&a.total_seconds()).then(a.name.cmp(b.name)));
        let seconds = kernels.iter().map(KernelReport::total_seconds).sum::<f64>();
        Report {
            advice: unoptimised::advice(Duration::from_secs_f64(seconds)),
            launches: kernels.iter().map(|k| k.launches).sum(),
            adjoint_launches: kernels.iter().map(|k| k.adjoint_launches).sum(),
            launches_again: kernels.iter().map(|k| k.launches_again).sum(),
            nodes: graph.entries.len(),
            bytes_kept: held.now,
            peak_bytes: held.peak,
            kernels,
            rollouts: work.rollouts.clone(),
            zero_gradients: zero_gradients(&graph, &leaves, &losses),
            graph,
            leaves,
            losses,
        }
    }
}

/// A buffer kept by a tape, on its account.
pub(crate) struct Kept {
    buffer: Arc<Buffer>,
    ledger: Rc<Ledger>,
}

impl Kept {
    pub(crate) fn new(buffer: Arc<Buffer>, ledger: &Rc<Ledger>) -> Kept {
        let mut held = ledger.held.borrow_mut();
        let count = held.count.entry(address(&buffer)).or_insert(0);
        *count += 1;
        if *count == 1 {
            held.now += buffer.bytes();
            held.peak = held.peak.max(held.now);
        }
        drop(held);
        Kept { buffer, ledger: ledger.clone() }
    }

    pub(crate) fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// The same buffer, kept once more.
    pub(crate) fn again(&self) -> Kept {
        Kept::new(self.buffer.clone(), &self.ledger)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut held = self.ledger.held.borrow_mut();
        let address = address(&self.buffer);
        if let Some(count) = held.count.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                held.count.remove(&address);
                held.now -= self.buffer.bytes();
            }
        }
    }
}

fn address(buffer: &Arc<Buffer>) -> usize {
    Arc::as_ptr(buffer) as usize
}
