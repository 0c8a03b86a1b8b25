//! Numbers that follow the particles of a body: places of its points, or of its centre of mass.

use super::inputs::{numbers_of, weighted_mean};
use crate::error::{Error, Result};
use crate::scene::{Followed, Track};
use diffkern::memory::collect;
use diffkern::prelude::*;
use diffkern_sim::mesh::Surface;
use diffkern_sim::scene::BodiesScene;

/// What gives three numbers for each point from positions of particles, by launches alone.
pub(crate) enum Follower<F: Float> {
    Points(Surface<F>),
    /// Share of each particle in the mass.
    Centre(Array<F>),
}

impl<F: Float> Follower<F> {
    /// Of what a track has measured.
    pub(crate) fn of(track: &Track, bodies: &BodiesScene<F>, device: &Device) -> Result<Self> {
        match &track.of {
            Followed::Centre => Self::centre(track.body, bodies, device),
            Followed::Points(points) => {
                let carried = bodies.points(device, track.body, points).map_err(|error| match error {
                    diffkern_sim::Error::Invalid { .. } => {
                        Error::scene(format!("observations.{}.markers.points", track.name), error.to_string())
                    }
                    other => other.into(),
                });
                Ok(Self::Points(carried?))
            }
        }
    }

    /// Of the centre of volume of a body: that of mass where its density is everywhere the same.
    pub(crate) fn centre(body: usize, bodies: &BodiesScene<F>, device: &Device) -> Result<Self> {
        let volumes = bodies.volumes.to_vec()?;
        let of = |(k, own): (usize, &u32)| match *own as usize == body {
            true => volumes[k % volumes.len()].to_f64(),
            false => 0.0,
        };
        let parts: Vec<f64> = collect(bodies.body_of.iter().enumerate().map(of))?;
        let whole: f64 = parts.iter().sum();
        let shares: Vec<F> = collect(parts.iter().map(|part| F::from_f64(part / whole)))?;
        Ok(Self::Centre(device.array(&shares)?))
    }

    /// The numbers when the particles are at `x`.
    pub(crate) fn numbers(&self, x: &Array<Vec3<F>>) -> Result<Array<F>> {
        match self {
            Self::Points(points) => {
                let places = points.vertices(x)?;
                let numbers = x.device().uninit(3 * places.len())?;
                numbers_of(places.len(), &places, &numbers)?;
                Ok(numbers)
            }
            Self::Centre(shares) => {
                let mean = x.device().zeros(3)?;
                weighted_mean(x.len(), x, shares, &mean)?;
                Ok(mean)
            }
        }
    }
}
