//! Numerical fracture: MPM tears a body whose particles are stretched over more of the grid than they interact over.

use std::collections::HashMap;

/// Particles farther apart hardly interact by quadratic splines \[cells of the grid\].
const CELLS: f64 = 2.0;
/// Particles of a body, two to a cell along each axis, are neighbours at rest with those across a square \[cells\].
const NEAR: f64 = 0.75;

/// Neighbouring particles at rest, and the distance from which they are torn apart.
pub(super) struct Neighbours {
    pairs: Vec<[usize; 2]>,
    most: f64,
}

impl Neighbours {
    /// Of particles `at_rest` of the bodies `body_of`, on a grid with cells of `dx` \[m\].
    pub(super) fn new(at_rest: &[[f64; 3]], body_of: &[u32], dx: f64) -> Self {
        let near = NEAR * dx;
        let cell = |x: &[f64; 3]| x.map(|x| (x / near).floor() as i64);
        let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
        at_rest.iter().enumerate().for_each(|(p, x)| cells.entry(cell(x)).or_default().push(p));
        let mut pairs = Vec::new();
        for (p, x) in at_rest.iter().enumerate() {
            let own = cell(x);
            let around = (0..27).map(|k| [own[0] + k % 3 - 1, own[1] + k / 3 % 3 - 1, own[2] + k / 9 - 1]);
            let others = around.filter_map(|cell| cells.get(&cell)).flatten().copied();
            let own = others.filter(|&q| q > p && body_of[q] == body_of[p] && apart(at_rest, [p, q]) < near);
            pairs.extend(own.map(|q| [p, q]));
        }
        Self { pairs, most: CELLS * dx }
    }

    /// Whether two of them are torn apart.
    pub(super) fn are_torn(&self, at: &[[f64; 3]]) -> bool {
        self.pairs.iter().any(|&pair| apart(at, pair) > self.most)
    }
}

fn apart(at: &[[f64; 3]], [p, q]: [usize; 2]) -> f64 {
    (0..3).map(|axis| (at[p][axis] - at[q][axis]).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_a_body_are_torn_two_cells_apart() {
        // Two rows of four, 1 apart, each a body, on cells of 2.
        let rest: Vec<[f64; 3]> = (0..8).map(|p| [f64::from(p % 4), f64::from(p / 4), -0.3]).collect();
        let body_of = [0, 0, 0, 0, 1, 1, 1, 1];
        let neighbours = Neighbours::new(&rest, &body_of, 2.0);
        assert_eq!(neighbours.pairs, [[0, 1], [1, 2], [2, 3], [4, 5], [5, 6], [6, 7]]);
        let torn = |moved: &[usize], by: [f64; 3]| {
            let mut at = rest.clone();
            moved.iter().for_each(|&p| at[p] = [0, 1, 2].map(|a| at[p][a] + by[a]));
            neighbours.are_torn(&at)
        };
        assert!(!torn(&[3], [2.9, 0.0, 0.0]) && torn(&[3], [3.1, 0.0, 0.0]));
        assert!(!torn(&[4, 5, 6, 7], [0.0, 50.0, 0.0]), "bodies part");
        assert!(torn(&[6, 7], [0.0, 3.0, 3.0]));
    }
}
