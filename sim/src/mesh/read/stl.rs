//! STL, by the crate `stl_io`.

use super::names::Names;
use super::{Soup, shown};
use std::io::{Cursor, ErrorKind};

/// Bytes before the triangles of a binary file, and of each.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

pub(super) fn parse(mut bytes: Vec<u8>) -> Result<Soup, String> {
    let count = bytes.get(80..HEADER).and_then(|n| n.try_into().ok()).map(u32::from_le_bytes);
    let expected = count.map(|n| HEADER + TRIANGLE * n as usize);
    // Some programs begin binary files with the word that texts begin with, by which the parser tells them apart.
    if expected == Some(bytes.len()) {
        bytes[0] = b' ';
    } else if !bytes.starts_with(b"solid") {
        is_whole(&bytes, count.zip(expected))?;
    } else if bytes.starts_with(b"solid\n") || bytes.starts_with(b"solid\r") {
        // The parser takes no text without a name.
        bytes.insert(5, b' ');
    }
    let read = stl_io::read_stl(&mut Cursor::new(bytes.as_slice()));
    let mesh = read.map_err(|e| match e.kind() {
        ErrorKind::UnexpectedEof if !bytes.windows(8).any(|word| word == b"endsolid") => {
            "is cut off: its last triangle is not whole, or endsolid is missing".to_owned()
        }
        _ => strange(&bytes).unwrap_or_else(|| format!("is no STL: {e}")),
    })?;
    let vertices = mesh.vertices.iter().map(|v| v.0.map(f64::from)).collect();
    let triangles = mesh.faces.iter().map(|f| f.vertices.map(|i| i as u32)).collect();
    Ok(Soup { vertices, triangles, names: Names::Order })
}

/// Refuses a file that is no text of an STL and shorter than its count of triangles says, which comes with the bytes that
/// these take.
fn is_whole(bytes: &[u8], counted: Option<(u32, usize)>) -> Result<(), String> {
    let length = bytes.len();
    match counted {
        Some((_, expected)) if length >= expected => Ok(()),
        _ if std::str::from_utf8(bytes).is_ok() => {
            Err("is no STL: it is a text that does not begin with solid; a Wavefront OBJ \
             or PLY is read by its extension, .obj or .ply"
                .to_owned())
        }
        Some((count, expected)) => Err(format!(
            "is cut off, or no STL: it counts {count} triangles, which take {expected} bytes, and has {length}"
        )),
        None => Err(format!("is cut off, or no STL: it has {length} bytes, and a header takes {HEADER}")),
    }
}

/// The first line that stands in no text of an STL.
fn strange(bytes: &[u8]) -> Option<String> {
    let numbers =
        |words: &[&str]| words.len() == 3 && words.iter().all(|word| word.parse::<f32>().is_ok_and(f32::is_finite));
    let fits = |line: &str| match line.split_whitespace().collect::<Vec<_>>().as_slice() {
        [] | ["outer", "loop"] | ["endloop"] | ["endfacet"] | ["endsolid", ..] => true,
        ["facet", "normal", rest @ ..] | ["vertex", rest @ ..] => numbers(rest),
        _ => false,
    };
    let text = String::from_utf8_lossy(bytes);
    let (before, line) = text.lines().enumerate().skip(1).find(|(_, line)| !fits(line))?;
    let expected = "facet normal x y z, outer loop, vertex x y z, endloop, endfacet or endsolid";
    Some(format!("line {}: {}, expected {expected}", before + 1, shown(line)))
}
