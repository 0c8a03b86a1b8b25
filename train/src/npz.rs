//! Arrays of numbers in an NPZ file: a ZIP archive of NPY files, stored or deflated.
//!
//! Sources: NumPy Enhancement Proposal 1 (the NPY format); PKWARE: APPNOTE.TXT, 4.3 (the ZIP format).

use crate::error::{Error, Result};
use crate::input;
use crate::text::quoted;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;

/// An array, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

const EXPECTED: &str = "expected an NPZ file";
/// Most bytes of an array after inflation.
const LARGEST: usize = 256 << 20;
/// Of the records of a ZIP archive: a file in the directory, its end, and a file in place.
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";
const LOCAL: [u8; 4] = *b"PK\x03\x04";

/// Unsigned number of `size` bytes, the last digit first.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let digits = bytes.get(at..at.checked_add(size)?)?;
    digits.iter().rev().try_fold(0usize, |all, &digit| all.checked_mul(256)?.checked_add(usize::from(digit)))
}

/// All arrays of a file, by name.
pub(crate) fn read(file: &Path) -> Result<BTreeMap<String, Numbers>> {
    let bytes = input::bytes(file, input::TABLE, EXPECTED)?;
    let broken = |what: &str| Error::file(file, format!("{what}, {EXPECTED}"));
    let ends = bytes.windows(4).rposition(|record| record == END);
    let end = ends.ok_or_else(|| broken("has no directory of a ZIP archive"))?;
    let short = || broken("ends within a record");
    let (count, mut at) = number(&bytes, end + 10, 2).zip(number(&bytes, end + 16, 4)).ok_or_else(short)?;
    let mut all = BTreeMap::new();
    for _ in 0..count {
        if bytes.get(at..at + 4) != Some(&ENTRY[..]) {
            return Err(broken("has a directory without one of its entries"));
        }
        let field = |from: usize, size: usize| number(&bytes, at + from, size).ok_or_else(short);
        let (method, checksum, packed, size) = (field(10, 2)?, field(16, 4)?, field(20, 4)?, field(24, 4)?);
        let (name, extra, comment, local) = (field(28, 2)?, field(30, 2)?, field(32, 2)?, field(42, 4)?);
        let text = bytes.get(at + 46..at + 46 + name).ok_or_else(short)?;
        let text = String::from_utf8_lossy(text).trim_end_matches(".npy").to_owned();
        if bytes.get(local..local.saturating_add(4)) != Some(&LOCAL[..]) {
            return Err(broken("has an entry of its directory that leads to no file"));
        }
        let head = [26, 28].map(|from| number(&bytes, local + from, 2));
        let begin = local + 30 + head[0].ok_or_else(short)? + head[1].ok_or_else(short)?;
        let stored = bytes.get(begin..begin.saturating_add(packed)).ok_or_else(short)?;
        let raw: std::result::Result<Cow<'_, [u8]>, String> = match method {
            0 => Ok(Cow::Borrowed(stored)),
            8 => inflated(stored, size).map(Cow::Owned),
            other => Err(format!("is packed by method {other}, expected stored or deflated")),
        };
        let array = raw.and_then(|npy_file| intact(&npy_file, checksum).and_then(|()| npy(&npy_file)));
        let array = array.map_err(|problem| Error::field(file, text.clone(), problem))?;
        all.insert(text, array);
        at += 46 + name + extra + comment;
    }
    Ok(all)
}

fn inflated(packed: &[u8], size: usize) -> std::result::Result<Vec<u8>, String> {
    if size > LARGEST {
        return Err(format!("has {size} bytes, expected at most {LARGEST}"));
    }
    let mut bytes = Vec::new();
    let read = DeflateDecoder::new(packed).take(size as u64 + 1).read_to_end(&mut bytes);
    match read {
        Ok(length) if length == size => Ok(bytes),
        Ok(length) => Err(format!("inflates to {length} bytes, expected {size}, as its directory says")),
        Err(error) => Err(format!("cannot be inflated: {error}")),
    }
}

/// Refuses a file of an archive that is not what was packed.
fn intact(bytes: &[u8], checksum: usize) -> std::result::Result<(), String> {
    let found = crc32fast::hash(bytes) as usize;
    match found == checksum {
        true => Ok(()),
        false => Err(format!(
            "is damaged: its checksum (CRC-32) is {found:08x}, expected {checksum:08x}, as the archive says; copy or write the file anew"
        )),
    }
}

