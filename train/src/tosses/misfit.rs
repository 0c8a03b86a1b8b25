//! How far simulated cubes are from measured ones.

use super::cube::{HALF, Linear, Motion, Placed};
use super::recording::Toss;
use super::start::{position, rotation, rotation_vector};
use crate::error::Result;
use diffkern::prelude::*;
use diffkern_optim::dense::NormalEquations;

/// Distance of a cube \[m\] from which on it counts by its distance, not by the square: where a cube falls on another side, nothing
/// is learned from how far that is.
pub(super) const KNEE: f64 = 5e-3;

/// Twelve numbers whose squares sum to the mean square distance of the eight corners: of the centres, and of the matrices of rotation times half
/// a side.
fn apart(there: Placed, x: Vec3<f64>, q: Quat<f64>) -> [f64; 12] {
    let (away, turned, measured) = (there.x - x, there.q.to_mat3().to_array(), q.to_mat3().to_array());
    std::array::from_fn(|k| if k < 3 { away.to_array()[k] } else { HALF * (turned[k - 3] - measured[k - 3]) })
}

/// The derivative of these numbers, where that of the pose is `change`.
fn changed(there: Placed, change: Placed) -> [f64; 12] {
    // The matrix is a quadratic form: its derivative is the difference of two of its values.
    let (q, d) = (there.q, change.q);
    let shifted =
        |by: f64| Quat::new(q.w + by * d.w, q.x + by * d.x, q.y + by * d.y, q.z + by * d.z).to_mat3().to_array();
    let (after, before) = (shifted(0.5), shifted(-0.5));
    std::array::from_fn(|k| if k < 3 { change.x.to_array()[k] } else { HALF * (after[k - 3] - before[k - 3]) })
}

/// What a distance \[m\] counts, twice the pseudo-Huber loss: its square near 0, its size far from there; and the weight of its square.
fn counted(distance: f64) -> (f64, f64) {
    let root = (1.0 + (distance / KNEE).powi(2)).sqrt();
    (2.0 * KNEE * KNEE * (root - 1.0), 1.0 / root)
}

/// Frames of a toss that are compared: from 1 to this one, not included.
pub(super) type Windows = Vec<usize>;

/// The mean over the frames of each toss of what its distance counts; the frame 0 has none.
pub(super) fn losses(tosses: &[Toss], windows: &Windows, motion: &Motion) -> Vec<f64> {
    let of = |(b, (toss, &end)): (usize, (&Toss, &usize))| {
        let each = |k: usize| counted(norm(&apart(motion[k][b], position(toss, k), rotation(toss, k)))).0;
        (1..end).map(each).sum::<f64>() / (end - 1) as f64
    };
    tosses.iter().zip(windows).enumerate().map(of).collect()
}

/// The mean over the frames of each toss of its distance \[m\]: the root of the mean square over the corners.
pub(super) fn distances(tosses: &[Toss], windows: &Windows, motion: &Motion) -> Vec<f64> {
    let of = |(b, (toss, &end)): (usize, (&Toss, &usize))| {
        let each = |k: usize| norm(&apart(motion[k][b], position(toss, k), rotation(toss, k)));
        (1..end).map(each).sum::<f64>() / (end - 1) as f64
    };
    tosses.iter().zip(windows).enumerate().map(of).collect()
}

/// For each toss the normal equations of its frames, weighed as they count (iteratively reweighted least squares).
pub(super) fn normals(tosses: &[Toss], windows: &Windows, linear: &Linear) -> Result<Vec<NormalEquations>> {
    let of = |(b, (toss, &end)): (usize, (&Toss, &usize))| {
        let mut normal = NormalEquations::new(3);
        for k in 1..end {
            let there = linear.motion[k][b];
            let residual = apart(there, position(toss, k), rotation(toss, k));
            let weight = (counted(norm(&residual)).1 / (end - 1) as f64).sqrt();
            let weighed = |row: [f64; 12]| row.map(|x| weight * x).to_vec();
            let derivatives: Vec<Vec<f64>> =
                linear.derivatives.iter().map(|along| weighed(changed(there, along[k][b]))).collect();
            normal.add(&weighed(residual), &derivatives)?;
        }
        Ok(normal)
    };
    tosses.iter().zip(windows).enumerate().map(of).collect()
}

fn norm(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Mean distance \[m\] and angle \[rad\] over the compared frames of each toss.
pub(super) fn errors(tosses: &[Toss], windows: &Windows, motion: &Motion) -> Vec<[f64; 2]> {
    let of = |(b, (toss, &end)): (usize, (&Toss, &usize))| {
        let each = |k: usize| {
            let Placed { x, q } = motion[k][b];
            [(x - position(toss, k)).norm(), rotation_vector(q * rotation(toss, k).conjugate()).norm()]
        };
        let sum = (1..end).map(each).fold([0.0; 2], |all, one| [all[0] + one[0], all[1] + one[1]]);
        sum.map(|total| total / (end - 1) as f64)
    };
    tosses.iter().zip(windows).enumerate().map(of).collect()
}
