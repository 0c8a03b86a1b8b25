//! What a file calls its vertices and faces: a body counts them anew, from 0, each place once.

use super::{Soup, obj};
use crate::fault::MeshFault;
use crate::mesh::Point;

/// How a file counts its vertices and faces.
pub(super) enum Names {
    /// An OBJ from 1, each on a line of this text.
    Lines(String),
    /// A PLY from 0; the face that each triangle is of.
    Faces(Vec<u32>),
    /// An STL counts nothing: triangles by their order, vertices by their places.
    Order,
}

/// A vertex or a face in a file.
struct Found {
    number: usize,
    line: Option<usize>,
}

impl Found {
    /// Of a file without lines.
    fn numbered(number: usize) -> Found {
        Found { number, line: None }
    }

    fn on_a_line((number, line): (usize, usize)) -> Found {
        Found { number, line: Some(line) }
    }
}

impl Soup {
    /// What is wrong with a body, in the numbers of its file, and where; `vertices` and `triangles` are those of the body.
    pub(super) fn told(&self, fault: &MeshFault, vertices: &[Point], triangles: &[[u32; 3]]) -> String {
        let number = |v: usize| vertices.get(v).and_then(|at| self.vertex(*at)).map_or(v, |found| found.number);
        let mut text = renumbered(fault, number, |f| self.face(f).number).to_string();
        text += match self.names {
            Names::Lines(_) => " (counted from 1",
            Names::Faces(_) | Names::Order => " (counted from 0",
        };
        let (vertex, face) = takes_part(fault);
        if let Some(Found { number, line: Some(line) }) = face.map(|f| self.face(f)) {
            text += &format!("; face {number} is on line {line}");
        }
        let corner = || Some(triangles.get(face?)?[0] as usize);
        if let Some((v, at)) = vertex.or_else(corner).and_then(|v| Some((v, vertices.get(v)?))) {
            let found = self.vertex(*at).unwrap_or(Found::numbered(v));
            let line = found.line.map(|line| format!(", on line {line}")).unwrap_or_default();
            text += &format!("; vertex {} is at {at:?}{line}", found.number);
        }
        text + ")"
    }

    /// A vertex at a place.
    fn vertex(&self, at: Point) -> Option<Found> {
        match &self.names {
            Names::Lines(text) => obj::vertex(text, at).map(Found::on_a_line),
            Names::Faces(_) => self.vertices.iter().position(|v| same(*v, at)).map(Found::numbered),
            Names::Order => None,
        }
    }

    /// The face that a triangle is of.
    pub(super) fn face_number(&self, triangle: usize) -> usize {
        self.face(triangle).number
    }

    fn face(&self, triangle: usize) -> Found {
        match &self.names {
            Names::Lines(text) => obj::face(text, triangle).map_or(Found::numbered(triangle + 1), Found::on_a_line),
            Names::Faces(faces) => Found::numbered(faces.get(triangle).map_or(triangle, |&face| face as usize)),
            Names::Order => Found::numbered(triangle),
        }
    }
}

/// Whether two places are one, as when vertices are merged.
pub(super) fn same(a: Point, b: Point) -> bool {
    // Adding zero makes the negative zero positive.
    (0..3).all(|k| (a[k] + 0.0).to_bits() == (b[k] + 0.0).to_bits())
}

/// A vertex and a face that take part in a fault.
fn takes_part(fault: &MeshFault) -> (Option<usize>, Option<usize>) {
    match *fault {
        MeshFault::Empty { .. } => (None, None),
        MeshFault::NotFinite { vertex, .. } | MeshFault::Unused { vertex, .. } => (Some(vertex), None),
        MeshFault::Hole { edge, face }
        | MeshFault::NonManifold { edge, faces: [face, ..], .. }
        | MeshFault::Inverted { edge, faces: [face, _] } => (Some(edge[0] as usize), Some(face)),
        MeshFault::OutOfRange { face, .. }
        | MeshFault::Degenerate { face, .. }
        | MeshFault::Crossing { faces: [face, _] }
        | MeshFault::InsideOut { face, .. }
        | MeshFault::Nested { face } => (None, Some(face)),
    }
}

/// The fault with other numbers of vertices and faces.
fn renumbered(fault: &MeshFault, vertex: impl Fn(usize) -> usize, face: impl Fn(usize) -> usize) -> MeshFault {
    let index = |v: u32| vertex(v as usize) as u32;
    match *fault {
        MeshFault::Empty { vertices } => MeshFault::Empty { vertices },
        MeshFault::NotFinite { vertex: v, at } => MeshFault::NotFinite { vertex: vertex(v), at },
        MeshFault::Unused { vertex: v, at } => MeshFault::Unused { vertex: vertex(v), at },
        MeshFault::OutOfRange { face: f, index, vertices } => MeshFault::OutOfRange { face: face(f), index, vertices },
        MeshFault::Degenerate { face: f, corners } => {
            MeshFault::Degenerate { face: face(f), corners: corners.map(index) }
        }
        MeshFault::Hole { edge, face: f } => MeshFault::Hole { edge: edge.map(index), face: face(f) },
        MeshFault::NonManifold { edge, faces, count } => {
            MeshFault::NonManifold { edge: edge.map(index), faces: faces.map(face), count }
        }
        MeshFault::Inverted { faces, edge } => MeshFault::Inverted { faces: faces.map(face), edge: edge.map(index) },
        MeshFault::Crossing { faces } => MeshFault::Crossing { faces: faces.map(face) },
        MeshFault::InsideOut { face: f, volume } => MeshFault::InsideOut { face: face(f), volume },
        MeshFault::Nested { face: f } => MeshFault::Nested { face: face(f) },
    }
}
