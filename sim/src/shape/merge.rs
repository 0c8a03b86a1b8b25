//! Fragments at the boundary join their neighbours.

use crate::mesh::{Point, add, indices};
use std::collections::HashMap;

/// No particle is lighter than this share of a full one.
pub const LIGHTEST: f64 = 0.25;

/// What a body has in one cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragment {
    pub cell: [usize; 3],
    /// In cells.
    pub volume: f64,
    /// Its centre in units of a cell's edge, times its volume.
    pub first: Point,
}

/// The same with no fragment lighter than [`LIGHTEST`] of a cell, in the same order, or one that is and has no neighbours.
///
/// The lightest go first, each to the lightest of its neighbours, those across a side of its cell before others, so that none
/// becomes much heavier than a whole cell. Volume and
/// first moment are added, so the sums of both stay.
pub(super) fn merge(mut fragments: Vec<Fragment>) -> Result<Vec<Fragment>, Fragment> {
    let number: HashMap<[usize; 3], usize> = fragments.iter().enumerate().map(|(k, f)| (f.cell, k)).collect();
    let mut light: Vec<usize> = (0..fragments.len()).filter(|&k| fragments[k].volume < LIGHTEST).collect();
    light.sort_by(|&a, &b| fragments[a].volume.total_cmp(&fragments[b].volume).then(a.cmp(&b)));
    let mut into: Vec<usize> = (0..fragments.len()).collect();
    for k in light {
        let fragment = fragments[k];
        if fragment.volume >= LIGHTEST {
            continue;
        }
        let near = indices([3, 3, 3]).filter_map(|step| {
            let axes_left = step.iter().filter(|&&s| s != 1).count();
            let cell = [0, 1, 2].map(|a| (fragment.cell[a] + step[a]).wrapping_sub(1));
            let end = end(&into, *number.get(&cell)?);
            (end != k).then_some((axes_left == 1, fragments[end].volume, end))
        });
        let best = near.min_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let Some((_, _, end)) = best else {
            return Err(fragment);
        };
        into[k] = end;
        fragments[end].volume += fragment.volume;
        fragments[end].first = add(fragments[end].first, fragment.first);
    }
    let kept = fragments.into_iter().enumerate().filter(|(k, _)| into[*k] == *k);
    Ok(kept.map(|(_, fragment)| fragment).collect())
}

/// Where the fragment has come to.
fn end(into: &[usize], mut k: usize) -> usize {
    while into[k] != k {
        k = into[k];
    }
    k
}
