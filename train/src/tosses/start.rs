//! Where a toss begins, and how it moves there: least squares over the frames before the cube touches anything.

use super::recording::Toss;
use diffkern::prelude::*;
use diffkern_sim::collision::Pose;

/// The lowest corner of a cube that flies is higher than this \[m\].
const CLEAR: f64 = 3e-3;
/// Fewest frames of a flight that says how it is bent.
const BENT: usize = 10;
/// Steps of Gauss and Newton; they converge by a factor of a hundred or more each.
const STEPS: usize = 6;

/// Position `k`.
pub(super) fn position(toss: &Toss, k: usize) -> Vec3<f64> {
    Vec3::from_array(toss.position[k])
}

/// Orientation `k`, of length 1.
pub(super) fn rotation(toss: &Toss, k: usize) -> Quat<f64> {
    let [w, x, y, z] = toss.rotation[k];
    Quat::new(w, x, y, z).normalize()
}

/// How many frames there are before the cube of half width `half` \[m\] touches the table.
pub(super) fn flight(toss: &Toss, half: f64) -> usize {
    let low = |k: usize| {
        let up = rotation(toss, k).conjugate().rotate(Vec3::new(0.0, 0.0, 1.0));
        toss.position[k][2] - half * (up.x.abs() + up.y.abs() + up.z.abs())
    };
    (0..toss.len()).find(|&k| low(k) < CLEAR).unwrap_or(toss.len())
}

/// The rotation vector of a rotation, at most half a turn.
pub(super) fn rotation_vector(q: Quat<f64>) -> Vec3<f64> {
    let (axis, w) = (Vec3::new(q.x, q.y, q.z), q.w);
    let (axis, w) = if w < 0.0 { (-axis, -w) } else { (axis, w) };
    let sine = axis.norm();
    if sine < 1e-12 { axis * 2.0 } else { axis * (2.0 * sine.atan2(w) / sine) }
}

/// The straight line through points at the times `0, 1, ..`, by least squares: where it begins, and its slope.
fn line(points: &[Vec3<f64>]) -> (Vec3<f64>, Vec3<f64>) {
    let n = points.len() as f64;
    let middle = 0.5 * (n - 1.0);
    let spread = n * (n * n - 1.0) / 12.0;
    let sum = points.iter().fold(Vec3::zero(), |all, p| all + *p);
    let tilt = points.iter().enumerate().fold(Vec3::zero(), |all, (k, p)| all + *p * (k as f64 - middle));
    let slope = if spread > 0.0 { tilt / spread } else { Vec3::zero() };
    (sum / n - slope * middle, slope)
}

/// How fast a cube that flies falls faster and faster \[m/s^2\], in the lengths of the data, and what the parabola leaves of each height
/// \[m\]; none of a flight that is too short.
pub(super) fn fall(toss: &Toss, half: f64) -> Option<(f64, f64)> {
    let n = flight(toss, half);
    if n < BENT {
        return None;
    }
    // Of the quadratic that has no part along constants and lines at these times.
    let m = n as f64;
    let bend = |k: usize| (k as f64 - 0.5 * (m - 1.0)).powi(2) - (m * m - 1.0) / 12.0;
    let square: f64 = (0..n).map(|k| bend(k).powi(2)).sum();
    let along = (0..n).map(|k| bend(k) * toss.position[k][2]).sum::<f64>() / square;
    let heights: Vec<Vec3<f64>> = (0..n).map(|k| position(toss, k)).collect();
    let (begin, slope) = line(&heights);
    let left = |k: usize| toss.position[k][2] - begin.z - slope.z * k as f64 - along * bend(k);
    let left = ((0..n).map(|k| left(k).powi(2)).sum::<f64>() / (m - 3.0)).sqrt();
    Some((-2.0 * along / (toss.dt * toss.dt), left))
}

/// Pose and velocities at frame 0, if the flight is bent by `fall` \[m/s^2\]: of a cube, whose angular velocity is constant in flight.
pub(super) fn begin(toss: &Toss, half: f64, fall: f64) -> Pose<f64> {
    let n = flight(toss, half).max(2);
    let raised = |k: usize| {
        let t = k as f64 * toss.dt;
        position(toss, k) + Vec3::new(0.0, 0.0, 0.5 * fall * t * t)
    };
    let (centre, slope) = line(&(0..n).map(raised).collect::<Vec<_>>());
    let mut turn = rotation(toss, 0);
    let mut spin = rotation_vector(rotation(toss, 1) * turn.conjugate());
    for _ in 0..STEPS {
        let left = |k: usize| {
            let there = Quat::from_rotation_vector(spin * k as f64) * turn;
            rotation_vector(rotation(toss, k) * there.conjugate())
        };
        let (first, slope) = line(&(0..n).map(left).collect::<Vec<_>>());
        turn = (Quat::from_rotation_vector(first) * turn).normalize();
        spin += slope;
    }
    Pose { centre, rotation: turn, velocity: slope / toss.dt, spin: spin / toss.dt }
}
