//! A launch: chunks of the domain, run by the pool, and the sum of what they accumulated apart.

use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};

use super::accumulate::Pages;
use super::args::{Fault, HostArg, HostArray};
use super::chunk::Chunk;
use super::{merge, pending, pool};
use crate::domain::Domain;
use crate::kernel::Access;

/// How a launch is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Look for elements stored to by two threads, in debug builds; costs 4 bytes per element of a scattered array.
    pub(crate) write_once: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { write_once: cfg!(debug_assertions) }
    }
}

/// Runs `body` once per index of `domain`; `args` by slot, all arrays that are written different from all others.
///
/// The bits of the results depend on the shapes, not on the threads: arrays that are `owned`, stored to or taken from
/// are written in place, and what is accumulated into others goes through copies per chunk where there are several.
pub(crate) fn run(body: fn(&Chunk<'_>), domain: Domain, args: &[HostArg<'_>], options: Options) -> Result<(), Fault> {
    let dims = domain.extent().ok_or(Fault::DomainTooLarge { dims: domain.dims() })?;
    let launch = Launch::new(body, dims, args, options);
    let bytes = launch.added.iter().filter(|(_, array)| !array.owned).map(|(_, array)| array.bytes()).sum();
    let done = match bytes {
        0 => pool::share(launch.positions, pool::Grain::Shrinking(128), |range| launch.run_direct(range)),
        bytes => match chunk_count(launch.positions, bytes) {
            1 => pool::share(1, pool::Grain::At(1), |_| launch.run_direct(0..launch.positions)),
            chunks => launch.run_copied(chunks),
        },
    };
    done.map_err(|message| Fault::Panicked { message })?;
    launch.fault.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), |(_, fault)| Err(fault))
}

/// Chunks of a launch that accumulates through copies: a function of the shapes alone. Few, since each has copies that
/// must be added up, but enough to balance 64 threads; fewer where whole copies of large arrays could fill the memory.
fn chunk_count(positions: u32, copied_bytes: usize) -> u32 {
    const MOST: usize = 64;
    const POSITIONS: usize = 256;
    const MEMORY: usize = 2 << 30;
    let affordable = (MEMORY / copied_bytes.max(1)).max(8);
    (positions as usize / POSITIONS).clamp(1, MOST.min(affordable)) as u32
}

struct Launch<'a> {
    body: fn(&Chunk<'_>),
    dims: [u32; 3],
    positions: u32,
    args: &'a [HostArg<'a>],
    /// The arrays to accumulate into, by slot.
    added: Vec<(usize, HostArray<'a>)>,
    zeros: Arc<Vec<u64>>,
    writers: Vec<(usize, Box<[AtomicU32]>)>,
    /// The fault at the lowest position so far, and the start of its chunk.
    fault: Mutex<Option<(u32, Fault)>>,
}

impl<'a> Launch<'a> {
    fn new(body: fn(&Chunk<'_>), dims: [u32; 3], args: &'a [HostArg<'a>], options: Options) -> Launch<'a> {
        let scattered = |(slot, arg): (usize, &HostArg<'_>)| match arg {
            HostArg::Array(array) if matches!(array.access, Access::Store | Access::Update) && !array.owned => {
                Some((slot, (0..array.len).map(|_| AtomicU32::new(0)).collect()))
            }
            _ => None,
        };
        let added = |(slot, arg): (usize, &HostArg<'a>)| match arg {
            HostArg::Array(array) if array.access == Access::Add => Some((slot, *array)),
            _ => None,
        };
        let check = cfg!(debug_assertions) && options.write_once;
        Launch {
            body,
            dims,
            positions: dims.iter().product(),
            args,
            added: args.iter().enumerate().filter_map(added).collect(),
            zeros: zeros(args),
            writers: if check { args.iter().enumerate().filter_map(scattered).collect() } else { Vec::new() },
            fault: Mutex::new(None),
        }
    }

    /// Runs the positions of one chunk.
    fn run(&self, positions: Range<u32>, pages: &[(usize, Pages)]) {
        let chunk = Chunk {
            start: positions.start,
            end: positions.end,
            dims: self.dims,
            args: self.args,
            zeros: &self.zeros,
            pages,
            writers: &self.writers,
            fault: OnceCell::new(),
            position: Cell::new(0),
        };
        pending::clear();
        (self.body)(&chunk);
        if let Some(fault) = chunk.fault.into_inner().or_else(pending::take) {
            let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|(start, _)| positions.start < *start) {
                *first = Some((positions.start, fault));
            }
        }
    }

    /// Runs the positions of one chunk, which adds straight into the arrays.
    fn run_direct(&self, positions: Range<u32>) {
        let pages: Vec<_> = self.added.iter().map(|(slot, array)| (*slot, Pages::direct(array))).collect();
        self.run(positions, &pages);
    }

    /// Runs `chunks` equal parts of the domain, each with its own copies of the arrays that it accumulates into at
    /// indices of its choice, and adds the copies up.
    fn run_copied(&self, chunks: u32) -> Result<(), String> {
        let bound = |k: u32| (u64::from(self.positions) * u64::from(k) / u64::from(chunks)) as u32;
        let all: Vec<Mutex<Vec<(usize, Pages)>>> = (0..chunks).map(|_| Mutex::default()).collect();
        pool::share(chunks, pool::Grain::At(1), |range| {
            for k in range {
                let pages = |(slot, array): &(usize, HostArray<'_>)| {
                    (*slot, if array.owned { Pages::direct(array) } else { Pages::copy(array) })
                };
                let pages: Vec<_> = self.added.iter().map(pages).collect();
                self.run(bound(k)..bound(k + 1), &pages);
                *all[k as usize].lock().unwrap_or_else(PoisonError::into_inner) = pages;
            }
        })?;
        let all: Vec<_> =
            all.into_iter().map(|pages| pages.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
        for (nth, (_, array)) in self.added.iter().enumerate().filter(|(_, (_, array))| !array.owned) {
            let copies: Vec<&Pages> = all.iter().map(|pages| &pages[nth].1).collect();
            merge::merge(*array, &copies);
        }
        Ok(())
    }
}

/// Zeros enough to read instead of any absent argument. They are never touched by a write, so the system gives them
/// next to no memory.
fn zeros(args: &[HostArg<'_>]) -> Arc<Vec<u64>> {
    static ZEROS: Mutex<Option<Arc<Vec<u64>>>> = Mutex::new(None);
    let words = |arg: &HostArg<'_>| match arg {
        HostArg::Absent { elem, scalar, len } => (*len as usize * elem.components() * scalar.bytes()).div_ceil(8),
        _ => 0,
    };
    let needed = args.iter().map(words).max().unwrap_or(0);
    let mut zeros = ZEROS.lock().unwrap_or_else(PoisonError::into_inner);
    match &*zeros {
        Some(zeros) if zeros.len() >= needed => zeros.clone(),
        _ => zeros.insert(Arc::new(vec![0; needed])).clone(),
    }
}
