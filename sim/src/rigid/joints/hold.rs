//! Impulses by which the points of joints are together at the end of a step.

use super::joint::{JointParams, Joints};
use super::kernels::{
    Block, JointFrame, JointPlace, Six, add_reactions, first_inverse, first_side, impulse_before, joint_errors,
    joint_frames, joint_friction, last_impulse, next_inverse, next_side, pack_joints, push_joints,
};
use crate::collision::Pose;
use crate::error::Result;
use crate::rigid::impact::spot::{Mobility, mobilities};
use crate::rigid::kernels::{Wrench, turn};
use crate::rigid::properties::Properties;
use crate::rigid::state::State;
use crate::vertices::kernels::drift;
use diffkern::prelude::*;

/// Joints with their parameters.
#[derive(Clone, Debug)]
pub(in crate::rigid) struct Jointed<F: Float> {
    joints: Joints<F>,
    places: Array<JointPlace<F>>,
    friction: [Array<F>; 3],
    properties: Properties<F>,
}

/// Joints and bodies at the beginning of a step.
pub(in crate::rigid) struct Bound<'a, F: Float> {
    jointed: &'a Jointed<F>,
    frames: Array<JointFrame<F>>,
    mobility: Array<Mobility<F>>,
}

impl<F: Float> Jointed<F> {
    pub(in crate::rigid) fn new(
        joints: &Joints<F>,
        params: &JointParams<F>,
        properties: &Properties<F>,
    ) -> Result<Jointed<F>> {
        joints.check(params)?;
        let (n, JointParams { parent_point, child_point, friction, dry, slip }) = (joints.count(), params);
        let places = properties.all.device().uninit(n)?;
        pack_joints(n, parent_point, child_point, &joints.axes, &joints.ends, &places)?;
        let friction = [friction.clone(), dry.clone(), slip.clone()];
        Ok(Jointed { joints: joints.clone(), places, friction, properties: properties.clone() })
    }

    pub(in crate::rigid) fn count(&self) -> usize {
        self.joints.count()
    }

    /// As the bodies of a step begin it.
    pub(in crate::rigid) fn at(&self, poses: &Array<Pose<F>>, q: &Array<Quat<F>>) -> diffkern::Result<Bound<'_, F>> {
        let (device, bodies, joints) = (q.device(), q.len(), self.joints.count());
        let (mobility, frames) = (device.uninit(bodies)?, device.uninit(joints)?);
        mobilities(bodies, poses, &self.properties.all, &mobility)?;
        joint_frames(joints, q, &self.properties.all, &self.joints.ends, &self.places, &frames)?;
        Ok(Bound { jointed: self, frames, mobility })
    }
}

impl<F: Float> Bound<'_, F> {
    /// Adds friction to what acts on the bodies.
    pub(in crate::rigid) fn rub(&self, l: &Array<Vec3<F>>, wrench: &Array<Wrench<F>>) -> diffkern::Result<()> {
        let Jointed { joints, friction: [viscous, dry, slip], .. } = self.jointed;
        joint_friction(joints.count(), l, &self.mobility, &joints.ends, &self.frames, viscous, dry, slip, wrench)
    }

    /// The state with the velocities and angular momenta by which a step of length `h` ends with joints closed; adds forces and torques on the children to `reactions`.
    ///
    /// Newton's method with the matrix of the beginning of the step: each iteration solves it exactly, by elimination along the chains, and leaves of the gap a part of the size of
    /// the turn in a step.
    pub(in crate::rigid) fn hold(
        &self,
        mut now: State<F>,
        h: f64,
        reactions: Option<&Array<Wrench<F>>>,
    ) -> diffkern::Result<State<F>> {
        let (Jointed { joints, places, properties, .. }, device) = (self.jointed, self.frames.device());
        let (n, count, rate) = (now.len(), joints.count(), F::from_f64(1.0 / h));
        let inverses = self.inverses()?;
        for _ in 0..joints.iterations {
            let (x, q, errors) = (device.uninit(n)?, device.uninit(n)?, device.uninit(count)?);
            drift(n, &now.x, &now.v, &x, F::from_f64(h))?;
            turn(n, &now.q, &now.l, &properties.inverse, &q, F::from_f64(h))?;
            joint_errors(count, &x, &q, &properties.all, &joints.ends, places, &self.frames, &errors, rate)?;
            let (v, l) = (device.uninit(n)?, device.uninit(n)?);
            v.copy_from(&now.v)?;
            l.copy_from(&now.l)?;
            for (level, impulse) in joints.levels.iter().zip(self.impulses(&inverses, &errors)?) {
                let (ends, frames) = (&joints.ends, &self.frames);
                push_joints(level.len(), level, ends, frames, &self.mobility, &impulse, &v, &l)?;
                if let Some(reactions) = reactions {
                    add_reactions(level.len(), level, ends, frames, &impulse, reactions, rate)?;
                }
            }
            now = State { v, l, ..now };
        }
        Ok(now)
    }

    /// The inverse of what is left of the block of each joint when those before it are eliminated.
    fn inverses(&self) -> diffkern::Result<Vec<Array<Block<F>>>> {
        let (Joints { ends, levels, .. }, frames, mobility) = (&self.jointed.joints, &self.frames, &self.mobility);
        let mut all: Vec<Array<Block<F>>> = Vec::new();
        for (k, level) in levels.iter().enumerate() {
            let inverse = frames.device().uninit(level.len())?;
            match all.last() {
                None => first_inverse(level.len(), level, ends, frames, mobility, &inverse)?,
                Some(last) => next_inverse(level.len(), level, &levels[k - 1], ends, frames, mobility, last, &inverse)?,
            }
            all.push(inverse);
        }
        Ok(all)
    }

    /// The impulses that close these errors, by level.
    fn impulses(&self, inverses: &[Array<Block<F>>], errors: &Array<Six<F>>) -> diffkern::Result<Vec<Array<Six<F>>>> {
        let (Joints { ends, levels, .. }, frames, mobility) = (&self.jointed.joints, &self.frames, &self.mobility);
        let device = frames.device();
        let mut sides: Vec<Array<Six<F>>> = Vec::new();
        for (k, level) in levels.iter().enumerate() {
            let (n, side) = (level.len(), device.uninit(level.len())?);
            match sides.last() {
                None => first_side(n, level, errors, &side)?,
                Some(last) => {
                    let (before, inverse) = (&levels[k - 1], &inverses[k - 1]);
                    next_side(n, level, before, ends, frames, mobility, inverse, last, errors, &side)?;
                }
            }
            sides.push(side);
        }
        let mut impulses: Vec<Array<Six<F>>> = Vec::new();
        for (k, level) in levels.iter().enumerate().rev() {
            let (n, impulse) = (level.len(), device.uninit(level.len())?);
            match impulses.last() {
                None => last_impulse(n, &inverses[k], &sides[k], &impulse)?,
                Some(next) => {
                    let after = &levels[k + 1];
                    impulse_before(n, level, after, ends, frames, mobility, &inverses[k], &sides[k], next, &impulse)?;
                }
            }
            impulses.push(impulse);
        }
        impulses.reverse();
        Ok(impulses)
    }
}
