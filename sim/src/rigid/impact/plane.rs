//! Planes that bodies bounce off by impulses.

use crate::error::{Error, Result, non_negative};
use crate::params::parameters;
use diffkern::prelude::*;

/// Units in the last place of the speed of a body that its speed of approach may be off by rounding.
pub(super) const SPEED_ROUNDING: f64 = 256.0;

/// A fixed half-space, as plain data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Out of the solid, of any length but 0.
    pub normal: [f64; 3],
    /// Distance of the surface from the origin along the normal \[m\].
    pub offset: f64,
    /// Coefficient of restitution, 0 to 1: the part of the normal impulse that compression gives which restitution gives again.
    pub restitution: f64,
    /// Coulomb's coefficient.
    pub friction: f64,
}

/// How an impact is placed in its step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Impulse {
    /// At its begin: `x+ = x + h v+`. The gradient of what comes later by what was before lacks that a body that starts farther away hits
    /// later, and has the wrong sign: `d x_T / d x_0 = 1` of a ball that comes back. Kept for comparison.
    Naive,
    /// When it happens: `x+ = x + t v + (h - t) v+` with the time `t` at which the gap closes, and the derivative of `t`.
    #[default]
    TimeOfImpact,
}

/// Impacts of a model, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct Impacts {
    /// What bodies bounce off.
    pub planes: Vec<Plane>,
    /// How an impact is placed in its step.
    pub impulse: Impulse,
    /// Speed of approach up to which nothing bounces \[m/s\]; at least twice what gravity gives in a step.
    pub rest_speed: f64,
    /// Most impacts of a body in a step; what comes after them waits for the next.
    pub most: usize,
    /// Sweeps over the points that touch, for each of compression and restitution.
    pub sweeps: usize,
}

impl Impacts {
    /// Off these planes, at the time of impact: four a step, ten sweeps, rest up to 0.05 m/s.
    pub fn new(planes: Vec<Plane>) -> Impacts {
        Impacts { planes, impulse: Impulse::TimeOfImpact, rest_speed: 0.05, most: 4, sweeps: 10 }
    }

    pub(in crate::rigid) fn check(&self) -> Result<()> {
        if self.planes.is_empty() {
            return Err(Error::invalid("number of planes", 0, "at least 1"));
        }
        for (k, plane) in self.planes.iter().enumerate() {
            let norm = Vec3::from_array(plane.normal).norm();
            if !norm.is_finite() || norm == 0.0 || !plane.offset.is_finite() {
                let expected = "a finite normal other than zero and a finite offset";
                return Err(Error::invalid(format!("plane {k}"), format!("{plane:?}"), expected));
            }
            non_negative(&format!("friction of plane {k}"), plane.friction)?;
            if !(0.0..=1.0).contains(&plane.restitution) {
                return Err(Error::invalid(format!("restitution of plane {k}"), plane.restitution, "0 to 1"));
            }
        }
        non_negative("speed up to which nothing bounces", self.rest_speed)?;
        for (what, count) in [("most impacts of a step", self.most), ("sweeps of an impact", self.sweeps)] {
            if count == 0 {
                return Err(Error::invalid(what, 0, "at least 1"));
            }
        }
        Ok(())
    }

    /// The parameters as the planes have them.
    pub(in crate::rigid) fn params<F: Float>(&self, device: &Device) -> Result<ImpactParams<F>> {
        let each =
            |of: fn(&Plane) -> f64| device.array(&self.planes.iter().map(|p| F::from_f64(of(p))).collect::<Vec<_>>());
        let rows = self.planes.iter().map(|p| {
            let n = Vec3::from_array(p.normal).normalize();
            Vec4::new(n.x, n.y, n.z, p.offset)
        });
        let rows: Vec<Vec4<F>> = rows.map(|r| Vec4::from_array(r.to_array().map(F::from_f64))).collect();
        Ok(ImpactParams {
            restitution: each(|p| p.restitution)?,
            friction: each(|p| p.friction)?,
            planes: device.array(&rows)?,
        })
    }
}

/// What may be identified of the planes. Arrays have one element for all of them or one for each, but for their places: one each.
#[derive(Clone, Debug)]
pub struct ImpactParams<F: Float> {
    /// Coefficients of restitution.
    pub restitution: Array<F>,
    /// Coulomb's coefficients.
    pub friction: Array<F>,
    /// Normals, of any length but 0, and distances of the surfaces from the origin along them \[m\].
    pub planes: Array<Vec4<F>>,
}

parameters! {
    impl [F: Float] for ImpactParams<F> {
        restitution: "impact.restitution", "", NonNegative;
        friction: "impact.friction", "", NonNegative;
        planes: "impact.planes", "SI", Finite;
    }
}

/// A plane as kernels take it; its normal has length 1.
#[diff_struct]
pub struct Wall<F> {
    /// Out of the solid.
    pub normal: Vec3<F>,
    /// Distance from the origin along the normal \[m\].
    pub offset: F,
    /// Coefficient of restitution.
    pub restitution: F,
    /// Coulomb's coefficient.
    pub friction: F,
}

/// The planes as kernels take them.
#[diff_kernel]
pub fn pack_planes<F: Float>(
    planes: &Array<Vec4<F>>,
    restitution: &Array<F>,
    friction: &Array<F>,
    walls: &mut Array<Wall<F>>,
) {
    let p = ABSOLUTE_POS;
    let plane = planes[p];
    let normal = Vec3::new(plane.x, plane.y, plane.z).normalize();
    let e = restitution[p.min(restitution.len() - 1)];
    let mu = friction[p.min(friction.len() - 1)];
    walls[p] = Wall { normal, offset: plane.w, restitution: e, friction: mu };
}
