//! Files that a job reads: regular ones, up to a size.

use crate::error::{Error, Result};
use crate::limits::Bytes;
use std::fs::{self, File, FileType};
use std::io::Read;
use std::path::Path;

/// Largest `scene.json`: its values take some twenty times as much memory.
pub(crate) const SCENE: Bytes = Bytes(4 << 20);
/// Largest job.
pub(crate) const JOB: Bytes = Bytes(1 << 20);
/// Largest table of places.
pub(crate) const TABLE: Bytes = Bytes(64 << 20);
/// Largest mesh.
pub(crate) const MESH: Bytes = Bytes(64 << 20);
/// Largest record of a run.
pub(crate) const RECORD: Bytes = Bytes(256 << 20);

/// Opens a regular file of at most `most`; `expected` ends the error. Others are refused before they are opened: to open a
/// pipe would wait for its writer, and to read a device has no end.
pub(crate) fn open(file: &Path, most: Bytes, expected: &str) -> Result<File> {
    let refused = |problem: String| Error::file(file, format!("{problem}, {expected}"));
    let cannot = |e: std::io::Error| refused(format!("cannot be read: {e}"));
    let regular = |found: &fs::Metadata| match found.is_file() {
        true if found.len() > most.0 => {
            Err(refused(format!("is too large: {}, the limit is {most}", Bytes(found.len()))))
        }
        true => Ok(()),
        false => Err(refused(format!("cannot be read: {}, no regular file", kind(found.file_type())))),
    };
    regular(&fs::metadata(file).map_err(cannot)?)?;
    let opened = File::open(file).map_err(cannot)?;
    // It may have been replaced in between.
    regular(&opened.metadata().map_err(cannot)?)?;
    Ok(opened)
}

/// The bytes of a regular file of at most `most`.
pub(crate) fn bytes(file: &Path, most: Bytes, expected: &str) -> Result<Vec<u8>> {
    let refused = |problem: String| Error::file(file, format!("{problem}, {expected}"));
    let opened = open(file, most, expected)?;
    let length = opened.metadata().map_or(0, |found| found.len());
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(length.saturating_add(1) as usize)
        .map_err(|_| refused(format!("cannot be read: no memory for its {length} bytes")))?;
    let read = opened.take(most.0 + 1).read_to_end(&mut bytes);
    read.map_err(|e| refused(format!("cannot be read: {e}")))?;
    // It may grow while it is read.
    match bytes.len() as u64 > most.0 {
        true => Err(refused(format!("is too large, the limit is {most}"))),
        false => Ok(bytes),
    }
}

/// The text of a regular file of at most `most`.
pub(crate) fn text(file: &Path, most: Bytes) -> Result<String> {
    const EXPECTED: &str = "expected a text file";
    String::from_utf8(bytes(file, most, EXPECTED)?).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Error::file(file, format!("byte {at} is not UTF-8, {EXPECTED}"))
    })
}

#[cfg(unix)]
fn kind(found: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match found {
        t if t.is_dir() => "a folder",
        t if t.is_fifo() => "a named pipe",
        t if t.is_socket() => "a socket",
        t if t.is_char_device() || t.is_block_device() => "a device",
        _ => "of another kind",
    }
}

#[cfg(not(unix))]
fn kind(found: FileType) -> &'static str {
    if found.is_dir() { "a folder" } else { "of another kind" }
}
