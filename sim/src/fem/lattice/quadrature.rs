//! What of a body is in each cell: its mass, and the points where its stress is taken.
//!
//! Each cell is divided by four along each axis, and the part of the body in each of these 64 has an exact volume and centre, as particles have
//! ([`fill`](crate::shape::fill)). From them come volume, centre and second moments of the cell's part. They are gathered by the octant
//! about that centre into eight points or fewer, which are then moved apart, along each axis by one factor, until their second moments are those of the part. So
//! points have positive weights, those of whole cells and of cells cut across an axis stand at the corners of a box, and integrate the quadratic polynomials of a whole cell exactly, where they are Gauss's. Of a cut division the second
//! moments about its own centre are taken as those of a cube of its volume: of a plate a third of a cell thick the bending stiffness comes out a fifth too
//! large, and bodies below two fifths are refused.

use crate::error::{Error, Result};
use crate::mesh::{Point, add, norm, scale, sub};
use crate::shape::Fragment;
use std::collections::BTreeMap;

/// Divisions of a cell along each axis.
pub(super) const DIVISIONS: usize = 4;
/// Stress points of a cell.
pub(super) const POINTS: usize = 8;
/// Parts below this share of a cell belong to the largest neighbour, with their places: little mass far out makes nothing stiffer, but in single
/// precision it vanishes.
const SMALLEST: f64 = 0.1;
/// Octants with less than this share of a part are gathered into the nearest other: light points turned inside out when a ball bounced.
const LIGHTEST: f64 = 0.1;

/// The part of a body in one cell. Lengths are in cells, from its lowest corner.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CellPart {
    pub(super) cell: [usize; 3],
    pub(super) volume: f64,
    pub(super) centre: Point,
    /// Second central moments by volume.
    pub(super) second: [Point; 3],
    pub(super) points: [(Point, f64); POINTS],
}

/// Cells by which the places of points may differ from the corners of a box.
const SQUARE: f64 = 1e-12;

impl CellPart {
    /// The lowest and the highest corner of the box at whose corners the stress points stand and weigh alike, if they do: that of bit `a` of its number is high along axis `a`.
    pub(super) fn corners(&self) -> Option<[Point; 2]> {
        let (ends, share) = ([self.points[0].0, self.points[POINTS - 1].0], self.volume / POINTS as f64);
        let apart = |k: usize, a: usize| (self.points[k].0[a] - ends[k >> a & 1][a]).abs();
        let stands = |k: usize| (0..3).all(|a| apart(k, a) < SQUARE) && (self.points[k].1 - share).abs() < SQUARE;
        (0..POINTS).all(stands).then_some(ends)
    }
}

/// A piece of a part.
#[derive(Clone, Copy)]
struct Piece {
    at: Point,
    volume: f64,
}

/// The parts of the cells, in the order of their indices, those first whose points stand at the corners of boxes; of `pieces` that are in units of a division.
pub(super) fn cell_parts(pieces: &[Fragment]) -> Result<Vec<CellPart>> {
    let n = DIVISIONS as f64;
    let mut cells: BTreeMap<[usize; 3], Vec<Piece>> = BTreeMap::new();
    for f in pieces {
        let at = scale(f.first, 1.0 / (f.volume * n));
        cells.entry(f.cell.map(|k| k / DIVISIONS)).or_default().push(Piece { at, volume: f.volume / n.powi(3) });
    }
    let whole: BTreeMap<_, f64> = cells.iter().map(|(c, p)| (*c, p.iter().map(|p| p.volume).sum())).collect();
    let small: Vec<_> = whole.iter().filter(|&(_, v)| *v < SMALLEST).map(|(c, _)| *c).collect();
    for cell in small {
        let into = largest_neighbour(&whole, cell).ok_or_else(|| {
            let expected = format!("at least {SMALLEST} cells; use smaller cells");
            Error::invalid("a part of the body alone in its cells", format!("{:.2e} cells", whole[&cell]), expected)
        })?;
        let moved = cells.remove(&cell).unwrap_or_default();
        cells.entry(into).or_default().extend(moved);
    }
    let mut parts: Vec<CellPart> = cells.into_iter().map(|(cell, pieces)| part(cell, &pieces)).collect();
    parts.sort_by_key(|part| part.corners().is_none());
    Ok(parts)
}

