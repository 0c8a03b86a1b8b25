//! The largest stable time step.

use crate::error::{Result, non_negative, positive};

/// What limits an explicit step: the stiffest, lightest and fastest that may occur.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stability {
    /// Node distance \[m\].
    pub dx: f64,
    /// Particle spacing \[m\].
    pub spacing: f64,
    /// Largest `lambda + 2 mu` \[Pa\].
    pub p_modulus: f64,
    /// Smallest density \[kg/m^3\].
    pub density: f64,
    /// Largest viscosity \[Pa s\].
    pub viscosity: f64,
    /// Largest penalty stiffness \[Pa/m\].
    pub penalty: f64,
    /// Largest speed \[m/s\].
    pub speed: f64,
    /// Cells that a wave on the fastest material may cross in a step; 0.3 is cautious, 0.5 about the limit.
    pub cfl: f64,
}

impl Stability {
    /// The smallest of the four limits \[s\]: `cfl dx / (c + |v|)` with `c = sqrt((lambda + 2 mu) / rho)`;
    /// `cfl dx^2 rho / (4 eta)`; half the reciprocal frequency of a particle on the penalty spring.
    ///
    /// # Errors
    /// When a value is out of its range.
    pub fn time_step(&self) -> Result<f64> {
        let dx = positive("grid spacing", self.dx)?;
        let h = positive("particle spacing", self.spacing)?;
        let rho = positive("density", self.density)?;
        let cfl = positive("cfl", self.cfl)?;
        let wave = (positive("lambda + 2 mu", self.p_modulus)? / rho).sqrt();
        let elastic = cfl * dx / (wave + non_negative("speed", self.speed)?);
        let viscous = cfl * dx * dx * rho / (4.0 * non_negative("viscosity", self.viscosity)?);
        let contact = 0.5 * (rho * h / non_negative("penalty stiffness", self.penalty)?).sqrt();
        Ok(elastic.min(viscous).min(contact))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STONE: Stability = Stability {
        dx: 0.01,
        spacing: 0.005,
        p_modulus: 1e5,
        density: 1e3,
        viscosity: 0.0,
        penalty: 0.0,
        speed: 0.0,
        cfl: 0.5,
    };

    #[test]
    fn each_limit_binds() {
        assert_eq!(STONE.time_step().unwrap(), 0.5 * 0.01 / 10.0);
        assert_eq!(Stability { speed: 40.0, ..STONE }.time_step().unwrap(), 0.5 * 0.01 / 50.0);
        assert_eq!(Stability { viscosity: 1e3, ..STONE }.time_step().unwrap(), 0.5 * 1e-4 * 1e3 / 4e3);
        assert_eq!(Stability { penalty: 5e8, ..STONE }.time_step().unwrap(), 0.5 * 1e-4);
    }

    #[test]
    fn refuses_negative_density() {
        let error = Stability { density: -1.0, ..STONE }.time_step().unwrap_err();
        assert_eq!(error.to_string(), "density is -1, expected a positive number");
    }
}
