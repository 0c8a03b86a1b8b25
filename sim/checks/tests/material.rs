//! Stresses against the derivative of their energy, and the rotation factor against its definition.

mod common;

use common::Random;
use diffkern::prelude::*;
use diffkern_sim::material::{
    FixedCorotated, Material, NeoHookean, QuadraticNeoHookean, StVenantKirchhoff, StableNeoHookean, polar_2d, polar_3d,
};

const MU: f64 = 3.0;
const LAMBDA: f64 = 5.0;

fn neo_hookean(square: f64, det: f64, axes: f64) -> f64 {
    MU / 2.0 * (square - axes) - MU * det.ln() + LAMBDA / 2.0 * det.ln().powi(2)
}

fn quadratic_neo_hookean(square: f64, det: f64, axes: f64) -> f64 {
    MU / 2.0 * (square - axes) - MU * det.ln() + LAMBDA / 2.0 * (det - 1.0).powi(2)
}

/// `tr(E^2)` by the squares of `C = F^T F`: `(tr(C^2) - 2 tr(C) + d) / 4`.
fn st_venant_kirchhoff(quartic: f64, square: f64, axes: f64) -> f64 {
    MU / 4.0 * (quartic - 2.0 * square + axes) + LAMBDA / 8.0 * (square - axes).powi(2)
}

fn stable_neo_hookean(square: f64, det: f64) -> f64 {
    let (m, l) = (4.0 / 3.0 * MU, LAMBDA + 5.0 / 6.0 * MU);
    let a = 1.0 + 3.0 * m / (4.0 * l);
    m / 2.0 * (square - 3.0) + l / 2.0 * (det - a).powi(2) - m / 2.0 * (square + 1.0).ln()
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
            quadratic_neo_hookean(f.ddot(f), f.determinant(), 2.0)
        };
        close(QuadraticNeoHookean::kirchhoff_2d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
        let energy = |f: [f64; 4]| {
            let f = Mat2::from_array(f);
            let c = f.transpose() * f;
            st_venant_kirchhoff(c.ddot(c), f.ddot(f), 2.0)
        };
        close(StVenantKirchhoff::kirchhoff_2d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
        let energy = |f: [f64; 4]| {
            let f = Mat2::from_array(f);
            let d = f - polar_2d(f);
            fixed_corotated(d.ddot(d), f.determinant())
        };
        close(FixedCorotated::kirchhoff_2d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
        let energy = |f: [f64; 4]| {
            let f = Mat2::from_array(f);
            stable_neo_hookean(f.ddot(f) + 1.0, f.determinant())
        };
        close(StableNeoHookean::kirchhoff_2d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
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
            quadratic_neo_hookean(f.ddot(f), f.determinant(), 3.0)
        };
        close(QuadraticNeoHookean::kirchhoff_3d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
        let energy = |f: [f64; 9]| {
            let f = Mat3::from_array(f);
            let c = f.transpose() * f;
            st_venant_kirchhoff(c.ddot(c), f.ddot(f), 3.0)
        };
        close(StVenantKirchhoff::kirchhoff_3d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
        let energy = |f: [f64; 9]| {
            let f = Mat3::from_array(f);
            let d = f - polar_3d(f);
            fixed_corotated(d.ddot(d), f.determinant())
        };
        close(FixedCorotated::kirchhoff_3d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
        // Inverted in every second round.
        let f = f * Mat3::from_diagonal(Vec3::new(1.0, 1.0, r.between(-1.0, 1.0)));
        let energy = |f: [f64; 9]| {
            let f = Mat3::from_array(f);
            stable_neo_hookean(f.ddot(f), f.determinant())
        };
        close(StableNeoHookean::kirchhoff_3d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
    }
}

/// The energy of a law is that of its stress, and zero at rest, in the plane too.
fn has_its_energy<M: Material>() {
    let mut r = Random(6);
    for _ in 0..10 {
        let (f, g) = (Mat3::identity() + r.mat3(0.3), Mat2::identity() + r.mat2(0.3));
        let energy = |f: [f64; 9]| M::energy_3d(Mat3::from_array(f), MU, LAMBDA);
        close(M::kirchhoff_3d(f, MU, LAMBDA).to_array(), kirchhoff(f.to_array(), energy));
        let energy = |f: [f64; 4]| M::energy_2d(Mat2::from_array(f), MU, LAMBDA);
        close(M::kirchhoff_2d(g, MU, LAMBDA).to_array(), kirchhoff(g.to_array(), energy));
    }
    let at_rest = [M::energy_3d(Mat3::identity(), MU, LAMBDA), M::energy_2d(Mat2::identity(), MU, LAMBDA)];
    assert!(at_rest.iter().all(|e| e.abs() < 1e-15), "{at_rest:?}");
}

#[test]
fn laws_have_the_energies_of_their_stresses() {
    has_its_energy::<NeoHookean>();
    has_its_energy::<FixedCorotated>();
    has_its_energy::<StableNeoHookean>();
    has_its_energy::<QuadraticNeoHookean>();
    has_its_energy::<StVenantKirchhoff>();
}

/// At rest there is no stress, and for a small `F - I` it is `2 mu e + lambda tr(e) I`, `e` the symmetric part; in the plane too.
fn linear_elastic<M: Material>() {
    let (mut r, h) = (Random(4), 1e-6);
    for _ in 0..10 {
        let (plane, space) = (r.mat2(1.0), r.mat3(1.0));
        let e = (plane + plane.transpose()) * 0.5;
        let expected = e * (2.0 * MU) + Mat2::identity() * (LAMBDA * e.trace());
        let stress = |t: f64| M::kirchhoff_2d(Mat2::identity() + plane * t, MU, LAMBDA);
        close(((stress(h) - stress(-h)) * (0.5 / h)).to_array(), expected.to_array());
        assert_eq!(stress(0.0), Mat2::zero());

        let e = (space + space.transpose()) * 0.5;
        let expected = e * (2.0 * MU) + Mat3::identity() * (LAMBDA * e.trace());
        let stress = |t: f64| M::kirchhoff_3d(Mat3::identity() + space * t, MU, LAMBDA);
        close(((stress(h) - stress(-h)) * (0.5 / h)).to_array(), expected.to_array());
        assert_eq!(stress(0.0), Mat3::zero());
    }
}

#[test]
fn small_strains_have_the_stress_of_the_lame_parameters() {
    linear_elastic::<NeoHookean>();
    linear_elastic::<FixedCorotated>();
    linear_elastic::<StableNeoHookean>();
    linear_elastic::<QuadraticNeoHookean>();
    linear_elastic::<StVenantKirchhoff>();
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
