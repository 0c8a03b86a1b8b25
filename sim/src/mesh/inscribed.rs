//! Balls inside of a surface that touch it at a given place.

use super::closed::ClosedMesh;
use super::tree::{Box3, Tree};
use super::vector::{Point, add, bounds, cross, dot, norm, scale, sub};
use diffkern::memory::collect;

/// Most balls that are tried at a place; each is smaller than the one before, and few are needed.
const TRIALS: usize = 30;
/// Part of a radius by which a surface may come nearer, so that the face that a ball touches does not count.
const SLACK: f64 = 1e-6;

/// Finds the inscribed balls of a surface.
pub(crate) struct Inscribed<'a> {
    mesh: &'a ClosedMesh,
    boxes: Vec<Box3>,
    tree: Tree,
}

impl<'a> Inscribed<'a> {
    pub(crate) fn new(mesh: &'a ClosedMesh) -> diffkern::Result<Inscribed<'a>> {
        let corner = |&i: &u32| mesh.vertices()[i as usize];
        let boxes = collect(mesh.triangles().iter().map(|t| bounds(t.iter().map(corner))))?;
        Ok(Inscribed { mesh, tree: Tree::new(&boxes)?, boxes })
    }

    /// Radius of the largest ball inside that touches the surface at `x`, where the unit vector `outward` is normal to it, of at most `most` \[m\].
    ///
    /// A ball that the surface cuts shrinks to the one through the nearest point of the surface (Ma, Bae, Choi: 3D medial axis point
    /// approximation using nearest neighbors and the normal field, 2012).
    pub(crate) fn radius(&self, x: Point, outward: Point, most: f64) -> f64 {
        let mut radius = most;
        for _ in 0..TRIALS {
            let centre = sub(x, scale(outward, radius));
            let near = self.nearest(centre, radius);
            let Some(apart) = near.filter(|&q| norm(sub(q, centre)) < (1.0 - SLACK) * radius).map(|q| sub(x, q)) else {
                break;
            };
            radius = radius.min(0.5 * dot(apart, apart) / dot(apart, outward));
        }
        radius
    }

    /// Distance of `x` from the surface, where that is less than `most` \[m\].
    pub(crate) fn distance(&self, x: Point, most: f64) -> Option<f64> {
        self.nearest(x, most).map(|near| norm(sub(near, x))).filter(|&away| away < most)
    }

    /// The point of the surface nearest to `x`, where one is within `reach` along each axis.
    pub(super) fn nearest(&self, x: Point, reach: f64) -> Option<Point> {
        let around = [x.map(|x| x - reach), x.map(|x| x + reach)];
        let mut best: Option<Point> = None;
        self.tree.visit(&self.boxes, &around, |k| {
            let corners = self.mesh.triangles()[k].map(|i| self.mesh.vertices()[i as usize]);
            let q = nearest_of(x, corners);
            if best.is_none_or(|best| norm(sub(q, x)) < norm(sub(best, x))) {
                best = Some(q);
            }
        });
        best
    }

    /// Where the line along z through `x` and `y` crosses the surface.
    pub(super) fn crossings(&self, [x, y]: [f64; 2]) -> Vec<f64> {
        let (along, mut all) = ([[x, y, f64::NEG_INFINITY], [x, y, f64::INFINITY]], Vec::new());
        self.tree.visit(&self.boxes, &along, |k| {
            let [a, b, c] = self.mesh.triangles()[k].map(|i| self.mesh.vertices()[i as usize]);
            // Twice the areas between the line and each edge, in the plane.
            let area = |p: Point, q: Point| (p[0] - x) * (q[1] - y) - (p[1] - y) * (q[0] - x);
            let parts = [area(b, c), area(c, a), area(a, b)];
            if parts.iter().all(|&p| p > 0.0) || parts.iter().all(|&p| p < 0.0) {
                let whole: f64 = parts.iter().sum();
                all.push((parts[0] * a[2] + parts[1] * b[2] + parts[2] * c[2]) / whole);
            }
        });
        all
    }
}

/// The point of a triangle nearest to `x`.
fn nearest_of(x: Point, [a, b, c]: [Point; 3]) -> Point {
    let normal = cross(sub(b, a), sub(c, a));
    let edges = [(a, b), (b, c), (c, a)];
    if edges.iter().all(|&(p, q)| dot(cross(normal, sub(q, p)), sub(x, p)) >= 0.0) {
        return sub(x, scale(normal, dot(sub(x, a), normal) / dot(normal, normal)));
    }
    let on = |(p, q): (Point, Point)| {
        let e = sub(q, p);
        add(p, scale(e, (dot(sub(x, p), e) / dot(e, e)).clamp(0.0, 1.0)))
    };
    let [first, second, third] = edges.map(on);
    let nearer = |p: Point, q: Point| if norm(sub(p, x)) <= norm(sub(q, x)) { p } else { q };
    nearer(nearer(first, second), third)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::shape::{Cuboid, Primitive, Sphere};

    #[test]
    fn balls_fit_between_faces_and_in_corners() -> Result<()> {
        let plate = Primitive::Cuboid(Cuboid { sides: [1.0, 1.0, 0.1] }).surface(0.1)?;
        let inside = Inscribed::new(&plate)?;
        let up = [0.0, 0.0, 1.0];
        for ([x, y], most, expected) in [
            ([0.013, 0.02], 0.02, 0.02),
            ([0.013, 0.02], 0.2, 0.05),
            ([0.47, 0.02], 0.2, 0.03),
            ([0.49, 0.48], 0.2, 0.01),
        ] {
            let found = inside.radius([x, y, 0.05], up, most);
            assert!((found - expected).abs() < 1e-5, "{x}, {y}: {found} instead of {expected}");
        }
        let ball = Primitive::Sphere(Sphere { radius: 0.5 }).surface(0.05)?;
        let inside = Inscribed::new(&ball)?;
        for t in ball.triangles() {
            let [a, b, c] = t.map(|i| ball.vertices()[i as usize]);
            let normal = cross(sub(b, a), sub(c, a));
            let (centre, normal) = (scale(add(a, add(b, c)), 1.0 / 3.0), scale(normal, 1.0 / norm(normal)));
            assert_eq!(inside.radius(centre, normal, 0.1), 0.1);
        }
        Ok(())
    }
}
