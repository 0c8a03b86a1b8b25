//! Normal equations of a nonlinear least-squares problem.

use crate::check::{Checked, equal, finite, require, within};
use crate::error::{Result, same_length};

/// `cost = sum r^2`, `gradient = J^T r`, `hessian = J^T J`, added up block by block.
///
/// A block is a part of the residual whose errors may hang together, here a frame: sums over blocks give a covariance
/// that does not take the pixels of a frame for independent witnesses.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct NormalEquations {
    /// Sum of squared residuals.
    pub cost: f64,
    /// `J^T r`.
    pub gradient: Vec<f64>,
    /// `J^T J`, row by row.
    pub hessian: Vec<f64>,
    /// `sum_blocks g_b g_b^T` with `g_b` the part of `J^T r` of one block, row by row.
    pub between: Vec<f64>,
    /// Per parameter, `sum j^2 r^2`: the squared residual where the parameter shows.
    pub weighted: Vec<f64>,
    /// Number of residuals.
    pub residuals: usize,
    /// Number of blocks.
    pub blocks: usize,
}

impl NormalEquations {
    /// Nothing added yet, `parameters` unknowns.
    pub fn new(parameters: usize) -> Self {
        Self {
            cost: 0.0,
            gradient: vec![0.0; parameters],
            hessian: vec![0.0; parameters * parameters],
            between: vec![0.0; parameters * parameters],
            weighted: vec![0.0; parameters],
            residuals: 0,
            blocks: 0,
        }
    }

    /// Number of unknowns.
    pub fn parameters(&self) -> usize {
        self.gradient.len()
    }

