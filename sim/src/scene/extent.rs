//! How far bodies can get, and the grid that holds them.

use super::bodies::BodiesSpec;
use super::body::BodySpec;
use super::plan::Plan;
use super::thrown;
use crate::error::{Error, Result};
use crate::mpm::{Contact, Dim3, Grid, HalfSpace};

/// Smallest and largest corner of a box.
pub(super) type Bounds = ([f64; 3], [f64; 3]);

/// Share of the largest side that bulging and turning may need on top of the path of free flight.
const SWELL: f64 = 0.35;
/// Points of the path that are looked at.
pub(super) const SAMPLES: usize = 64;

/// A box that holds the bodies during free flight, stopped at half-spaces, and where colliders may throw them. A held body can only hang:
/// it gets no further than its own size.
pub(super) fn motion(spec: &BodiesSpec) -> Bounds {
    let mut all = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for body in &spec.bodies {
        let flight = Flight::of(spec, body);
        let free = flight.until(SAMPLES);
        let (low, high) = if spec.colliders.is_empty() { free } else { thrown::widened(spec, body, &flight, free) };
        for a in 0..3 {
            all.0[a] = all.0[a].min(low[a]);
            all.1[a] = all.1[a].max(high[a]);
        }
    }
    all
}

/// The flight of a body that nothing but half-spaces is in the way of.
pub(super) struct Flight<'a> {
    spec: &'a BodiesSpec,
    body: &'a BodySpec,
    held: bool,
}

impl<'a> Flight<'a> {
    fn of(spec: &'a BodiesSpec, body: &'a BodySpec) -> Flight<'a> {
        let inside = |h: &HalfSpace<Dim3>| h.contact == Contact::Sticky && distance(h, body.shape.bounds()) < 0.0;
        Flight { spec, body, held: spec.half_spaces.iter().any(inside) }
    }

    /// Whether a part of it does not move.
    pub(super) fn held(&self) -> bool {
        self.held
    }

    /// The box that it sweeps until `sample` of [`SAMPLES`].
    pub(super) fn until(&self, sample: usize) -> Bounds {
        let Flight { spec, body, held } = self;
        let [min, max] = body.shape.bounds();
        let longest = self.longest();
        let margin = SWELL * longest + spec.reach;
        let (mut low, mut high) = (min, max);
        for k in 0..=sample {
            let t = spec.duration * k as f64 / SAMPLES as f64;
            for a in 0..3 {
                let mut path = body.velocity[a] * t + 0.5 * spec.gravity[a] * t * t;
                if *held {
                    path = path.clamp(-longest, longest);
                }
                low[a] = low[a].min(min[a] + path);
                high[a] = high[a].max(max[a] + path);
            }
        }
        for a in 0..3 {
            low[a] -= margin;
            high[a] += margin;
        }
        self.stopped((low, high))
    }

    /// A box without what is behind half-spaces that it begins before.
    pub(super) fn stopped(&self, (mut low, mut high): Bounds) -> Bounds {
        let [min, max] = self.body.shape.bounds();
        for a in 0..3 {
            for h in &self.spec.half_spaces {
                if h.normal[a] > 0.999 && h.offset <= min[a] {
                    low[a] = low[a].max(h.offset);
                }
                if h.normal[a] < -0.999 && -h.offset >= max[a] {
                    high[a] = high[a].min(-h.offset);
                }
            }
        }
        (low, high)
    }

    fn longest(&self) -> f64 {
        self.body.shape.sides().iter().fold(0.0f64, |m, &s| m.max(s))
    }
}

/// Largest speed that free flight within the box gives, and colliders that push \[m/s\]. Of the colliders themselves it is at least twice
/// the speed: a time step for it takes them a part of a cell.
pub(super) fn top_speed(spec: &BodiesSpec, bounds: &Bounds) -> f64 {
    let (low, high) = bounds;
    let of = |body: &BodySpec| {
        let size = body.shape.sides();
        let fall: f64 = (0..3).map(|a| spec.gravity[a].abs() * (high[a] - low[a] - size[a])).sum();
        body.start_speed() + (2.0 * fall.max(0.0)).sqrt()
    };
    spec.bodies.iter().map(of).fold(0.0, f64::max) + thrown::push(spec, bounds)
}

/// Where a grid begins, and its nodes an axis, which may be more than any memory holds.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    origin: [f64; 3],
    dx: f64,
    pub(super) nodes: [f64; 3],
}

/// The grid over `bounds`. Nodes lie on axis-parallel surfaces that act on nodes, else on the corner of the first body.
pub(super) fn extent(spec: &BodiesSpec, (low, high): &Bounds, dx: f64) -> Extent {
    let corner = spec.bodies.first().map_or([0.0; 3], |body| body.shape.bounds()[0]);
    let anchor = [0, 1, 2].map(|a| {
        let parallel = |h: &&HalfSpace<Dim3>| h.kind().is_some() && h.normal[a].abs() > 0.999;
        spec.half_spaces.iter().find(parallel).map_or(corner[a], |h| h.offset * h.normal[a].signum())
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

/// Smallest distance of a box's corners from the surface, negative if one is inside.
fn distance(h: &HalfSpace<Dim3>, [low, high]: [[f64; 3]; 2]) -> f64 {
    let corner = |k: usize| [0, 1, 2].map(|a| if k >> a & 1 == 0 { low[a] } else { high[a] });
    (0..8).map(|k| h.distance(&corner(k))).fold(f64::INFINITY, f64::min)
}
