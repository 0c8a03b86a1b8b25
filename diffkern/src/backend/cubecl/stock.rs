//! Small pieces of memory that are zero already: cleared many at a time, so that an adjoint of some kilobytes does not
//! cost a launch.

use std::collections::HashMap;

use super::CubeDevice;
use super::client::cubecl_handle::Handle;
use crate::error::Result;
use crate::sync::lock;

/// Larger pieces are cleared one by one: there a launch is little beside the clearing.
const MAX_PIECE: usize = 16 << 10;

/// Pieces cleared at a time.
const PIECES: usize = 16;

/// Buffers may be bound at multiples of this many bytes, by the limits of every API.
const ALIGN: usize = 256;

/// Zeros by size of a piece.
pub(super) type Stock = HashMap<usize, Vec<Handle>>;

impl CubeDevice {
    /// At least `bytes` of zeros that nobody else has; `None` for sizes that are not kept in stock.
    pub(super) fn stocked(&self, bytes: usize) -> Result<Option<Handle>> {
        if bytes > MAX_PIECE {
            return Ok(None);
        }
        let piece = bytes.max(1).next_multiple_of(ALIGN);
        if let Some(handle) = lock(&self.stock).get_mut(&piece).and_then(Vec::pop) {
            return Ok(Some(handle));
        }
        let block = self.alloc(piece * PIECES, false)?;
        self.clear(&block, 0, piece * PIECES)?;
        let part = |k: usize| {
            let (start, end) = (k * piece, (PIECES - 1 - k) * piece);
            block.handle().offset_start(start as u64).offset_end(end as u64)
        };
        let mut stock = lock(&self.stock);
        let pieces = stock.entry(piece).or_default();
        pieces.extend((0..PIECES).map(part));
        Ok(pieces.pop())
    }
}

#[cfg(test)]
mod tests {
    use super::super::CubeBuffer;
    use super::super::tests::{device, read_words};

    #[test]
    fn pieces_are_zero_and_nobody_elses() {
        let Some(device) = device() else { return };
        let ones = vec![0xFFu8; 1000];
        for _ in 0..3 {
            let pieces: Vec<CubeBuffer> = (0..40).map(|_| device.alloc(1000, true).expect("memory")).collect();
            for piece in &pieces {
                assert!(read_words(device, piece).iter().all(|&word| word == 0));
                device.upload(piece, 0, &ones[..500]).expect("upload");
            }
            for piece in &pieces {
                let words = read_words(device, piece);
                assert!(words[..125].iter().all(|&w| w == u32::MAX) && words[125..].iter().all(|&w| w == 0));
            }
        }
    }
}
