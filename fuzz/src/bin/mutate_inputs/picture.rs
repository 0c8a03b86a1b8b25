//! PNG files, chunk by chunk. Checksums are made anew, so that what is wrong gets past them.

use std::io::Write;
use std::sync::LazyLock;

use diffkern_fuzz::random::Random;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use crate::words;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Kinds of chunk that a reader may look into.
const KINDS: &[&[u8; 4]] = &[
    b"IDAT", b"IEND", b"IHDR", b"PLTE", b"tRNS", b"gAMA", b"iCCP", b"zTXt", b"tEXt", b"acTL", b"fcTL", b"fdAT",
    b"eXIf", b"sBIT", b"quZz",
];

/// Sides of an image; the largest would be bombs.
const SIDES: &[u32] = &[0, 1, 15, 16, 17, 8192, 65_535, 65_536, 1 << 24, (1 << 31) - 1, 1 << 31, u32::MAX];

struct Chunk {
    kind: [u8; 4],
    data: Vec<u8>,
    /// Said to be of this length, if not of its own.
    length: Option<u32>,
}

/// Changes the chunks of a PNG, or their order.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let mut chunks = split(bytes);
    for _ in 0..1 + random.below(2) {
        let at = random.below(chunks.len());
        match random.below(9) {
            0 | 1 => header(&mut chunks, random),
            2 | 3 => pixels(&mut chunks, random),
            4 => words::mutate_bytes(&mut chunks[at].data, random),
            5 if chunks.len() > 1 => drop(chunks.remove(at)),
            6 => {
                let to = random.below(chunks.len());
                chunks.swap(at, to);
            }
            7 => chunks[at].length = Some(*random.pick(SIDES)),
            _ => {
                let data = extra(random);
                chunks.insert(at, Chunk { kind: **random.pick(KINDS), data, length: None });
            }
        }
    }
    *bytes = join(&chunks);
}

/// Another size, depth, colour or interlace in the header.
fn header(chunks: &mut [Chunk], random: &mut Random) {
    let Some(data) = chunks.iter_mut().find(|c| &c.kind == b"IHDR").map(|c| &mut c.data) else {
        return;
    };
    let at = random.below(9);
    if data.len() < 13 {
        return;
    }
    match at {
        0..=2 => data[..4].copy_from_slice(&random.pick(SIDES).to_be_bytes()),
        3 | 4 => data[4..8].copy_from_slice(&random.pick(SIDES).to_be_bytes()),
        _ => data[at + 4] = *random.pick(&[0, 1, 2, 3, 4, 6, 8, 16, 17, 255]),
    }
}

/// Pixels that are too few, too many by far, or filtered in a way that does not exist.
fn pixels(chunks: &mut [Chunk], random: &mut Random) {
    let Some(chunk) = chunks.iter_mut().find(|c| &c.kind == b"IDAT") else {
        return;
    };
    let length = *random.pick(&[0, 1, 16, 17 * 16 - 1, 17 * 16, 17 * 16 + 1, 49 * 16, 97 * 16, 1 << 16, 1 << 22]);
    let filter = *random.pick(&[0, 1, 2, 3, 4, 5, 255]);
    chunk.data = compressed(&vec![filter; length]);
}

/// Contents of a chunk: some bytes, or a text that is small only while compressed.
fn extra(random: &mut Random) -> Vec<u8> {
    static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| [&b"bomb\0\0"[..], &compressed(&vec![0; 1 << 26])].concat());
    match *random.pick(&[Some(0), Some(1), Some(4), Some(26), Some(1000), None]) {
        Some(size) => (0..size).map(|_| random.below(256) as u8).collect(),
        None => BOMB.clone(),
    }
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Into memory, which cannot fail.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

fn split(bytes: &[u8]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut rest = bytes.get(SIGNATURE.len()..).unwrap_or_default();
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        let (Some((kind, behind)), Some(data)) = (behind.split_first_chunk::<4>(), behind.get(4..4 + length)) else {
            break;
        };
        chunks.push(Chunk { kind: *kind, data: data.to_vec(), length: None });
        rest = behind.get(length + 4..).unwrap_or_default();
    }
    chunks
}

fn join(chunks: &[Chunk]) -> Vec<u8> {
    let mut bytes = SIGNATURE.to_vec();
    for chunk in chunks {
        bytes.extend(chunk.length.unwrap_or(chunk.data.len() as u32).to_be_bytes());
        let mut checksum = Crc::new();
        for part in [&chunk.kind[..], &chunk.data] {
            checksum.update(part);
            bytes.extend(part);
        }
        bytes.extend(checksum.sum().to_be_bytes());
    }
    bytes
}
