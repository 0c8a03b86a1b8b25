//! Do faces of a surface cross? Decided exactly, by Shewchuk's adaptive predicates (crate `robust`).
//!
//! Two triangles meet only where an edge of one meets the other. Edges at a common vertex meet there by right, and are not
//! looked at; two triangles at a common edge meet elsewhere only where one is folded onto the other.

use super::topology::flat;
use super::tree::Tree;
use super::vector::{Point, bounds};
use diffkern::memory::collect;
use robust::{Coord, Coord3D, orient2d, orient3d};

/// The first pair of faces that meet where they should not.
pub(super) fn find(vertices: &[Point], triangles: &[[u32; 3]]) -> diffkern::Result<Option<[usize; 2]>> {
    let boxes = collect(triangles.iter().map(|t| bounds(t.iter().map(|&i| vertices[i as usize]))))?;
    let tree = Tree::new(&boxes)?;
    let corners = |face: usize| triangles[face].map(|i| (i, vertices[i as usize]));
    let mut pairs = (0..triangles.len()).filter_map(|face| {
        let mut first: Option<usize> = None;
        tree.visit(&boxes, &boxes[face], |other| {
            if other > face && first.is_none_or(|first| other < first) && meet(corners(face), corners(other)) {
                first = Some(other);
            }
        });
        first.map(|other| [face, other])
    });
    Ok(pairs.next())
}

type Corner = (u32, Point);

fn meet(t: [Corner; 3], s: [Corner; 3]) -> bool {
    let shared = |c: &Corner, of: &[Corner; 3]| of.iter().any(|d| c.0 == d.0);
    let [points, others] = [t, s].map(|t| t.map(|c| c.1));
    match t.iter().filter(|c| shared(c, &s)).count() {
        0 => {
            plane_meets(points, others) && plane_meets(others, points) && {
                let edges = |t: [Point; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
                edges(points).iter().any(|&e| edge_meets(e, others))
                    || edges(others).iter().any(|&e| edge_meets(e, points))
            }
        }
        1 => {
            plane_meets(points, others) && {
                // The edge opposite of the shared vertex.
                let opposite = |t: &[Corner; 3], s: &[Corner; 3]| {
                    let k = t.iter().position(|c| shared(c, s)).unwrap_or(0);
                    [t[(k + 1) % 3].1, t[(k + 2) % 3].1]
                };
                edge_meets(opposite(&t, &s), others) || edge_meets(opposite(&s, &t), points)
            }
        }
        2 => {
            let k = s.iter().position(|c| !shared(c, &t)).unwrap_or(0);
            let [a, b, c] = [s[k].1, s[(k + 1) % 3].1, s[(k + 2) % 3].1];
            let third = t.iter().find(|c| !shared(c, &s)).map_or(a, |c| c.1);
            orientation([a, b, c], third) == 0.0 && {
                let axis = widest(others);
                let side = |p| orient2d(flat(b, axis), flat(c, axis), flat(p, axis));
                (side(a) > 0.0) == (side(third) > 0.0)
            }
        }
        _ => true,
    }
}

/// Whether the plane of `t` meets `s`; where it does not, `t` does not either.
fn plane_meets(t: [Point; 3], s: [Point; 3]) -> bool {
    let sides = s.map(|p| orientation(t, p));
    !(sides.iter().all(|&d| d > 0.0) || sides.iter().all(|&d| d < 0.0))
}

fn orientation([a, b, c]: [Point; 3], d: Point) -> f64 {
    let [a, b, c, d] = [a, b, c, d].map(|[x, y, z]| Coord3D { x, y, z });
    orient3d(a, b, c, d)
}

/// Does the closed segment meet the closed triangle?
fn edge_meets([p, q]: [Point; 2], t: [Point; 3]) -> bool {
    let (above, below) = (orientation(t, p), orientation(t, q));
    if above != 0.0 && below != 0.0 && (above > 0.0) == (below > 0.0) {
        return false;
    }
    if above == 0.0 && below == 0.0 {
        return meets_in_plane([p, q], t);
    }
    // The line through p and q passes all edges on one side.
    let around = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| orientation([p, q, t[i]], t[j]));
    around.iter().all(|&s| s >= 0.0) || around.iter().all(|&s| s <= 0.0)
}

/// The axis along which the triangle looks largest.
fn widest(t: [Point; 3]) -> usize {
    let area = |axis: usize| {
        let [a, b, c] = t.map(|p| flat(p, axis));
        orient2d(a, b, c).abs()
    };
    (1..3).fold(0, |best, axis| if area(axis) > area(best) { axis } else { best })
}

fn meets_in_plane(segment: [Point; 2], t: [Point; 3]) -> bool {
    let axis = widest(t);
    let ([p, q], [a, b, c]) = (segment.map(|p| flat(p, axis)), t.map(|p| flat(p, axis)));
    let around = [(a, b), (b, c), (c, a)].map(|(a, b)| orient2d(a, b, p));
    let inside = around.iter().all(|&s| s >= 0.0) || around.iter().all(|&s| s <= 0.0);
    inside || [(a, b), (b, c), (c, a)].into_iter().any(|(a, b)| segments_meet([p, q], [a, b]))
}

