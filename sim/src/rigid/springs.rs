//! Springs between points of bodies, or of a body and the world.

use super::kernels::Wrench;
use super::properties::MassProperties;
use crate::collision::Pose;
use crate::error::{Error, Result, non_negative, positive};
use crate::params::parameters;
use crate::vertices::one_or;
use diffkern::prelude::*;

/// A spring with a dashpot beside it, as plain data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Numbers of the bodies at both ends; the world without one.
    pub bodies: [Option<usize>; 2],
    /// Where they are held: in the frames of the surfaces, of the world in its own \[m\].
    pub points: [[f64; 3]; 2],
    /// Stiffness \[N/m\].
    pub stiffness: f64,
    /// Force by the relative velocity \[N s/m\].
    pub damping: f64,
    /// Length at rest \[m\]. With it, force and damping act along the spring, and it has no direction where its ends meet: the force is not a number there. Without, the ends are pulled to
    /// one place in all directions, and damping acts against all relative velocity.
    pub rest: Option<f64>,
}

impl Spring {
    fn check(&self, k: usize, bodies: usize) -> Result<()> {
        for body in self.bodies.into_iter().flatten() {
            if body >= bodies {
                return Err(Error::invalid(format!("body of spring {k}"), body, format!("a number below {bodies}")));
            }
        }
        if self.bodies[0] == self.bodies[1] {
            let expected = "two bodies, or a body and the world";
            return Err(Error::invalid(format!("ends of spring {k}"), format!("{:?}", self.bodies), expected));
        }
        if self.points.as_flattened().iter().any(|x| !x.is_finite()) {
            let points = format!("{:?}", self.points);
            return Err(Error::invalid(format!("points of spring {k}"), points, "finite numbers"));
        }
        positive(&format!("stiffness of spring {k}"), self.stiffness)?;
        non_negative(&format!("damping of spring {k}"), self.damping)?;
        non_negative(&format!("length at rest of spring {k}"), self.rest.unwrap_or(0.0)).map(drop)
    }
}

/// What may be identified of springs: points two each, the others one for all or one for each.
#[derive(Clone, Debug)]
pub struct SpringParams<F: Float> {
    /// Where springs are held, both ends one after the other \[m\].
    pub points: Array<Vec3<F>>,
    /// Stiffness \[N/m\].
    pub stiffness: Array<F>,
    /// Damping \[N s/m\].
    pub damping: Array<F>,
    /// Length at rest \[m\]; nothing reads that of springs without one.
    pub rest: Array<F>,
}

parameters! {
    impl [F: Float] for SpringParams<F> {
        points: "springs.points", "m", Finite;
        stiffness: "springs.stiffness", "N/m", Positive;
        damping: "springs.damping", "N s/m", NonNegative;
        rest: "springs.rest", "m", NonNegative;
    }
}

/// Adds what springs pull their ends by, `k (l - l0 (1 + a)) + c l'` along the spring, or `k d + c u` of what has no length at rest, `u` the relative velocity halfway between the ends; arrays of one element stand for all springs. Of each
/// `ends` are the numbers of both bodies, that of all bodies for the world, and 1 where it has no length at rest. Both forces act halfway between the ends: they are opposite on one line.
#[diff_kernel]
pub fn add_springs<F: Float>(
    bodies: &Array<Pose<F>>,
    properties: &Array<MassProperties<F>>,
    ends: &Array<u32>,
    points: &Array<Vec3<F>>,
    stiffness: &Array<F>,
    damping: &Array<F>,
    rest: &Array<F>,
    actuation: &Array<F>,
    wrench: &mut Array<Wrench<F>>,
) {
    let s = ABSOLUTE_POS;
    let a = ends[3 * s] as usize;
    let b = ends[3 * s + 1] as usize;
    let mut first = points[2 * s];
    if a < bodies.len() {
        first = bodies[a].centre + bodies[a].rotation.rotate(points[2 * s] - properties[a].centre);
    }
    let mut second = points[2 * s + 1];
    if b < bodies.len() {
        second = bodies[b].centre + bodies[b].rotation.rotate(points[2 * s + 1] - properties[b].centre);
    }
    let middle = (first + second) * 0.5;
    let mut speed = Vec3::zero();
    if a < bodies.len() {
        speed = -(bodies[a].velocity + bodies[a].spin.cross(middle - bodies[a].centre));
    }
    if b < bodies.len() {
        speed += bodies[b].velocity + bodies[b].spin.cross(middle - bodies[b].centre);
    }
    let d = second - first;
    let k = stiffness[s.min(stiffness.len() - 1)];
    let c = damping[s.min(damping.len() - 1)];
    let mut pull = d * k + speed * c;
    if ends[3 * s + 2] == 0 {
        let length = d.norm();
        let along = d / length;
        let relaxed = rest[s.min(rest.len() - 1)] * (1.0 + actuation[s.min(actuation.len() - 1)]);
        pull = along * (k * (length - relaxed) + c * speed.dot(along));
    }
    if a < bodies.len() {
        wrench[a].force += pull;
        wrench[a].torque += (middle - bodies[a].centre).cross(pull);
    }
    if b < bodies.len() {
        wrench[b].force += -pull;
        wrench[b].torque += (bodies[b].centre - middle).cross(pull);
    }
}

