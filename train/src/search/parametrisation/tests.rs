//! Coordinates there and back, their derivatives, and what is fitted along.

use super::super::row::young;
use super::*;
use crate::experiment::Identify;
use crate::scene::Part;
use std::path::Path;

const MU: Target = Target { of: 0, quantity: Quantity::Mu, take: 0, piece: 0 };
const LAMBDA: Target = Target { quantity: Quantity::Lambda, ..MU };
const FALL: Target = Target { of: 1, quantity: Quantity::Velocity(2), ..MU };
const DENSITY: Target = Target { quantity: Quantity::Density, ..FALL };

/// The sample with a second body.
fn scene() -> Scene {
    let mut scene = Scene::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a")).unwrap();
    scene.bodies.push(scene.bodies[0].clone());
    scene
}

fn two_bodies() -> Parametrisation {
    Parametrisation {
        base: Physics::zero(&scene()),
        rows: vec![
            Row::Elastic([MU, LAMBDA], [[1500.0, 25_000.0], [1500.0, 60_000.0]]),
            Row::One(DENSITY, [100.0, 4000.0], Map::Log),
            Row::One(FALL, [-3.0, 1.0], Map::Share),
        ],
        room: Some(40.0),
        least: LEAST_VISCOSITY,
        cheap: false,
        told: Vec::new(),
        priors: Vec::new(),
    }
}

fn physics(mu: f64, lambda: f64, extra: f64) -> Physics {
    let mut values = Physics::zero(&scene());
    (values[MU], values[LAMBDA], values.extra) = (mu, lambda, extra);
    (values[DENSITY], values[FALL]) = (700.0, -1.25);
    values
}

fn numbers(values: &Physics) -> Vec<f64> {
    Part::ALL.iter().flat_map(|part| values.part(*part, 0)).collect()
}

#[test]
fn a_viscosity_is_fitted_along_where_no_other_loss_is_searched_for() {
    let fitted = |quantity: Quantity| {
        let mut scene = Scene::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a")).unwrap();
        let target = Target { quantity, ..MU };
        let name = scene.name_of(target);
        let own = Range { name, target, min: 1.0, max: 100.0, transform: Transform::Auto, prior: None };
        scene.unknowns.retain(|range| range.target != target);
        scene.unknowns.push(own);
        let options = Identify::new("jelly_drop_a".into()).options(&scene).unwrap();
        Parametrisation::new(&scene, &options, 40.0).unwrap().kinds().contains(&Kind::Viscosity)
    };
    assert!(fitted(Quantity::Density) && !fitted(Quantity::Viscosity) && !fitted(Quantity::Damping));
}

#[test]
fn priors_are_residuals_with_their_derivatives() {
    let mut both = two_bodies();
    both.priors = vec![
        (MU, Prior { center: 7000.0, deviation: 0.2 }),
        (FALL, Prior { center: -1.0, deviation: 0.3 }),
        (DENSITY, Prior { center: 1000.0, deviation: 0.1 }),
    ];
    let at = both.at(&physics(9000.0, 15_000.0, 4.0));
    let residuals = |at: &[f64]| -> Vec<f64> { both.priors(at).into_iter().map(|(r, _)| r).collect() };
    let expected = [(9.0f64 / 7.0).ln() / 0.2, -0.25 / 0.3, 0.7f64.ln() / 0.1];
    assert!(residuals(&at).iter().zip(expected).all(|(r, e)| (r - e).abs() < 1e-9));
    for k in 0..at.len() {
        let moved = |by: f64| {
            let mut to = at.clone();
            to[k] += by;
            residuals(&to)
        };
        let (up, down) = (moved(1e-6), moved(-1e-6));
        for (i, (_, slopes)) in both.priors(&at).iter().enumerate() {
            let slope = (up[i] - down[i]) / 2e-6;
            assert!((slope - slopes[k]).abs() <= 1e-6 * (1.0 + slopes[k].abs()), "{slope} {}", slopes[k]);
        }
    }
}

#[test]
fn there_and_back() {
    let both = two_bodies();
    for [mu, lambda] in [[8086.6, 14_007.9], [1500.0, 1500.0], [25_000.0, 60_000.0], [20_000.0, 1600.0]] {
        let values = physics(mu, lambda, 3.0);
        let back = both.values(&both.at(&values));
        let apart = |(b, v): (&f64, &f64)| (b - v).abs() <= 1e-9 * v.abs();
        assert!(numbers(&back).iter().zip(&numbers(&values)).all(apart), "{back:?}");
    }
}

#[test]
fn the_box_is_kept_and_with_it_youngs_modulus() {
    let (both, e) = (two_bodies(), 45_000.0f64);
    for nu in [0.01, 0.03, 0.2, 0.45, 0.49] {
        let values = both.values(&[e.ln(), nu, 6.0, 0.5, 0.25]);
        assert_eq!(values.extra, 10.0);
        let [mu, lambda] = [values[MU], values[LAMBDA]];
        assert!((1500.0..=25_000.0).contains(&mu) && (1500.0..=60_000.0).contains(&lambda));
        assert!((young([mu, lambda]) / e - 1.0).abs() < 1e-9, "nu {nu}: {mu} {lambda}");
    }
    let high = both.values(&[20.0, 0.3, 20.0, 1.5, 0.0]);
    assert_eq!([high[MU], high[LAMBDA], high[DENSITY], high[FALL]], [25_000.0, 60_000.0, 4000.0, 1.0]);
    let low = both.values(&[5.0, 0.3, 1.0, -1.0, 2.0]);
    assert_eq!([low[MU], low[LAMBDA], low[DENSITY], low[FALL]], [1500.0, 1500.0, 100.0, -3.0]);
    assert_eq!(low.extra, 40.0);
}

#[test]
fn tangents_are_derivatives() {
    let both = two_bodies();
    let values = physics(9000.0, 15_000.0, 4.0);
    let at = both.at(&values);
    for (k, tangent) in both.tangents(&values).iter().enumerate() {
        let moved = |by: f64| {
            let mut to = at.clone();
            to[k] += by;
            numbers(&both.values(&to))
        };
        let (up, down, tangent) = (moved(1e-6), moved(-1e-6), numbers(tangent));
        for i in 0..tangent.len() {
            let slope = (up[i] - down[i]) / 2e-6;
            assert!((slope - tangent[i]).abs() <= 2e-6 * tangent[i].abs(), "{slope} {}", tangent[i]);
        }
    }
}

#[test]
fn the_scan_moves_stiffnesses_and_ratios_and_leaves_the_rest() {
    let both = two_bodies();
    let from = both.at(&physics(9000.0, 15_000.0, 0.0));
    let points = both.spread(&from, 14);
    assert_eq!(points.len(), 14 * SPREAD.len());
    assert!(points.iter().all(|p| (p[2] - from[2]).abs() < 1e-12 && (p[3] - from[3]).abs() < 1e-12));
    let still = Parametrisation { rows: both.rows[1..].to_vec(), ..both };
    assert!(still.spread(&from[2..], 14).is_empty() && still.to_look_along() == [0, 1]);
    let points = still.along(&from[2..], 1);
    assert!(points.len() == 1 + SHARES.len() && points.iter().all(|p| (p[0] - from[2]).abs() < 1e-12));
    assert!(still.stiffer(&points[0], 0.3).is_none());
}
