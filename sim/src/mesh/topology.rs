//! Do the edges of triangles close a surface, and of how many parts is it?

use super::vector::Point;
use crate::fault::MeshFault;
use diffkern::memory::{collect, filled};
use robust::{Coord, orient2d};

/// Largest coordinate with which predicates and moments do not overflow \[m\].
const LARGEST: f64 = 1e30;

/// Vertices finite and in use, faces within range and with area.
pub(super) fn check_faces(vertices: &[Point], triangles: &[[u32; 3]]) -> diffkern::Result<Result<(), MeshFault>> {
    let mut used = filled(vertices.len(), false)?;
    let mut check = || -> Result<(), MeshFault> {
        if triangles.is_empty() {
            return Err(MeshFault::Empty { vertices: vertices.len() });
        }
        let bad = |x: &f64| x.is_nan() || x.abs() >= LARGEST;
        if let Some((vertex, &at)) = vertices.iter().enumerate().find(|(_, v)| v.iter().any(bad)) {
            return Err(MeshFault::NotFinite { vertex, at });
        }
        for (face, &corners) in triangles.iter().enumerate() {
            for index in corners {
                match used.get_mut(index as usize) {
                    Some(used) => *used = true,
                    None => return Err(MeshFault::OutOfRange { face, index, vertices: vertices.len() }),
                }
            }
            if on_a_line(corners.map(|i| vertices[i as usize])) {
                return Err(MeshFault::Degenerate { face, corners });
            }
        }
        match used.iter().position(|used| !used) {
            Some(vertex) => Err(MeshFault::Unused { vertex, at: vertices[vertex] }),
            None => Ok(()),
        }
    };
    Ok(check())
}

/// Exactly: points are on a line where the three projections of their triangle have no area.
fn on_a_line(corners: [Point; 3]) -> bool {
    (0..3).all(|axis| {
        let [a, b, c] = corners.map(|p| flat(p, axis));
        orient2d(a, b, c) == 0.0
    })
}

/// The point without its coordinate on `axis`.
pub(super) fn flat(p: Point, axis: usize) -> Coord<f64> {
    Coord { x: p[(axis + 1) % 3], y: p[(axis + 2) % 3] }
}

/// One side of a face: the vertices of the edge with the smaller first, the face, and whether it runs from the smaller.
type Side = ([u32; 2], usize, bool);

/// The two faces of each edge, or the first edge at which the surface is not closed, manifold and oriented.
pub(super) fn edges(triangles: &[[u32; 3]]) -> diffkern::Result<Result<Vec<[usize; 2]>, MeshFault>> {
    let mut sides: Vec<Side> = collect((0..3 * triangles.len()).map(|n| {
        let (face, k) = (n / 3, n % 3);
        let (from, to) = (triangles[face][k], triangles[face][(k + 1) % 3]);
        ([from.min(to), from.max(to)], face, from < to)
    }))?;
    sides.sort_unstable();
    let groups = sides.chunk_by(|a, b| a.0 == b.0);
    Ok(groups.map(one_edge).collect())
}

fn one_edge(sides: &[Side]) -> Result<[usize; 2], MeshFault> {
    match *sides {
        [(_, a, up), (_, b, down)] if up != down => Ok([a, b]),
        [([low, high], a, up), (_, b, _)] => {
            Err(MeshFault::Inverted { faces: [a, b], edge: if up { [low, high] } else { [high, low] } })
        }
        [(edge, a, _), (_, b, _), (_, c, _), ..] => {
            Err(MeshFault::NonManifold { edge, faces: [a, b, c], count: sides.len() })
        }
        [([low, high], face, up)] => Err(MeshFault::Hole { edge: if up { [low, high] } else { [high, low] }, face }),
        [] => Err(MeshFault::Empty { vertices: 0 }),
    }
}

/// For each face the smallest face of its part: faces are of one part where edges connect them.
pub(super) fn parts(faces: usize, edges: &[[usize; 2]]) -> diffkern::Result<Vec<usize>> {
    let mut parent: Vec<usize> = collect(0..faces)?;
    for edge in edges {
        let [a, b] = edge.map(|face| root(&mut parent, face));
        parent[a.max(b)] = a.min(b);
    }
    for face in 0..faces {
        parent[face] = root(&mut parent, face);
    }
    Ok(parent)
}

/// The end of the chain of parents, which is halved on the way.
fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}