/// The springs of a model.
#[derive(Clone, Debug)]
pub(super) struct Springs<F: Float> {
    springs: Vec<Spring>,
    /// Both bodies of each, and whether it has no length at rest.
    ends: Array<u32>,
    unactuated: Array<F>,
}

/// Springs with their parameters.
#[derive(Clone, Debug)]
pub(super) struct Sprung<F: Float> {
    springs: Springs<F>,
    params: SpringParams<F>,
}

impl<F: Float> Springs<F> {
    pub(super) fn new(device: &Device, springs: &[Spring], bodies: usize) -> Result<Springs<F>> {
        if springs.is_empty() {
            return Err(Error::invalid("number of springs", 0, "at least 1"));
        }
        springs.iter().enumerate().try_for_each(|(k, spring)| spring.check(k, bodies))?;
        let ends = springs.iter().flat_map(|spring| {
            let [a, b] = spring.bodies.map(|body| body.unwrap_or(bodies) as u32);
            [a, b, u32::from(spring.rest.is_none())]
        });
        let (ends, unactuated) = (device.array(&ends.collect::<Vec<_>>())?, device.zeros(1)?);
        Ok(Springs { springs: springs.to_vec(), ends, unactuated })
    }

    /// The parameters as the springs have them.
    pub(super) fn params(&self) -> Result<SpringParams<F>> {
        let device = self.ends.device();
        let each = |of: fn(&Spring) -> f64| {
            device.array(&self.springs.iter().map(|spring| F::from_f64(of(spring))).collect::<Vec<_>>())
        };
        let points = self.springs.iter().flat_map(|s| s.points).map(|p| Vec3::from_array(p.map(F::from_f64)));
        Ok(SpringParams {
            points: device.array(&points.collect::<Vec<_>>())?,
            stiffness: each(|s| s.stiffness)?,
            damping: each(|s| s.damping)?,
            rest: each(|s| s.rest.unwrap_or(0.0))?,
        })
    }

    /// With these parameters.
    pub(super) fn bind(&self, params: &SpringParams<F>) -> Result<Sprung<F>> {
        let (count, SpringParams { points, stiffness, damping, rest }) = (self.springs.len(), params);
        if points.len() != 2 * count {
            let expected = format!("{}, two a spring", 2 * count);
            return Err(Error::invalid("length of springs.points", points.len(), expected));
        }
        for (what, array) in [("stiffness", stiffness), ("damping", damping), ("rest", rest)] {
            one_or(&format!("springs.{what}"), array.len(), count, "spring")?;
        }
        Ok(Sprung { springs: self.clone(), params: params.clone() })
    }
}

impl<F: Float> Sprung<F> {
    /// Adds what springs do to the bodies, their lengths at rest changed by `actuation`.
    pub(super) fn pull(
        &self,
        bodies: &Array<Pose<F>>,
        properties: &Array<MassProperties<F>>,
        actuation: Option<&Array<F>>,
        wrench: &Array<Wrench<F>>,
    ) -> diffkern::Result<()> {
        let (Springs { springs, ends, unactuated }, count) = (&self.springs, self.springs.springs.len());
        let SpringParams { points, stiffness, damping, rest } = &self.params;
        let actuation = actuation.unwrap_or(unactuated);
        one_or("actuation", actuation.len(), springs.len(), "spring")?;
        add_springs(count, bodies, properties, ends, points, stiffness, damping, rest, actuation, wrench)
    }

    /// Of each body twice the sums of stiffness and of damping of its springs, each times what a force of one newton where the spring acts moves that by: the squared frequency
    /// \[1/s^2\] and the rate of decay \[1/s\] are at most the largest of these. `x` and `q` say how far the ends of ties are apart, which act halfway between.
    pub(super) fn rates(&self, bodies: &[MassProperties<F>], x: &[Vec3<F>], q: &[Quat<F>]) -> Result<Vec<[f64; 2]>> {
        let SpringParams { points, stiffness, damping, .. } = &self.params;
        let (points, stiffness, damping) = (points.to_vec()?, stiffness.to_vec()?, damping.to_vec()?);
        let mut rates = vec![[0.0; 2]; bodies.len()];
        for (s, spring) in self.springs.springs.iter().enumerate() {
            let [k, c] = [&stiffness, &damping].map(|array| array[s.min(array.len() - 1)].to_f64());
            let places = [0, 1].map(|end| {
                let point = points[2 * s + end];
                spring.bodies[end].map_or(point, |b| x[b] + q[b].rotate(point - bodies[b].centre))
            });
            let middle = match spring.rest {
                Some(_) => 0.0,
                None => 0.5 * (places[1] - places[0]).norm().to_f64(),
            };
            for (place, body) in places.into_iter().zip(spring.bodies) {
                let Some(b) = body else { continue };
                let arm = (place - x[b]).norm().to_f64();
                rates[b][0] += 2.0 * k * bodies[b].compliance(arm);
                rates[b][1] += 2.0 * c * bodies[b].compliance(arm + middle);
            }
        }
        Ok(rates)
    }
}
