//! Triangles cut into the cells of a lattice.

use crate::mesh::Point;

/// The part of a polygon with `layer <= x_axis <= layer + 1`, into `out`.
///
/// Sutherland, Hodgman: Reentrant polygon clipping, 1974. Neighbouring layers and triangles compute the same points, to the
/// bit: a surface that is closed stays so when it is cut.
pub(super) fn slab(polygon: &[Point], axis: usize, layer: usize, out: &mut Vec<Point>, spare: &mut Vec<Point>) {
    half(polygon, axis, layer as f64, 1.0, spare);
    half(spare, axis, layer as f64 + 1.0, -1.0, out);
}

/// The part with `sign (x_axis - plane) >= 0`.
fn half(polygon: &[Point], axis: usize, plane: f64, sign: f64, out: &mut Vec<Point>) {
    out.clear();
    let above = |p: &Point| sign * (p[axis] - plane);
    for (k, p) in polygon.iter().enumerate() {
        let q = &polygon[(k + 1) % polygon.len()];
        if above(p) >= 0.0 {
            out.push(*p);
        }
        if (above(p) > 0.0 && above(q) < 0.0) || (above(p) < 0.0 && above(q) > 0.0) {
            // In one direction for both polygons of the edge.
            let (from, to) = if p[axis] < q[axis] { (p, q) } else { (q, p) };
            let share = (plane - from[axis]) / (to[axis] - from[axis]);
            let mut at = [0, 1, 2].map(|a| from[a] + share * (to[a] - from[a]));
            at[axis] = plane;
            out.push(at);
        }
    }
}