    /// Checks what was read from a file, of `residuals` in `blocks` blocks.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self, parameters: usize, residuals: usize, blocks: usize) -> Checked {
        let n = parameters;
        within("cost", self.cost, 0.0, f64::MAX)?;
        finite("gradient", &self.gradient, n)?;
        finite("hessian", &self.hessian, n * n)?;
        finite("between", &self.between, n * n)?;
        finite("weighted", &self.weighted, n)?;
        let squares = self.weighted.iter().chain(self.hessian.iter().step_by(n + 1));
        let squares = squares.chain(self.between.iter().step_by(n + 1)).all(|square| *square >= 0.0);
        require(squares, "hessian", || "a sum of squares is negative, expected none that is".into())?;
        equal("residuals", self.residuals, residuals)?;
        equal("blocks", self.blocks, blocks)
    }

    /// By how much a change of the parameters lowers the cost, as far as residuals are linear in them.
    ///
    /// # Errors
    /// When there is not a number for each parameter.
    pub fn fall(&self, change: &[f64]) -> Result<f64> {
        let n = self.parameters();
        self.is_shaped()?;
        same_length("changes of parameters", change.len(), n)?;
        let dot = |a: &[f64]| a.iter().zip(change).map(|(a, b)| a * b).sum::<f64>();
        let curved: f64 = self.hessian.chunks_exact(n.max(1)).zip(change).map(|(row, x)| x * dot(row)).sum();
        Ok(-2.0 * dot(&self.gradient) - curved)
    }

    /// Adds a block: residuals, and their derivative by each parameter.
    ///
    /// # Errors
    /// When there is not a derivative of each residual by each parameter.
    pub fn add(&mut self, residual: &[f64], derivatives: &[Vec<f64>]) -> Result<()> {
        let n = self.parameters();
        self.is_shaped()?;
        same_length("derivatives by parameters", derivatives.len(), n)?;
        derivatives.iter().try_for_each(|j| same_length("derivatives of residuals", j.len(), residual.len()))?;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let part: Vec<f64> = derivatives.iter().map(|j| dot(j, residual)).collect();
        for a in 0..n {
            self.gradient[a] += part[a];
            for b in 0..n {
                self.hessian[a * n + b] += dot(&derivatives[a], &derivatives[b]);
                self.between[a * n + b] += part[a] * part[b];
            }
            self.weighted[a] += derivatives[a].iter().zip(residual).map(|(j, r)| (j * r).powi(2)).sum::<f64>();
        }
        self.cost += dot(residual, residual);
        self.residuals += residual.len();
        self.blocks += 1;
        Ok(())
    }

    /// Adds the sums of other residuals.
    ///
    /// # Errors
    /// When they are of another number of parameters.
    pub fn append(&mut self, other: &NormalEquations) -> Result<()> {
        same_length("parameters", other.parameters(), self.parameters())?;
        self.is_shaped().and(other.is_shaped())?;
        let add = |all: &mut [f64], more: &[f64]| all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        add(&mut self.gradient, &other.gradient);
        add(&mut self.hessian, &other.hessian);
        add(&mut self.between, &other.between);
        add(&mut self.weighted, &other.weighted);
        self.cost += other.cost;
        self.residuals += other.residuals;
        self.blocks += other.blocks;
        Ok(())
    }

    /// Adds what is known beside the data: a squared residual of a weight, which is no block of theirs.
    ///
    /// # Errors
    /// When there is not a derivative by each parameter.
    pub fn add_prior(&mut self, residual: f64, derivatives: &[f64], weight: f64) -> Result<()> {
        let n = self.parameters();
        self.is_shaped()?;
        same_length("derivatives by parameters", derivatives.len(), n)?;
        // The correction for few blocks is none of the prior's.
        let few = if self.few_blocks() > 0.0 { self.few_blocks() } else { 1.0 };
        for a in 0..n {
            self.gradient[a] += weight * derivatives[a] * residual;
            for b in 0..n {
                let product = weight * derivatives[a] * derivatives[b];
                self.hessian[a * n + b] += product;
                self.between[a * n + b] += weight * product / few;
            }
            // As of a residual whose variance is the weight.
            self.weighted[a] += (weight * derivatives[a]).powi(2);
        }
        self.cost += weight * residual * residual;
        Ok(())
    }

    /// Mean of the squared residuals; 0 of none.
    pub fn mean_square(&self) -> f64 {
        self.cost / self.residuals.max(1) as f64
    }

    /// Variance of a residual that stands for as much as one does in [`NormalEquations::covariance`]: the larger of the mean square
    /// weighted by `|j|^2`, and of that which the sums over blocks show. None where nothing shows in the residuals.
    pub fn variance(&self) -> Option<f64> {
        self.is_shaped().ok()?;
        let shown = self.shown();
        let n = shown.len();
        if n < self.parameters() {
            return self.only(&shown).variance();
        }
        let inverse = self.inverse()?;
        let shared = (0..n * n).map(|k| inverse[k] * self.between[k % n * n + k / n]).sum::<f64>() / n as f64;
        let larger = self.spread().max(shared * self.few_blocks());
        larger.is_finite().then_some(larger)
    }

    /// Mean square of the residuals, weighted by `|j|^2`.
    fn spread(&self) -> f64 {
        let n = self.parameters();
        let leverage: f64 = (0..n).map(|a| self.hessian[a * n + a]).sum();
        let freedom = self.residuals as f64 / self.residuals.saturating_sub(n).max(1) as f64;
        self.weighted.iter().sum::<f64>() / leverage * freedom
    }

    /// Correction of sums over few blocks; zero where they are too few to tell.
    fn few_blocks(&self) -> f64 {
        let (n, blocks) = (self.parameters(), self.blocks as f64);
        if self.blocks > n { blocks / (blocks - n as f64) } else { 0.0 }
    }

    /// Of the first `kept` parameters alone, the others known.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn first(&self, kept: usize) -> Result<NormalEquations> {
        let n = self.parameters();
        self.is_shaped()?;
        if kept > n {
            return Err(crate::Error::Length { what: "parameters".to_owned(), found: n, expected: kept });
        }
        Ok(self.only(&(0..kept).collect::<Vec<_>>()))
    }

    /// The change of the parameters to the minimum of the quadratic function, none if that does not fix them.
    pub fn minimum(&self) -> Option<Vec<f64>> {
        let step = solve(&self.hessian, &self.gradient)?;
        step.iter().all(|x| x.is_finite()).then(|| step.iter().map(|x| -x).collect())
    }

    /// Of these parameters alone, by their places, the others known.
    pub fn only(&self, kept: &[usize]) -> NormalEquations {
        let n = self.parameters();
        let row = |m: &[f64], a: usize| kept.iter().map(|b| m[a * n + b]).collect::<Vec<_>>();
        let square = |m: &[f64]| kept.iter().flat_map(|&a| row(m, a)).collect();
        NormalEquations {
            gradient: kept.iter().map(|&k| self.gradient[k]).collect(),
            hessian: square(&self.hessian),
            between: square(&self.between),
            weighted: kept.iter().map(|&k| self.weighted[k]).collect(),
            ..*self
        }
    }

    /// The parameters that show in the residuals.
    pub(super) fn shown(&self) -> Vec<usize> {
        let n = self.parameters();
        (0..n).filter(|k| self.hessian[k * n + k] != 0.0).collect()
    }

    /// Its fields are public: each has as many numbers as there are parameters, or their square.
    pub(super) fn is_shaped(&self) -> Result<()> {
        let n = self.parameters();
        same_length("numbers of the matrix", self.hessian.len(), n * n)?;
        same_length("numbers of the matrix between blocks", self.between.len(), n * n)?;
        same_length("weighted squares", self.weighted.len(), n)
    }

    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.cost.is_finite() && self.gradient.iter().chain(&self.hessian).all(|x| x.is_finite())
    }
}

