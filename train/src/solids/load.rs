//! The known forces: on points all over the body, the same whatever lattice carries them.

use super::instance::Instance;
use super::protocol::{Family, Protocol, middle};
use diffkern_sim::mesh::Pose;
use std::f64::consts::PI;

/// Points across the thinnest side, of a ball twice as many: four across a cell of the finer lattice, as with fewer the forces on its cells are uneven.
const ACROSS: usize = 24;
/// Torsional stiffness of a square section in parts of its polar moment.
const TORSION: f64 = 0.85;

/// Points at rest in the world \[m\] and the force on each at its peak \[N\].
#[derive(Debug, Clone)]
pub(super) struct Load {
    pub(super) points: Vec<[f64; 3]>,
    pub(super) forces: Vec<[f64; 3]>,
}

impl Load {
    /// The middles of equal boxes, of those that are in the body, each with its share of the volume and with the density of force there.
    pub(super) fn of(protocol: &Protocol, instance: &Instance) -> Self {
        let ball = matches!(instance.kind.shape, Family::Ball { .. });
        let across = if ball { 2 * ACROSS } else { ACROSS };
        let spacing = instance.thinnest() / across as f64;
        let counts = instance.sides.map(|side| (side / spacing).round().max(1.0) as usize);
        let middle = |a: usize, k: usize| ((k as f64 + 0.5) / counts[a] as f64 - 0.5) * instance.sides[a];
        let all = (0..counts[0] * counts[1] * counts[2]).map(|k| {
            [middle(0, k / (counts[1] * counts[2])), middle(1, k / counts[2] % counts[1]), middle(2, k % counts[2])]
        });
        let primitive = instance.primitive();
        let inside: Vec<[f64; 3]> = all.filter(|&x| primitive.contains(x)).collect();
        let whole: f64 = instance.sides.iter().product();
        let share = if ball { PI / 6.0 * whole } else { whole } / inside.len() as f64;
        let turn = Pose { rotation: instance.pose.rotation, translation: [0.0; 3] };
        let push = instance.acting.push.map(|a| a * middle_density(protocol));
        let force = |&x: &[f64; 3]| {
            let own = turn.apply(density(protocol, instance, x));
            [0, 1, 2].map(|a| share * (own[a] + push[a]))
        };
        Self {
            forces: inside.iter().map(force).collect(),
            points: inside.iter().map(|&x| instance.pose.apply(x)).collect(),
        }
    }
}

fn middle_density(protocol: &Protocol) -> f64 {
    middle(protocol.density)
}

/// Force per volume \[N/m^3\] at a place in the body's frame, without the push.
///
/// Stresses `P (1 - (2 x / a)^2)` along an axis with sides `a`, zero at the surface, are borne by `8 P x / a^2`. Bending and twisting ones come from the theory of thin beams, of a
/// free one such that neither their sum nor their moment moves it.
fn density(protocol: &Protocol, instance: &Instance, x: [f64; 3]) -> [f64; 3] {
    let (acting, sides) = (&instance.acting, instance.sides);
    if let Family::Ball { .. } = instance.kind.shape {
        let axes = Pose { rotation: acting.axes, translation: [0.0; 3] };
        let own = axes.apply_inverse(x);
        return axes.apply([0, 1, 2].map(|a| 8.0 * acting.stress[a] * own[a] / (sides[a] * sides[a])));
    }
    let mut f = [0, 1, 2].map(|a| 8.0 * acting.stress[a] * x[a] / (sides[a] * sides[a]));
    let (e, mu, l) = (protocol.reference_modulus(), middle(protocol.mu), sides[0]);
    let s = x[0] / l;
    let [bending, turning] = match instance.kind.clamped {
        true => [8.0, 2.0 * TORSION],
        false => [480.0 * (4.0 * s * s - 1.0 / 3.0), 12.0 * TORSION * s],
    };
    let twist = turning * acting.twist * mu / (l * l);
    for a in [1, 2] {
        f[a] += bending * acting.bend[a] * e * sides[a] * sides[a] / (12.0 * l * l * l);
    }
    f[1] -= twist * x[2];
    f[2] += twist * x[1];
    f
}
