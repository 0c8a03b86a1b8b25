//! Finer triangles of one and the same surface.

use super::solid::affordable;
use crate::error::Result;
use crate::mesh::{Point, add, norm, scale, sub};
use std::collections::HashMap;

/// Each triangle in four by the middles of its edges, until no edge is longer than `edge` \[m\]: a closed surface stays closed.
pub(super) fn refined(
    mut vertices: Vec<Point>,
    mut triangles: Vec<[u32; 3]>,
    edge: f64,
) -> Result<(Vec<Point>, Vec<[u32; 3]>)> {
    let length = |t: &[u32; 3], k: usize| norm(sub(vertices[t[k] as usize], vertices[t[(k + 1) % 3] as usize]));
    let longest = triangles.iter().flat_map(|t| [0, 1, 2].map(|k| length(t, k))).fold(0.0, f64::max);
    let levels = (longest / edge).log2().ceil().max(0.0);
    affordable(triangles.len() as f64 * 4f64.powf(levels), edge)?;
    for _ in 0..levels as usize {
        let mut middles = HashMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                vertices.push(scale(add(vertices[a as usize], vertices[b as usize]), 0.5));
                vertices.len() as u32 - 1
            })
        };
        let mut finer = Vec::with_capacity(4 * triangles.len());
        for &[a, b, c] in &triangles {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    Ok((vertices, triangles))
}
