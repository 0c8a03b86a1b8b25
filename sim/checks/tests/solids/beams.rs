//! Beams against Timoshenko's theory: sag, frequencies of bending, of torsion, of waves; close to incompressible too.

use super::vibration::{Vibration, frequency};
use super::*;
use diffkern_sim::Model as _;
use diffkern_sim::fem::lattice::{Clamp, Skin};
use diffkern_sim::shape::{Cuboid, Primitive};
use std::f64::consts::PI;

/// A bar of square section along x; its modulus, density and Poisson's ratio.
#[derive(Clone, Copy)]
struct Bar {
    length: f64,
    side: f64,
    e: f64,
    nu: f64,
    density: f64,
}

impl Bar {
    fn lame(&self) -> [f64; 2] {
        let Bar { e, nu, .. } = *self;
        [e / (2.0 * (1.0 + nu)), e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))]
    }

    fn params(&self, gravity: f64) -> Result<Params<f64>> {
        let [mu, lambda] = self.lame();
        Params::uniform(&device(), mu, lambda, self.density, [0.0, 0.0, -gravity])
    }

    fn body(&self, cell: f64) -> Body {
        Body::new(Primitive::Cuboid(Cuboid { sides: [self.length, self.side, self.side] }), cell)
    }

    /// Area, second moment, and Cowper's stiffness against shear `kappa G A`.
    fn section(&self) -> [f64; 3] {
        let (area, [mu, _]) = (self.side * self.side, self.lame());
        let kappa = 10.0 * (1.0 + self.nu) / (12.0 + 11.0 * self.nu);
        [area, area * area / 12.0, kappa * mu * area]
    }

    /// Sag of the tip of a cantilever under its weight.
    fn sag(&self, gravity: f64) -> f64 {
        let [area, inertia, shear] = self.section();
        let weight = self.density * gravity * area;
        weight * self.length.powi(4) / (8.0 * self.e * inertia) + weight * self.length.powi(2) / (2.0 * shear)
    }

    /// First circular frequency of bending by Timoshenko's equations, of a cantilever or a free beam: the lowest at which two solutions from
    /// the left end have a combination that meets the conditions of the right.
    fn bending(&self, clamped: bool) -> f64 {
        let [area, inertia, shear] = self.section();
        let (ei, m, j) = (self.e * inertia, self.density * area, self.density * inertia);
        let ends = |omega: f64| {
            // Deflection, rotation, moment, shear force.
            let rate = |[w, phi, moment, force]: [f64; 4]| {
                [phi + force / shear, moment / ei, -force - j * omega * omega * phi, -m * omega * omega * w]
            };
            let steps = 400;
            let h = self.length / steps as f64;
            let end = |start: [f64; 4]| {
                (0..steps).fold(start, |y, _| {
                    let at = |k: [f64; 4], s: f64| std::array::from_fn(|i| y[i] + s * h * k[i]);
                    let a = rate(y);
                    let b = rate(at(a, 0.5));
                    let c = rate(at(b, 0.5));
                    let d = rate(at(c, 1.0));
                    std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]))
                })
            };
            let [p, q] = match clamped {
                true => [end([0.0, 0.0, 1.0, 0.0]), end([0.0, 0.0, 0.0, 1.0])],
                false => [end([1.0, 0.0, 0.0, 0.0]), end([0.0, 1.0, 0.0, 0.0])],
            };
            p[2] * q[3] - p[3] * q[2]
        };
        let slender = if clamped { 3.516 } else { 22.373 } / self.length.powi(2) * (ei / m).sqrt();
        let (mut low, mut high) = (0.5 * slender, 1.02 * slender);
        assert!(ends(low) * ends(high) < 0.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if ends(low) * ends(middle) <= 0.0 { high = middle } else { low = middle }
        }
        low
    }
}

/// Sag in weak gravity, and first circular frequency of a cantilever.
fn cantilever(bar: &Bar, cell: f64, gravity: f64) -> Result<[f64; 2]> {
    let (l, k, sag) = (bar.length, 1.875_104 / bar.length, bar.sag(gravity));
    let held = Body { clamps: vec![Clamp::below(0, -0.5 * l)], ..bar.body(cell) }.build()?;
    // A deflection and its slope, of the section as a whole.
    let bent = |[x, _, z]: [f64; 3], shape: &dyn Fn(f64) -> [f64; 2]| {
        let [value, slope] = shape(x / l + 0.5);
        [z * slope, 0.0, -value]
    };
    // Euler's first mode.
    let mode = |x: f64| {
        let (y, ratio) = (k * x * l, 0.734_096);
        let value = y.cosh() - y.cos() - ratio * (y.sinh() - y.sin());
        [value, k * (y.sinh() + y.sin() - ratio * (y.cosh() - y.cos()))].map(|u| 1e-4 * u)
    };
    let omega = frequency(&held, &bar.params(0.0)?, |x| bent(x, &mode), 1)?;

    // From Euler's sag on, where it hardly moves: the mean over half a period.
    let loaded = |x: f64| {
        [x * x * (6.0 - 4.0 * x + x * x) / 3.0, 4.0 * x * (3.0 - 3.0 * x + x * x) / (3.0 * l)].map(|u| sag * u)
    };
    let params = bar.params(gravity)?;
    let state = displaced(&held, |x| bent(x, &loaded), |_| [0.0; 3])?;
    let model = Model::new(&device(), &held, Law::NeoHookean, 1.0, &[])?;
    let dt = model.max_dt(&params, &state)?;
    let solver = model.with_dt(dt)?.solver(&params, &state)?;
    let skin = Skin::new(&device(), &held)?;
    let tip = |values: &Array<Vec3<f64>>| -> Result<f64> {
        let values = skin.carried(values)?.to_vec()?;
        let at = held.mesh().vertices().iter().zip(values).filter(|(x, _)| x[0] > 0.5 * l - 1e-9);
        let z: Vec<f64> = at.map(|(_, v)| v.z).collect();
        Ok(z.iter().sum::<f64>() / z.len() as f64)
    };
    let (frames, half) = (40, (PI / bar.bending(true) / dt) as usize);
    let (mut now, mut sum) = (state.clone(), 0.0);
    for _ in 0..frames {
        now = solver.advance(&now, 0, half / frames, Schedule::StoreAll)?;
        sum -= tip(&now.x)? / frames as f64;
    }
    Ok([sum, omega])
}

