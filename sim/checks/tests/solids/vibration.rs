//! Frequencies of free vibrations, found from runs.

use super::*;
use diffkern_sim::Model as _;
use diffkern_sim::contact::Collider;
use diffkern_sim::fem::lattice::Skin;
use std::f64::consts::PI;

/// A vibration: of what, about what, how far from there it begins.
pub struct Vibration<'a> {
    pub body: &'a CutBody,
    pub params: &'a Params<f64>,
    pub colliders: &'a [Collider],
    /// Displacement where it would stay.
    pub about: &'a dyn Fn([f64; 3]) -> [f64; 3],
    pub mode: &'a dyn Fn([f64; 3]) -> [f64; 3],
    /// Length of its steps by the usual one.
    pub share: f64,
}

/// A vibration of a body with masses at points.
pub struct Loaded<'a> {
    vibration: &'a Vibration<'a>,
    loads: &'a [(usize, [f64; 3])],
}

impl Vibration<'_> {
    /// With masses at these points, as the parameters have them.
    pub fn loaded<'a>(&'a self, loads: &'a [(usize, [f64; 3])]) -> Loaded<'a> {
        Loaded { vibration: self, loads }
    }

    /// Circular frequency without loads.
    pub fn frequency(&self, halves: usize) -> Result<f64> {
        self.loaded(&[]).frequency(halves)
    }
}

impl Loaded<'_> {
    /// Circular frequency, from the times at which the surface is where it would stay, by its projection on the mode.
    pub fn frequency(&self, halves: usize) -> Result<f64> {
        let &Vibration { body, params, colliders, about, mode, share } = self.vibration;
        let sum = |x: [f64; 3]| [0, 1, 2].map(|a| about(x)[a] + mode(x)[a]);
        let state = displaced(body, sum, |_| [0.0; 3])?;
        let model = Model::new(&device(), body, Law::NeoHookean, 1.0, colliders)?.with_loads(self.loads)?;
        let dt = share * model.max_dt(params, &state)?;
        let solver = model.with_dt(dt)?.solver(params, &state)?;
        let skin = Skin::new(&device(), body)?;
        let places: Vec<_> = body.mesh().vertices().iter().map(|&rest| (rest, about(rest), mode(rest))).collect();
        let seen = |s: &State<f64>| -> Result<f64> {
            let moved = skin.carried(&s.x)?.to_vec()?.into_iter().zip(&places).map(|(x, (rest, about, mode))| {
                let x = x.to_array();
                (0..3).map(|a| (x[a] - rest[a] - about[a]) * mode[a]).sum::<f64>()
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
}

/// Of a body alone, in the usual steps.
pub fn frequency(
    body: &CutBody,
    params: &Params<f64>,
    mode: impl Fn([f64; 3]) -> [f64; 3],
    halves: usize,
) -> Result<f64> {
    Vibration { body, params, colliders: &[], about: &|_| [0.0; 3], mode: &mode, share: 1.0 }.frequency(halves)
}
