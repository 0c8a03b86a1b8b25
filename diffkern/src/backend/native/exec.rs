//! A launch: parts of the domain, run by the pool.

use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::accumulate::Pages;
use super::args::{Fault, HostArg, HostArray};
use super::chunk::Chunk;
use super::lanes::Lines;
use super::{parts, pending, pool, scatter, worth};
use crate::buffer::HostBuffer;
use crate::domain::Domain;
use crate::faults;
use crate::few::Few;
use crate::kernel::Access;

/// How a launch is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options<'a> {
    /// The arrays in which elements stored to by two threads are looked for, with a zero for each element: who stored to it
    /// is noted there, by an atomic exchange for each store.
    pub(crate) writers: &'a [(usize, Vec<AtomicU32>)],
    /// The launch ends early once one of them is set.
    pub(crate) interrupts: &'a [Arc<AtomicBool>],
    /// Operations on scalars for one position, more or less.
    pub(crate) work: u32,
    /// Bytes of what is accumulated into, where the domain is divided by those of another program.
    pub(crate) copied: Option<usize>,
}

/// Runs `body` once per index of `domain`; `args` by slot, all arrays that are written different from all others.
///
/// The bits of the results depend on the shapes, not on the threads: arrays that are `owned`, stored to or taken from
/// are written in place, and what is accumulated into others goes through copies per chunk where there are several.
pub(crate) fn run(
    body: fn(&Chunk<'_>),
    domain: Domain,
    args: &[HostArg<'_>],
    options: Options<'_>,
) -> Result<(), Fault> {
    let dims = domain.extent().ok_or(Fault::DomainTooLarge { dims: domain.dims() })?;
    let mut launch = Launch::new(body, dims, args, options);
    launch.sort().inspect_err(|_| {
        let arrays = args.iter().filter_map(|arg| if let HostArg::Array(array) = arg { Some(array) } else { None });
        arrays.filter(|array| array.fresh || array.over).for_each(clear);
    })?;
    let mut done = launch.run().map_err(|message| Fault::Panicked { message });
    if launch.interrupted.load(Ordering::Relaxed) {
        done = Err(Fault::Interrupted);
    }
    if done.is_err() || launch.positions == 0 {
        // No chunk has been there to clear its part.
        launch.cleared.iter().chain(launch.over.iter()).for_each(|array| clear(array));
    }
    done?;
    launch.fault.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), |(_, fault)| Err(fault))
}

/// Bytes that a chunk clears before it adds to them, so that they are still in the cache, whatever else it reads.
const CLEARED_BYTES: usize = 32 << 10;

struct Launch<'a> {
    body: fn(&Chunk<'_>),
    dims: [u32; 3],
    positions: u32,
    work: u32,
    copied: Option<usize>,
    args: &'a [HostArg<'a>],
    /// The arrays to accumulate into at any index, by slot.
    scattered: Few<(usize, HostArray<'a>), 4>,
    /// Those to accumulate into, each position at its own index, that have to be cleared.
    cleared: Few<HostArray<'a>, 8>,
    /// Those in the place of others.
    over: Few<HostArray<'a>, 4>,
    zeros: &'static [u64],
    writers: &'a [(usize, Vec<AtomicU32>)],
    interrupts: &'a [Arc<AtomicBool>],
    /// Whether a chunk was left out for one of them.
    interrupted: AtomicBool,
    /// The fault at the lowest position so far, and the start of its chunk.
    fault: Mutex<Option<(u32, Fault)>>,
}