/// The cell around with the largest part that stays, those across a side first.
fn largest_neighbour(whole: &BTreeMap<[usize; 3], f64>, cell: [usize; 3]) -> Option<[usize; 3]> {
    let around = crate::mesh::indices([3, 3, 3]).filter_map(|step| {
        let sides = step.iter().filter(|&&s| s != 1).count();
        let near = [0, 1, 2].map(|a| (cell[a] + step[a]).wrapping_sub(1));
        let volume = *whole.get(&near)?;
        (volume >= SMALLEST).then_some((sides, volume, near))
    });
    around.min_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1))).map(|(_, _, near)| near)
}

fn part(cell: [usize; 3], pieces: &[Piece]) -> CellPart {
    let low = cell.map(|k| k as f64);
    let volume: f64 = pieces.iter().map(|p| p.volume).sum();
    let local = |p: &Piece| sub(p.at, low);
    let centre = scale(pieces.iter().fold([0.0; 3], |sum, p| add(sum, scale(local(p), p.volume))), 1.0 / volume);
    let mut second = [[0.0; 3]; 3];
    for p in pieces {
        let d = sub(local(p), centre);
        // A piece has moments of its own: those of a cube of its volume.
        let own = p.volume.cbrt().powi(2) / 12.0;
        for (a, row) in second.iter_mut().enumerate() {
            for (b, s) in row.iter_mut().enumerate() {
                *s += p.volume / volume * (d[a] * d[b] + if a == b { own } else { 0.0 });
            }
        }
    }
    let points =
        points(centre, [second[0][0], second[1][1], second[2][2]], pieces.iter().map(|p| (local(p), p.volume)));
    CellPart { cell, volume, centre, second, points }
}

/// Adds what is lighter than `least` to the nearest of the others; these are moments and weights.
fn gather(sums: &mut [(Point, f64); POINTS], least: f64) {
    let at = |(d, v): (Point, f64)| scale(d, 1.0 / v);
    for k in (0..POINTS).filter(|&k| sums[k].1 > 0.0 && sums[k].1 < least).collect::<Vec<_>>() {
        let apart = |j: usize| norm(sub(at(sums[j]), at(sums[k])));
        let near = (0..POINTS).filter(|&j| sums[j].1 >= least).min_by(|&i, &j| apart(i).total_cmp(&apart(j)));
        if let Some(j) = near {
            let light = std::mem::replace(&mut sums[k], ([0.0; 3], 0.0));
            sums[j] = (add(sums[j].0, light.0), sums[j].1 + light.1);
        }
    }
}

/// One point for each octant about `centre`, moved apart to the moments `second`; where there are fewer the last ones weigh nothing.
fn points(centre: Point, second: Point, pieces: impl Iterator<Item = (Point, f64)>) -> [(Point, f64); POINTS] {
    let mut sums = [([0.0; 3], 0.0); POINTS];
    for (x, v) in pieces {
        let d = sub(x, centre);
        let octant = (0..3).map(|a| usize::from(d[a] > 0.0) << a).sum::<usize>();
        sums[octant] = (add(sums[octant].0, scale(d, v)), sums[octant].1 + v);
    }
    let volume: f64 = sums.iter().map(|s| s.1).sum();
    gather(&mut sums, LIGHTEST * volume);
    let filled = sums.iter().filter(|s| s.1 > 0.0).map(|(d, v)| (scale(*d, 1.0 / v), *v));
    let apart = [0, 1, 2].map(|a| {
        let found = filled.clone().map(|(d, v)| v * d[a] * d[a]).sum::<f64>() / volume;
        if found > 0.25 * second[a] { (second[a] / found).sqrt() } else { 1.0 }
    });
    // Those that are left over weigh nothing, and lie where the deformation is checked anyway.
    let first = filled.clone().next().map_or([0.0; 3], |(d, _)| d);
    let mut points = [(add(centre, [0, 1, 2].map(|a| apart[a] * first[a])), 0.0); POINTS];
    for (point, (d, v)) in points.iter_mut().zip(filled) {
        *point = (add(centre, [0, 1, 2].map(|a| apart[a] * d[a])), v);
    }
    points
}
