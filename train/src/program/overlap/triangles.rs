//! How deep points are in a closed surface of triangles.

use diffkern::Vec3;
use diffkern_sim::mesh::ClosedMesh;
use std::ops::Range;

/// Most triangles of a leaf.
const LEAF: usize = 4;
/// By how much of the size of the surface the lines along which crossings are counted miss a point, so that they run through no edge of a regular one.
const ASIDE: [f64; 2] = [3.1e-7, 2.3e-7];

type Triangle = [Vec3<f64>; 3];
/// Lowest and highest corner \[m\].
type Box3 = [[f64; 3]; 2];

enum Below {
    Triangles(Range<usize>),
    /// The second child; the first follows its parent.
    Second(usize),
}

/// Triangles in a tree of boxes, halved at the median of the longest axis.
pub(super) struct Triangles {
    triangles: Vec<Triangle>,
    nodes: Vec<(Box3, Below)>,
    aside: [f64; 2],
}

impl Triangles {
    pub(super) fn of(mesh: &ClosedMesh) -> Self {
        let corner = |k: u32| Vec3::from_array(mesh.vertices()[k as usize]);
        let triangles: Vec<Triangle> = mesh.triangles().iter().map(|triangle| triangle.map(corner)).collect();
        let [low, high] = mesh.bounds();
        let size = (0..3).map(|a| high[a] - low[a]).fold(0.0, f64::max);
        let all = 0..triangles.len();
        let mut tree = Self { triangles, nodes: Vec::new(), aside: ASIDE.map(|part| part * size) };
        tree.split(all);
        tree
    }

    /// As deep as the logarithm of the number of triangles, for each node halves its own.
    fn split(&mut self, range: Range<usize>) {
        let own = &mut self.triangles[range.clone()];
        let [low, high] = around(own);
        let node = self.nodes.len();
        self.nodes.push(([low, high], Below::Triangles(range.clone())));
        if own.len() <= LEAF {
            return;
        }
        let side = |a: usize| high[a] - low[a];
        let longest = (1..3).fold(0, |longest, a| if side(a) > side(longest) { a } else { longest });
        let place = |triangle: &Triangle| triangle.iter().map(|corner| corner.to_array()[longest]).sum::<f64>();
        let half = own.len() / 2;
        own.select_nth_unstable_by(half, |a, b| place(a).total_cmp(&place(b)));
        self.split(range.start..range.start + half);
        self.nodes[node].1 = Below::Second(self.nodes.len());
        self.split(range.start + half..range.end);
    }

    /// How deep `x` is inside \[m\], negative outside.
    pub(super) fn depth(&self, x: [f64; 3]) -> f64 {
        let away = self.distance(x);
        if self.contains(x) { away } else { -away }
    }

    /// Distance of the nearest triangle \[m\].
    fn distance(&self, x: [f64; 3]) -> f64 {
        let beyond = |node: usize| beyond(x, &self.nodes[node].0);
        let (mut least, mut open) = (f64::INFINITY, vec![0]);
        while let Some(node) = open.pop() {
            if beyond(node) >= least {
                continue;
            }
            match &self.nodes[node].1 {
                Below::Triangles(range) => {
                    let own = self.triangles[range.clone()].iter();
                    least = own.map(|triangle| square(Vec3::from_array(x), triangle)).fold(least, f64::min);
                }
                Below::Second(second) => {
                    let (first, second) = (node + 1, *second);
                    // The nearer one is looked at first.
                    open.extend(if beyond(first) < beyond(second) { [second, first] } else { [first, second] });
                }
            }
        }
        least.sqrt()
    }

    /// Whether lines from `x` along the axes cross the surface an odd number of times: most of them, in case one runs along a face.
    fn contains(&self, x: [f64; 3]) -> bool {
        (0..3).filter(|&axis| self.crossings(x, axis) % 2 == 1).count() >= 2
    }

