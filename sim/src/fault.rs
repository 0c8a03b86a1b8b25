//! Why triangles enclose no body.

/// What is wrong with a triangle mesh that should be the surface of a body. Vertices and faces are counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshFault {
    /// There are no faces.
    #[error("the mesh has {vertices} vertices and no faces; a body needs a closed surface")]
    Empty {
        /// Number of vertices.
        vertices: usize,
    },
    /// A coordinate that is not a number, infinite, or too large to compute with.
    #[error("vertex {vertex} is {at:?}, expected finite coordinates below 1e30 m")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
        /// Its position \[m\].
        at: [f64; 3],
    },
    /// A vertex of no face.
    #[error("vertex {vertex} at {at:?} is in no face; leave it out")]
    Unused {
        /// Index of the vertex.
        vertex: usize,
        /// Its position \[m\].
        at: [f64; 3],
    },
    /// A face with a vertex that does not exist.
    #[error("face {face} has vertex {index}, expected less than {vertices}, the number of vertices")]
    OutOfRange {
        /// Index of the face.
        face: usize,
        /// The index that it has.
        index: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// A face without area.
    #[error("face {face} {corners:?} has no area: its vertices repeat or lie on a line; leave it out or move a vertex")]
    Degenerate {
        /// Index of the face.
        face: usize,
        /// Its vertices.
        corners: [u32; 3],
    },
    /// An edge of one face only.
    #[error(
        "the surface has a hole: the edge from vertex {} to {} is of face {face} alone; close the surface, or merge \
         vertices at one place", edge[0], edge[1]
    )]
    Hole {
        /// Vertices of the edge.
        edge: [u32; 2],
        /// Its face.
        face: usize,
    },
    /// An edge of more than two faces.
    #[error(
        "the edge from vertex {} to {} is of {count} faces, {faces:?} among them, expected two; part the surfaces that \
         meet there", edge[0], edge[1]
    )]
    NonManifold {
        /// Vertices of the edge.
        edge: [u32; 2],
        /// Three of its faces.
        faces: [usize; 3],
        /// Number of its faces.
        count: usize,
    },
    /// Two neighbours, one of which is inverted.
    #[error(
        "faces {} and {} both run from vertex {} to {}: one of them is inverted; swap two of its vertices",
        faces[0], faces[1], edge[0], edge[1]
    )]
    Inverted {
        /// The two faces.
        faces: [usize; 2],
        /// Vertices of their edge, in the direction of both.
        edge: [u32; 2],
    },
    /// Faces that cross or touch away from common vertices and edges.
    #[error("faces {} and {} cross or touch; part or unite what they belong to", faces[0], faces[1])]
    Crossing {
        /// The two faces, the smaller index first.
        faces: [usize; 2],
    },
    /// A closed part with its faces towards the inside.
    #[error(
        "the closed part of the surface with face {face} is inside out (it encloses {volume} m^3); swap two vertices of each \
         of its faces, so that they run counter-clockwise seen from outside"
    )]
    InsideOut {
        /// Smallest face of the part.
        face: usize,
        /// Enclosed volume, negative \[m^3\].
        volume: f64,
    },
    /// A closed part within another that is no cavity of it.
    #[error(
        "the closed part of the surface with face {face} lies inside another with its faces outwards; for a cavity swap two \
         vertices of each of its faces, else unite the two"
    )]
    Nested {
        /// Smallest face of the part.
        face: usize,
    },
}
