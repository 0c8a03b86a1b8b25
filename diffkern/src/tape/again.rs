//! Launches that backward runs again, instead of what they wrote being kept.
//!
//! A later launch whose adjoint reads an array that such a launch wrote holds on to the launch, not to the contents; the
//! launch holds on to what it read and to what its outputs held before. So what comes back is what was read then, and
//! later writes to any of these arrays do not matter.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::bars::Shape;
use super::ledger::{Kept, Ledger};
use crate::array::{AnyArray, Blank};
use crate::backend::native::Native;
use crate::buffer::{Buffer, LaunchArg};
use crate::device::Device;
use crate::domain::Domain;
use crate::error::Result;
use crate::ids::IdMap;
use crate::kernel::{Access, KernelDef, Which};
use crate::launch::{Arg, Call};

/// Launches that lean on each other are run again in a chain of at most this length; then contents are kept.
const LONGEST_CHAIN: usize = 64;

/// Which launches are run again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Again {
    #[default]
    None,
    /// Those of the kernels of these names.
    Kernels(Rc<[String]>),
    All,
}

impl Again {
    /// The names of kernels, if it goes by them.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Again::Kernels(names) => names.to_vec(),
            Again::None | Again::All => Vec::new(),
        }
    }

    fn has(&self, def: &KernelDef) -> bool {
        match self {
            Again::None => false,
            Again::Kernels(names) => names.iter().any(|name| name == def.name),
            Again::All => true,
        }
    }
}

thread_local! {
    static SCOPES: Cell<usize> = const { Cell::new(0) };
}

/// Runs `body`; what the launches in it write is not kept for the gradients of later launches, but computed again when
/// [`Tape::backward`](crate::Tape::backward) needs it. That saves memory where a cheap kernel writes a large array.
/// Values and gradients stay the same, to the bit on the CPU, whatever is overwritten later.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern::{recompute, reduce};
///
/// #[diff_kernel]
/// fn spread<F: Float>(x: &Array<F>, wide: &mut Array<F>) {
///     wide[ABSOLUTE_POS] = (x[ABSOLUTE_POS % x.len()] * F::cast_from(ABSOLUTE_POS as u32)).sin();
/// }
///
/// let dev = Device::cpu();
/// let x = dev.array(&[0.1, 0.2])?.requires_grad();
/// let (tape, loss) = Tape::record_value(|| {
///     let wide = dev.uninit(10_000)?;
///     recompute(|| spread(wide.len(), &x, &wide))?;
///     reduce::dot(&wide, &wide)
/// })?;
/// tape.backward(&loss)?;
/// assert_eq!(tape.report().launches_again, 1);
/// # Ok::<(), Error>(())
/// ```
///
/// The launches keep what they read, so an array that only they read costs memory. Launches that read one part of an
/// array and write another are not run again, nor those on a GPU that use what `fetch_add` gives.
pub fn recompute<R>(body: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            SCOPES.set(SCOPES.get() - 1);
        }
    }
    SCOPES.set(SCOPES.get() + 1);
    let _leave = Leave;
    body()
}

/// Contents of an array as the tape can get at them.
#[derive(Clone)]
pub(crate) enum Source {
    Kept(Rc<Kept>),
    /// As it was made.
    Blank(Device, Blank, usize),
    /// By running the launch that wrote it, into the argument of this slot.
    Made(Rc<Rerun>, usize),
}

impl Source {
    pub(crate) fn keep(buffer: Arc<Buffer>, ledger: &Rc<Ledger>) -> Source {
        Source::Kept(Rc::new(Kept::new(buffer, ledger)))
    }

    /// The contents; not to be written.
    pub(crate) fn buffer(&self) -> Result<Arc<Buffer>> {
        match self {
            Source::Kept(kept) => Ok(kept.buffer().clone()),
            Source::Blank(device, blank, bytes) => blank.alloc(device, *bytes),
            Source::Made(rerun, slot) => rerun.output(*slot),
        }
    }

    /// What is kept for it, where that is its contents.
    pub(crate) fn kept(&self) -> Option<&Kept> {
        match self {
            Source::Kept(kept) => Some(kept),
            _ => None,
        }
    }

    fn chain(&self) -> usize {
        match self {
            Source::Made(rerun, _) => rerun.chain,
            _ => 0,
        }
    }
}

