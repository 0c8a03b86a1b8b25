//! How far a block can get, and the grid that holds it.

use super::block::BlockSpec;
use super::plan::Plan;
use crate::error::{Error, Result};
use crate::mpm::{Contact, Dim3, Grid, HalfSpace};

/// Smallest and largest corner of a box.
type Bounds = ([f64; 3], [f64; 3]);

/// Share of the largest side that bulging and turning may need on top of the path of free flight.
const SWELL: f64 = 0.35;
/// Points of the path that are looked at.
const SAMPLES: usize = 64;

/// A box that holds the block during free flight, stopped at half-spaces. A held block can only hang: it gets no further
/// than its own size.
pub(super) fn motion(spec: &BlockSpec) -> Bounds {
    let size = [0, 1, 2].map(|a| spec.max[a] - spec.min[a]);
    let longest = size.iter().fold(0.0f64, |m, &s| m.max(s));
    let margin = SWELL * longest + spec.reach;
    let held = spec.half_spaces.iter().any(|h| h.contact == Contact::Sticky && distance(h, spec) < 0.0);
    let (mut low, mut high) = (spec.min, spec.max);
    for k in 0..=SAMPLES {
        let t = spec.duration * k as f64 / SAMPLES as f64;
        for a in 0..3 {
            let mut path = spec.velocity[a] * t + 0.5 * spec.gravity[a] * t * t;
            if held {
                path = path.clamp(-longest, longest);
            }
            low[a] = low[a].min(spec.min[a] + path);
            high[a] = high[a].max(spec.max[a] + path);
        }
    }
    for a in 0..3 {
        low[a] -= margin;
        high[a] += margin;
        for h in &spec.half_spaces {
            if h.normal[a] > 0.999 && h.offset <= spec.min[a] {
                low[a] = low[a].max(h.offset);
            }
            if h.normal[a] < -0.999 && -h.offset >= spec.max[a] {
                high[a] = high[a].min(-h.offset);
            }
        }
    }
    (low, high)
}

/// Largest speed that free flight within the box gives \[m/s\].
pub(super) fn top_speed(spec: &BlockSpec, (low, high): &Bounds) -> f64 {
    let norm = |v: &[f64; 3]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let size = [0, 1, 2].map(|a| spec.max[a] - spec.min[a]);
    let fall: f64 = (0..3).map(|a| spec.gravity[a].abs() * (high[a] - low[a] - size[a])).sum();
    norm(&spec.velocity) + 0.5 * norm(&spec.angular_velocity) * norm(&size) + (2.0 * fall.max(0.0)).sqrt()
}

/// Where a grid begins, and its nodes an axis, which may be more than any memory holds.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    origin: [f64; 3],
    dx: f64,
    pub(super) nodes: [f64; 3],
}

/// The grid over `bounds`. Nodes lie on axis-parallel surfaces that act on nodes, else on the corner of the block.
pub(super) fn extent(spec: &BlockSpec, (low, high): &Bounds, dx: f64) -> Extent {
    let anchor = [0, 1, 2].map(|a| {
        let parallel = |h: &&HalfSpace<Dim3>| h.kind().is_some() && h.normal[a].abs() > 0.999;
        spec.half_spaces.iter().find(parallel).map_or(spec.min[a], |h| h.offset * h.normal[a].signum())
    });
    // The spline of a particle reaches one and a half cells; one more for what the path left out.
    let before = [0, 1, 2].map(|a| ((anchor[a] - low[a]) / dx).ceil() + 3.0);
    let origin = [0, 1, 2].map(|a| anchor[a] - before[a] * dx);
    let nodes = [0, 1, 2].map(|a| ((high[a] - origin[a]) / dx).ceil() + 4.0);
    Extent { origin, dx, nodes }
}

impl Extent {
    /// The grid, if its nodes can be numbered.
    pub(super) fn grid(&self) -> Result<Grid<Dim3>> {
        let total: f64 = self.nodes.iter().product();
        if total.is_nan() || total > Plan::MOST {
            let [x, y, z] = self.nodes.map(|n| n * self.dx);
            let value = format!("{total:.2e} ({x:.2e} m by {y:.2e} m by {z:.2e} m, {:.2e} m apart)", self.dx);
            return Err(Error::invalid(
                "number of grid nodes",
                value,
                "at most 2^31; a shorter time, a slower block or a half-space in its way needs fewer",
            ));
        }
        Grid::new(self.origin, self.dx, self.nodes.map(|n| n as usize))
    }
}

/// Smallest distance of the block's corners from the surface, negative if one is inside.
fn distance(h: &HalfSpace<Dim3>, spec: &BlockSpec) -> f64 {
    let corner = |k: usize| [0, 1, 2].map(|a| if k >> a & 1 == 0 { spec.min[a] } else { spec.max[a] });
    (0..8).map(|k| h.distance(&corner(k))).fold(f64::INFINITY, f64::min)
}
