//! Young's modulus and Poisson's ratio of each element.

use super::kernels::lame_parameters;
use crate::error::{Error, Result, positive};
use crate::vertices::one_or;
use diffkern::prelude::*;

/// An elastic material by the numbers of engineers; one element for all tetrahedra, or one for each. Both are differentiable.
#[derive(Clone, Debug)]
pub struct Elastic<F: Float> {
    /// Young's modulus \[Pa\], positive.
    pub young: Array<F>,
    /// Poisson's ratio, above -1 and below 1/2.
    pub poisson: Array<F>,
}

impl<F: Float> Elastic<F> {
    /// One material for all tetrahedra.
    ///
    /// # Errors
    /// When a number is out of its range.
    pub fn uniform(device: &Device, young: f64, poisson: f64) -> Result<Elastic<F>> {
        Elastic::each(device, &[young], &[poisson])
    }

    /// Numbers for each tetrahedron, or one for all.
    ///
    /// # Errors
    /// When a number is out of its range.
    pub fn each(device: &Device, young: &[f64], poisson: &[f64]) -> Result<Elastic<F>> {
        for (k, &value) in young.iter().enumerate() {
            positive(&format!("Young's modulus {k} [Pa]"), value)?;
        }
        if let Some(k) = poisson.iter().position(|nu| !(*nu > -1.0 && *nu < 0.5)) {
            return Err(Error::invalid(format!("Poisson's ratio {k}"), poisson[k], "a number above -1 and below 0.5"));
        }
        let array = |x: &[f64]| device.array(&x.iter().map(|&x| F::from_f64(x)).collect::<Vec<_>>());
        Ok(Elastic { young: array(young)?, poisson: array(poisson)? })
    }

    /// Lamé parameters `mu` and `lambda` \[Pa\], by a kernel: gradients reach both numbers.
    pub(crate) fn lame(&self, elements: usize) -> Result<(Array<F>, Array<F>)> {
        for (what, array) in [("Young's modulus", &self.young), ("Poisson's ratio", &self.poisson)] {
            one_or(what, array.len(), elements, "tetrahedron")?;
        }
        let (device, n) = (self.young.device(), self.young.len().max(self.poisson.len()));
        let (mu, lambda) = (device.uninit(n)?, device.uninit(n)?);
        lame_parameters(n, &self.young, &self.poisson, &mu, &lambda)?;
        Ok((mu, lambda))
    }
}
