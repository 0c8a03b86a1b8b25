//! Checks of the triangle meshes that a scene names.

use crate::error::{Error, Place, Result};
use crate::input;
use crate::text::quoted;
use std::path::Path;

/// Checks that `file` is a Wavefront OBJ with vertices and faces, finite and in range.
///
/// # Errors
/// Names the line and what was expected there.
pub(crate) fn check_obj(file: &Path) -> Result<()> {
    let text = input::text(file, input::MESH)?;
    let wrong = |line: usize, field: &str, problem: String| Error::Input {
        file: file.into(),
        place: Place { line: Some((line + 1, 1)), field: Some(field.into()) },
        problem,
    };
    let count = |key: &str| text.lines().filter(|l| l.split_whitespace().next() == Some(key)).count();
    let (vertices, faces) = (count("v"), count("f"));
    if vertices == 0 || faces == 0 {
        let what = if vertices + faces == 0 { "mesh is empty, or no Wavefront OBJ" } else { "mesh is empty" };
        let problem = format!("{what} ({vertices} vertices, {faces} faces), expected at least one face");
        return Err(Error::file(file, problem));
    }
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let values: Vec<_> = words.map(str::parse::<f64>).collect();
                let finite = |v: &std::result::Result<f64, _>| matches!(v, Ok(x) if x.is_finite());
                if values.len() < 3 || !values.iter().all(finite) {
                    return Err(wrong(number, "vertex", format!("{}, expected three finite numbers", quoted(line))));
                }
            }
            Some("f") => {
                let corners: Vec<_> = words.map(|w| index(w, vertices)).collect();
                if corners.len() < 3 || corners.iter().any(Option::is_none) {
                    let problem = format!("{}, expected at least three vertices of 1..={vertices}", quoted(line));
                    return Err(wrong(number, "face", problem));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The vertex of a face corner such as `3`, `3/1/2` or `-1`, counted from one.
fn index(corner: &str, vertices: usize) -> Option<usize> {
    let number: i64 = corner.split('/').next()?.parse().ok()?;
    let number = if number < 0 { vertices as i64 + 1 + number } else { number };
    usize::try_from(number).ok().filter(|n| (1..=vertices).contains(n))
}
