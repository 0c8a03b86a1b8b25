//! Tosses as they were measured, and the files that they come in.

use crate::error::{Error, Result};
use crate::npz::{self, Numbers};
use crate::table::Table;
use std::path::{Path, PathBuf};

/// A toss: poses at equal distances in time.
#[derive(Debug, Clone, PartialEq)]
pub struct Toss {
    /// Its number.
    pub id: usize,
    /// Time from frame to frame \[s\].
    pub dt: f64,
    /// Where the centre of the cube is \[m\], z up, the table at 0.
    pub position: Vec<[f64; 3]>,
    /// How the cube is turned: a unit quaternion, the real part first.
    pub rotation: Vec<[f64; 4]>,
}

/// Columns that are read.
const COLUMNS: [&str; 8] = ["t_s", "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz"];
/// The column of the real part.
const REAL: usize = 4;
/// How far the length of a quaternion may be from 1.
const UNIT: f64 = 1e-3;
/// Fewest frames of a toss.
const FEWEST: usize = 10;

impl Toss {
    /// Number of frames.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are no frames; there always are.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Checks row `k`; `None` where it is right, else the column and what is wrong.
    fn fault(&self, k: usize) -> Option<(usize, String)> {
        let numbers = self.position[k].iter().chain(&self.rotation[k]);
        if let Some((column, value)) = numbers.enumerate().find(|(_, value)| !value.is_finite()) {
            return Some((1 + column, format!("{value}, expected a finite number")));
        }
        let norm = self.rotation[k].iter().map(|x| x * x).sum::<f64>().sqrt();
        let wrong = (norm - 1.0).abs() > UNIT;
        wrong.then(|| (REAL, format!("a quaternion of length {norm:.4}, expected 1, within {UNIT}")))
    }
}

/// Reads tosses: a folder of `toss_NNNN.csv` or with an NPZ file, or one such file.
///
/// # Errors
/// When there is no such file, or what is wrong in it by row and field.
pub fn read(data: &Path) -> Result<Vec<Toss>> {
    if !data.exists() {
        return Err(Error::file(data, "no such file or folder, expected tosses as CSV or NPZ"));
    }
    let mut files = if data.is_dir() { listed(data)? } else { vec![data.to_owned()] };
    files.sort();
    let is_npz = |file: &&PathBuf| file.extension().is_some_and(|e| e == "npz");
    if let Some(file) = files.iter().find(is_npz) {
        return from_npz(file);
    }
    if files.is_empty() {
        return Err(Error::file(data, "holds no tosses, expected toss_NNNN.csv or a file .npz"));
    }
    files.iter().enumerate().map(|(k, file)| from_csv(file, k)).collect()
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = |e: std::io::Error| Error::file(folder, format!("cannot be read: {e}, expected a folder of tosses"));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let file = entry.map_err(cannot)?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".npz") || (name.starts_with("toss_") && name.ends_with(".csv")) {
            files.push(file);
        }
    }
    Ok(files)
}

/// The number in a name like `toss_0012.csv`.
fn number_of(file: &Path) -> Option<usize> {
    file.file_stem()?.to_str()?.strip_prefix("toss_")?.parse().ok()
}

fn from_csv(file: &Path, k: usize) -> Result<Toss> {
    let table = Table::read(file, &COLUMNS)?;
    let dt = table.interval(FEWEST)?;
    let position = table.rows.iter().map(|row| [row[1], row[2], row[3]]).collect();
    let rotation = table.rows.iter().map(|row| [row[4], row[5], row[6], row[7]]).collect();
    let toss = Toss { id: number_of(file).unwrap_or(k), dt, position, rotation };
    match (0..toss.len()).find_map(|row| toss.fault(row).map(|fault| (row, fault))) {
        Some((row, (column, problem))) => Err(table.wrong(row, column, problem)),
        None => Ok(toss),
    }
}

fn enough(file: &Path, frames: usize) -> Result<()> {
    match frames {
        0..FEWEST => Err(Error::file(file, format!("a toss of {frames} frames, expected at least {FEWEST}"))),
        _ => Ok(()),
    }
}

fn from_npz(file: &Path) -> Result<Vec<Toss>> {
    let arrays = npz::read(file)?;
    let get = |name: &str, width: Option<usize>| -> Result<&Numbers> {
        let array = arrays.get(name).ok_or_else(|| Error::field(file, name, "there is no such array"))?;
        match (width, array.shape.as_slice()) {
            (None, [] | [_]) => Ok(array),
            (Some(width), [_, columns]) if width == *columns => Ok(array),
            (width, shape) => {
                let expected = width.map_or("one row".into(), |width| format!("rows of {width}"));
                Err(Error::field(file, name, format!("an array of shape {shape:?}, expected {expected}")))
            }
        }
    };
    let (position, rotation) = (get("position_m", Some(3))?, get("quat_wxyz", Some(4))?);
    let (ids, offsets, dt) =
        (get("toss_id", None)?, get("offset", None)?, get("dt_s", None)?.values.first().copied().unwrap_or(f64::NAN));
    let rows = position.shape[0];
    if rotation.shape[0] != rows {
        let problem = format!("{} rows, expected {rows}, as position_m", rotation.shape[0]);
        return Err(Error::field(file, "quat_wxyz", problem));
    }
    if !(dt.is_finite() && dt > 0.0) {
        return Err(Error::field(file, "dt_s", format!("{dt}, expected a positive time")));
    }
    let good = |k: usize| offsets.values[k] <= offsets.values[k + 1] && offsets.values[k] >= 0.0;
    let count = ids.values.len();
    let fits = offsets.values.len() == count + 1 && (0..count).all(good) && offsets.values[count] == rows as f64;
    if !fits {
        let problem =
            format!("no begins of {count} tosses in {rows} rows, expected them in order, and the end of the last");
        return Err(Error::field(file, "offset", problem));
    }
    let toss = |k: usize| {
        let [begin, end] = [offsets.values[k] as usize, offsets.values[k + 1] as usize];
        enough(file, end - begin)?;
        let part = |r: usize| std::array::from_fn(|a| position.values[3 * r + a]);
        let turn = |r: usize| std::array::from_fn(|a| rotation.values[4 * r + a]);
        let (position, rotation) = ((begin..end).map(part).collect(), (begin..end).map(turn).collect());
        let toss = Toss { id: ids.values[k] as usize, dt, position, rotation };
        match (0..toss.len()).find_map(|row| toss.fault(row).map(|fault| (row, fault))) {
            Some((row, (column, problem))) => Err(Error::field(
                file,
                format!("row {}, {}", begin + row, COLUMNS[column]),
                format!("of toss {}: {problem}", toss.id),
            )),
            None => Ok(toss),
        }
    };
    (0..count).map(toss).collect()
}
