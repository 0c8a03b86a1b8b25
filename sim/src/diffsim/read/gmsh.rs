//! Gmsh's MSH format in text, versions 2.2 and 4.1.
//!
//! By hand: the crate `mshio` knows 4.1 alone, and its errors name no line. What a file says of its own size is not believed before the
//! lines are there.
//!
//! Source: Gmsh reference manual, MSH file format.

use super::{Soup, Words};
use std::collections::HashMap;

/// What Gmsh calls a tetrahedron of four nodes.
const TET: u32 = 4;
/// Points, and lines, triangles and quadrangles of first and second order: what bounds the solids.
const LOWER: [u32; 9] = [1, 2, 3, 8, 9, 10, 15, 16, 20];

#[derive(Clone, Copy, PartialEq)]
enum Version {
    Two,
    Four,
}

/// Nodes by their tags, and corners of tetrahedra, by tags and with their line.
#[derive(Default)]
struct Found {
    nodes: HashMap<u64, [f64; 3]>,
    tets: Vec<(usize, [u64; 4])>,
}

pub(super) fn parse(text: &str) -> Result<Soup, String> {
    let mut words = Words::new(text);
    let (mut version, mut found) = (None, Found::default());
    while words.next_line() {
        match (words.here().unwrap_or(""), version) {
            ("$MeshFormat", None) => version = Some(format(&mut words)?),
            ("$Nodes", Some(version)) => found.nodes(&mut words, version)?,
            ("$Elements", Some(version)) => found.elements(&mut words, version)?,
            (word, Some(_)) if word.starts_with('$') => {
                // A section of another kind.
                let end = word.replacen('$', "$End", 1);
                while words.line(&format!("`{end}`")).map(|()| words.here() != Some(&end))? {}
            }
            (word, None) => return Err(format!("line {}: `{word}`, expected `$MeshFormat`", words.line)),
            (word, Some(_)) => return Err(format!("line {}: `{word}`, expected a section `$..`", words.line)),
        }
    }
    found.numbered()
}

fn format(words: &mut Words<'_>) -> Result<Version, String> {
    words.line("the version")?;
    let version = match words.here() {
        Some("2.2") => Version::Two,
        Some("4.1") => Version::Four,
        other => {
            let other = other.unwrap_or("");
            return Err(format!("line {}: version `{other}`, expected 2.2 or 4.1", words.line));
        }
    };
    match words.number("the kind of file, 0 for text")? {
        0u32 => end(words, "$EndMeshFormat").map(|()| version),
        kind => Err(format!("line {}: a file of kind {kind}, expected 0, text; save it as ASCII", words.line)),
    }
}

/// Goes to the end of a section.
fn end(words: &mut Words<'_>, name: &str) -> Result<(), String> {
    words.line(&format!("`{name}`"))?;
    match words.here() {
        Some(word) if word == name => Ok(()),
        other => Err(format!("line {}: `{}`, expected `{name}`", words.line, other.unwrap_or(""))),
    }
}

impl Found {
    fn nodes(&mut self, words: &mut Words<'_>, version: Version) -> Result<(), String> {
        words.line("the number of nodes")?;
        let blocks: u64 = words.number("a number of nodes or of their blocks")?;
        for _ in 0..blocks {
            match version {
                Version::Two => {
                    words.line("a node")?;
                    let tag = words.number("the number of a node")?;
                    let at = words.point()?;
                    self.node(words.line, tag, at)?;
                }
                Version::Four => {
                    words.line("a block of nodes")?;
                    let [_dimension, _entity, _parametric] = [(); 3].map(|()| words.here());
                    let count: u64 = words.number("the number of nodes in the block")?;
                    let mut tags = Vec::new();
                    for _ in 0..count {
                        words.line("the number of a node")?;
                        tags.push(words.number("the number of a node")?);
                    }
                    for tag in tags {
                        words.line("the coordinates of a node")?;
                        let at = words.point()?;
                        self.node(words.line, tag, at)?;
                    }
                }
            }
        }
        end(words, "$EndNodes")
    }

    fn node(&mut self, line: usize, tag: u64, at: [f64; 3]) -> Result<(), String> {
        match self.nodes.insert(tag, at) {
            None => Ok(()),
            Some(_) => Err(format!("line {line}: node {tag} a second time, expected each number once")),
        }
    }

    fn elements(&mut self, words: &mut Words<'_>, version: Version) -> Result<(), String> {
        words.line("the number of elements")?;
        let blocks: u64 = words.number("a number of elements or of their blocks")?;
        for _ in 0..blocks {
            match version {
                Version::Two => {
                    words.line("an element")?;
                    let element: u64 = words.number("the number of an element")?;
                    let kind = words.number("the type of an element")?;
                    let tags: u64 = words.number("the number of tags")?;
                    for _ in 0..tags {
                        words.number::<i64>("a tag of the element")?;
                    }
                    self.element(words, element, kind)?;
                }
                Version::Four => {
                    words.line("a block of elements")?;
                    let [_dimension, _entity] = [(); 2].map(|()| words.here());
                    let kind = words.number("the type of the elements")?;
                    let count: u64 = words.number("the number of elements in the block")?;
                    for _ in 0..count {
                        words.line("an element")?;
                        let element = words.number("the number of an element")?;
                        self.element(words, element, kind)?;
                    }
                }
            }
        }
        end(words, "$EndElements")
    }

    /// The nodes of an element, if it is a tetrahedron.
    fn element(&mut self, words: &mut Words<'_>, element: u64, kind: u32) -> Result<(), String> {
        if LOWER.contains(&kind) {
            return Ok(());
        }
        if kind != TET {
            let line = words.line;
            return Err(format!(
                "line {line}: element {element} is of type {kind}, expected 4, a tetrahedron of four nodes"
            ));
        }
        let mut corner = || words.number("the number of a node");
        let corners = [corner()?, corner()?, corner()?, corner()?];
        words.ends()?;
        self.tets.push((words.line, corners));
        Ok(())
    }

    /// Vertices in the order in which tetrahedra name them first.
    fn numbered(self) -> Result<Soup, String> {
        let (mut vertices, mut tets, mut index) = (Vec::new(), Vec::new(), HashMap::new());
        for (line, corners) in self.tets {
            let mut tet = [0; 4];
            for (to, tag) in tet.iter_mut().zip(corners) {
                let at =
                    self.nodes.get(&tag).ok_or_else(|| format!("line {line}: node {tag}, expected one of `$Nodes`"))?;
                *to = *index.entry(tag).or_insert_with(|| {
                    vertices.push(*at);
                    vertices.len() as u32 - 1
                });
            }
            tets.push(tet);
        }
        Ok((vertices, tets))
    }
}
