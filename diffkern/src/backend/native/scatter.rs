//! A launch that adds at indices of its choice: in chunks of a fixed partition, added up in their order.
//!
//! The first chunk adds straight into the arrays, each other into copies of its own, which whoever can adds to the
//! arrays as soon as those before it have been: then they are still in the caches, and few are in use at once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::accumulate::Pages;
use super::args::HostArray;
use super::{merge, pool, worth};
use crate::few::Few;

/// Bytes added into for one position, above which chunks are made larger: a copy may cost as much to add up as it costs
/// to touch.
const BYTES_PER_POSITION: usize = 32;

/// Operations that make a chunk worth having: some microseconds.
const WORTH: u32 = 1 << 16;

/// Chunks of a launch that accumulates through copies: a function of the shapes and of the kernel alone, with `work` operations
/// a position. Few, since each has copies that must be added up, but enough to balance 64 threads where the arrays are small
/// beside the domain, and 16 otherwise; fewer where whole copies of large arrays could fill the memory, and where there is
/// little to do.
pub(super) fn chunk_count(positions: u32, work: u32, copied_bytes: usize) -> u32 {
    const LEAST: usize = 16;
    const MOST: usize = 64;
    const MEMORY: usize = 2 << 30;
    let by_size = (positions as usize * BYTES_PER_POSITION / copied_bytes.max(1)).max(LEAST);
    let affordable = (MEMORY / copied_bytes.max(1)).max(8);
    let each = (WORTH / work.max(1)).clamp(256, 4096);
    let by_work = match positions / each {
        // So that two, four or eight threads have as many each.
        few @ 1..16 => 1 << few.ilog2(),
        many => many.max(1),
    };
    by_work.min(MOST.min(by_size).min(affordable) as u32)
}

/// The copies of one chunk, by slot.
type Copies = Few<(usize, Pages), 4>;

/// Where chunks wait for their turn.
struct Line {
    /// The first chunk that has not been added up.
    next: u32,
    /// Chunks that have been run.
    done: u32,
    merging: bool,
    waiting: Vec<Option<Copies>>,
    spare: Vec<Copies>,
}

/// Runs `chunks` parts: `run` with the number of each, and the copies of `arrays` that it adds into, none for the first.
pub(super) fn run(
    arrays: &[(usize, HostArray<'_>)],
    chunks: u32,
    pace: &worth::Pace,
    run: impl Fn(u32, &[(usize, Pages)]) + Sync,
) -> Result<(), String> {
    let waiting = (0..chunks).map(|_| None).collect();
    let line = Mutex::new(Line { next: 0, done: 0, merging: false, waiting, spare: Vec::new() });
    pool::share(chunks, pool::Grain::At(1), Some(pace), |range| {
        for k in range {
            let copies = match k {
                0 => Copies::new(),
                _ => {
                    let spare = lock(&line).spare.pop();
                    spare.unwrap_or_else(|| arrays.iter().map(|(slot, array)| (*slot, Pages::copy(array))).collect())
                }
            };
            run(k, &copies);
            hand_in(&line, arrays, k, copies);
        }
    })?;
    let line = line.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Where adding up took longer than running, much is left: all threads take part, each on pages of its own.
    let left: Vec<Copies> = line.waiting.into_iter().flatten().collect();
    if !left.is_empty() {
        for (nth, (_, array)) in arrays.iter().enumerate() {
            let copies: Vec<&Pages> =
                left.iter().filter_map(|copies| copies.get(nth)).map(|(_, pages)| pages).collect();
            merge::merge(*array, &copies);
        }
    }
    Ok(())
}

/// Adds up what chunk `k` and those that wait behind it have accumulated, unless it is not their turn or another thread
/// is at it.
fn hand_in(line: &Mutex<Line>, arrays: &[(usize, HostArray<'_>)], k: u32, copies: Copies) {
    let mut now = lock(line);
    now.waiting[k as usize] = Some(copies);
    now.done += 1;
    if now.merging {
        return;
    }
    now.merging = true;
    loop {
        let (next, all) = (now.next as usize, now.waiting.len());
        let many = now.done as usize == all && all - next > 4;
        let Some(mut copies) = now.waiting.get_mut(next).filter(|_| !many).and_then(Option::take) else { break };
        now.next += 1;
        drop(now);
        for ((_, array), (_, pages)) in arrays.iter().zip(copies.iter_mut()) {
            merge::merge_one(*array, pages);
        }
        now = lock(line);
        if !copies.is_empty() {
            now.spare.push(copies);
        }
    }
    now.merging = false;
}

fn lock<'a>(line: &'a Mutex<Line>) -> MutexGuard<'a, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::chunk_count;

    #[test]
    fn chunks_are_worth_their_copies() {
        assert_eq!(chunk_count(0, 60, 1 << 10), 1);
        assert_eq!(chunk_count(1_400, 60, 3 << 10), 1, "1,400 springs");
        assert_eq!(chunk_count(6_000, 60, 13 << 10), 4, "6,000 springs: alike for two and four threads");
        assert_eq!(chunk_count(24_000, 60, 49 << 10), 16);
        assert_eq!(chunk_count(8_000, 900, 512 << 10), 16, "8,000 particles in 32^3 nodes");
        assert_eq!(chunk_count(1 << 20, 60, 4), 64, "many positions for few sums");
        assert_eq!(chunk_count(1 << 20, 60, 1 << 20), 32, "32 bytes a position");
        assert_eq!(chunk_count(1 << 20, 60, 1 << 30), 8, "copies that are large");
    }
}
