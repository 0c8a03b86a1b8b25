//! Exact area of a triangle inside a square pixel filter, and its derivative.
//!
//! The coverage of a pixel is the integral of the triangle's indicator over a box of `w` by `w` pixels around the
//! pixel's centre, divided by `w*w` (`w = 1`: the box-filtered image). By Green's theorem it is a sum over directed
//! edges of `integral of clamp(x(y), 0, w) dy` over the part of the edge whose `y` lies in the box. So:
//! - edges shared by two triangles cancel: the image does not depend on how a face is split;
//! - the area of the image is the area of the triangle for every whole `w` (only whole boxes add up to a constant);
//! - the support is exactly the box: what lies outside contributes an exact zero with a zero derivative, so a list of
//!   candidates may hold too many triangles but the image never depends on it.
//!
//! Coverage is once continuously differentiable in the vertices except where an edge that is parallel to an image
//! axis crosses the border of a box (the derivative jumps; it is one-sided there).

use diffkern::prelude::*;

// Vertices do lie exactly on borders of boxes (a point that the camera looks at is a corner of four pixels). Coverage
// is differentiable there, though single edges are not: both edges of a vertex must count it as inside, so only edges
// that end strictly outside are left out, and each branch is taken with its whole derivative.

/// Where the edge from (ax, ay) to (bx, by) enters the strip `0 <= y <= w`, or (ax, ay) if that lies in it.
///
/// The edge must reach into the strip.
#[diff_fn]
pub fn point_at_clipped_y<F: Float>(ax: F, ay: F, bx: F, by: F, w: F) -> Vec2<F> {
    let mut x = ax;
    let mut y = ay;
    if ay < 0.0 {
        x = ax - ay / (by - ay) * (bx - ax);
        y = F::new(0.0);
    }
    if ay > w {
        x = ax + (w - ay) / (by - ay) * (bx - ax);
        y = w;
    }
    Vec2::new(x, y)
}

/// `x` kept in `0..w`, constant on the borders.
#[diff_fn]
pub fn inside_box<F: Float>(x: F, w: F) -> F {
    let mut inside = x;
    if x <= 0.0 {
        inside = F::new(0.0);
    }
    if x >= w {
        inside = w;
    }
    inside
}

/// Contribution of the directed edge from (ax, ay) to (bx, by) to the area inside the box `[0, w]` squared.
#[diff_fn]
pub fn edge_area<F: Float>(ax: F, ay: F, bx: F, by: F, w: F) -> F {
    let mut area = F::new(0.0);
    let below = ay < 0.0 && by < 0.0;
    let above = ay > w && by > w;
    if !below && !above {
        let start: Vec2<F> = point_at_clipped_y::<F>(ax, ay, bx, by, w);
        let end: Vec2<F> = point_at_clipped_y::<F>(bx, by, ax, ay, w);
        let xa: F = inside_box::<F>(start.x, w);
        let xb: F = inside_box::<F>(end.x, w);
        // Also the derivative is right for an edge along x or y: nothing is decided by its slope.
        let mut mean = 0.5 * (xa + xb);
        if xa != xb {
            mean = xb + 0.5 * (xa - xb) * ((xa - start.x) + (xb - start.x)) / (end.x - start.x);
        }
        area = (end.y - start.y) * mean;
    }
    area
}

/// Area and first moments (of x, of y) that the directed edge contributes inside the box `[0, w]` squared.
#[diff_fn]
pub fn edge_moments<F: Float>(ax: F, ay: F, bx: F, by: F, w: F) -> Vec3<F> {
    let mut moments = Vec3::new(F::new(0.0), F::new(0.0), F::new(0.0));
    let below = ay < 0.0 && by < 0.0;
    let above = ay > w && by > w;
    if !below && !above {
        let start: Vec2<F> = point_at_clipped_y::<F>(ax, ay, bx, by, w);
        let end: Vec2<F> = point_at_clipped_y::<F>(bx, by, ax, ay, w);
        let xa: F = inside_box::<F>(start.x, w);
        let xb: F = inside_box::<F>(end.x, w);
        // The edge enters the box's range of x at ya and leaves it at yb.
        let mut ya = start.y;
        let mut yb = end.y;
        if xa != xb {
            let slope = (end.y - start.y) / (end.x - start.x);
            ya = start.y + (xa - start.x) * slope;
            yb = start.y + (xb - start.x) * slope;
        }
        let before = ya - start.y;
        let inside = yb - ya;
        let after = end.y - yb;
        let area = before * xa + 0.5 * inside * (xa + xb) + after * xb;
        let mx = 0.5 * (before * xa * xa + inside * (xa * xa + xa * xb + xb * xb) / 3.0 + after * xb * xb);
        let my = 0.5 * before * xa * (start.y + ya)
            + inside * (2.0 * xa * ya + xa * yb + xb * ya + 2.0 * xb * yb) / 6.0
            + 0.5 * after * xb * (yb + end.y);
        moments = Vec3::new(area, mx, my);
    }
    moments
}