impl<'a> Launch<'a> {
    fn new(body: fn(&Chunk<'_>), dims: [u32; 3], args: &'a [HostArg<'a>], options: Options<'a>) -> Launch<'a> {
        Launch {
            body,
            dims,
            positions: dims.iter().product(),
            work: options.work,
            copied: options.copied,
            args,
            scattered: Few::new(),
            cleared: Few::new(),
            over: Few::new(),
            zeros: &[],
            writers: options.writers,
            interrupts: options.interrupts,
            interrupted: AtomicBool::new(false),
            fault: Mutex::new(None),
        }
    }

    /// Takes arrays down by how they are added to, in place: a launch is large to move.
    fn sort(&mut self) -> Result<(), Fault> {
        let mut absent = 0;
        for (slot, arg) in self.args.iter().enumerate() {
            match arg {
                HostArg::Array(array) if array.access == Access::Add && !array.owned => {
                    self.scattered.push((slot, *array));
                }
                HostArg::Array(array) if array.over => self.over.push(*array),
                HostArg::Array(array) if array.access == Access::Add && array.fresh => self.cleared.push(*array),
                HostArg::Absent { elem, scalar, len } => {
                    absent = absent.max((*len as usize * elem.components() * scalar.bytes()).div_ceil(8));
                }
                _ => {}
            }
        }
        self.zeros = zeros((absent + PADDING).max(2 * PADDING))?;
        Ok(())
    }

    fn run(&self) -> Result<(), String> {
        for (_, array) in self.scattered.iter().filter(|(_, array)| array.fresh) {
            clear(array);
        }
        // What no position adds to.
        // SAFETY: nothing has begun.
        self.over.iter().for_each(|array| unsafe { array.clear(self.positions, u32::MAX) });
        let bytes: usize = self.scattered.iter().map(|(_, array)| array.bytes()).sum();
        let copied = self.copied.unwrap_or(bytes);
        let chunks = if bytes == 0 { 1 } else { scatter::chunk_count(self.positions, self.work, copied) };
        let pace = worth::pace(self.body as usize ^ chunks as usize);
        // Old values depend on the order of the positions: there is one, the same for any number of threads.
        let ordered = self.args.iter().any(|arg| matches!(arg, HostArg::Array(array) if array.access == Access::Fetch));
        match (bytes, chunks) {
            _ if ordered => pool::alone(|| self.run_chunk(0..self.positions, &[])),
            (0, _) => pool::share(self.positions, pool::Grain::Shrinking(128), Some(pace), |range| {
                self.run_chunk(range, &[]);
            }),
            (_, 1) => pool::alone(|| self.run_chunk(0..self.positions, &[])),
            _ => scatter::run(&self.scattered, chunks, pace, |k, copies| {
                let bound = |k: u32| parts::bound(self.positions, k, chunks);
                self.run_chunk(bound(k)..bound(k + 1), copies);
            }),
        }
    }

    /// Runs the positions of one chunk, clearing what they add to in passing.
    fn run_chunk(&self, positions: Range<u32>, pages: &[(usize, Pages)]) {
        if self.interrupts.iter().any(|flag| flag.load(Ordering::Relaxed)) {
            return self.interrupted.store(true, Ordering::Relaxed);
        }
        let bytes: usize = self.cleared.iter().map(HostArray::elem_bytes).sum();
        if bytes == 0 {
            return self.run_part(positions, pages);
        }
        let most = (CLEARED_BYTES / bytes).max(64) as u32;
        let most = parts::even(most, most);
        let mut start = positions.start;
        while start < positions.end {
            let end = start.saturating_add(most).min(positions.end);
            let to = if end == self.positions { u32::MAX } else { end };
            // SAFETY: the elements at these positions, or beyond all of them, are this chunk's alone.
            self.cleared.iter().for_each(|array| unsafe { array.clear(start, to) });
            self.run_part(start..end, pages);
            start = end;
        }
    }

    fn run_part(&self, positions: Range<u32>, pages: &[(usize, Pages)]) {
        let chunk = Chunk {
            start: positions.start,
            end: positions.end,
            dims: self.dims,
            args: self.args,
            zeros: self.zeros,
            pages,
            writers: self.writers,
            fault: OnceCell::new(),
            suspect: Cell::new(false),
            position: Cell::new(0),
            lines: Lines::default(),
        };
        pending::clear();
        (self.body)(&chunk);
        let seen = chunk.fault.into_inner().or_else(pending::take);
        let start = positions.start;
        let fault = match chunk.suspect.get() {
            true => Some(Fault::InPack { positions, seen: seen.map(Box::new) }),
            false => seen,
        };
        if let Some(fault) = fault {
            let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|(other, _)| start < *other) {
                *first = Some((start, fault));
            }
        }
    }
}

/// Clears a whole array, with the help of other threads.
fn clear(array: &HostArray<'_>) {
    let _ = pool::share(array.len, pool::Grain::Shrinking(1 << 13), None, |range| {
        // SAFETY: the launch writes the array, and nothing has begun.
        unsafe { array.clear(range.start, range.end) };
    });
}

/// Words of zeros beyond an argument, and half as many as any element has.
const PADDING: usize = 8;

/// Zeros enough to read instead of an absent argument of so many words. They are never written, so the system gives
/// them next to no memory; a power of two each, kept for later launches.
fn zeros(words: usize) -> Result<&'static [u64], Fault> {
    static ZEROS: [OnceLock<HostBuffer>; usize::BITS as usize] = [const { OnceLock::new() }; usize::BITS as usize];
    let words = words.checked_next_power_of_two().ok_or(Fault::OutOfMemory { bytes: usize::MAX })?;
    let kept = &ZEROS[words.ilog2() as usize];
    let zeros = match kept.get() {
        Some(zeros) => zeros,
        None => {
            let bytes = words.saturating_mul(size_of::<u64>());
            let zeros = if faults::allocation(bytes) { None } else { HostBuffer::zeroed(bytes) };
            // Of two threads that come here at once, one drops its own.
            let zeros = zeros.ok_or(Fault::OutOfMemory { bytes })?;
            kept.get_or_init(|| zeros)
        }
    };
    // SAFETY: as many words as were asked for, zeroed and aligned to more than a word; nobody writes them, and statics live on.
    Ok(unsafe { std::slice::from_raw_parts(zeros.ptr().cast(), words) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_that_the_system_has_no_memory_for_are_a_fault() {
        assert_eq!(zeros(20).map(|zeros| zeros.to_vec()), Ok(vec![0; 32]));
        for words in [1 << 60, usize::MAX] {
            assert!(matches!(zeros(words), Err(Fault::OutOfMemory { .. })), "{words}");
        }
    }
}