/// Solves `a x = b` for a symmetric positive matrix of order `b.len()`, row by row; none if it is singular.
pub(super) fn solve(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    let (mut a, mut x) = (a.to_vec(), b.to_vec());
    for k in 0..n {
        let pivot = a[k * n + k];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        for i in k + 1..n {
            let factor = a[i * n + k] / pivot;
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
            x[i] -= factor * x[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k * n + j] * x[j]).sum();
        x[k] = (x[k] - known) / a[k * n + k];
    }
    Some(x)
}

impl NormalEquations {
    /// Covariance of the parameters at the minimum, row by row: the larger, entry by entry of the diagonal, of
    /// - the Gauss-Newton covariance `s^2 (J^T J)^-1`, `s^2` the mean squared residual weighted by `|j|^2`;
    /// - the sandwich `(J^T J)^-1 (sum_b g_b g_b^T) (J^T J)^-1` over blocks, which sees errors shared by a block.
    ///
    /// A parameter that does not show in the residuals has an infinite variance, and no part in the others. None when the residuals do
    /// not fix the parameters, or the matrices are not those of as many parameters.
    pub fn covariance(&self) -> Option<Vec<f64>> {
        let n = self.parameters();
        self.is_shaped().ok()?;
        let shown = self.shown();
        if shown.len() < n {
            let of_shown = self.only(&shown).covariance()?;
            let mut all = vec![0.0; n * n];
            (0..n).for_each(|k| all[k * n + k] = f64::INFINITY);
            for (k, value) in of_shown.into_iter().enumerate() {
                all[shown[k / shown.len()] * n + shown[k % shown.len()]] = value;
            }
            return Some(all);
        }
        let inverse = self.inverse()?;
        let (scale, few) = (self.spread(), self.few_blocks());
        let plain: Vec<f64> = inverse.iter().map(|x| x * scale).collect();
        let product = |a: &[f64], b: &[f64]| -> Vec<f64> {
            (0..n * n).map(|at| (0..n).map(|k| a[at / n * n + k] * b[k * n + at % n]).sum()).collect()
        };
        let sandwich: Vec<f64> = product(&product(&inverse, &self.between), &inverse).iter().map(|x| x * few).collect();
        let trace = |m: &[f64]| (0..n).map(|a| m[a * n + a] * self.hessian[a * n + a]).sum::<f64>();
        let larger = if trace(&sandwich) > trace(&plain) { sandwich } else { plain };
        larger.iter().all(|x| x.is_finite()).then_some(larger)
    }

    /// By how much the first `kept` parameters of the minimum move for each unit by which parameter `other` is moved: `-H^-1 h`, with `H` their
    /// part of the Hessian and `h` that between them and the other one. None where the residuals do not fix them, or there is no such parameter.
    pub fn follow(&self, kept: usize, other: usize) -> Option<Vec<f64>> {
        let n = self.parameters();
        if self.is_shaped().is_err() || kept > n || other >= n {
            return None;
        }
        let first: Vec<f64> = (0..kept * kept).map(|k| self.hessian[k / kept * n + k % kept]).collect();
        let slope: Vec<f64> = (0..kept).map(|k| -self.hessian[k * n + other]).collect();
        solve(&first, &slope)
    }

