//! Values and gradients of the 27 splines of a cell, on the host.

use crate::mesh::{Point, add, per_axis, scale};

/// Of each spline the value and the gradient; lengths in cells.
pub(super) type Shape = [(f64, Point); 27];

/// At `s`, from 0 to 1 across the cell.
pub(super) fn shape(s: Point) -> Shape {
    let value = |s: f64| [0.5 * (1.0 - s) * (1.0 - s), 0.5 + s * (1.0 - s), 0.5 * s * s];
    let slope = |s: f64| [s - 1.0, 1.0 - 2.0 * s, s];
    let (values, slopes) = (per_axis(|a| value(s[a])), per_axis(|a| slope(s[a])));
    let mut all = [(0.0, [0.0; 3]); 27];
    for (n, one) in all.iter_mut().enumerate() {
        let [i, j, k] = [n / 9, n / 3 % 3, n % 3];
        let [x, y, z] = [values[0][i], values[1][j], values[2][k]];
        *one = (x * y * z, [slopes[0][i] * y * z, x * slopes[1][j] * z, x * y * slopes[2][k]]);
    }
    all
}

/// The mean over points by their weights.
pub(super) fn mean_shape(points: &[(Point, f64)]) -> Shape {
    let volume: f64 = points.iter().map(|p| p.1).sum();
    let mut mean = [(0.0, [0.0; 3]); 27];
    for &(s, v) in points {
        for (sum, (w, g)) in mean.iter_mut().zip(shape(s)) {
            *sum = (sum.0 + w * v / volume, add(sum.1, scale(g, v / volume)));
        }
    }
    mean
}