/// Twice the signed area of a projected triangle \[px^2\]; negative where its front faces the camera (v points down).
#[diff_fn]
pub fn doubled_area<F: Float>(a: Vec3<F>, b: Vec3<F>, c: Vec3<F>) -> F {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

/// Positive where the box with corner (x0, y0) and side w reaches to the inner side of the edge from a to b; `side` is the
/// sign of the triangle's area.
#[diff_fn]
pub fn edge_reach<F: Float>(a: Vec3<F>, b: Vec3<F>, x0: F, y0: F, w: F, side: F) -> F {
    let dx = b.x - a.x;
    let dy = b.y - a.y;
    let centre = dx * (y0 + 0.5 * w - a.y) - dy * (x0 + 0.5 * w - a.x);
    side * centre + 0.5 * w * (dx.abs() + dy.abs())
}

/// Positive where the triangle and the box overlap (separating axes), so that pixels beside a triangle get an exact
/// zero and no rounding; only ever compared with zero.
#[diff_fn]
pub fn triangle_reach<F: Float>(a: Vec3<F>, b: Vec3<F>, c: Vec3<F>, x0: F, y0: F, w: F) -> F {
    let doubled: F = doubled_area::<F>(a, b, c);
    let side = select(doubled < 0.0, F::new(-1.0), F::new(1.0));
    let ab: F = edge_reach::<F>(a, b, x0, y0, w, side);
    let bc: F = edge_reach::<F>(b, c, x0, y0, w, side);
    let ca: F = edge_reach::<F>(c, a, x0, y0, w, side);
    let left = x0 + w - a.x.min(b.x).min(c.x);
    let right = a.x.max(b.x).max(c.x) - x0;
    let top = y0 + w - a.y.min(b.y).min(c.y);
    let bottom = a.y.max(b.y).max(c.y) - y0;
    ab.min(bc).min(ca).min(left).min(right).min(top).min(bottom)
}

/// Share of the box with corner (x0, y0) and side w that the triangle covers.
#[diff_fn]
pub fn triangle_area<F: Float>(a: Vec3<F>, b: Vec3<F>, c: Vec3<F>, x0: F, y0: F, w: F) -> F {
    let ab: F = edge_area::<F>(a.x - x0, a.y - y0, b.x - x0, b.y - y0, w);
    let bc: F = edge_area::<F>(b.x - x0, b.y - y0, c.x - x0, c.y - y0, w);
    let ca: F = edge_area::<F>(c.x - x0, c.y - y0, a.x - x0, a.y - y0, w);
    let signed = (ab + bc + ca) / (w * w);
    signed.abs()
}

/// Integrals of the three barycentric coordinates over the covered part of the box; their sum is the covered share.
#[diff_fn]
pub fn triangle_weights<F: Float>(a: Vec3<F>, b: Vec3<F>, c: Vec3<F>, x0: F, y0: F, w: F) -> Vec3<F> {
    let ax = a.x - x0;
    let ay = a.y - y0;
    let bx = b.x - x0;
    let by = b.y - y0;
    let cx = c.x - x0;
    let cy = c.y - y0;
    let ab: Vec3<F> = edge_moments::<F>(ax, ay, bx, by, w);
    let bc: Vec3<F> = edge_moments::<F>(bx, by, cx, cy, w);
    let ca: Vec3<F> = edge_moments::<F>(cx, cy, ax, ay, w);
    let m = ab + bc + ca;
    // |doubled| times w^2; the moments carry its sign, so the weights come out positive.
    let doubled: F = doubled_area::<F>(a, b, c);
    let scale = 1.0 / (doubled.abs() * w * w);
    let wa = (m.x * (bx * cy - by * cx) + m.y * (by - cy) + m.z * (cx - bx)) * scale;
    let wb = (m.x * (cx * ay - cy * ax) + m.y * (cy - ay) + m.z * (ax - cx)) * scale;
    let wc = (m.x * (ax * by - ay * bx) + m.y * (ay - by) + m.z * (bx - ax)) * scale;
    Vec3::new(wa.max(0.0), wb.max(0.0), wc.max(0.0))
}