    fn inverse(&self) -> Option<Vec<f64>> {
        let n = self.parameters();
        let mut inverse = vec![0.0; n * n];
        for column in 0..n {
            let unit: Vec<f64> = (0..n).map(|k| f64::from(u8::from(k == column))).collect();
            let x = solve(&self.hessian, &unit)?;
            (0..n).for_each(|row| inverse[row * n + column] = x[row]);
        }
        Some(inverse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_follows_what_is_moved() -> Result<()> {
        // Residuals `a . x + b y`: the least squares of `x` at another `y`.
        let (a, b) = ([[1.0, 0.3], [-0.4, 0.8], [0.2, 0.5]], [0.7, -0.2, 0.9]);
        let mut normal = NormalEquations::new(3);
        for (row, other) in a.iter().zip(b) {
            normal.add(&[0.0], &[vec![row[0]], vec![row[1]], vec![other]])?;
        }
        let moved = normal.follow(2, 2).unwrap();
        // There no change of `x` lowers the cost.
        for k in 0..2 {
            let slope: f64 = a.iter().zip(b).map(|(row, b)| row[k] * (row[0] * moved[0] + row[1] * moved[1] + b)).sum();
            assert!(slope.abs() < 1e-12, "{slope}");
        }
        assert_eq!((normal.follow(2, 3), normal.follow(4, 0)), (None, None));
        Ok(())
    }

    #[test]
    fn residuals_that_are_linear_fall_as_is_said() -> Result<()> {
        let (residuals, slopes, change) = ([0.7, -1.1, 0.4], [[0.9, -0.2, 0.5], [0.3, 1.4, -0.6]], [0.3, -0.8]);
        let mut normal = NormalEquations::new(2);
        normal.add(&residuals, &slopes.map(|column| column.to_vec()))?;
        let moved = |k: usize| residuals[k] + slopes[0][k] * change[0] + slopes[1][k] * change[1];
        let after: f64 = (0..3).map(|k| moved(k).powi(2)).sum();
        assert!((normal.fall(&change)? - (normal.cost - after)).abs() < 1e-12);
        assert!(normal.fall(&[0.1]).is_err());
        Ok(())
    }

    #[test]
    fn what_does_not_show_is_not_told_and_hides_nothing() -> Result<()> {
        let (mut one, mut two) = (NormalEquations::new(1), NormalEquations::new(2));
        for k in 0..9 {
            let (residual, slope) = ([0.1 * f64::from(k % 4) - 0.1, 0.2], vec![1.0, 0.5 + f64::from(k)]);
            one.add(&residual, std::slice::from_ref(&slope))?;
            two.add(&residual, &[vec![0.0, 0.0], slope])?;
        }
        let (one, two) = (one.covariance().unwrap_or_default(), two.covariance().unwrap_or_default());
        assert_eq!(two, [f64::INFINITY, 0.0, 0.0, one[0]]);
        Ok(())
    }

    /// A mean of normal data and a normal prior: variance and covariance are those of the textbook.
    #[test]
    fn a_prior_counts_as_much_as_its_deviation_says() -> Result<()> {
        let (blocks, each, sigma, deviation) = (60, 40, 0.3, 0.004);
        // Sums of twelve uniform numbers are nearly normal.
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut normal = NormalEquations::new(1);
        for _ in 0..blocks {
            let residual: Vec<f64> = (0..each).map(|_| sigma * ((0..12).map(|_| next()).sum::<f64>() - 6.0)).collect();
            normal.add(&residual, &[vec![1.0; each]])?;
        }
        let variance = normal.variance().unwrap_or(f64::NAN);
        assert!((variance / (sigma * sigma) - 1.0).abs() < 0.25, "{variance}");
        let data = sigma * sigma / (blocks * each) as f64;
        for (deviation, tolerance) in [(1e9, 0.25), (deviation, 0.15), (1e-3 * deviation, 1e-2)] {
            let mut both = normal.clone();
            both.add_prior(0.2, &[1.0 / deviation], variance)?;
            let (found, expected) =
                (both.covariance().map_or(f64::NAN, |c| c[0]), 1.0 / (1.0 / data + deviation.powi(-2)));
            assert!((found / expected - 1.0).abs() < tolerance, "{deviation}: {found} {expected}");
        }
        Ok(())
    }
}