/// A launch that can be run again.
pub(crate) struct Rerun {
    def: &'static KernelDef,
    native: Native,
    domain: Domain,
    device: Device,
    args: Vec<RerunArg>,
    chain: usize,
    ledger: Rc<Ledger>,
    /// By slot, what it wrote, from the first need in backward until backward passes the launch.
    outputs: RefCell<Option<Vec<Option<Kept>>>>,
}

enum RerunArg {
    Scalar(LaunchArg<'static, Buffer>),
    Read(Shape, Source),
    /// With the contents before the launch.
    Written(Shape, Source),
    /// Neither.
    Unused(Shape),
}

impl Rerun {
    /// What the array of a slot that it writes had before.
    pub(crate) fn before(&self, slot: usize) -> Option<Source> {
        match self.args.get(slot) {
            Some(RerunArg::Written(_, before)) => Some(before.clone()),
            _ => None,
        }
    }

    /// Bytes of what it writes.
    pub(crate) fn output_bytes(&self) -> usize {
        self.args.iter().map(|arg| if let RerunArg::Written(shape, _) = arg { shape.base_bytes() } else { 0 }).sum()
    }

    /// What is kept to run it.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&Shape, &Kept)> {
        self.args.iter().filter_map(|arg| match arg {
            RerunArg::Read(shape, source) | RerunArg::Written(shape, source) => Some((shape, source.kept()?)),
            _ => None,
        })
    }

    /// Work of running it.
    pub(crate) fn work(&self) -> f64 {
        work(self.def, self.domain)
    }

    /// Lets go of what it wrote.
    pub(crate) fn forget(&self) {
        self.outputs.borrow_mut().take();
    }

    fn output(&self, slot: usize) -> Result<Arc<Buffer>> {
        if self.outputs.borrow().is_none() {
            let outputs = self.run()?;
            *self.outputs.borrow_mut() = Some(outputs);
        }
        let outputs = self.outputs.borrow();
        let found = outputs.iter().flatten().nth(slot).and_then(|kept| kept.as_ref());
        found.map(|kept| kept.buffer().clone()).ok_or_else(|| {
            let reason = format!("slot {slot} of a launch that is run again is not written");
            crate::Error::Launch { kernel: self.def.name, reason }
        })
    }

    fn run(&self) -> Result<Vec<Option<Kept>>> {
        let mut held: Vec<Option<Arc<Buffer>>> = Vec::with_capacity(self.args.len());
        let mut outputs: Vec<Option<Kept>> = Vec::with_capacity(self.args.len());
        // Two parts of one array are written in one buffer.
        let mut written: IdMap<usize> = IdMap::default();
        for (slot, arg) in self.args.iter().enumerate() {
            let (buffer, output) = match arg {
                RerunArg::Scalar(_) | RerunArg::Unused(_) => (None, None),
                RerunArg::Read(_, source) => (Some(source.buffer()?), None),
                RerunArg::Written(shape, before) => {
                    let buffer = match written.get(&shape.id) {
                        Some(&first) => held[first].clone(),
                        None => Some(self.fresh(before, shape.base_bytes())?),
                    };
                    written.entry(shape.id).or_insert(slot);
                    (buffer.clone(), buffer.map(|buffer| Kept::new(buffer, &self.ledger)))
                }
            };
            held.push(buffer);
            outputs.push(output);
        }
        let args: Vec<LaunchArg<'_, Buffer>> = self
            .args
            .iter()
            .zip(&held)
            .map(|(arg, buffer)| match (arg, buffer) {
                (RerunArg::Scalar(scalar), _) => *scalar,
                (RerunArg::Read(shape, _) | RerunArg::Written(shape, _), Some(buffer)) => {
                    LaunchArg::Buffer { buffer: &**buffer, offset: shape.offset, len: shape.len, elem: shape.elem }
                }
                (RerunArg::Read(shape, _) | RerunArg::Written(shape, _) | RerunArg::Unused(shape), _) => {
                    LaunchArg::Absent { len: shape.len }
                }
            })
            .collect();
        let _span = crate::trace::launch(self.def.name, "again", self.domain);
        let program = (self.def, Which::Primal, self.native.primal);
        self.device.run(program, self.native.scalar, self.domain, &args)?;
        self.ledger.again(self.def);
        Ok(outputs)
    }

