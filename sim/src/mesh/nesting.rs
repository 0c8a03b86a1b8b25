//! Which closed parts of a surface enclose matter, and which are cavities.

use super::moments::Moments;
use super::tree::{Box3, Tree};
use super::vector::{Point, add, bounds, cross, dot, norm, scale, sub};
use crate::fault::MeshFault;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// A closed part.
struct Part {
    triangles: Vec<[u32; 3]>,
    around: Box3,
    volume: f64,
}

/// Whether the faces of each part point out of the matter: the surface winds once around it and not around the rest.
/// `parts` has the smallest face of the part of each face.
pub(super) fn check(
    vertices: &[Point],
    triangles: &[[u32; 3]],
    parts: &[usize],
) -> diffkern::Result<Result<(), MeshFault>> {
    let mut of: BTreeMap<usize, Vec<[u32; 3]>> = BTreeMap::new();
    for (&t, &part) in triangles.iter().zip(parts) {
        of.entry(part).or_default().push(t);
    }
    let measured = |triangles: Vec<[u32; 3]>| {
        let around = bounds(triangles.iter().flatten().map(|&i| vertices[i as usize]));
        let volume = Moments::enclosed(vertices, &triangles, around[0]).volume;
        Part { triangles, around, volume }
    };
    let parts: Vec<(usize, Part)> = of.into_iter().map(|(face, triangles)| (face, measured(triangles))).collect();
    let boxes: Vec<Box3> = parts.iter().map(|(_, part)| part.around).collect();
    let tree = Tree::new(&boxes)?;
    for (k, (face, part)) in parts.iter().enumerate() {
        let [a, b, c] = part.triangles[0].map(|i| vertices[i as usize]);
        let at = scale(add(add(a, b), c), 1.0 / 3.0);
        let mut around = 0.0;
        tree.visit(&boxes, &[at, at], |other| {
            if other != k {
                around += winding(vertices, &parts[other].1.triangles, at);
            }
        });
        match (part.volume > 0.0, around.round() as i64) {
            (true, 0) | (false, 1) => {}
            (false, _) => return Ok(Err(MeshFault::InsideOut { face: *face, volume: part.volume })),
            (true, _) => return Ok(Err(MeshFault::Nested { face: *face })),
        }
    }
    Ok(Ok(()))
}

/// How often the surface goes around the point: the sum of solid angles over the whole.
///
/// Van Oosterom, Strackee: The solid angle of a plane triangle, 1983.
fn winding(vertices: &[Point], triangles: &[[u32; 3]], at: Point) -> f64 {
    let angle = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| sub(vertices[i as usize], at));
        let [la, lb, lc] = [norm(a), norm(b), norm(c)];
        let below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
        2.0 * dot(a, cross(b, c)).atan2(below)
    };
    triangles.iter().map(angle).sum::<f64>() / (2.0 * TAU)
}
