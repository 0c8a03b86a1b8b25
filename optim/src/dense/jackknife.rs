//! How far the minimum of least squares moves when groups of residuals are left out.

use super::NormalEquations;
use super::normal_equations::solve;
use crate::error::{Result, same_length};

impl NormalEquations {
    /// Covariance of the parameters by the jackknife over groups (Tukey 1958; for regression Wu 1986, MacKinnon and White 1985): each of
    /// the groups is left out once, the minimum of the rest found by a step of Gauss and Newton, and the scatter of these minima taken,
    /// `(B - 1) / B sum_b (x_b - mean) (x_b - mean)^T`, row by row. It sees errors that hang together within a group, whatever their
    /// cause, and the leverage of each group; not an error that all groups share alike.
    ///
    /// `self` is the whole, with priors if there are any; a group has the sums of its residuals alone. None where a group cannot be
    /// left out, as the rest does not fix the parameters, or there are fewer than two.
    ///
    /// # Errors
    /// When a group has another number of parameters.
    pub fn jackknife(&self, groups: &[NormalEquations]) -> Result<Option<Vec<f64>>> {
        let n = self.parameters();
        self.is_shaped()?;
        for group in groups {
            group.is_shaped()?;
            same_length("parameters of a group", group.parameters(), n)?;
        }
        let without = |group: &NormalEquations| {
            let less = |all: &[f64], own: &[f64]| all.iter().zip(own).map(|(a, b)| a - b).collect::<Vec<_>>();
            let step = solve(&less(&self.hessian, &group.hessian), &less(&self.gradient, &group.gradient))?;
            step.iter().all(|x| x.is_finite()).then_some(step)
        };
        let moved: Option<Vec<Vec<f64>>> = groups.iter().map(without).collect();
        let Some(moved) = moved.filter(|moved| moved.len() > 1) else { return Ok(None) };
        let count = moved.len() as f64;
        let mean: Vec<f64> = (0..n).map(|k| moved.iter().map(|x| x[k]).sum::<f64>() / count).collect();
        let product = |a: usize, b: usize| moved.iter().map(|x| (x[a] - mean[a]) * (x[b] - mean[b])).sum::<f64>();
        Ok(Some((0..n * n).map(|k| (count - 1.0) / count * product(k / n, k % n)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(residual: &[f64], slope: f64) -> Result<NormalEquations> {
        let mut normal = NormalEquations::new(1);
        normal.add(residual, &[vec![slope; residual.len()]])?;
        Ok(normal)
    }

    fn sum(groups: &[NormalEquations]) -> Result<NormalEquations> {
        let mut all = NormalEquations::new(1);
        groups.iter().try_for_each(|group| all.append(group))?;
        Ok(all)
    }

    /// Of a mean, the jackknife over groups of one is the variance of the mean, exactly.
    #[test]
    fn of_a_mean_it_is_the_textbook() -> Result<()> {
        let data = [0.3, -1.1, 0.4, 2.0, -0.7, 0.9];
        let mean = data.iter().sum::<f64>() / 6.0;
        let groups = data.iter().map(|x| group(&[mean - x], 1.0)).collect::<Result<Vec<_>>>()?;
        let found = sum(&groups)?.jackknife(&groups)?.unwrap_or_default();
        let expected = data.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 5.0 / 6.0;
        assert!((found[0] / expected - 1.0).abs() < 1e-12, "{found:?} {expected}");
        Ok(())
    }

    /// Residuals that are copies of each other within a group count as one.
    #[test]
    fn copies_tell_nothing() -> Result<()> {
        let data = [0.3, -1.1, 0.4, 2.0];
        let mean = data.iter().sum::<f64>() / 4.0;
        let of = |copies: usize| -> Result<Vec<f64>> {
            let groups = data.iter().map(|x| group(&vec![mean - x; copies], 1.0)).collect::<Result<Vec<_>>>()?;
            Ok(sum(&groups)?.jackknife(&groups)?.unwrap_or_default())
        };
        let (one, many) = (of(1)?, of(50)?);
        assert!((many[0] / one[0] - 1.0).abs() < 1e-12, "{one:?} {many:?}");
        Ok(())
    }

    #[test]
    fn one_group_that_tells_all_cannot_be_left_out() -> Result<()> {
        let groups = [group(&[0.1, 0.2], 1.0)?, group(&[0.3], 0.0)?];
        assert_eq!(sum(&groups)?.jackknife(&groups)?, None);
        let other = [NormalEquations::new(2)];
        assert!(sum(&groups)?.jackknife(&other).is_err());
        Ok(())
    }
}