const SLENDER: Bar = Bar { length: 1.0, side: 0.05, e: 1.0, nu: 0.0, density: 1.0 };

#[test]
fn cantilevers_sag_and_swing_as_timoshenkos() -> Result<()> {
    let gravity = 1e-3 / SLENDER.sag(1.0);
    let off = |cell: f64| -> Result<[f64; 2]> {
        let [sag, omega] = cantilever(&SLENDER, cell, gravity)?;
        Ok([sag / 1e-3 - 1.0, omega / SLENDER.bending(true) - 1.0])
    };
    let (coarse, fine) = (off(0.05)?, off(0.025)?);
    assert!(coarse.iter().all(|e| e.abs() < 0.003) && fine.iter().all(|e| e.abs() < 0.001), "{coarse:?}, {fine:?}");
    Ok(())
}

const STOUT: Bar = Bar { length: 1.0, side: 0.1, e: 1.0, nu: 0.3, density: 1.0 };

/// First mode of a free beam by Euler, with the sections' change of form: fibres that are drawn out are thinner.
fn free_bending(bar: &Bar) -> impl Fn([f64; 3]) -> [f64; 3] {
    let (nu, end) = (bar.nu, 0.5 * 4.730_041f64);
    let k = 2.0 * end / bar.length;
    move |[x, y, z]| {
        let (wave, growth) = (1.0 / end.cos(), 1.0 / end.cosh());
        let bend = (k * x).cos() * wave + (k * x).cosh() * growth;
        let slope = k * (-(k * x).sin() * wave + (k * x).sinh() * growth);
        let curve = k * k * (-(k * x).cos() * wave + (k * x).cosh() * growth);
        [-z * slope, nu * curve * y * z, bend + 0.5 * nu * curve * (z * z - y * y)].map(|u| 1e-4 * u)
    }
}

#[test]
fn free_beams_bend_as_timoshenkos_and_do_not_lock() -> Result<()> {
    let mut all = Vec::new();
    for nu in [0.3, 0.49] {
        let bar = Bar { nu, ..STOUT };
        let off = |cells: f64| -> Result<f64> {
            let body = bar.body(bar.side / cells).build()?;
            Ok(frequency(&body, &bar.params(0.0)?, free_bending(&bar), 1)? / bar.bending(false) - 1.0)
        };
        all.push((nu, off(1.0)?, off(2.0)?));
    }
    assert!(all.iter().all(|(_, coarse, fine)| coarse.abs() < 0.05 && fine.abs() < 0.01), "{all:?}");
    // One cell across is too coarse, not too stiff: it does not matter how close to incompressible the material is.
    assert!((all[0].1 - all[1].1).abs() < 0.005 && (all[0].2 - all[1].2).abs() < 0.005, "{all:?}");
    Ok(())
}

#[test]
fn bars_twist_as_saint_venants() -> Result<()> {
    let bar = Bar { length: 0.5, ..STOUT };
    let twist = |[x, y, z]: [f64; 3]| {
        let angle = 1e-3 * (PI * x / bar.length).sin();
        [0.0, -angle * z, angle * y]
    };
    let [mu, _] = bar.lame();
    // Torsion constant 0.140577 a^4 over the polar moment a^4 / 6.
    let exact = PI / bar.length * (mu / bar.density * 0.140_577 * 6.0).sqrt();
    let off = |cells: f64| -> Result<f64> {
        Ok(frequency(&bar.body(bar.side / cells).build()?, &bar.params(0.0)?, twist, 2)? / exact - 1.0)
    };
    let (coarse, fine) = (off(4.0)?, off(6.0)?);
    assert!(coarse.abs() < 0.02 && fine.abs() < 0.01, "{coarse}, {fine}");
    Ok(())
}

#[test]
fn waves_have_their_speed_to_fourth_order() -> Result<()> {
    // Half a wave along a bar of so many cells; without lateral contraction nothing else moves.
    let bar = Bar { side: 0.25, nu: 0.0, ..STOUT };
    let off = |cells: f64| -> Result<f64> {
        let body = bar.body(bar.length / cells).build()?;
        let wave = |[x, ..]: [f64; 3]| [1e-5 * (PI * x / bar.length).sin(), 0.0, 0.0];
        let params = bar.params(0.0)?;
        let run =
            Vibration { body: &body, params: &params, colliders: &[], about: &|_| [0.0; 3], mode: &wave, share: 0.2 };
        let omega = run.frequency(16)?;
        Ok(omega / (PI / bar.length * (bar.e / bar.density).sqrt()) - 1.0)
    };
    let (coarse, fine) = (off(4.0)?, off(8.0)?);
    let order = (coarse / fine).log2();
    assert!(fine.abs() < 1e-3 && (order - 4.0).abs() < 0.3, "{coarse}, {fine}, order {order}");
    Ok(())
}
