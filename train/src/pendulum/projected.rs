//! Least squares of one swing over its start, whatever the constants are.
//!
//! Each swing has a start of its own. For a change `p` of the constants the best change of the start is `x = -R^-1 Q^T (r + J p)`, with `Q R` the
//! derivatives by the start; what is left is linear in `p` (variable projection, Golub and Pereyra 1973).

use super::arms::START;

/// Derivatives by the start as `Q R`, and what is left of residual and other derivatives beside `Q`.
pub(super) struct Projected {
    /// `R` row by row.
    r: [[f64; START]; START],
    /// `Q^T` of the residual, and of each derivative by a constant.
    along: Vec<[f64; START]>,
    /// What is left of the residual.
    pub(super) residual: Vec<f64>,
    /// And of the derivatives.
    pub(super) derivatives: Vec<Vec<f64>>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Projected {
    /// None where the start does not show in the residuals, or only some of its four numbers.
    pub(super) fn new(residual: Vec<f64>, by_constants: Vec<Vec<f64>>, by_start: [Vec<f64>; START]) -> Option<Self> {
        let (mut q, mut r): (Vec<Vec<f64>>, _) = (Vec::with_capacity(START), [[0.0; START]; START]);
        for (k, mut column) in by_start.into_iter().enumerate() {
            let whole = dot(&column, &column).sqrt();
            for (row, unit) in r.iter_mut().zip(&q) {
                row[k] = dot(unit, &column);
                column.iter_mut().zip(unit).for_each(|(c, u)| *c -= row[k] * u);
            }
            let size = dot(&column, &column).sqrt();
            // NaN does not show either.
            let shows = size > 1e-9 * whole;
            if !shows {
                return None;
            }
            r[k][k] = size;
            column.iter_mut().for_each(|c| *c /= size);
            q.push(column);
        }
        let mut along = Vec::new();
        let mut beside = |mut column: Vec<f64>| {
            let mut parts = [0.0; START];
            for (part, unit) in parts.iter_mut().zip(&q) {
                *part = dot(unit, &column);
                column.iter_mut().zip(unit).for_each(|(c, u)| *c -= *part * u);
            }
            along.push(parts);
            column
        };
        let residual = beside(residual);
        let derivatives = by_constants.into_iter().map(&mut beside).collect();
        Some(Self { r, along, residual, derivatives })
    }

    /// The change of the start that goes with a change of the constants.
    pub(super) fn start(&self, change: &[f64]) -> [f64; START] {
        let mut x = [0.0; START];
        for k in (0..START).rev() {
            let constants = self.along[1..].iter().zip(change).map(|(along, change)| along[k] * change);
            let known: f64 = (k + 1..START).map(|j| self.r[k][j] * x[j]).sum();
            x[k] = -(self.along[0][k] + constants.sum::<f64>() + known) / self.r[k][k];
        }
        x
    }
}
