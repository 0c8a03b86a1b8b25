//! Candidates of every tile of an image.

use crate::error::{Error, Result};
use crate::mesh::Mesh;
use diffkern::memory::filled;

/// Side of a tile \[px\]; the kernels know it too.
const TILE: usize = 8;

/// Candidates of every tile in compressed rows: those of tile `i` are `list[start[i]..start[i + 1]]`, front to back.
///
/// A superset of the triangles that reach into the tile's pixels, so the image does not depend on it; only the order
/// matters, and only where layers overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bins {
    /// Where the candidates of each tile begin; one more element than tiles.
    pub start: Vec<u32>,
    /// Triangle indices, at least one element.
    pub list: Vec<u32>,
    /// Tiles per row.
    pub tiles_x: u32,
    /// Largest number of candidates of a tile.
    pub most: u32,
}

/// What of an image a triangle can reach.
struct Extent {
    tiles_x: (usize, usize),
    tiles_y: (usize, usize),
}

/// Sorts triangles into the tiles of an image, from projected vertices (pixel coordinates and depth).
///
/// # Errors
/// A vertex that is not finite, or whose depth is below `near`: its triangles would be cut, and the gradient wrong.
pub fn bin(
    projected: &[[f64; 3]],
    mesh: &Mesh,
    (width, height): (usize, usize),
    filter: f64,
    near: f64,
) -> Result<Bins> {
    check_vertices(projected, near)?;
    let tiles_x = width.div_ceil(TILE);
    let tiles = tiles_x * height.div_ceil(TILE);
    let mut start = filled(tiles + 1, 0u32)?;
    let visible: Vec<(usize, Extent)> = mesh
        .triangles()
        .iter()
        .enumerate()
        .filter_map(|(t, triangle)| {
            let corners = triangle.map(|v| projected[v as usize]);
            let drawn = mesh.is_two_sided() || doubled_area(&corners) <= 0.0;
            extent(&corners, width, height, filter).filter(|_| drawn).map(|extent| (t, extent))
        })
        .collect();
    let entries: usize = visible.iter().map(|(_, extent)| extent.count()).sum();
    if u32::try_from(entries).is_err() {
        let problem = format!(
            "{entries} triangles in tiles of the image; expected at most 2^32: a smaller image, or \
                               triangles that cover less of it"
        );
        return Err(Error::Mesh(problem));
    }
    for (_, extent) in &visible {
        extent.tiles(tiles_x).for_each(|tile| start[tile + 1] += 1);
    }
    for tile in 0..tiles {
        start[tile + 1] += start[tile];
    }
    let mut next = start.clone();
    let mut list = filled(entries.max(1), 0u32)?;
    for (t, extent) in &visible {
        for tile in extent.tiles(tiles_x) {
            list[next[tile] as usize] = *t as u32;
            next[tile] += 1;
        }
    }
    for tile in 0..tiles {
        let centre = [tile % tiles_x, tile / tiles_x].map(|k| (k * TILE + TILE / 2) as f64);
        let depth = |t: u32| depth_at(&mesh.triangles()[t as usize].map(|v| projected[v as usize]), centre);
        let range = start[tile] as usize..start[tile + 1] as usize;
        // Stable: triangles of equal depth keep the mesh's order, so the image has the same bits each time.
        list[range].sort_by_cached_key(|&t| Sortable(depth(t)));
    }
    let most = start.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    Ok(Bins { start, list, tiles_x: tiles_x as u32, most })
}

#[derive(PartialEq)]
struct Sortable(f64);

impl Eq for Sortable {}

impl PartialOrd for Sortable {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sortable {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Extent {
    fn count(&self) -> usize {
        let along = |(first, last): (usize, usize)| last + 1 - first;
        along(self.tiles_x) * along(self.tiles_y)
    }

    fn tiles(&self, tiles_x: usize) -> impl Iterator<Item = usize> {
        let (x0, x1) = self.tiles_x;
        (self.tiles_y.0..=self.tiles_y.1).flat_map(move |y| (x0..=x1).map(move |x| y * tiles_x + x))
    }
}

fn check_vertices(projected: &[[f64; 3]], near: f64) -> Result<()> {
    for (vertex, p) in projected.iter().enumerate() {
        let problem = if !p.iter().all(|c| c.is_finite()) {
            format!("projects to pixel ({}, {}) at depth {} m; expected finite positions and camera", p[0], p[1], p[2])
        } else if p[2] < near {
            format!("is at depth {} m; expected it beyond the near plane at {near} m", p[2])
        } else {
            continue;
        };
        return Err(Error::Vertex { vertex, problem });
    }
    Ok(())
}

fn extent(corners: &[[f64; 3]; 3], width: usize, height: usize, filter: f64) -> Option<Extent> {
    // Coordinates on the device may be f32: half a pixel of margin costs little and is far above their rounding.
    let reach = 0.5 * filter + 0.5;
    let along = |axis: usize, side: usize| {
        let min = corners.iter().map(|c| c[axis]).fold(f64::INFINITY, f64::min);
        let max = corners.iter().map(|c| c[axis]).fold(f64::NEG_INFINITY, f64::max);
        let first = (min - 0.5 - reach).floor();
        let last = (max - 0.5 + reach).ceil();
        let outside = last < 0.0 || first > (side - 1) as f64;
        // A float to integer cast saturates, so far away triangles end at the border.
        (!outside).then(|| (first.max(0.0) as usize / TILE, (last as usize).min(side - 1) / TILE))
    };
    Some(Extent { tiles_x: along(0, width)?, tiles_y: along(1, height)? })
}

fn doubled_area(&[a, b, c]: &[[f64; 3]; 3]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Depth of the triangle's plane at a pixel, kept inside the triangle's own range; 1/depth is affine in the image.
fn depth_at(corners: &[[f64; 3]; 3], at: [f64; 2]) -> f64 {
    let [a, b, c] = corners;
    let (nearest, farthest) = (a[2].min(b[2]).min(c[2]), a[2].max(b[2]).max(c[2]));
    let doubled = doubled_area(corners);
    if doubled.abs() < 1e-9 {
        return nearest;
    }
    let p = [at[0], at[1], 0.0];
    let share = |q: &[f64; 3], r: &[f64; 3]| doubled_area(&[p, *q, *r]) / doubled;
    let inverse = share(b, c) / a[2] + share(c, a) / b[2] + share(a, b) / c[2];
    inverse.recip().clamp(nearest, farthest).abs()
}
