//! Beams against Timoshenko's theory: sag, frequencies of bending, of torsion, of waves; close to incompressible too.

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

/// Circular frequency of the projection of a free vibration from rest at `u` on `u` itself, over so many half periods.
fn frequency(body: &CutBody, params: &Params<f64>, u: impl Fn([f64; 3]) -> [f64; 3], halves: usize) -> Result<f64> {
    let state = displaced(body, &u, |_| [0.0; 3])?;
    let model = Model::new(&device(), body, Law::NeoHookean, 1.0, &[])?;
    let dt = model.max_dt(params, &state)?;
    let solver = model.with_dt(dt)?.solver(params, &state)?;
    let seen = |s: &VertexState<f64>| -> Result<f64> {
        let moved = s.x.to_vec()?.into_iter().zip(body.rest()).map(|(x, &rest)| {
            let (x, mode) = (x.to_array(), u(rest));
            (0..3).map(|a| (x[a] - rest[a]) * mode[a]).sum::<f64>()
        });
        Ok(moved.sum())
    };
    let (mut now, mut last, mut zeros, mut steps) = (state.clone(), seen(&state)?, Vec::new(), 0);
    while zeros.len() <= halves {
        now = solver.advance(&now, steps, 1, Schedule::StoreAll)?;
        steps += 1;
        let next = seen(&now)?;
        if next * last < 0.0 {
            zeros.push((steps as f64 - next / (next - last)) * dt);
        }
        last = next;
        assert!(steps < 100_000, "no vibration");
    }
    Ok(PI * halves as f64 / (zeros[halves] - zeros[0]))
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
    let loaded = |x: f64| [x * x * (6.0 - 4.0 * x + x * x) / 3.0, 4.0 * x * (3.0 - 3.0 * x + x * x) / (3.0 * l)].map(|u| sag * u);
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
    println!("cantilever: {coarse:?} {fine:?}");
    assert!(fine.iter().all(|e| e.abs() < 0.01), "{coarse:?}, {fine:?}");
    Ok(())
}

const STOUT: Bar = Bar { length: 1.0, side: 0.1, e: 1.0, nu: 0.3, density: 1.0 };

#[test]
fn free_beams_bend_as_timoshenkos_and_do_not_lock() -> Result<()> {
    for nu in [0.3, 0.49] {
        let bar = Bar { nu, ..STOUT };
        for cells in [1.0, 2.0, 3.0] {
            let body = bar.body(bar.side / cells).build()?;
            // The shape of Euler's free beam about its middle.
            let k = 4.730_041 / bar.length;
            let bend = |x: f64| (k * x).cos() / (0.5 * 4.730_041f64).cos() + (k * x).cosh() / (0.5 * 4.730_041f64).cosh();
            let slope = |x: f64| -k * (k * x).sin() / (0.5 * 4.730_041f64).cos() + k * (k * x).sinh() / (0.5 * 4.730_041f64).cosh();
            // Fibres that are drawn out are thinner, those that are pressed thicker.
            let curve = |x: f64| k * k * (-(k * x).cos() / (0.5 * 4.730_041f64).cos() + (k * x).cosh() / (0.5 * 4.730_041f64).cosh());
            let mode = |[x, y, z]: [f64; 3]| {
                [-z * slope(x), nu * curve(x) * y * z, bend(x) + 0.5 * nu * curve(x) * (z * z - y * y)].map(|u| 1e-4 * u)
            };
            let omega = frequency(&body, &bar.params(0.0)?, mode, 2)?;
            println!("free beam nu {nu} cells {cells}: {}", omega / bar.bending(false) - 1.0);
        }
    }
    Ok(())
}

#[test]
fn bars_twist_as_saint_venants() -> Result<()> {
    for cells in [2.0, 4.0] {
        let bar = Bar { length: 0.5, ..STOUT };
        let body = bar.body(bar.side / cells).build()?;
        let twist = |[x, y, z]: [f64; 3]| {
            let angle = 1e-3 * (PI * x / bar.length).sin();
            [0.0, -angle * z, angle * y]
        };
        let omega = frequency(&body, &bar.params(0.0)?, twist, 4)?;
        let [mu, _] = bar.lame();
        // Torsion constant 0.140577 a^4 over the polar moment a^4 / 6.
        let exact = PI / bar.length * (mu / bar.density * 0.140_577 * 6.0).sqrt();
        println!("torsion cells {cells}: {}", omega / exact - 1.0);
    }
    Ok(())
}
