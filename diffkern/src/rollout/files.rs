//! States in files: written once, read back, removed when dropped.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::state::{State, with_arrays};
use crate::array::AnyArray;
use crate::error::{Error, Result};
use crate::ids::mix;
use crate::memory;

/// First bytes of a file.
const MAGIC: [u8; 8] = *b"diffkern";

/// A state in a file: its distinct arrays one after the other, each with its size before and a checksum behind it.
pub(super) struct StateFile {
    path: PathBuf,
    pub(super) bytes: usize,
    step: usize,
}

impl StateFile {
    /// Writes the arrays of a state into a new file in `dir`.
    pub(super) fn write<S: State>(dir: &Path, step: usize, state: &S) -> Result<StateFile> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("diffkern-{}-{number}-step-{step}.state", std::process::id()));
        let failed = |e| broken(&path, format!("cannot be written: {e}"));
        let opened = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
        // From here on the file is removed, also after an error.
        let mut file = StateFile { path: path.clone(), bytes: 0, step };
        let mut to = io::BufWriter::with_capacity(1 << 20, opened);
        let arrays = state.arrays();
        to.write_all(&MAGIC).map_err(failed)?;
        to.write_all(&(step as u64).to_le_bytes()).map_err(failed)?;
        for array in distinct(&arrays) {
            let mut contents = memory::filled(array.base_bytes(), 0)?;
            array.device().download(&array.buffer(), 0, &mut contents)?;
            to.write_all(&(contents.len() as u64).to_le_bytes()).map_err(failed)?;
            to.write_all(&contents).map_err(failed)?;
            to.write_all(&checksum(&contents).to_le_bytes()).map_err(failed)?;
            file.bytes += contents.len() + 16;
        }
        file.bytes += 16;
        to.into_inner().map_err(|e| failed(e.into_error()))?;
        Ok(file)
    }

    /// The state, with the parts of `like` that are no arrays; its arrays have the same shapes.
    pub(super) fn read<S: State>(&self, like: &S) -> Result<S> {
        let failed = |e| broken(&self.path, format!("cannot be read: {e}"));
        let changed = || broken(&self.path, "is not what was written: another program has changed it".to_owned());
        let mut from = io::BufReader::with_capacity(1 << 20, File::open(&self.path).map_err(failed)?);
        let mut word = [0; 8];
        let mut next = |from: &mut dyn Read| from.read_exact(&mut word).map(|()| u64::from_le_bytes(word));
        if next(&mut from).map_err(failed)? != u64::from_le_bytes(MAGIC)
            || next(&mut from).map_err(failed)? != self.step as u64
        {
            return Err(changed());
        }
        let arrays = like.arrays();
        let mut fresh: Vec<AnyArray> = Vec::with_capacity(arrays.len());
        for (k, array) in arrays.iter().enumerate() {
            if let Some(same) = arrays[..k].iter().position(|other| other.id() == array.id()) {
                fresh.push(fresh[same].clone());
                continue;
            }
            if next(&mut from).map_err(failed)? != array.base_bytes() as u64 {
                return Err(changed());
            }
            let mut contents = memory::filled(array.base_bytes(), 0)?;
            from.read_exact(&mut contents).map_err(failed)?;
            if next(&mut from).map_err(failed)? != checksum(&contents) {
                return Err(changed());
            }
            let device = array.device();
            let buffer = device.alloc(contents.len())?;
            device.upload(&buffer, 0, &contents)?;
            fresh.push(AnyArray::over(device, array.scalar(), array.elem(), array.base_len(), buffer));
        }
        with_arrays(like, fresh)
    }
}

impl Drop for StateFile {
    fn drop(&mut self) {
        // Nobody is left to hear of a failure, and the next run uses other names.
        let _ = fs::remove_file(&self.path);
    }
}

/// Each array once.
fn distinct(arrays: &[AnyArray]) -> impl Iterator<Item = &AnyArray> {
    let new = |k: &usize| arrays[..*k].iter().all(|other| other.id() != arrays[*k].id());
    (0..arrays.len()).filter(new).map(|k| &arrays[k])
}

fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(sum, |sum, &byte| mix(sum, u64::from(byte)))
}

fn broken(path: &Path, reason: String) -> Error {
    Error::File { path: path.to_owned(), reason }
}
