//! Wavefront OBJ, by the crate `tobj`.

use super::Soup;
use tobj::{LoadError, LoadOptions};

const OPTIONS: LoadOptions =
    LoadOptions { single_index: true, triangulate: true, ignore_points: false, ignore_lines: false };

pub(super) fn parse(bytes: &[u8]) -> Result<Soup, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| format!("byte {} is not UTF-8", e.valid_up_to()))?;
    let geometry: String = text.split_inclusive('\n').map(geometry).collect();
    let mut rest = geometry.as_bytes();
    let no_materials = |_: &std::path::Path| Err(LoadError::OpenFileFailed);
    let (models, _) = tobj::load_obj_buf(&mut rest, &OPTIONS, no_materials).map_err(|error| {
        let read = &geometry[..geometry.len() - rest.len()];
        let line = match error {
            LoadError::FaceVertexOutOfBounds => out_of_bounds(&geometry),
            _ => read.lines().count(),
        };
        format!("line {line}: {error}")
    })?;
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for model in models {
        let first = vertices.len() as u32;
        let (positions, _) = model.mesh.positions.as_chunks();
        let (corners, _) = model.mesh.indices.as_chunks::<3>();
        vertices.extend_from_slice(positions);
        triangles.extend(corners.iter().map(|t| t.map(|i| first + i)));
    }
    Ok((vertices, triangles))
}

/// Positions and faces; of other lines their end alone, so that lines keep their numbers. Without groups and materials the
/// parser keeps vertices common, and opens no other file.
fn geometry(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.first() {
        // Colours.
        Some(&"v") if words.len() > 6 => words[..4].join(" ") + "\n",
        Some(&"v" | &"f") => line.to_owned(),
        _ => "\n".to_owned(),
    }
}

/// The line of the first face with a vertex that does not exist; the parser tells only that there is one.
fn out_of_bounds(text: &str) -> usize {
    let is = |line: &str, key: &str| line.split_whitespace().next() == Some(key);
    let vertices = text.lines().filter(|l| is(l, "v")).count() as i64;
    let outside = |corner: &str| {
        let index = corner.split('/').next().and_then(|i| i.parse::<i64>().ok());
        !index.is_some_and(|i| (1..=vertices).contains(&i) || (-vertices..0).contains(&i))
    };
    let line = text.lines().position(|l| is(l, "f") && l.split_whitespace().skip(1).any(outside));
    line.map_or(0, |line| line + 1)
}
