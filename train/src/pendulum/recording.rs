//! Swings as they were measured, and the file that they come in.

use crate::error::{Error, Result};
use crate::npz::{self, Numbers};
use std::collections::BTreeMap;
use std::path::Path;

/// A swing: at each sample the angles of both arms from the upright \[rad\] and their rates \[rad/s\].
pub type Segment = Vec<[f64; 4]>;

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Time from sample to sample \[s\].
    pub dt: f64,
    /// Swings to fit.
    pub fitted: Vec<Segment>,
    /// Swings to judge on.
    pub judged: Vec<Segment>,
}

/// Names of its arrays.
const DT: &str = "dt_s";
const FITTED: &str = "double_id";
const JUDGED: &str = "double_vad";
/// Fewest samples of a swing, and longest time between two: arms turn at up to 16 rad/s.
const FEWEST: usize = 20;
const LONGEST: f64 = 0.02;

/// Reads `dt_s`, `double_id` and `double_vad` of an NPZ file: arrays of swings, samples, and four numbers each.
///
/// # Errors
/// When the file is missing, or names the array and what is wrong in it.
pub fn read(file: &Path) -> Result<Recording> {
    of(file, &npz::read(file)?)
}

pub(super) fn of(file: &Path, arrays: &BTreeMap<String, Numbers>) -> Result<Recording> {
    let get = |name: &str| arrays.get(name).ok_or_else(|| Error::field(file, name, "there is no such array"));
    let dt = match get(DT)?.values.as_slice() {
        [dt] if *dt > 0.0 && *dt <= LONGEST => *dt,
        other => {
            let problem = format!("{other:?}, expected one time above 0 and up to {LONGEST} s");
            return Err(Error::field(file, DT, problem));
        }
    };
    let of = |name: &str| segments(get(name)?).map_err(|problem| Error::field(file, name, problem));
    Ok(Recording { dt, fitted: of(FITTED)?, judged: of(JUDGED)? })
}

fn segments(numbers: &Numbers) -> std::result::Result<Vec<Segment>, String> {
    let &[count, samples, 4] = numbers.shape.as_slice() else {
        return Err(format!("shape {:?}, expected swings, samples, and 4 numbers each", numbers.shape));
    };
    if count == 0 || samples < FEWEST {
        return Err(format!("{count} swings of {samples} samples, expected at least one of {FEWEST}"));
    }
    if let Some(k) = numbers.values.iter().position(|x| !x.is_finite()) {
        let (row, value) = (k / 4, numbers.values[k]);
        return Err(format!("{value} in swing {}, sample {}, expected finite numbers", row / samples, row % samples));
    }
    let row = |row: &[f64]| [row[0], row[1], row[2], row[3]];
    Ok(numbers.values.chunks_exact(4 * samples).map(|swing| swing.chunks_exact(4).map(row).collect()).collect())
}
