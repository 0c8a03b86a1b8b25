//! Balls that hit each other.

use super::plane::SPEED_ROUNDING;
use crate::rigid::properties::MassProperties;
use crate::rigid::state::State;
use crate::rounding::epsilon;
use diffkern::prelude::*;

/// What collisions add to a body: to its velocity, and to where it would have to start to be where it is at the end of the step.
#[diff_struct]
pub struct Change<F> {
    /// Of the position \[m\].
    pub x: Vec3<F>,
    /// Of the velocity \[m/s\].
    pub v: Vec3<F>,
}

/// Adds what the collision of each pair of balls changes, if they meet within `h` \[s\] of straight motion: the impulse
/// `-(1 + e) n . (v_a - v_b) / (1 / m_a + 1 / m_b)` along the line between their centres when they touch. `from_begin` is 1 where
/// new velocities hold from the begin of the step, else 0: from the time of impact, with its derivative. `rounding` is the part of a speed by
/// which it may be off.
#[diff_kernel]
pub fn collide_pairs<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    ends: &Array<u32>,
    radius: &Array<F>,
    properties: &Array<MassProperties<F>>,
    restitution: &Array<F>,
    change: &mut Array<Change<F>>,
    h: F,
    rounding: F,
    from_begin: u32,
) {
    let k = ABSOLUTE_POS;
    let (a, b) = (ends[2 * k] as usize, ends[2 * k + 1] as usize);
    let away = x[a] - x[b];
    let speed = v[a] - v[b];
    let reach = radius[a] + radius[b];
    // Of the square of the distance of the centres after a time t: square t^2 + 2 closing t + apart + reach^2.
    let square = speed.dot(speed);
    let closing = away.dot(speed);
    let apart = away.dot(away) - reach * reach;
    let inside = closing * closing - square * apart;
    // What approaches no faster than rounding lets speeds be known does not meet: its time would be without meaning.
    let slow = 1e-9 + rounding * (v[a].norm() + v[b].norm());
    if closing < -slow * reach && inside > 0.0 {
        let mut t = F::new(0.0);
        if apart > 0.0 {
            t = (-closing - inside.sqrt()) / square;
        }
        if t < h {
            let mut shift = t;
            let mut line = away + speed * t;
            if from_begin == 1 {
                shift = F::new(0.0);
                line = away;
            }
            let n = line.normalize();
            let (light_a, light_b) = (1.0 / properties[a].mass, 1.0 / properties[b].mass);
            let j = n * (-(1.0 + restitution[0]) * n.dot(speed) / (light_a + light_b));
            change[a].v += j * light_a;
            change[a].x += j * (-light_a * shift);
            change[b].v += j * -light_b;
            change[b].x += j * (light_b * shift);
        }
    }
}

/// Positions and velocities with what collisions change.
#[diff_kernel]
pub fn apply_changes<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    change: &Array<Change<F>>,
    x_next: &mut Array<Vec3<F>>,
    v_next: &mut Array<Vec3<F>>,
) {
    let b = ABSOLUTE_POS;
    x_next[b] = x[b] + change[b].x;
    v_next[b] = v[b] + change[b].v;
}

/// The balls of a model, two by two, on a device.
#[derive(Clone, Debug)]
pub(in crate::rigid) struct Pairs<F: Float> {
    ends: Array<u32>,
    radius: Array<F>,
    pub(in crate::rigid) restitution: f64,
    from_begin: u32,
}

impl<F: Float> Pairs<F> {
    /// Of the bodies that are balls, by their radii \[m\].
    pub(in crate::rigid) fn new(
        device: &Device,
        radii: &[Option<f64>],
        restitution: f64,
        from_begin: bool,
    ) -> diffkern::Result<Pairs<F>> {
        let balls: Vec<u32> = (0u32..).zip(radii).filter(|(_, r)| r.is_some()).map(|(b, _)| b).collect();
        let ends: Vec<u32> =
            balls.iter().enumerate().flat_map(|(k, &a)| balls[k + 1..].iter().flat_map(move |&b| [a, b])).collect();
        let radius: Vec<F> = radii.iter().map(|r| F::from_f64(r.unwrap_or(0.0))).collect();
        let from_begin = u32::from(from_begin);
        Ok(Pairs { ends: device.array(&ends)?, radius: device.array(&radius)?, restitution, from_begin })
    }

    /// The state from which free motion over `h` \[s\] leads to where collisions leave the bodies.
    pub(in crate::rigid) fn collide(
        &self,
        state: State<F>,
        properties: &Array<MassProperties<F>>,
        restitution: &Array<F>,
        h: f64,
    ) -> diffkern::Result<State<F>> {
        let (n, dev, pairs, State { x, v, .. }) = (state.len(), state.x.device(), self.ends.len() / 2, &state);
        let change = dev.zeros(n)?;
        let (ends, radius, h, off) =
            (&self.ends, &self.radius, F::from_f64(h), F::from_f64(SPEED_ROUNDING * epsilon::<F>()));
        collide_pairs(pairs, x, v, ends, radius, properties, restitution, &change, h, off, self.from_begin)?;
        let (x_next, v_next) = (dev.uninit(n)?, dev.uninit(n)?);
        apply_changes(n, x, v, &change, &x_next, &v_next)?;
        Ok(State { x: x_next, v: v_next, ..state })
    }
}
