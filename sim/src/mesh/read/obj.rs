//! Wavefront OBJ, by the crate `tobj`.

use super::names::{Names, same};
use super::{Soup, shown};
use crate::fault::MeshFault;
use crate::mesh::Point;
use tobj::{LoadError, LoadOptions};

const OPTIONS: LoadOptions =
    LoadOptions { single_index: true, triangulate: true, ignore_points: false, ignore_lines: false };

pub(super) fn parse(bytes: &[u8]) -> Result<Soup, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let byte = e.valid_up_to();
        format!(
            "is no Wavefront OBJ, which is a text: byte {byte} is not UTF-8; an STL or PLY is read by its extension, .stl or .ply"
        )
    })?;
    let geometry: String = text.split_inclusive('\n').map(geometry).collect();
    match (lines(&geometry, "v").count(), lines(&geometry, "f").count()) {
        (0, 0) => return Err(foreign(text)),
        (vertices, 0) => return Err(MeshFault::Empty { vertices }.to_string()),
        (_, _) => {}
    }
    let mut rest = geometry.as_bytes();
    let no_materials = |_: &std::path::Path| Err(LoadError::OpenFileFailed);
    let (models, _) = tobj::load_obj_buf(&mut rest, &OPTIONS, no_materials).map_err(|error| {
        let read = &geometry[..geometry.len() - rest.len()];
        refused(&geometry, read.lines().count(), error)
    })?;
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for model in models {
        let first = vertices.len() as u32;
        let (positions, _) = model.mesh.positions.as_chunks();
        let (corners, _) = model.mesh.indices.as_chunks::<3>();
        vertices.extend_from_slice(positions);
        triangles.extend(corners.iter().map(|t| t.map(|i| first + i)));
    }
    Ok(Soup { vertices, triangles, names: Names::Lines(geometry) })
}

/// Positions and faces without comments behind them; of other lines their end alone, so that lines keep their numbers. Without
/// groups and materials the parser keeps vertices common, and opens no other file.
fn geometry(line: &str) -> String {
    let (own, comment) = line.split_once('#').map_or((line, false), |(own, _)| (own, true));
    let words: Vec<&str> = own.split_whitespace().collect();
    match words.first() {
        // Colours.
        Some(&"v") if words.len() > 6 => words[..4].join(" ") + "\n",
        Some(&"v" | &"f") if comment => own.to_owned() + "\n",
        Some(&"v" | &"f") => line.to_owned(),
        _ => "\n".to_owned(),
    }
}

/// What a text without vertices and faces is.
fn foreign(text: &str) -> String {
    let known = "it has no vertex (a line v x y z) and no face (a line f i j k)";
    match text.split_whitespace().next() {
        None => format!("is empty: {known}"),
        Some("solid") => {
            format!("is no Wavefront OBJ: {known}, and begins as an STL does, expected the extension .stl")
        }
        Some("ply") => format!("is no Wavefront OBJ: {known}, and begins as a PLY does, expected the extension .ply"),
        Some(_) => format!("is no Wavefront OBJ: {known}"),
    }
}

/// What is wrong, by its line; the parser has read the lines up to number `read`.
fn refused(text: &str, read: usize, error: LoadError) -> String {
    let at = |line: usize, expected: String| {
        let written = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        format!("line {line}: {}, expected {expected}", shown(written))
    };
    match error {
        LoadError::PositionParseError => at(read, "three numbers, v x y z".to_owned()),
        LoadError::FaceParseError => at(read, "the numbers of its vertices, f i j k".to_owned()),
        LoadError::FaceVertexOutOfBounds => match lines(text, "v").count() {
            0 => at(out_of_bounds(text), "vertices, lines v x y z, of which there is none".to_owned()),
            count => at(out_of_bounds(text), format!("numbers of vertices from 1 to {count}")),
        },
        LoadError::InvalidPolygon => {
            let none = lines(text, "f").find(|(_, line)| corners(line) == 0);
            at(none.map_or(read, |(number, _)| number), "the numbers of its vertices, f i j k".to_owned())
        }
        other => format!("line {read}: {other}"),
    }
}

/// The lines that begin with a word, each with its number, from 1.
fn lines<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let numbered = text.lines().enumerate().map(|(k, line)| (k + 1, line));
    numbered.filter(move |(_, line)| line.split_whitespace().next() == Some(word))
}

/// How many corners the line of a face has.
fn corners(line: &str) -> usize {
    line.split_whitespace().skip(1).count()
}

/// The line of the first face with a vertex that does not exist; the parser tells only that there is one. Negative numbers count back from the face.
fn out_of_bounds(text: &str) -> usize {
    let (all, mut before) = (lines(text, "v").count() as i64, 0);
    for (k, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let outside = |corner: &str| {
            let index = corner.split('/').next().and_then(|i| i.parse::<i64>().ok());
            !index.is_some_and(|i| (1..=all).contains(&i) || (-before..0).contains(&i))
        };
        match words.next() {
            Some("v") => before += 1,
            Some("f") if words.any(outside) => return k + 1,
            Some(_) | None => {}
        }
    }
    0
}

/// The number of a vertex at a place, from 1, and its line.
pub(super) fn vertex(text: &str, at: Point) -> Option<(usize, usize)> {
    let is_there = |line: &str| place(line).is_some_and(|place| same(place, at));
    let found = lines(text, "v").enumerate().find(|(_, (_, line))| is_there(line));
    found.map(|(before, (number, _))| (before + 1, number))
}

/// Where the vertex of a line is.
fn place(line: &str) -> Option<Point> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |k: usize| words.get(k)?.parse::<f64>().ok();
    // A fourth number divides the others; more of them are colours.
    let scale = if words.len() == 5 { number(4)? } else { 1.0 };
    Some([number(1)? / scale, number(2)? / scale, number(3)? / scale])
}

/// The number of the face that a triangle is of, from 1, and its line.
pub(super) fn face(text: &str, triangle: usize) -> Option<(usize, usize)> {
    let mut triangles = 0;
    let mut has = |line: &str| {
        // Points and lines are triangles without area.
        triangles += corners(line).saturating_sub(2).max(1);
        triangle < triangles
    };
    let found = lines(text, "f").enumerate().find(|(_, (_, line))| has(line));
    found.map(|(before, (number, _))| (before + 1, number))
}
