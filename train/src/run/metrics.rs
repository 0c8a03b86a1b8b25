//! `metrics.jsonl`, the log of a run: a line for every finished iteration.

use crate::error::{Error, Result};
use crate::files;
use crate::input;
use crate::job::{Progress, Values};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A line of `metrics.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metric<'a> {
    seconds: f64,
    stage: &'a str,
    iteration: usize,
    loss: Option<f64>,
    values: &'a Values,
}

/// What a line of any version has.
#[derive(Deserialize)]
struct Line {
    iteration: usize,
}

impl<'a> Metric<'a> {
    /// Of an iteration that was finished `seconds` after the start, pauses not counted.
    pub fn new(seconds: f64, progress: &'a Progress) -> Self {
        let Progress { stage, iteration, loss, values, .. } = progress;
        Self { seconds, stage, iteration: *iteration, loss: *loss, values }
    }
}

pub(super) fn append(file: &Path, metric: &Metric<'_>) -> Result<()> {
    let line = serde_json::to_string(metric);
    let line = line.map_err(|e| Error::Compute(format!("a record cannot be written as JSON: {e}")))?;
    files::append_line(file, &line)
}

/// Drops the lines after the iteration number `last`, all if there is none, and those that cannot be read, such as a last
/// one that was not written whole. Returns a note about damaged lines.
pub(super) fn rewind(file: &Path, last: Option<usize>) -> Result<Option<String>> {
    let Some(last) = last else { return files::remove(file).map(|()| None) };
    let unread = |e: std::io::Error| Error::file(file, format!("cannot be read: {e}"));
    // Not of a link that points nowhere.
    if !file.try_exists().map_err(unread)? {
        return Ok(None);
    }
    let text = input::bytes(file, input::RECORD, "expected the log of a run")?;
    let (mut kept, mut damaged) = (Vec::new(), Vec::new());
    for (k, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        match serde_json::from_slice::<Line>(line) {
            Ok(Line { iteration }) if iteration > last => {}
            Ok(_) => {
                kept.extend_from_slice(line.trim_ascii_end());
                kept.push(b'\n');
            }
            Err(_) => damaged.push(k + 1),
        }
    }
    files::write(file, &kept)?;
    Ok(damaged.first().map(|first| {
        let (count, file) = (damaged.len(), file.display());
        format!("{file}: {count} damaged lines were dropped, the first was line {first}")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_torn_line_and_later_iterations_go() {
        let file = std::env::temp_dir().join(format!("diffkern-metrics-{}.jsonl", std::process::id()));
        let values = Values::new();
        for iteration in 0..4 {
            let metric = Metric { seconds: 1.0, stage: "fine 1/3", iteration, loss: Some(0.1), values: &values };
            append(&file, &metric).unwrap();
        }
        let whole = fs::read_to_string(&file).unwrap();
        for torn in [0, 1, 20, whole.len() / 4 - 1] {
            fs::write(&file, format!("{whole}{}", &whole[..torn])).unwrap();
            let note = rewind(&file, Some(2)).unwrap();
            // A line that lacks nothing but its end is whole.
            let damaged = torn == 1 || torn == 20;
            assert_eq!(
                note.is_some_and(|note| note.contains("1 damaged lines were dropped, the first was line 5")),
                damaged
            );
            let kept: Vec<&str> = whole.split_inclusive('\n').take(3).collect();
            let again = if torn > 20 { kept[0] } else { "" };
            assert_eq!(fs::read_to_string(&file).unwrap(), kept.concat() + again, "{torn}");
        }
        fs::write(&file, [&whole.as_bytes()[..5], b"\xff\n", whole.as_bytes()].concat()).unwrap();
        assert!(rewind(&file, Some(9)).unwrap().is_some_and(|note| note.contains("line 1")));
        assert_eq!(fs::read_to_string(&file).unwrap(), whole);
        assert_eq!(rewind(&file, None).unwrap(), None);
        assert!(!file.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_in_its_place_is_not_read() {
        let file = std::env::temp_dir().join(format!("diffkern-endless-{}.jsonl", std::process::id()));
        files::remove(&file).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        let refused = rewind(&file, Some(1)).unwrap_err().to_string();
        assert!(refused.contains("endless") && refused.contains("no regular file"), "{refused}");
        files::remove(&file).unwrap();
    }
}
