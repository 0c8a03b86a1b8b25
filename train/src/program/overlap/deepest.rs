//! The largest value of a function that changes no faster than its argument moves, by branch and bound.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Places at which the function is looked at, at most: what bodies share by more than touching shows in few. Fewer are enough for how much it is.
const MOST: usize = 4000;
const ENOUGH: usize = 800;
/// Part of the largest value by which it may be missed.
const PRECISION: f64 = 0.02;

/// A box with the most that the function may be in it.
struct Cell {
    corners: [[f64; 3]; 2],
    most: f64,
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cell {}

impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cell {
    fn cmp(&self, other: &Self) -> Ordering {
        self.most.total_cmp(&other.most)
    }
}

/// The largest value of `depth` in the box between two corners, if one of more than `least` is found: exact to a part of it, or as far as so many looks go.
pub(super) fn deepest(corners: [[f64; 3]; 2], least: f64, depth: impl Fn([f64; 3]) -> f64) -> Option<f64> {
    let mut best = f64::NEG_INFINITY;
    let mut open = BinaryHeap::from([Cell { corners, most: f64::INFINITY }]);
    let mut looked = 0;
    while let Some(Cell { corners, most }) = open.pop() {
        let enough = if best > least { ENOUGH } else { MOST };
        if looked >= enough || most <= (1.0 + PRECISION) * best.max(least) {
            break;
        }
        for corners in halves(corners) {
            let (middle, radius) = ball(corners);
            let here = depth(middle);
            looked += 1;
            best = best.max(here);
            open.push(Cell { corners, most: here + radius });
        }
    }
    (best > least).then_some(best)
}

/// The two halves of a box, along its longest side.
fn halves([low, high]: [[f64; 3]; 2]) -> [[[f64; 3]; 2]; 2] {
    let side = |a: usize| high[a] - low[a];
    let longest = (1..3).fold(0, |longest, a| if side(a) > side(longest) { a } else { longest });
    let (mut end, mut begin) = (high, low);
    end[longest] = 0.5 * (low[longest] + high[longest]);
    begin[longest] = end[longest];
    [[low, end], [begin, high]]
}

/// Centre and radius of the ball around a box.
fn ball([low, high]: [[f64; 3]; 2]) -> ([f64; 3], f64) {
    let middle = [0, 1, 2].map(|a| 0.5 * (low[a] + high[a]));
    let radius = 0.5 * (0..3).map(|a| (high[a] - low[a]).powi(2)).sum::<f64>().sqrt();
    (middle, radius)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::setup::norm;

    #[test]
    fn a_small_peak_in_a_large_box_is_found_and_none_below_what_counts() {
        let peak = |x: [f64; 3]| 2e-3 - norm([x[0] - 0.37, x[1] + 0.81, x[2] - 0.2]);
        let corners = [[-1.0; 3], [1.0; 3]];
        let found = deepest(corners, 1e-4, peak);
        assert!(found.is_some_and(|found| (1.96e-3..=2e-3).contains(&found)), "{found:?}");
        assert_eq!(deepest(corners, 2.1e-3, peak), None);
        // The bound of a slope is met everywhere: it ends all the same.
        assert_eq!(deepest(corners, 1e-6, |x| -x[0].abs()), None);
    }
}
