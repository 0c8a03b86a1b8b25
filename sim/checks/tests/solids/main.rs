//! Bodies cut from a lattice of splines against closed forms.

#[path = "../common/mod.rs"]
mod common;
mod beams;
mod between;
mod boxes;
mod bulk;
mod contact;
mod control;
mod corrections;
mod cutting;
mod energy;
mod fall;
mod gradients;
mod loads;
mod relaxation;
mod several;
mod vibration;

use diffkern::prelude::*;
use diffkern_sim::fem::lattice::{Body, CutBody, Model, Params, Solver, State};
use diffkern_sim::material::Law;
use diffkern_sim::{Result, Step as _};

fn device() -> Device {
    Device::cpu()
}

/// The same state displaced by `u` of the places at rest, and moving with `v` of them.
fn displaced(body: &CutBody, u: impl Fn([f64; 3]) -> [f64; 3], v: impl Fn([f64; 3]) -> [f64; 3]) -> Result<State<f64>> {
    let x: Vec<_> = body.rest().iter().map(|&x| [0, 1, 2].map(|a| x[a] + u(x)[a])).collect();
    let v: Vec<_> = body.rest().iter().map(|&x| v(x)).collect();
    State::new(&device(), &x, &v)
}
