//! Kernels over a law: the derivative is that of the law it is launched with.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, list, reals};

pub fn cases() -> Vec<Case> {
    vec![two_laws_of_one_kernel(), a_law_in_a_loop()]
}

#[diff_trait]
trait Spring {
    fn energy<F: Float>(x: F, k: F) -> F;
    fn force<F: Float>(x: F, k: F) -> (F, bool);
}

struct Linear;
struct Stiffening;

#[diff_impl]
impl Spring for Linear {
    fn energy<F: Float>(x: F, k: F) -> F {
        0.5 * k * x * x
    }

    fn force<F: Float>(x: F, k: F) -> (F, bool) {
        (k * x, x > 0.0)
    }
}

#[diff_impl]
impl Spring for Stiffening {
    fn energy<F: Float>(x: F, k: F) -> F {
        k * x.cosh()
    }

    fn force<F: Float>(x: F, k: F) -> (F, bool) {
        (
            match x > 0.0 {
                true => k * x.sinh(),
                false => 0.0,
            },
            x > 0.0,
        )
    }
}

#[diff_kernel]
fn energies<F: Float, L: Spring>(x: &Array<F>, k: &Array<F>, y: &mut Array<F>) {
    let e: F = L::energy(x[ABSOLUTE_POS], k[0]);
    y[ABSOLUTE_POS] = e;
}

case! {
    /// `k x^2 / 2` and `k cosh x`.
    two_laws_of_one_kernel<S>(run; x: S = reals(3, 0.5, 1.5), k: S = reals(1, 0.5, 1.5)) {
        let (a, b) = (run.zeros::<S>(3)?, run.zeros::<S>(3)?);
        energies::<S, Linear>(3, &x, &k, &a)?;
        energies::<S, Stiffening>(3, &x, &k, &b)?;
        run.output(&a);
        run.output(&b);
    }
    by_hand(w) {
        let unit = list(6, |i| if i < 3 { 0.5 * x[i] * x[i] } else { x[i - 3].cosh() });
        let values: Vec<f64> = unit.iter().map(|u| k[0] * u).collect();
        (dot(w, &values), vec![
            list(3, |i| k[0] * (w[i] * x[i] + w[i + 3] * x[i].sinh())),
            vec![dot(w, &unit)],
        ])
    }
}

#[diff_kernel]
fn relax<F: Float, L: Spring>(x: &Array<F>, k: &Array<F>, y: &mut Array<F>, n: u32) {
    let mut s = x[ABSOLUTE_POS];
    for _ in 0..n {
        let (f, pulled): (F, bool) = L::force(s, k[0]);
        if pulled {
            s -= 0.1 * f;
        }
    }
    y[ABSOLUTE_POS] = s;
}

case! {
    /// `x (1 - k / 10)^3`, and three steps of `x - k sinh(x) / 10`.
    a_law_in_a_loop<S>(run; x: S = reals(2, 0.5, 1.5), k: S = reals(1, 0.5, 1.5)) {
        let (a, b) = (run.zeros::<S>(2)?, run.zeros::<S>(2)?);
        relax::<S, Linear>(2, &x, &k, &a, 3)?;
        relax::<S, Stiffening>(2, &x, &k, &b, 3)?;
        run.output(&a);
        run.output(&b);
    }
    by_hand(w) {
        let linear = 1.0 - 0.1 * k[0];
        // The value and its derivatives by x and k.
        let stiff = |x: f64| (0..3).fold((x, 1.0, 0.0), |(s, dx, dk), _| {
            let slope = 1.0 - 0.1 * k[0] * s.cosh();
            (s - 0.1 * k[0] * s.sinh(), slope * dx, slope * dk - 0.1 * s.sinh())
        });
        let y = list(4, |i| if i < 2 { x[i] * linear.powi(3) } else { stiff(x[i - 2]).0 });
        (dot(w, &y), vec![
            list(2, |i| w[i] * linear.powi(3) + w[i + 2] * stiff(x[i]).1),
            vec![(0..2).map(|i| -0.3 * w[i] * x[i] * linear.powi(2) + w[i + 2] * stiff(x[i]).2).sum()],
        ])
    }
}
