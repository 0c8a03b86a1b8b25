//! Stresses against the derivative of their energy, and the rotation factor against its definition.

mod common;

use common::Random;
use diffkern::prelude::*;
use diffkern_sim::material::{FixedCorotated, Material, NeoHookean, polar_2d, polar_3d};

const MU: f64 = 3.0;
const LAMBDA: f64 = 5.0;

fn neo_hookean(square: f64, det: f64, axes: f64) -> f64 {
    MU / 2.0 * (square - axes) - MU * det.ln() + LAMBDA / 2.0 * det.ln().powi(2)
}

fn fixed_corotated(distance: f64, det: f64) -> f64 {
    MU * distance + LAMBDA / 2.0 * (det - 1.0).powi(2)
}

/// `tau = (d energy / d F) F^T` by central differences.
fn kirchhoff<const N: usize>(f: [f64; N], energy: impl Fn([f64; N]) -> f64) -> [f64; N] {
    let axes = if N == 4 { 2 } else { 3 };
    let h = 1e-5;
    let slope: [f64; N] = std::array::from_fn(|k| {
        let moved = |d: f64| energy(std::array::from_fn(|j| f[j] + if j == k { d } else { 0.0 }));
        (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h)
    });
    std::array::from_fn(|k| (0..axes).map(|j| slope[k / axes * axes + j] * f[k % axes * axes + j]).sum())
}

fn close<const N: usize>(found: [f64; N], expected: [f64; N]) {
    let error = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(error < 1e-8, "{found:?} instead of {expected:?}");
}

#[test]
fn plane_stresses_are_derivatives_of_energies() {
    let mut r = Random(1);
    for _ in 0..20 {
        let f = Mat2::identity() + r.mat2(0.4);
        let energy = |f: [f64; 4]| {
            let f = Mat2::from_array(f);
            neo_hookean(f.ddot(f), f.determinant(), 2.0)
        };
        close(NeoHookean::kirchhoff_2d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
        let energy = |f: [f64; 4]| {
            let f = Mat2::from_array(f);
            let d = f - polar_2d(f);
            fixed_corotated(d.ddot(d), f.determinant())
        };
        close(FixedCorotated::kirchhoff_2d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
    }
}

#[test]
fn stresses_are_derivatives_of_energies() {
    let mut r = Random(2);
    for _ in 0..20 {
        let f = Mat3::identity() + r.mat3(0.3);
        let energy = |f: [f64; 9]| {
            let f = Mat3::from_array(f);
            neo_hookean(f.ddot(f), f.determinant(), 3.0)
        };
        close(NeoHookean::kirchhoff_3d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
        let energy = |f: [f64; 9]| {
            let f = Mat3::from_array(f);
            let d = f - polar_3d(f);
            fixed_corotated(d.ddot(d), f.determinant())
        };
        close(FixedCorotated::kirchhoff_3d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
    }
}

#[test]
fn rotations_are_rotations_of_a_symmetric_stretch() {
    let mut r = Random(3);
    for stretch in [[1.0, 1.0, 1.0], [0.2, 1.0, 5.0], [1e-2, 1.0, 1e2]] {
        let turned = Mat3::identity() + r.mat3(0.3);
        let f = polar_3d(turned) * Mat3::from_diagonal(Vec3::from_array(stretch));
        let rotation = polar_3d(f);
        close((rotation * rotation.transpose()).to_array(), Mat3::identity().to_array());
        assert!(rotation.determinant() > 0.0);
        let s = rotation.transpose() * f;
        close(s.to_array(), s.transpose().to_array());

        let f = Mat2::identity() + r.mat2(0.8);
        let rotation = polar_2d(f);
        close((rotation * rotation.transpose()).to_array(), Mat2::identity().to_array());
        let s = rotation.transpose() * f;
        close(s.to_array(), s.transpose().to_array());
    }
}
