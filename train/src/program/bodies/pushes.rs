//! What pushes rigid bodies in a step.

use crate::error::Result;
use crate::scene::{At, Scene};
use diffkern::prelude::*;
use diffkern_sim::Tick;
use diffkern_sim::rigid::{Control, Loads, Wrench};

/// The pushes of a scene on a device.
pub(super) struct Pushes<F: Float> {
    device: Device,
    bodies: usize,
    /// At points that move with bodies.
    carried: Vec<Acting>,
    owner: Option<Array<u32>>,
    point: Option<Array<Vec3<F>>>,
    force: Option<Array<Vec3<F>>>,
    /// Beside the centres of mass, each with force and torque.
    beside: Vec<(Acting, Vec3<f64>, Vec3<f64>)>,
}

/// When a push acts, and on which body.
#[derive(Clone, Copy)]
struct Acting {
    body: usize,
    interval: [f64; 2],
}

/// Part of a step by which rounding may move its begin.
const ROUNDING: f64 = 1e-6;

impl Acting {
    /// The part of a step for which it acts; of an impulse what makes of it a force over the step. Velocities lie halfway between positions, so
    /// the step from one to the next begins half a step before that of positions. An impulse acts where the step of positions begins.
    fn share(&self, Tick { time, dt, .. }: Tick) -> f64 {
        let [begin, end] = self.interval;
        if begin == end {
            let since = (begin - time) / dt + ROUNDING;
            return if (0.0..1.0).contains(&since) { 1.0 / dt } else { 0.0 };
        }
        let from = time - 0.5 * dt;
        ((end.min(from + dt) - begin.max(from)) / dt).max(0.0)
    }
}

impl<F: Float> Pushes<F> {
    /// Points of bodies are counted from `centroids`, in the frames of their shapes.
    pub(super) fn new(scene: &Scene, centroids: &[[f64; 3]], device: &Device) -> Result<Self> {
        let real = |v: [f64; 3]| Vec3::from_array(v.map(F::from_f64));
        let (mut carried, mut points, mut forces, mut beside) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for push in &scene.pushes {
            let acting = Acting { body: push.body, interval: push.interval };
            match push.at {
                At::Body(point) => {
                    carried.push(acting);
                    points.push(real([0, 1, 2].map(|a| point[a] - centroids[push.body][a])));
                    forces.push(real(push.vector));
                }
                At::Centre(arm) => {
                    let force = Vec3::from_array(push.vector);
                    beside.push((acting, force, Vec3::from_array(arm).cross(force)));
                }
            }
        }
        let owners: Vec<u32> = carried.iter().map(|acting| acting.body as u32).collect();
        let some = !carried.is_empty();
        Ok(Self {
            device: device.clone(),
            bodies: centroids.len(),
            owner: some.then(|| device.array(&owners)).transpose()?,
            point: some.then(|| device.array(&points)).transpose()?,
            force: some.then(|| device.array(&forces)).transpose()?,
            carried,
            beside,
        })
    }

    /// When impulses act, after `from` and before `to` \[s\], in order: steps begin there.
    pub(super) fn instants(&self, from: f64, to: f64) -> Vec<f64> {
        let room = 1e-9 * (to - from);
        let all = self.carried.iter().chain(self.beside.iter().map(|(acting, ..)| acting));
        let instants = all.filter(|acting| acting.interval[0] == acting.interval[1]).map(|acting| acting.interval[0]);
        let mut instants: Vec<f64> = instants.filter(|at| (from + room..to - room).contains(at)).collect();
        instants.sort_by(f64::total_cmp);
        instants.dedup_by(|later, earlier| *later - *earlier < room);
        instants
    }

    /// What they do in a step.
    pub(super) fn control(&self, tick: Tick) -> diffkern::Result<Control<F>> {
        let mut control = Control::default();
        let shares: Vec<F> = self.carried.iter().map(|acting| F::from_f64(acting.share(tick))).collect();
        if let (Some(owner), Some(point), Some(force)) = (&self.owner, &self.point, &self.force)
            && shares.iter().any(|share| *share != F::zero())
        {
            let (owner, point, force) = (owner.clone(), point.clone(), force.clone());
            control.loads = Some(Loads { owner, point, force, share: self.device.array(&shares)? });
        }
        let mut sums = vec![[Vec3::<f64>::zero(); 2]; self.bodies];
        let mut acts = false;
        for (acting, force, torque) in &self.beside {
            let share = acting.share(tick);
            acts |= share != 0.0;
            let [f, t] = &mut sums[acting.body];
            (*f, *t) = (*f + *force * share, *t + *torque * share);
        }
        if acts {
            let real = |v: Vec3<f64>| Vec3::from_array(v.to_array().map(F::from_f64));
            let all: Vec<_> = sums.iter().map(|[f, t]| Wrench { force: real(*f), torque: real(*t) }).collect();
            control.wrench = Some(self.device.array(&all)?);
        }
        Ok(control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diffkern_sim::Span;

    #[test]
    fn the_impulse_is_force_times_interval_whatever_the_steps() {
        for dt in [0.01, 0.03, 0.007] {
            let span = Span::until(0, 0.0, 0.6, dt).unwrap();
            let cases = [([0.1, 0.25], 0.15), ([0.21, 0.2101], 1e-4), ([0.03; 2], 1.0), ([0.0; 2], 1.0)];
            for (interval, expected) in cases {
                let acting = Acting { body: 0, interval };
                let sum: f64 = (0..span.len()).map(|k| acting.share(span.tick(k)) * span.tick(k).dt).sum();
                assert!((sum - expected).abs() < 1e-12, "{interval:?} in steps of {dt}: {sum}");
            }
        }
    }
}
