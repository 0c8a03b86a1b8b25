//! Beams as motion capture saw them.

use crate::error::{Error, Result};
use crate::table::Table;
use std::path::{Path, PathBuf};

/// Markers, those near the free end first.
const MARKERS: [&str; 6] = ["Tip-1", "Tip-2", "Tip-3", "Base-1", "Base-2", "Base-3"];
/// Markers near the free end.
pub(super) const TIPS: usize = 3;
/// Fewest frames of a recording.
const FEWEST: usize = 10;
/// Standard gravity \[m/s^2\].
pub(super) const GRAVITY: f64 = 9.81;

/// Markers at equal distances in time.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The file that it comes from.
    pub file: PathBuf,
    /// Time from frame to frame \[s\].
    pub dt: f64,
    /// Where the markers are at each frame \[m\], x up: three near the free end, three near the clamp.
    pub markers: Vec<[[f64; 3]; 6]>,
}

impl Recording {
    /// Reads one file.
    ///
    /// # Errors
    /// Names the column that is not there, or the line and column of what is wrong.
    pub fn read(file: &Path) -> Result<Self> {
        let coordinates = MARKERS.iter().flat_map(|name| ["x", "y", "z"].map(|axis| format!("{name}_{axis}_m")));
        let names: Vec<String> = std::iter::once("t_s".to_owned()).chain(coordinates).collect();
        let table = Table::read(file, &names)?;
        let dt = table.interval(FEWEST)?;
        let of = |row: &Vec<f64>| std::array::from_fn(|m| std::array::from_fn(|a| row[1 + 3 * m + a]));
        Ok(Self { file: file.into(), dt, markers: table.rows.iter().map(of).collect() })
    }

    /// The name of the file, without its extension.
    pub fn name(&self) -> String {
        self.file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The frame at which the beam is let go: the first after which the mean of the markers near the free end moves, in one frame, more than
    /// half as far as a body falls that was at rest. `None` where it never does.
    pub fn release(&self) -> Option<usize> {
        let middle = |k: usize| -> [f64; 3] {
            std::array::from_fn(|a| self.markers[k][..TIPS].iter().map(|m| m[a]).sum::<f64>() / TIPS as f64)
        };
        let fall = 0.5 * GRAVITY * self.dt * self.dt;
        let moved = |k: usize| {
            let (now, next) = (middle(k), middle(k + 1));
            (0..3).map(|a| (next[a] - now[a]).powi(2)).sum::<f64>().sqrt()
        };
        (0..self.markers.len().saturating_sub(1)).find(|&k| moved(k) > 0.5 * fall)
    }
}

/// The recordings `*.csv` of a folder, in the order of their names, or one file.
///
/// # Errors
/// When there is none, or one is wrong.
pub fn read(data: &Path) -> Result<Vec<Recording>> {
    if data.is_file() {
        return Ok(vec![Recording::read(data)?]);
    }
    let cannot = |e: std::io::Error| Error::file(data, format!("cannot be read: {e}, expected a folder of CSV files"));
    let entries = std::fs::read_dir(data).map_err(cannot)?;
    let files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<PathBuf>>>();
    let mut files = files.map_err(cannot)?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "csv"));
    files.sort();
    if files.is_empty() {
        return Err(Error::file(data, "holds no recordings, expected files .csv"));
    }
    files.iter().map(|file| Recording::read(file)).collect()
}
