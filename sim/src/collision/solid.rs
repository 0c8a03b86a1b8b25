//! The list of shapes, from which a scene chooses when it runs.

use super::pose::{Pose, to_world};
use super::sdf_grid::{SdfGrid, grid_gaps};
use super::{Capsule, Cuboid, HalfSpace, Shape, Sphere, Torus};
use crate::error::{Result, positive};
use crate::grid::GridShape;
use diffkern::memory::collect;
use diffkern::prelude::*;
use std::sync::Arc;

/// Gaps to a solid: `gap_i = (normal, distance)`.
#[diff_kernel]
pub fn shape_gaps<F: Float, S: Shape>(
    x: &Array<Vec3<F>>,
    poses: &Array<Pose<F>>,
    sizes: &Array<Vec3<F>>,
    gap: &mut Array<Vec4<F>>,
    solid: u32,
) {
    let pose = poses[solid];
    let local = pose.rotation.conjugate().rotate(x[ABSOLUTE_POS] - pose.centre);
    let at: Vec4<F> = S::distance(local, sizes[solid]);
    let result: Vec4<F> = to_world(pose, at);
    gap[ABSOLUTE_POS] = result;
}

/// Makes [`Solid`] of the rows of shapes: the fields of one are its size, and its points are within a radius about the origin.
macro_rules! shapes {
    ($($(#[$doc:meta])* $shape:ident { $($(#[$field_doc:meta])* $field:ident,)* } = [$x:expr, $y:expr, $z:expr] within $radius:expr;)+) => {
        /// A shape with its size.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Solid {
            $($(#[$doc])* $shape { $($(#[$field_doc])* $field: f64,)* },)+
            /// By samples of its signed distance.
            Grid(Arc<SdfGrid>),
        }

        /// Which kernel finds the gaps to a solid.
        #[derive(Clone, Debug)]
        enum Form<F: Float> {
            $($shape,)+
            Grid(GridShape<F>, Array<F>),
        }

        impl Solid {
            fn size(&self) -> [f64; 3] {
                match self {
                    $(Solid::$shape { $($field),* } => [$x, $y, $z],)+
                    Solid::Grid(_) => [0.0; 3],
                }
            }

            /// Signed distance \[m\] of `x` in its frame, negative inside.
            pub fn distance(&self, x: Vec3<f64>) -> f64 {
                match self {
                    $(Solid::$shape { .. } => $shape::distance(x, Vec3::from_array(self.size())).w,)+
                    Solid::Grid(grid) => grid.distance(x.to_array()),
                }
            }

            /// How far its points are from the origin of its frame, at most \[m\]; without end for a half-space.
            pub fn radius(&self) -> f64 {
                match self {
                    $(Solid::$shape { $($field),* } => $radius,)+
                    Solid::Grid(grid) => grid.radius(),
                }
            }

            pub(crate) fn check(&self, of: &str) -> Result<()> {
                match self {
                    $(Solid::$shape { $($field),* } => {
                        $(positive(&format!("{} of {of}", stringify!($field)), *$field)?;)*
                    })+
                    Solid::Grid(_) => {}
                }
                Ok(())
            }

            fn form<F: Float>(&self, device: &Device) -> Result<Form<F>> {
                Ok(match self {
                    $(Solid::$shape { .. } => Form::$shape,)+
                    Solid::Grid(grid) => {
                        let values: Vec<F> = collect(grid.values.iter().map(|&v| F::from_f64(v)))?;
                        Form::Grid(grid.shape(), device.array(&values)?)
                    }
                })
            }
        }

        /// The bodies of [`shape_gaps`] for the CPU, by shape.
        pub(crate) fn instances() -> impl Sized {
            [$(shape_gaps::<$shape>::native::<f32>(), shape_gaps::<$shape>::native::<f64>()),+]
        }

        impl<F: Float> Solids<F> {
            /// `(normal, signed distance)` of each point to solid `k`, which is at `poses[k]`; differentiable in points and poses.
            pub(crate) fn gaps(
                &self,
                k: usize,
                x: &Array<Vec3<F>>,
                poses: &Array<Pose<F>>,
            ) -> diffkern::Result<Array<Vec4<F>>> {
                let (n, gap, solid) = (x.len(), x.device().uninit(x.len())?, k as u32);
                match &self.forms[k] {
                    $(Form::$shape => shape_gaps::<F, $shape>(n, x, poses, &self.sizes, &gap, solid)?,)+
                    Form::Grid(grid, values) => grid_gaps(n, x, poses, values, &gap, *grid, solid)?,
                }
                Ok(gap)
            }
        }
    };
}

shapes! {
    /// Everything below the plane `z = 0` of its frame.
    HalfSpace {} = [0.0, 0.0, 0.0] within f64::INFINITY;
    /// A ball.
    Sphere {
        /// Its radius \[m\].
        radius,
    } = [*radius, 0.0, 0.0] within *radius;
    /// A rod with round ends along the z axis of its frame.
    Capsule {
        /// Its radius \[m\].
        radius,
        /// Half the length of its straight part \[m\].
        half_length,
    } = [*radius, 0.0, *half_length] within radius + half_length;
    /// A box.
    Cuboid {
        /// Half its side along x \[m\].
        half_x,
        /// Half its side along y \[m\].
        half_y,
        /// Half its side along z \[m\].
        half_z,
    } = [*half_x, *half_y, *half_z] within (half_x * half_x + half_y * half_y + half_z * half_z).sqrt();
    /// A ring about the z axis of its frame.
    Torus {
        /// Distance of the middle of the tube from the axis \[m\].
        radius,
        /// Radius of the tube \[m\].
        tube,
    } = [*radius, *tube, 0.0] within radius + tube;
}

/// Some solids on a device.
#[derive(Clone, Debug)]
pub(crate) struct Solids<F: Float> {
    forms: Vec<Form<F>>,
    sizes: Array<Vec3<F>>,
}

impl<F: Float> Solids<F> {
    /// Of at least one solid.
    pub(crate) fn new(device: &Device, solids: &[&Solid]) -> Result<Solids<F>> {
        let sizes: Vec<_> = solids.iter().map(|s| Vec3::from_array(s.size().map(F::from_f64))).collect();
        let forms = solids.iter().map(|solid| solid.form(device)).collect::<Result<_>>()?;
        Ok(Solids { forms, sizes: device.array(&sizes)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_points_are_those_of_the_kernels() -> Result<()> {
        let ramp = SdfGrid::sampled([-1.0, -0.5, -0.8], 0.25, [9, 5, 7], |[x, y, z]| x * y - 0.3 * z + x * z)?;
        let solids = [
            Solid::HalfSpace {},
            Solid::Sphere { radius: 0.4 },
            Solid::Capsule { radius: 0.2, half_length: 0.3 },
            Solid::Cuboid { half_x: 0.2, half_y: 0.3, half_z: 0.4 },
            Solid::Torus { radius: 0.4, tube: 0.1 },
            Solid::Grid(Arc::new(ramp)),
        ];
        let device = Device::cpu();
        let share = |k: usize, seed: f64| ((k + 1) as f64 * 0.754_877_666 * seed).fract() * 3.0 - 1.5;
        let points: Vec<_> = (0..40).map(|k| Vec3::new(share(k, 1.0), share(k, 1.7), share(k, 2.3))).collect();
        let still =
            Pose { centre: Vec3::zero(), rotation: Quat::identity(), velocity: Vec3::zero(), spin: Vec3::zero() };
        let (x, poses) = (device.array(&points)?, device.array(&vec![still; solids.len()])?);
        let on_device = Solids::<f64>::new(&device, &solids.iter().collect::<Vec<_>>())?;
        for (k, solid) in solids.iter().enumerate() {
            for (x, gap) in points.iter().zip(on_device.gaps(k, &x, &poses)?.to_vec()?) {
                assert!(
                    (solid.distance(*x) - gap.w).abs() < 1e-12,
                    "{solid:?} {x:?}: {} {}",
                    solid.distance(*x),
                    gap.w
                );
                let is_far = x.norm() > solid.radius();
                assert!(!is_far || matches!(solid, Solid::Grid(_)) || gap.w > 0.0, "{solid:?} {x:?}");
            }
        }
        Ok(())
    }
}
