//! What a joint is, and what may be identified of it.

use super::chain::{Link, chains};
use crate::error::{Error, Result, non_negative, positive};
use crate::params::parameters;
use crate::vertices::one_or;
use diffkern::prelude::*;

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// All turns.
    Ball,
    /// Turns about an axis, given in the frames of parent and child.
    Hinge {
        /// Of any length but 0, in the frame of the parent.
        parent_axis: [f64; 3],
        /// In that of the child.
        child_axis: [f64; 3],
    },
}

/// A point that two bodies, or a body and the world, have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    /// Number of a body; the world without one.
    pub parent: Option<usize>,
    /// Number of the other.
    pub child: Option<usize>,
    /// The common point in the frame of the surface of the parent, of the world in its own \[m\].
    pub parent_point: [f64; 3],
    /// In that of the child \[m\].
    pub child_point: [f64; 3],
    /// What it leaves free.
    pub kind: JointKind,
    /// Torque by the angular velocity of the child against the parent \[N m s/rad\].
    pub friction: f64,
    /// Torque of dry friction, as large at all angular velocities well above [`Joint::slip`] \[N m\].
    pub dry: f64,
    /// Angular velocity at which dry friction is `1 / sqrt(2)` of that; positive \[rad/s\].
    pub slip: f64,
}

impl Joint {
    pub(super) fn ends(&self) -> [Option<usize>; 2] {
        [self.parent, self.child]
    }

    fn axes(&self) -> [[f64; 3]; 2] {
        match self.kind {
            JointKind::Ball => [[0.0, 0.0, 1.0]; 2],
            JointKind::Hinge { parent_axis, child_axis } => [parent_axis, child_axis],
        }
    }

    fn check(&self, k: usize, bodies: usize) -> Result<()> {
        for body in self.ends().into_iter().flatten() {
            if body >= bodies {
                return Err(Error::invalid(format!("body of joint {k}"), body, format!("a number below {bodies}")));
            }
        }
        if self.parent == self.child {
            let expected = "two bodies, or a body and the world";
            return Err(Error::invalid(format!("ends of joint {k}"), format!("{:?}", self.ends()), expected));
        }
        if self.parent_point.iter().chain(&self.child_point).any(|x| !x.is_finite()) {
            let points = format!("{:?} and {:?}", self.parent_point, self.child_point);
            return Err(Error::invalid(format!("points of joint {k}"), points, "finite numbers"));
        }
        for axis in self.axes() {
            let norm = Vec3::from_array(axis).norm();
            if !(norm > 0.0 && norm.is_finite()) {
                let expected = "a finite vector that is not zero";
                return Err(Error::invalid(format!("axis of joint {k}"), format!("{axis:?}"), expected));
            }
        }
        non_negative(&format!("friction of joint {k}"), self.friction)?;
        non_negative(&format!("dry friction of joint {k}"), self.dry)?;
        positive(&format!("slip of joint {k}"), self.slip).map(drop)
    }
}

/// What may be identified of joints: points one each, what friction depends on one for all or one for each.
#[derive(Clone, Debug)]
pub struct JointParams<F: Float> {
    /// The common points in the frames of the parents \[m\].
    pub parent_point: Array<Vec3<F>>,
    /// In those of the children \[m\].
    pub child_point: Array<Vec3<F>>,
    /// Torque by angular velocity \[N m s/rad\].
    pub friction: Array<F>,
    /// Torque of dry friction \[N m\].
    pub dry: Array<F>,
    /// Angular velocity from which on dry friction is near that \[rad/s\].
    pub slip: Array<F>,
}

parameters! {
    impl [F: Float] for JointParams<F> {
        parent_point: "joints.parent_point", "m", Finite;
        child_point: "joints.child_point", "m", Finite;
        friction: "joints.friction", "N m s/rad", NonNegative;
        dry: "joints.dry", "N m", NonNegative;
        slip: "joints.slip", "rad/s", Positive;
    }
}

