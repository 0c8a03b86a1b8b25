//! Where a rigid body in free flight is, and how it would be elsewhere if its scene said something else.

use crate::program::{Physics, norm};
use crate::scene::{Quantity, Target};
use diffkern_sim::mesh::Pose;

/// What of a free flight a scene may say otherwise. Powers of time are those of a motion: `t` of a velocity, `t^2 / 2` of an acceleration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    /// All that the body is, along an axis \[m\], \[m/s\], \[m/s^2\].
    Along(usize, i32),
    /// About its centre \[rad\], \[rad/s\].
    About(usize, i32),
    /// Its size, by a part of it.
    Apart,
    /// How long it has flown when the video begins \[frames\].
    Later,
    /// How much time is between frames, by a part of it.
    Slower,
}

/// A rigid body in free flight.
#[derive(Debug)]
pub(super) struct Flight {
    centre: [f64; 3],
    velocity: [f64; 3],
    spin: [f64; 3],
    gravity: [f64; 3],
    /// Diagonal of its box \[m\].
    pub(super) size: f64,
}

impl Flight {
    /// Of a body of a take, with these vertices at the start; its centre is that of its box.
    pub(super) fn of(values: &Physics, body: usize, take: usize, vertices: &[[f64; 3]]) -> Self {
        let of = |quantity| values[Target { take, ..Target::new(body, quantity) }];
        let end = |a: usize, pick: fn(f64, f64) -> f64, from: f64| vertices.iter().map(|x| x[a]).fold(from, pick);
        let ends = [0, 1, 2].map(|a| [end(a, f64::min, f64::INFINITY), end(a, f64::max, f64::NEG_INFINITY)]);
        Self {
            centre: ends.map(|[low, high]| 0.5 * (low + high)),
            velocity: [0, 1, 2].map(|a| of(Quantity::Velocity(a))),
            spin: [0, 1, 2].map(|a| of(Quantity::AngularVelocity(a))),
            gravity: [0, 1, 2].map(|a| values[Target::new(0, Quantity::Gravity(a))]),
            size: norm(ends.map(|[low, high]| high - low)),
        }
    }

    fn centre(&self, t: f64) -> [f64; 3] {
        [0, 1, 2].map(|a| self.centre[a] + t * (self.velocity[a] + 0.5 * t * self.gravity[a]))
    }

    /// Where is at `t` \[s\] what was at `x` at the start.
    pub(super) fn place(&self, x: [f64; 3], t: f64) -> [f64; 3] {
        let turned = Pose { rotation: self.spin.map(|w| w * t), translation: self.centre(t) };
        turned.apply([0, 1, 2].map(|a| x[a] - self.centre[a]))
    }

    /// How what is at `x` at `t` would move per unit of a change, small turns taken as they are.
    pub(super) fn shift(&self, change: Change, x: [f64; 3], t: f64, frame_rate: f64) -> [f64; 3] {
        let centre = self.centre(t);
        let d = [0, 1, 2].map(|a| x[a] - centre[a]);
        let unit = |a: usize, n: i32| {
            let by = if n == 2 { 0.5 * t * t } else { t.powi(n) };
            [0, 1, 2].map(|k| if k == a { by } else { 0.0 })
        };
        let turning = cross(self.spin, d);
        let speed = [0, 1, 2].map(|a| self.velocity[a] + t * self.gravity[a] + turning[a]);
        match change {
            Change::Along(a, n) => unit(a, n),
            Change::About(a, n) => cross(unit(a, n), d),
            Change::Apart => d,
            Change::Later => speed.map(|v| v / frame_rate),
            Change::Slower => speed.map(|v| v * t),
        }
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight() -> Flight {
        let (centre, velocity) = ([0.1, -0.2, 0.6], [0.4, 0.3, -0.7]);
        Flight { centre, velocity, spin: [0.0, 0.0, 1.5], gravity: [0.2, 0.0, -9.81], size: 0.3 }
    }

    type Edit = dyn Fn(&mut Flight, &mut [f64; 3], &mut f64, f64);

    /// Each shift against the difference of two flights, about an axis along which the body turns.
    #[test]
    fn shifts_are_derivatives_of_flights() {
        let (h, t, rate, x) = (1e-6, 0.13, 36.0, [0.17, -0.11, 0.71]);
        let moved = |edit: &Edit| {
            let of = |by: f64| {
                let (mut flight, mut start, mut time) = (flight(), x, t);
                edit(&mut flight, &mut start, &mut time, by);
                flight.place(start, time)
            };
            let (up, down) = (of(h), of(-h));
            [0, 1, 2].map(|a| (up[a] - down[a]) / (2.0 * h))
        };
        let cases: [(Change, Box<Edit>); 8] = [
            (
                Change::Along(1, 0),
                Box::new(|f, x, _, by| {
                    f.centre[1] += by;
                    x[1] += by;
                }),
            ),
            (Change::Along(0, 1), Box::new(|f, _, _, by| f.velocity[0] += by)),
            (Change::Along(2, 2), Box::new(|f, _, _, by| f.gravity[2] += by)),
            (
                Change::About(2, 0),
                Box::new(|f, x, _, by| {
                    let d = [x[0] - f.centre[0], x[1] - f.centre[1]];
                    *x = [f.centre[0] + d[0] - by * d[1], f.centre[1] + d[1] + by * d[0], x[2]];
                }),
            ),
            (Change::About(2, 1), Box::new(|f, _, _, by| f.spin[2] += by)),
            (
                Change::Apart,
                Box::new(|f, x, _, by| *x = [0, 1, 2].map(|a| f.centre[a] + (1.0 + by) * (x[a] - f.centre[a]))),
            ),
            (Change::Later, Box::new(move |_, _, t, by| *t += by / rate)),
            (Change::Slower, Box::new(|_, _, t, by| *t *= 1.0 + by)),
        ];
        for (change, edit) in &cases {
            let (found, expected) = (flight().shift(*change, flight().place(x, t), t, rate), moved(edit));
            for (a, b) in found.iter().zip(expected) {
                assert!((a - b).abs() < 1e-8, "{change:?}: {found:?} {expected:?}");
            }
        }
    }
}