    /// How often a line from `x` along an axis, a little aside, crosses the surface.
    fn crossings(&self, x: [f64; 3], axis: usize) -> usize {
        let axes = [(axis + 1) % 3, (axis + 2) % 3, axis];
        let from = [x[axes[0]] + self.aside[0], x[axes[1]] + self.aside[1], x[axis]];
        let (mut count, mut open) = (0, vec![0]);
        while let Some(node) = open.pop() {
            let ([low, high], below) = &self.nodes[node];
            let beside = |k: usize| from[k] < low[axes[k]] || from[k] > high[axes[k]];
            if beside(0) || beside(1) || high[axis] < from[2] {
                continue;
            }
            match below {
                Below::Triangles(range) => {
                    let own = self.triangles[range.clone()].iter();
                    count += own.filter(|triangle| crosses(triangle, axes, from)).count();
                }
                Below::Second(second) => open.extend([node + 1, *second]),
            }
        }
        count
    }
}

/// The box around triangles.
fn around(triangles: &[Triangle]) -> Box3 {
    triangles.iter().flatten().fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[low, high], corner| {
        let x = corner.to_array();
        [[0, 1, 2].map(|a| low[a].min(x[a])), [0, 1, 2].map(|a| high[a].max(x[a]))]
    })
}

/// Square of the distance of a box \[m^2\].
fn beyond(x: [f64; 3], [low, high]: &Box3) -> f64 {
    (0..3).map(|a| (low[a] - x[a]).max(x[a] - high[a]).max(0.0).powi(2)).sum()
}

/// Square of the distance of a triangle \[m^2\].
fn square(x: Vec3<f64>, &[a, b, c]: &Triangle) -> f64 {
    let normal = (b - a).cross(c - a);
    let edges = [(a, b), (b, c), (c, a)];
    if edges.iter().all(|&(p, q)| normal.cross(q - p).dot(x - p) >= 0.0) {
        return normal.dot(x - a).powi(2) / normal.dot(normal);
    }
    let of_edge = |(p, q): (Vec3<f64>, Vec3<f64>)| {
        let edge = q - p;
        let part = ((x - p).dot(edge) / edge.dot(edge)).clamp(0.0, 1.0);
        let away = x - p - edge * part;
        away.dot(away)
    };
    edges.map(of_edge).into_iter().fold(f64::INFINITY, f64::min)
}

/// Whether the line from a point along the last of the axes crosses a triangle; the point is given along these axes.
fn crosses(triangle: &Triangle, axes: [usize; 3], from: [f64; 3]) -> bool {
    let corners = triangle.map(|corner| {
        let x = corner.to_array();
        [0, 1, 2].map(|k| x[axes[k]] - from[k])
    });
    // Twice the areas between the line and each edge, across it.
    let area = |p: usize, q: usize| corners[p][0] * corners[q][1] - corners[p][1] * corners[q][0];
    let parts = [area(1, 2), area(2, 0), area(0, 1)];
    let within = parts.iter().all(|&part| part > 0.0) || parts.iter().all(|&part| part < 0.0);
    let height: f64 = (0..3).map(|k| parts[k] * corners[k][2]).sum();
    within && height / parts.iter().sum::<f64>() > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use diffkern_sim::shape::{Cuboid, Primitive, Torus};

    #[test]
    fn depths_are_those_of_the_formulas() {
        let bodies = [
            (Primitive::Cuboid(Cuboid { sides: [1.0, 0.6, 0.4] }), 1e-12),
            (Primitive::Torus(Torus { radius: 0.4, tube: 0.15 }), 2e-3),
        ];
        for (body, error) in bodies {
            let triangles = Triangles::of(&body.surface(0.05).unwrap());
            let along = |k: usize| 0.1 * k as f64 - 0.6;
            for (i, j, k) in (0..13 * 13 * 13).map(|n| (n / 169, n / 13 % 13, n % 13)) {
                let x = [along(i), along(j), along(k)];
                let (found, expected) = (triangles.depth(x), -body.level(x));
                assert!((found - expected).abs() < error, "{body:?} at {x:?}: {found} instead of {expected}");
            }
        }
    }
}