/// The joints of a model.
#[derive(Clone, Debug)]
pub(in crate::rigid) struct Joints<F: Float> {
    joints: Vec<Joint>,
    /// Parent, child, whether it is a hinge, and whether both are exchanged.
    pub(super) ends: Array<u32>,
    /// Axes of parents and children, one after the other.
    pub(super) axes: Array<Vec3<F>>,
    /// The joints that are first, second, ... in their chains, chains in one order.
    pub(super) levels: Vec<Array<u32>>,
    pub(super) iterations: usize,
}

impl<F: Float> Joints<F> {
    pub(in crate::rigid) fn new(
        device: &Device,
        joints: &[Joint],
        bodies: usize,
        iterations: usize,
    ) -> Result<Joints<F>> {
        for (what, count) in [("joints", joints.len()), ("iterations of joints", iterations)] {
            if count == 0 {
                return Err(Error::invalid(format!("number of {what}"), 0, "at least 1"));
            }
        }
        joints.iter().enumerate().try_for_each(|(k, joint)| joint.check(k, bodies))?;
        let (chains, mut exchanged) = (chains(joints, bodies)?, vec![false; joints.len()]);
        chains.iter().flatten().for_each(|&Link { joint, exchanged: e }| exchanged[joint] = e);
        let number = |end: Option<usize>| end.unwrap_or(bodies) as u32;
        let ends = joints.iter().zip(exchanged).flat_map(|(joint, exchanged)| {
            let [parent, child] = joint.ends().map(number);
            let hinge = u32::from(joint.kind != JointKind::Ball);
            if exchanged { [child, parent, hinge, 1] } else { [parent, child, hinge, 0] }
        });
        let level = |k: usize| -> Vec<u32> {
            chains.iter().filter_map(|chain| chain.get(k)).map(|link| link.joint as u32).collect()
        };
        let longest = chains.first().map_or(0, Vec::len);
        Ok(Joints {
            ends: device.array(&ends.collect::<Vec<_>>())?,
            axes: vectors(device, joints.iter().flat_map(|j| j.axes()).map(unit))?,
            levels: (0..longest).map(|k| device.array(&level(k))).collect::<diffkern::Result<_>>()?,
            joints: joints.to_vec(),
            iterations,
        })
    }

    /// The parameters as the joints have them.
    pub(in crate::rigid) fn params(&self, device: &Device) -> Result<JointParams<F>> {
        let each =
            |of: fn(&Joint) -> f64| device.array(&self.joints.iter().map(|j| F::from_f64(of(j))).collect::<Vec<_>>());
        Ok(JointParams {
            parent_point: vectors(device, self.joints.iter().map(|j| j.parent_point))?,
            child_point: vectors(device, self.joints.iter().map(|j| j.child_point))?,
            friction: each(|j| j.friction)?,
            dry: each(|j| j.dry)?,
            slip: each(|j| j.slip)?,
        })
    }

    /// Refuses parameters of the wrong length.
    pub(super) fn check(&self, params: &JointParams<F>) -> Result<()> {
        let count = self.joints.len();
        for (what, points) in [("parent_point", &params.parent_point), ("child_point", &params.child_point)] {
            if points.len() != count {
                let expected = format!("{count}, one a joint");
                return Err(Error::invalid(format!("length of joints.{what}"), points.len(), expected));
            }
        }
        one_or("joints.friction", params.friction.len(), count, "joint")?;
        one_or("joints.dry", params.dry.len(), count, "joint")?;
        one_or("joints.slip", params.slip.len(), count, "joint")
    }

    pub(super) fn count(&self) -> usize {
        self.joints.len()
    }
}

fn unit(axis: [f64; 3]) -> [f64; 3] {
    Vec3::from_array(axis).normalize().to_array()
}

fn vectors<F: Float>(device: &Device, all: impl Iterator<Item = [f64; 3]>) -> diffkern::Result<Array<Vec3<F>>> {
    device.array(&all.map(|v| Vec3::from_array(v.map(F::from_f64))).collect::<Vec<_>>())
}