/// Do two closed segments of the plane meet?
fn segments_meet([p, q]: [Coord<f64>; 2], [a, b]: [Coord<f64>; 2]) -> bool {
    let (p_side, q_side) = (orient2d(a, b, p), orient2d(a, b, q));
    let (a_side, b_side) = (orient2d(p, q, a), orient2d(p, q, b));
    let differ = |x: f64, y: f64| (x > 0.0 && y < 0.0) || (x < 0.0 && y > 0.0);
    let on = |side: f64, [a, b]: [Coord<f64>; 2], p: Coord<f64>| {
        let between = |a: f64, b: f64, p: f64| a.min(b) <= p && p <= a.max(b);
        side == 0.0 && between(a.x, b.x, p.x) && between(a.y, b.y, p.y)
    };
    (differ(p_side, q_side) && differ(a_side, b_side))
        || on(p_side, [a, b], p)
        || on(q_side, [a, b], q)
        || on(a_side, [p, q], a)
        || on(b_side, [p, q], b)
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: [Corner; 3] = [(0, [0.0, 0.0, 0.0]), (1, [4.0, 0.0, 0.0]), (2, [0.0, 4.0, 0.0])];

    /// In both orders and for all orders of the corners.
    #[track_caller]
    fn check(s: [Corner; 3], expected: bool) {
        for (k, l) in (0..9).map(|n| (n / 3, n % 3)) {
            let turned = |t: [Corner; 3], k: usize| [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
            let flipped = |t: [Corner; 3]| [t[0], t[2], t[1]];
            let (t, s) = (turned(T, k), turned(s, l));
            for (t, s) in [(t, s), (flipped(t), s), (t, flipped(s))] {
                assert_eq!((meet(t, s), meet(s, t)), (expected, expected), "{t:?} {s:?}");
            }
        }
    }

    fn other(a: Point, b: Point, c: Point) -> [Corner; 3] {
        [(7, a), (8, b), (9, c)]
    }

    #[test]
    fn triangles_in_space() {
        // A needle through the inside, so that only its edges cross the other.
        check(other([1.0, 1.0, 1.0], [1.0, 1.0, -1.0], [1.1, 1.0, 0.0]), true);
        // Each crosses a side of the other.
        check(other([-1.0, 1.0, -1.0], [-1.0, 1.0, 1.0], [1.0, 1.0, 0.0]), true);
        // A corner on the inside, on a side, beside.
        check(other([1.0, 1.0, 0.0], [1.0, 2.0, 1.0], [2.0, 1.0, 1.0]), true);
        check(other([2.0, 2.0, 0.0], [1.0, 2.0, 1.0], [2.0, 1.0, 1.0]), true);
        check(other([2.0, 2.0 + 1e-15, 0.0], [1.0, 2.0, 1.0], [2.0, 1.0, 1.0]), false);
        check(other([1.0, 1.0, 1e-300], [1.0, 2.0, 1.0], [2.0, 1.0, 1.0]), false);
        // Through the plane, beside the triangle.
        check(other([3.0, 3.0, -1.0], [3.0, 3.0, 1.0], [9.0, 3.0, 0.0]), false);
    }

    #[test]
    fn triangles_of_one_plane() {
        check(other([1.0, 1.0, 0.0], [1.5, 1.0, 0.0], [1.0, 1.5, 0.0]), true);
        check(other([-9.0, -9.0, 0.0], [30.0, -9.0, 0.0], [-9.0, 30.0, 0.0]), true);
        check(other([-1.0, 1.0, 0.0], [9.0, 1.0, 0.0], [9.0, 2.0, 0.0]), true);
        check(other([3.0, 3.0, 0.0], [9.0, 3.0, 0.0], [3.0, 9.0, 0.0]), false);
    }

    #[test]
    fn neighbours() {
        let [a, b, c] = T;
        // A common corner: apart, pierced by the opposite edge, and in the same plane.
        check([a, (8, [-1.0, 0.0, 1.0]), (9, [-1.0, 1.0, 1.0])], false);
        check([a, (8, [1.0, 1.0, 1.0]), (9, [1.0, 1.0, -1.0])], true);
        check([a, (8, [1.0, 2.0, 0.0]), (9, [2.0, 1.0, 0.0])], true);
        check([a, (8, [-1.0, -2.0, 0.0]), (9, [-2.0, -1.0, 0.0])], false);
        // A common edge: flat, folded, upright; the same corners.
        check([b, a, (9, [0.0, -4.0, 0.0])], false);
        check([b, a, (9, [1.0, 9.0, 0.0])], true);
        check([b, a, (9, [0.0, 0.0, 1.0])], false);
        check([a, c, b], true);
    }
}