    /// Memory with the contents of `before` that nobody else has.
    fn fresh(&self, before: &Source, bytes: usize) -> Result<Arc<Buffer>> {
        if let Source::Blank(device, blank, bytes) = before {
            return blank.alloc(device, *bytes);
        }
        let (from, to) = (before.buffer()?, self.device.alloc(bytes)?);
        self.device.copy(&from, 0, &to, 0, bytes)?;
        Ok(to)
    }
}

/// Positions times the work of one: what launches are compared by before they are timed. A kernel that does nothing still
/// is launched.
pub(crate) fn work(def: &KernelDef, domain: Domain) -> f64 {
    domain.len() as f64 * f64::from(def.primal.work.max(1))
}

/// What a recording knows of the launches that are run again.
#[derive(Default)]
pub(crate) struct Reruns {
    pub(crate) which: Again,
    /// By array, the launch that made its contents at a version.
    made: IdMap<(u64, Rc<Rerun>, usize)>,
    /// By slot of the launch that runs, what is written had before.
    before: Option<Vec<Option<Source>>>,
}

impl Reruns {
    /// Before a launch: notes what its outputs have now, if it is one to be run again.
    pub(crate) fn prepare(&mut self, call: Call<'_>, ledger: &Rc<Ledger>) {
        self.before = None;
        if SCOPES.get() == 0 && !self.which.has(call.def) || !call.is_repeatable() {
            return;
        }
        let reads = |id| call.arrays().any(|(_, array, access)| access == Access::Read && array.id() == id);
        if call.writes().any(|array| reads(array.id())) {
            return;
        }
        let mut before = vec![None; call.args.len()];
        for (slot, array, _) in call.arrays().filter(|(_, _, access)| access.writes()) {
            before[slot] = Some(match array.blank() {
                Some(blank) => Source::Blank(array.device().clone(), blank, array.base_bytes()),
                None => self.source(array, array.buffer(), ledger),
            });
        }
        self.before = Some(before);
    }

    /// After a launch: the launch, if it is one to be run again.
    pub(crate) fn launched(
        &mut self,
        call: Call<'_>,
        reads: &[Option<Arc<Buffer>>],
        ledger: &Rc<Ledger>,
    ) -> Option<Rc<Rerun>> {
        let mut before = self.before.take()?;
        let mut args = Vec::with_capacity(call.args.len());
        for (slot, arg) in call.args.iter().enumerate() {
            args.push(match *arg {
                Arg::Array(array) => match (before[slot].take(), &reads[slot]) {
                    (Some(before), _) => RerunArg::Written(Shape::of(array), before),
                    (None, Some(buffer)) => {
                        RerunArg::Read(Shape::of(array), self.source(array, buffer.clone(), ledger))
                    }
                    (None, None) => RerunArg::Unused(Shape::of(array)),
                },
                Arg::Real(x) => RerunArg::Scalar(LaunchArg::Real(x)),
                Arg::U32(x) => RerunArg::Scalar(LaunchArg::U32(x)),
                Arg::I32(x) => RerunArg::Scalar(LaunchArg::I32(x)),
                Arg::Usize(x) => RerunArg::Scalar(LaunchArg::Usize(x)),
                Arg::Bool(x) => RerunArg::Scalar(LaunchArg::Bool(x)),
            });
        }
        let chain = args.iter().map(|arg| match arg {
            RerunArg::Read(_, source) | RerunArg::Written(_, source) => source.chain(),
            _ => 0,
        });
        let rerun = Rc::new(Rerun {
            def: call.def,
            native: *call.native,
            domain: call.domain,
            device: call.device.clone(),
            chain: chain.max().unwrap_or(0) + 1,
            args,
            ledger: ledger.clone(),
            outputs: RefCell::new(None),
        });
        for (slot, array, _) in call.arrays().filter(|(_, _, access)| access.writes()) {
            self.made.insert(array.id(), (array.version(), rerun.clone(), slot));
        }
        Some(rerun)
    }

    /// How to get at the present contents `buffer` of an array later.
    pub(crate) fn source(&self, array: &AnyArray, buffer: Arc<Buffer>, ledger: &Rc<Ledger>) -> Source {
        match self.made.get(&array.id()) {
            Some((version, rerun, slot)) if *version == array.version() && rerun.chain < LONGEST_CHAIN => {
                Source::Made(rerun.clone(), *slot)
            }
            _ => Source::keep(buffer, ledger),
        }
    }
}
