//! One vertex for each place.

use super::vector::Point;
use diffkern::memory::collect;
use std::collections::HashMap;

/// The same faces over the places that they use, each place once; places are equal where all their coordinates are.
pub(super) fn weld(vertices: &[Point], triangles: &[[u32; 3]]) -> diffkern::Result<(Vec<Point>, Vec<[u32; 3]>)> {
    let (mut number, mut places) = (HashMap::new(), Vec::new());
    let mut place = |i: u32| {
        let Some(&at) = vertices.get(i as usize) else { return i };
        // Adding zero makes the negative zero positive.
        *number.entry(at.map(|x| (x + 0.0).to_bits())).or_insert_with(|| {
            places.push(at);
            places.len() as u32 - 1
        })
    };
    let triangles = collect(triangles.iter().map(|t| t.map(&mut place)))?;
    Ok((places, triangles))
}
