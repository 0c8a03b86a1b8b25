//! STL, by the crate `stl_io`.

use super::Soup;
use std::io::Cursor;

/// Bytes before the triangles of a binary file, and of each.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

pub(super) fn parse(mut bytes: Vec<u8>) -> Result<Soup, String> {
    // Some programs begin binary files with the word that texts begin with, by which the parser tells them apart.
    let count = bytes.get(80..HEADER).and_then(|n| n.try_into().ok()).map(u32::from_le_bytes);
    if count.is_some_and(|n| bytes.len() == HEADER + TRIANGLE * n as usize) {
        bytes[0] = b' ';
    }
    let mesh = stl_io::read_stl(&mut Cursor::new(bytes)).map_err(|e| format!("is no STL: {e}"))?;
    let vertices = mesh.vertices.iter().map(|v| v.0.map(f64::from)).collect();
    let triangles = mesh.faces.iter().map(|f| f.vertices.map(|i| i as u32)).collect();
    Ok((vertices, triangles))
}