/// The array of an NPY file: integers or reals of 4 or 8 bytes, row by row.
fn npy(bytes: &[u8]) -> std::result::Result<Numbers, String> {
    let wrong = || "is no NPY file of version 1 to 3".to_owned();
    if bytes.get(..6) != Some(b"\x93NUMPY") {
        return Err(wrong());
    }
    let width = if bytes.get(6) == Some(&1) { 2 } else { 4 };
    let begin: usize = 8 + width;
    let end = begin.saturating_add(number(bytes, 8, width).ok_or_else(wrong)?);
    let header = bytes.get(begin..end).ok_or_else(wrong)?;
    let header = std::str::from_utf8(header).map_err(|_| wrong())?;
    let after = |key: &str| header.split_once(key).map(|(_, rest)| rest.trim_start_matches([':', ' ']));
    if after("'fortran_order'").is_none_or(|order| !order.starts_with("False")) {
        return Err("is stored column by column, expected row by row".into());
    }
    let kind = after("'descr'").and_then(|rest| rest.split('\'').nth(1)).ok_or_else(wrong)?;
    let inner = after("'shape'").and_then(|rest| rest.trim_start_matches('(').split(')').next()).ok_or_else(wrong)?;
    let sides = inner.split(',').map(str::trim).filter(|side| !side.is_empty());
    let shape: Vec<usize> =
        sides.map(|side| side.parse().map_err(|_| wrong())).collect::<std::result::Result<_, _>>()?;
    let data = &bytes[end..];
    let values: Vec<f64> = match kind {
        "<f4" => parts(data).map(|b| f64::from(f32::from_le_bytes(b))).collect(),
        "<f8" => parts(data).map(f64::from_le_bytes).collect(),
        "<i4" => parts(data).map(|b| f64::from(i32::from_le_bytes(b))).collect(),
        "<i8" => parts(data).map(|b| i64::from_le_bytes(b) as f64).collect(),
        other => return Err(format!("has elements of type {}, expected <f4, <f8, <i4 or <i8", quoted(other))),
    };
    match shape.iter().try_fold(1usize, |all, &side| all.checked_mul(side)) {
        Some(count) if count == values.len() => Ok(Numbers { shape, values }),
        _ => Err(format!("holds {} numbers, expected a shape of {shape:?}", values.len())),
    }
}

/// The bytes of a file with these arrays as `<f8`, each deflated.
pub(crate) fn archive(arrays: &[(&str, Numbers)]) -> Result<Vec<u8>> {
    let failed = |e: std::io::Error| Error::Compute(format!("arrays cannot be packed: {e}"));
    let size = |bytes: usize| {
        let problem =
            || Error::Compute(format!("arrays of {bytes} bytes, expected fewer than 4 GiB, as NPZ files hold"));
        u32::try_from(bytes).map_err(|_| problem())
    };
    let (mut all, mut directory) = (Vec::new(), Vec::new());
    for (name, array) in arrays {
        let (file, raw) = (format!("{name}.npy"), to_npy(array));
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
        let packed = deflate.write_all(&raw).and_then(|()| deflate.finish()).map_err(failed)?;
        // Version, flags, method, time and date (1980-01-01), then checksum, sizes, and lengths of name and extra fields.
        let mut fields: Vec<u8> = [20u16, 0, 8, 0, 33].iter().flat_map(|x| x.to_le_bytes()).collect();
        let sizes = [crc32fast::hash(&raw), size(packed.len())?, size(raw.len())?];
        fields.extend(sizes.iter().flat_map(|x| x.to_le_bytes()));
        fields.extend([file.len() as u16, 0].iter().flat_map(|x| x.to_le_bytes()));
        directory.extend(ENTRY);
        directory.extend(20u16.to_le_bytes());
        directory.extend(&fields);
        directory.extend([0u8; 10]);
        directory.extend(size(all.len())?.to_le_bytes());
        directory.extend(file.as_bytes());
        all.extend(LOCAL);
        all.extend(&fields);
        all.extend(file.as_bytes());
        all.extend(packed);
    }
    let begin = size(all.len())?;
    let length = size(directory.len())?;
    all.extend(directory);
    all.extend(END);
    all.extend([0u8; 4]);
    all.extend([arrays.len() as u16; 2].iter().flat_map(|x| x.to_le_bytes()));
    all.extend([length, begin].iter().flat_map(|x| x.to_le_bytes()));
    all.extend([0u8; 2]);
    Ok(all)
}

/// The NPY file of an array.
fn to_npy(array: &Numbers) -> Vec<u8> {
    let sides: String = array.shape.iter().map(|side| format!("{side}, ")).collect();
    let head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}", sides.trim_end());
    // The data begin at a multiple of 64 bytes.
    let length = (head.len() + 11).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{head:<width$}\n", width = length - 1).as_bytes());
    array.values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    bytes
}

fn parts<const N: usize>(data: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    data.chunks_exact(N).filter_map(|chunk| chunk.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let grid = Numbers { shape: vec![2, 3, 4], values: (0..24).map(|k| f64::from(k).sin()).collect() };
        let row = Numbers { shape: vec![5], values: vec![0.0, -1.5, 1e-300, 7.0, f64::MAX] };
        let one = Numbers { shape: vec![], values: vec![0.25] };
        let file = std::env::temp_dir().join(format!("diffkern-npz-{}.npz", std::process::id()));
        std::fs::write(&file, archive(&[("grid", grid.clone()), ("row", row.clone()), ("one", one.clone())])?)?;
        let found = read(&file)?;
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [("grid".into(), grid), ("one".into(), one), ("row".into(), row)]
        );
        Ok(std::fs::remove_file(&file)?)
    }

    #[test]
    fn a_checksum_that_is_wrong_is_refused() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let mut bytes = archive(&[("row", Numbers { shape: vec![3], values: vec![1.0, 2.0, 4.0] })])?;
        let entry = bytes.windows(4).rposition(|record| record == ENTRY).ok_or("no directory")?;
        bytes[entry + 16] ^= 1;
        let file = std::env::temp_dir().join(format!("diffkern-npz-damaged-{}.npz", std::process::id()));
        std::fs::write(&file, bytes)?;
        let said = read(&file).map(drop).map_err(|error| error.to_string());
        assert!(said.as_ref().is_err_and(|said| said.contains(".npz: row: is damaged: its checksum")), "{said:?}");
        Ok(std::fs::remove_file(&file)?)
    }
}
