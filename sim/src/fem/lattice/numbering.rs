//! Numbers of control points: those of the cells in use, rows along z without gaps.

use super::HELD;
use crate::mesh::Point;
use std::collections::BTreeMap;

/// A plane between cells on whose far side the body is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeldPlane {
    pub(super) axis: usize,
    /// Number of the first cell above the plane.
    pub(super) cell: usize,
    /// Whether what is above it is free.
    pub(super) free_above: bool,
}

/// Control points of cells.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Numbering {
    /// Places in cells: that of the first control point of cell 0 is -1/2.
    pub(super) nodes: Vec<Point>,
    /// First control points of the nine rows of each cell.
    pub(super) rows: Vec<u32>,
    /// The control point that each is tied to: itself if it is free, that on the other side of a held plane, or none ([`HELD`]).
    pub(super) ties: Vec<u32>,
}

/// Of these cells, and after them one that is held where `with_held`: its control points are apart from the others.
pub(super) fn numbered(cells: &[[usize; 3]], planes: &[HeldPlane], with_held: bool) -> Numbering {
    let mut number: BTreeMap<[usize; 3], u32> = BTreeMap::new();
    for cell in cells {
        for o in crate::mesh::indices([3, 3, 3]) {
            number.insert([0, 1, 2].map(|a| cell[a] + o[a]), 0);
        }
    }
    // The order of the keys is that of the numbers, so neighbours along z follow each other.
    number.values_mut().enumerate().for_each(|(k, n)| *n = k as u32);
    let place = |i: [usize; 3]| i.map(|k| k as f64 - 0.5);
    let mut nodes: Vec<Point> = number.keys().map(|&i| place(i)).collect();
    let mut ties: Vec<u32> = (0..nodes.len() as u32).collect();
    for plane in planes {
        // The control points next to the plane have the indices of the cells above and below it, plus one.
        for (i, &n) in number.iter().filter(|(i, _)| i[plane.axis] == plane.cell) {
            let mut other = *i;
            other[plane.axis] += 1;
            if let Some(&m) = number.get(&other) {
                (ties[n as usize], ties[m as usize]) = (m, n);
            }
        }
    }
    let row = |cell: &[usize; 3], k: usize| number[&[cell[0] + k / 3, cell[1] + k % 3, cell[2]]];
    let mut rows: Vec<u32> = cells.iter().flat_map(|cell| (0..9).map(move |k| row(cell, k))).collect();
    if with_held {
        let first = nodes.len() as u32;
        nodes.extend(crate::mesh::indices([3, 3, 3]).map(place));
        ties.extend([HELD; 27]);
        rows.extend((0..9).map(|k| first + 3 * k));
    }
    Numbering { nodes, rows, ties }
}
