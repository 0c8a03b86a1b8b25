//! Is the state still one that means something? Never repaired, only reported.

use super::model::Model;
use super::state::State;
use crate::error::{Error, Result};
use diffkern::prelude::*;

pub(super) fn state<D: Dimension, F: Float>(model: &Model<D, F>, state: &State<D, F>, step: usize) -> Result<()> {
    let (x, v, f) = (state.x.to_vec()?, state.v.to_vec()?, state.f.to_vec()?);
    for (particle, f) in f.iter().enumerate() {
        let det = D::determinant::<F>(*f);
        if det.is_nan() {
            return Err(not_finite("deformation gradient", particle, step, det));
        }
        if det <= 0.0 {
            return Err(Error::Inverted { what: "particle", index: particle, step, det });
        }
    }
    for (particle, (x, v)) in x.iter().zip(&v).enumerate() {
        let (x, v) = (D::coords::<F>(*x), D::coords::<F>(*v));
        finite("position", &x, particle, step)?;
        finite("velocity", &v, particle, step)?;
        if !model.transfer().lasts() {
            inside(model, &x, particle, step)?;
        }
        slow(model, &v, particle, step)?;
    }
    Ok(())
}

/// Whether every particle has all its nodes.
pub(super) fn on_grid<D: Dimension, F: Float>(model: &Model<D, F>, state: &State<D, F>) -> Result<bool> {
    let carried = |x: D::Vector<F>| inside(model, &D::coords::<F>(x), 0, 0).is_ok();
    Ok(state.x.to_vec()?.into_iter().all(carried))
}

fn finite(field: &'static str, values: &impl AsRef<[f64]>, particle: usize, step: usize) -> Result<()> {
    match values.as_ref().iter().find(|x| !x.is_finite()) {
        Some(&value) => Err(not_finite(field, particle, step, value)),
        None => Ok(()),
    }
}

fn inside<D: Dimension, F: Float>(model: &Model<D, F>, x: &D::Coords, particle: usize, step: usize) -> Result<()> {
    for (k, (&value, axis)) in x.as_ref().iter().zip(['x', 'y', 'z']).enumerate() {
        let (low, high) = model.grid().carried(k);
        if value < low || value >= high {
            return Err(Error::Outside { particle, step, axis, value, low, high });
        }
    }
    Ok(())
}

fn slow<D: Dimension, F: Float>(model: &Model<D, F>, v: &D::Coords, particle: usize, step: usize) -> Result<()> {
    let speed = v.as_ref().iter().map(|v| v * v).sum::<f64>().sqrt();
    let limit = model.grid().dx() / model.dt();
    match speed < limit {
        true => Ok(()),
        false => Err(Error::TooFast { particle, step, cells: speed / limit, speed, limit }),
    }
}

fn not_finite(field: &'static str, index: usize, step: usize, value: f64) -> Error {
    Error::NotFinite { field, what: "particle", index, step, value }
}
