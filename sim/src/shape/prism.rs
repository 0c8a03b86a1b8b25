//! Prisms over polygons: brackets, tees, stars.

use super::refine::refined;
use super::solid::affordable;
use crate::error::{Error, Result, positive};
use crate::mesh::ClosedMesh;
use robust::{Coord, orient2d};
use std::f64::consts::PI;

/// What is over a polygon, from half the height below it to half the height above.
#[derive(Clone, Debug, PartialEq)]
pub struct Prism {
    /// Corners of the polygon in the plane of x and y \[m\], counter-clockwise; it need not be convex.
    pub outline: Vec<[f64; 2]>,
    /// Height along z \[m\].
    pub height: f64,
}

impl Prism {
    /// An L: two legs of lengths `legs` along x and y \[m\] from the corner at the origin, `wall` thick.
    pub fn bracket(legs: [f64; 2], wall: f64, height: f64) -> Prism {
        let [x, y] = legs;
        let outline = vec![[0.0, 0.0], [x, 0.0], [x, wall], [wall, wall], [wall, y], [0.0, y]];
        Prism { outline, height }
    }

    /// A T: a bar of length `bar` along x over a stem of length `stem` along y \[m\] down to the origin, both `wall` thick.
    pub fn tee(bar: f64, stem: f64, wall: f64, height: f64) -> Prism {
        let (b, w, top) = (0.5 * bar, 0.5 * wall, stem + wall);
        let outline = vec![[-w, 0.0], [w, 0.0], [w, stem], [b, stem], [b, top], [-b, top], [-b, stem], [-w, stem]];
        Prism { outline, height }
    }

    /// A star of so many points between the radii `inner` and `outer` \[m\].
    pub fn star(points: usize, inner: f64, outer: f64, height: f64) -> Prism {
        let corner = |k: usize| {
            let (sin, cos) = (PI * k as f64 / points as f64).sin_cos();
            let r = if k.is_multiple_of(2) { outer } else { inner };
            [r * cos, r * sin]
        };
        Prism { outline: (0..2 * points).map(corner).collect(), height }
    }

    /// Exact volume \[m^3\]; negative where the outline runs clockwise.
    pub fn volume(&self) -> f64 {
        let n = self.outline.len();
        let twice = |k: usize| {
            let ([a, b], [c, d]) = (self.outline[k], self.outline[(k + 1) % n]);
            a * d - b * c
        };
        0.5 * self.height * (0..n).map(twice).sum::<f64>()
    }

    /// Triangles of the exact surface with edges of at most `edge` \[m\].
    ///
    /// # Errors
    /// When the outline crosses itself or runs clockwise, a dimension or `edge` is out of its range, or there would be more than
    /// 20 million triangles.
    pub fn surface(&self, edge: f64) -> Result<ClosedMesh> {
        let edge = positive("longest edge of the surface", edge)?;
        let half = 0.5 * positive("height of the prism", self.height)?;
        let cap = triangulated(&self.outline)?;
        let n = self.outline.len();
        affordable((4 * n) as f64, edge)?;
        let level = |z: f64| self.outline.iter().map(move |&[x, y]| [x, y, z]);
        let vertices: Vec<_> = level(-half).chain(level(half)).collect();
        let above = |t: [u32; 3]| t.map(|i| i + n as u32);
        let mut triangles: Vec<[u32; 3]> = Vec::new();
        for &[a, b, c] in &cap {
            triangles.extend([[a, c, b], above([a, b, c])]);
        }
        for k in 0..n {
            let (a, b) = (k as u32, ((k + 1) % n) as u32);
            let [c, d] = [b + n as u32, a + n as u32];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        let (vertices, triangles) = refined(vertices, triangles, edge)?;
        ClosedMesh::new(vertices, triangles)
    }
}

/// The triangles of a polygon, by cutting off one ear after the other.
fn triangulated(outline: &[[f64; 2]]) -> Result<Vec<[u32; 3]>> {
    let refused = |value: String| {
        let expected =
            "at least three finite corners, counter-clockwise, of a polygon that does not cross or touch itself";
        Error::invalid("outline of the prism", value, expected)
    };
    if outline.len() < 3 || outline.iter().flatten().any(|x| !x.is_finite()) {
        return Err(refused(format!("{outline:?}")));
    }
    let turn = |t: [usize; 3]| {
        let [a, b, c] = t.map(|i| Coord { x: outline[i][0], y: outline[i][1] });
        orient2d(a, b, c)
    };
    let mut left: Vec<usize> = (0..outline.len()).collect();
    let mut triangles = Vec::with_capacity(outline.len() - 2);
    while left.len() > 3 {
        let n = left.len();
        let corner = |k: usize| [left[(k + n - 1) % n], left[k], left[(k + 1) % n]];
        let is_ear = |&k: &usize| {
            let [a, b, c] = corner(k);
            let covers = |&p: &usize| {
                ![a, b, c].contains(&p) && [[a, b], [b, c], [c, a]].iter().all(|&[u, v]| turn([u, v, p]) >= 0.0)
            };
            turn([a, b, c]) > 0.0 && !left.iter().any(covers)
        };
        let Some(ear) = (0..n).find(is_ear) else { return Err(refused(format!("{outline:?}"))) };
        triangles.push(corner(ear).map(|i| i as u32));
        left.remove(ear);
    }
    match turn([left[0], left[1], left[2]]) > 0.0 {
        true => triangles.push([left[0], left[1], left[2]].map(|i| i as u32)),
        false => return Err(refused(format!("{outline:?}"))),
    }
    Ok(triangles)
}
