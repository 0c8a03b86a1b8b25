//! Where a body is and how it is turned.

use super::vector::{Point, add, cross, dot, norm, scale};
use crate::error::{Error, Result};
use diffkern::{Quat, Vec3};

/// A rotation about the origin, then a translation: `x -> R x + t`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pose {
    /// Rotation vector: its direction is the axis, its length the angle \[rad\], by the right-hand rule.
    pub rotation: [f64; 3],
    /// Translation \[m\].
    pub translation: [f64; 3],
}

impl Pose {
    /// A translation without a rotation \[m\].
    pub fn at(translation: [f64; 3]) -> Pose {
        Pose { translation, ..Pose::default() }
    }

    /// Where `x` comes to be \[m\], by Rodrigues' formula.
    pub fn apply(&self, x: [f64; 3]) -> [f64; 3] {
        add(turned(self.rotation, x), self.translation)
    }

    /// The point that comes to be at `x` \[m\].
    pub fn apply_inverse(&self, x: [f64; 3]) -> [f64; 3] {
        turned(scale(self.rotation, -1.0), add(x, scale(self.translation, -1.0)))
    }

    /// `x -> self(R x)`, for the rotation `R` by a vector.
    pub(crate) fn after(&self, rotation: [f64; 3]) -> Pose {
        let [own, first] =
            [self.rotation, rotation].map(|[x, y, z]| Quat::from_rotation_vector(Vec3::<f64>::new(x, y, z)));
        let both = own * first;
        let (real, along) = (both.w, [both.x, both.y, both.z]);
        // Of the two that are the same rotation, the one of at most half a turn.
        let (real, along) = if real < 0.0 { (-real, scale(along, -1.0)) } else { (real, along) };
        let sine = norm(along);
        let rotation = if sine == 0.0 { [0.0; 3] } else { scale(along, 2.0 * sine.atan2(real) / sine) };
        Pose { rotation, ..*self }
    }

    pub(crate) fn check(&self) -> Result<()> {
        for (what, v) in [("rotation", self.rotation), ("translation", self.translation)] {
            if v.iter().any(|x| !x.is_finite()) {
                return Err(Error::invalid(format!("{what} of the pose"), format!("{v:?}"), "finite numbers"));
            }
        }
        Ok(())
    }
}

fn turned(rotation: Point, x: Point) -> Point {
    let angle = norm(rotation);
    if angle == 0.0 {
        return x;
    }
    let axis = scale(rotation, 1.0 / angle);
    let (sin, cos) = angle.sin_cos();
    let along = scale(axis, dot(axis, x) * (1.0 - cos));
    add(add(scale(x, cos), scale(cross(axis, x), sin)), along)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_follow_each_other() {
        let poses = [[0.3, -0.2, 0.5], [2.0, 1.5, -1.0], [0.0; 3]]
            .map(|rotation| Pose { rotation, translation: [0.1, 0.2, 0.3] });
        for (pose, rotation) in
            poses.iter().flat_map(|p| [[0.7, 0.1, -0.4], [-1.9, 1.1, 0.6], [0.0; 3]].map(|r| (p, r)))
        {
            let (both, x) = (pose.after(rotation), [0.4, -0.6, 0.2]);
            let apart = add(both.apply(x), scale(pose.apply(turned(rotation, x)), -1.0));
            assert!(norm(apart) < 1e-14, "{pose:?} after {rotation:?}");
        }
    }

    #[test]
    fn a_quarter_turn_about_z_takes_x_to_y() {
        let pose = Pose { rotation: [0.0, 0.0, std::f64::consts::FRAC_PI_2], translation: [0.0, 0.0, 2.0] };
        let y = pose.apply([1.0, 0.0, 0.0]);
        let error = (0..3).map(|a| (y[a] - [0.0, 1.0, 2.0][a]).abs()).fold(0.0, f64::max);
        assert!(error < 1e-15, "{y:?}");
        assert!(norm(add(pose.apply_inverse(y), [-1.0, 0.0, 0.0])) < 1e-15);
        assert_eq!(Pose::at([1.0; 3]).apply([0.5; 3]), [1.5; 3]);
    }
}
