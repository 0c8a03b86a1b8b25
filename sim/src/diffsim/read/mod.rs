//! Files of tetrahedra.

mod gmsh;
mod tet;

use super::mesh::TetMesh;
use crate::error::Error;
use crate::mesh::bytes;
use std::path::Path;

/// Vertices and tetrahedra as they are in a file.
type Soup = (Vec<[f64; 3]>, Vec<[u32; 4]>);

impl TetMesh {
    /// The mesh in a file, coordinates in metres.
    ///
    /// - `.tet`: lines `v x y z` and `t i j k l`, vertices counted from 0; lines that are empty or begin with `#` are left out.
    /// - `.msh`: Gmsh's format in text, of version 2.2 or 4.1. Its linear tetrahedra are taken, with the nodes that they have, and
    ///   numbered anew from 0 in the order in which tetrahedra name them; elements of fewer dimensions are left out, other solids refused.
    ///
    /// # Errors
    /// [`Error::File`], which names the file, the line or element, what it is and what was expected.
    pub fn read(file: &Path) -> crate::error::Result<TetMesh> {
        let refused = |problem: String| Error::File { file: file.into(), problem };
        let bytes = bytes(file).map_err(refused)?;
        let text = |bytes| match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(e) => Err(format!("byte {} is not UTF-8; expected a mesh in text", e.valid_up_to())),
        };
        let extension = file.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        let (vertices, tets) = match extension.as_deref() {
            Some("tet") => text(&bytes).and_then(tet::parse),
            Some("msh") => text(&bytes).and_then(gmsh::parse),
            other => Err(format!("has the extension {:?}, expected tet or msh", other.unwrap_or(""))),
        }
        .map_err(refused)?;
        TetMesh::new(vertices, tets).map_err(|error| refused(error.to_string()))
    }
}

/// The words of a text with the numbers of their lines.
struct Words<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    line: usize,
    rest: std::str::SplitWhitespace<'a>,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Words<'a> {
        Words { lines: text.lines().enumerate(), line: 0, rest: "".split_whitespace() }
    }

    /// Goes to the next line that is not empty: whether there is one.
    fn next_line(&mut self) -> bool {
        for (line, text) in self.lines.by_ref() {
            (self.line, self.rest) = (line + 1, text.split_whitespace());
            if self.rest.clone().next().is_some() {
                return true;
            }
        }
        false
    }

    /// The next word of this line.
    fn here(&mut self) -> Option<&'a str> {
        self.rest.next()
    }

    /// The next word of this line as a number.
    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, String> {
        let line = self.line;
        let word = self.rest.next().ok_or_else(|| format!("line {line} ends, expected {what}"))?;
        word.parse().map_err(|_| format!("line {line}: `{word}`, expected {what}"))
    }

    fn point(&mut self) -> Result<[f64; 3], String> {
        Ok([self.number("a coordinate x")?, self.number("a coordinate y")?, self.number("a coordinate z")?])
    }

    /// Refuses what this line has more.
    fn ends(&mut self) -> Result<(), String> {
        self.rest
            .next()
            .map_or(Ok(()), |word| Err(format!("line {}: `{word}`, expected the end of the line", self.line)))
    }

    /// The next line, which has to be there.
    fn line(&mut self, what: &str) -> Result<(), String> {
        match self.next_line() {
            true => Ok(()),
            false => Err(format!("ends after line {}, expected {what}", self.line)),
        }
    }
}

#[cfg(test)]
mod tests;
