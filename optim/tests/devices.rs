//! Every rule over arrays of every device that this build and machine have, in every precision that the device has: one body
//! for all. Problems of 10,000 unknowns within bounds on evaluations; states that are kept and go on to the same bits.

use diffkern::gradcheck::devices;
use diffkern::prelude::*;
use diffkern::{arith, reduce};
use diffkern_optim::{
    Adam, Arrays, Ended, Error, Group, Lbfgs, LevenbergMarquardt, Minimum, NewtonCg, Objective, Result, Rule, Sgd,
    Stop, Taped, TapedResiduals, minimise, with_products,
};

/// Unknowns of the large problems, in two arrays.
const HALVES: [usize; 2] = [6_000, 4_000];

/// `y = A x` for the matrix of a chain whose links are fixed to the ground by springs of different stiffness: eigenvalues
/// between 1 and 20.
#[diff_kernel]
fn chain<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let stiffness = 1.0 + 0.5 * F::cast_from(i % 7);
    let mut force = stiffness * x[i];
    if i > 0 {
        force += 4.0 * (x[i] - x[i - 1]);
    }
    if i + 1 < x.len() {
        force += 4.0 * (x[i] - x[i + 1]);
    }
    y[i] = force;
}

fn image<F: Float>(x: &Array<F>) -> diffkern::Result<Array<F>> {
    let y = x.device().uninit(x.len())?;
    chain(x.len(), x, &y)?;
    Ok(y)
}

fn load<F: Float>(x: &Array<F>) -> diffkern::Result<Array<F>> {
    x.device().full(x.len(), F::from_f64(0.5))
}

/// `x^T A x / 2 - b^T x` of both arrays.
fn energy<F: Float>(x: &[Array<F>]) -> diffkern::Result<Array<F>> {
    let mut parts = Vec::new();
    for x in x {
        parts.push((F::from_f64(0.5), reduce::dot(x, &image(x)?)?));
        parts.push((F::from_f64(-1.0), reduce::dot(x, &load(x)?)?));
    }
    arith::scaled_sum(&parts.iter().map(|(s, part)| (*s, part)).collect::<Vec<_>>())
}

/// `A x - b`, and products with `A`, without a tape.
fn quadratic<F: Float>(x: &Arrays<F>) -> Result<(f64, Arrays<F>)> {
    let gradient = |x: &Array<F>| arith::sub(&image(x)?, &load(x)?);
    let gradient = x.iter().map(gradient).collect::<diffkern::Result<Vec<_>>>()?;
    Ok((energy(x)?.to_vec()?[0].to_f64(), gradient))
}

fn product<F: Float>(_: &Arrays<F>, v: &Arrays<F>) -> Result<Arrays<F>> {
    Ok(v.iter().map(image).collect::<diffkern::Result<_>>()?)
}

fn start<F: Float>(device: &Device) -> Result<Arrays<F>> {
    let numbers = |n: usize| (0..n).map(|k| F::from_f64((0.37 * k as f64).sin())).collect::<Vec<_>>();
    HALVES.iter().map(|n| Ok(device.array(&numbers(*n))?)).collect()
}

/// How far a gradient of some thousand sums can fall in this precision.
fn stop<F: Float>() -> Stop {
    Stop { gradient: if size_of::<F>() == 8 { 1e-8 } else { 2e-4 }, steps: 200 }
}

fn converged(what: &str, found: &Minimum, evaluations: usize, products: usize) {
    let few = found.evaluations <= evaluations && found.products <= products;
    assert!(found.ended == Ended::Converged && few, "{what}: {found:?}");
}

/// On each device in each of its precisions.
macro_rules! everywhere {
    ($($body:ident)*) => {$(
        #[test]
        fn $body() -> Result<()> {
            bodies::$body::<f64>(&Device::cpu())?;
            bodies::$body::<f32>(&Device::cpu())?;
            for device in devices()? {
                bodies::$body::<f32>(&device)?;
                if device.supports_f64() {
                    bodies::$body::<f64>(&device)?;
                }
            }
            Ok(())
        }
    )*};
}

everywhere!(
    ten_thousand_unknowns_by_lbfgs
    ten_thousand_unknowns_by_newton
    ten_thousand_residuals_by_least_squares
    rosenbrock_on_arrays
    parameters_without_influence_stay
    first_order_rules_go_downhill
    kept_states_go_on_to_the_same_bits
    a_gradient_that_is_not_finite_is_named
);

mod bodies {
    use super::*;

    pub fn ten_thousand_unknowns_by_lbfgs<F: Float>(device: &Device) -> Result<()> {
        let mut x = start::<F>(device)?;
        let found = minimise(&mut Lbfgs::new(10), &mut Taped::new(energy::<F>), &mut x, &stop::<F>())?;
        converged("L-BFGS", &found, 60, 0);
        Ok(())
    }

    pub fn ten_thousand_unknowns_by_newton<F: Float>(device: &Device) -> Result<()> {
        let mut x = start::<F>(device)?;
        let mut objective = with_products(quadratic::<F>, product::<F>);
        let found = minimise(&mut NewtonCg::new(100.0), &mut objective, &mut x, &stop::<F>())?;
        converged("Newton-CG", &found, 12, 80);
        Ok(())
    }

    /// `r = x + x^3 / 10 - 1/2`, by tangents and adjoints of the program.
    pub fn ten_thousand_residuals_by_least_squares<F: Float>(device: &Device) -> Result<()> {
        let mut x = start::<F>(device)?;
        let residuals = |x: &[Array<F>]| {
            let all = x[0].device().uninit(HALVES[0] + HALVES[1])?;
            for (x, part) in x.iter().zip([all.slice(..HALVES[0])?, all.slice(HALVES[0]..)?]) {
                let cube = arith::multiply(x, &arith::multiply(x, x)?)?;
                let terms = [(F::one(), x), (F::from_f64(0.1), &cube), (-F::one(), &load(x)?)];
                part.copy_from(&arith::scaled_sum(&terms)?)?;
            }
            Ok(all)
        };
        let mut rule = LevenbergMarquardt::default();
        let found = minimise(&mut rule, &mut TapedResiduals::new(residuals), &mut x, &stop::<F>())?;
        converged("Levenberg-Marquardt", &found, 15, 80);
        // The real root, by Newton's method here.
        let root = (0..20).fold(0.5, |x: f64, _| x - (x + 0.1 * x.powi(3) - 0.5) / (1.0 + 0.3 * x * x));
        assert!((x[1].to_vec()?[17].to_f64() - root).abs() < 1e-4);
        Ok(())
    }

    pub fn rosenbrock_on_arrays<F: Float>(device: &Device) -> Result<()> {
        let mut x =
            [-1.2, 1.0].map(F::from_f64).iter().map(|x| device.array(&[*x])).collect::<Result<Arrays<F>, _>>()?;
        let valley = |x: &[Array<F>]| {
            let one = device.full(1, F::one())?;
            let bend = arith::sub(&x[1], &arith::multiply(&x[0], &x[0])?)?;
            let terms = [(F::one(), arith::sub(&one, &x[0])?), (F::from_f64(100.0), bend)];
            let squares = terms.iter().map(|(s, r)| Ok((*s, reduce::squared_norm(r)?)));
            let squares = squares.collect::<diffkern::Result<Vec<_>>>()?;
            arith::scaled_sum(&squares.iter().map(|(s, r)| (*s, r)).collect::<Vec<_>>())
        };
        let found = minimise(&mut Lbfgs::new(5), &mut Taped::new(valley), &mut x, &stop::<F>())?;
        converged("L-BFGS", &found, 60, 0);
        let near = x.iter().map(|x| Ok(x.to_vec()?[0].to_f64())).collect::<Result<Vec<_>>>()?;
        assert!(near.iter().all(|x| (x - 1.0).abs() < 1e-3), "{near:?}");
        Ok(())
    }

    pub fn parameters_without_influence_stay<F: Float>(device: &Device) -> Result<()> {
        let one = |x: f64| device.array(&[F::from_f64(x)]);
        let residual = |x: &[Array<F>]| arith::sub(&arith::multiply(&x[0], &x[0])?, &one(4.0)?);
        let (mut x, mut y) = (vec![one(1.0)?, one(7.0)?], vec![one(1.0)?, one(7.0)?]);
        let mut rule = LevenbergMarquardt::default();
        minimise(&mut rule, &mut TapedResiduals::new(residual), &mut x, &stop::<F>())?;
        let loss = |x: &[Array<F>]| reduce::squared_norm(&residual(x)?);
        minimise(&mut Lbfgs::new(5), &mut Taped::new(loss), &mut y, &stop::<F>())?;
        for x in [x, y] {
            assert!((x[0].to_vec()?[0].to_f64() - 2.0).abs() < 1e-3 && x[1].to_vec()? == [F::from_f64(7.0)], "{x:?}");
        }
        Ok(())
    }

    pub fn first_order_rules_go_downhill<F: Float>(device: &Device) -> Result<()> {
        let groups = vec![Group::new(0.08), Group::new(0.04).with_scale(1.3)];
        let end = |rule: &mut dyn FnMut(&mut Arrays<F>) -> Result<Minimum>| -> Result<f64> {
            let mut x = start::<F>(device)?;
            let value = |x: &Arrays<F>| Ok::<_, Error>(energy(x)?.to_vec()?[0].to_f64());
            let (before, found) = (value(&x)?, rule(&mut x)?);
            assert!((value(&x)? - found.value).abs() <= 1e-3 * found.value.abs() && found.value < before, "{found:?}");
            Ok(found.value)
        };
        let least = end(&mut |x| minimise(&mut Lbfgs::new(10), &mut Taped::new(energy::<F>), x, &stop::<F>()))?;
        let steps = Stop { gradient: 0.0, steps: 60 };
        let mut objective = Taped::new(energy::<F>);
        let found = [
            end(&mut |x| minimise(&mut Sgd::new(groups.clone()), &mut objective, x, &steps))?,
            end(&mut |x| {
                minimise(&mut Sgd::new(groups.clone()).with_momentum(0.5), &mut Taped::new(energy::<F>), x, &steps)
            })?,
            end(&mut |x| minimise(&mut Adam::new(groups.clone()), &mut Taped::new(energy::<F>), x, &steps))?,
        ];
        assert!(found.iter().all(|value| *value < 0.98 * least && *value >= 1.0001 * least), "{found:?}, {least}");
        Ok(())
    }

    /// Some steps, the state through its numbers, some more: as without the stop.
    pub fn kept_states_go_on_to_the_same_bits<F: Float>(device: &Device) -> Result<()> {
        let groups = vec![Group::new(0.05).with_decay(1e-3), Group::new(0.02).with_scale(2.0)];
        resumed::<F, _>(device, Sgd::new(groups.clone()).with_momentum(0.9), |sgd, x| {
            Sgd::from_host(&sent(&sgd.to_host()?), x)
        })?;
        resumed::<F, _>(device, Adam::decoupled(groups), |adam, x| Adam::from_host(&sent(&adam.to_host()?), x))?;
        resumed::<F, _>(device, Lbfgs::new(3), |lbfgs, x| Lbfgs::from_host(&sent(&lbfgs.to_host()?), x))?;
        resumed::<F, _>(device, NewtonCg::new(0.5), |newton, _| Ok(sent(newton)))?;
        resumed::<F, _>(device, LevenbergMarquardt::default(), |rule, _| Ok(sent(rule)))
    }

    fn resumed<F: Float, R: Rule<Arrays<F>> + Clone>(
        device: &Device,
        rule: R,
        keep: impl Fn(&R, &Arrays<F>) -> Result<R>,
    ) -> Result<()> {
        let go_on = |rule: &mut R, x: &mut Arrays<F>| -> Result<()> {
            let mut objective = with_products(quadratic::<F>, product::<F>);
            let mut here = objective.evaluate(x)?;
            for _ in 0..4 {
                here = rule.step(x, here, &mut objective)?.here;
            }
            Ok(())
        };
        let (mut whole, mut x) = (rule.clone(), start::<F>(device)?);
        go_on(&mut whole, &mut x)?;
        let (mut kept, mut y) = (keep(&whole, &x)?, Vec::new());
        for x in &x {
            y.push(device.array(&x.to_vec()?)?);
        }
        go_on(&mut whole, &mut x)?;
        go_on(&mut kept, &mut y)?;
        for (x, y) in x.iter().zip(&y) {
            assert!(x.to_vec()? == y.to_vec()?);
        }
        Ok(())
    }

    pub fn a_gradient_that_is_not_finite_is_named<F: Float>(device: &Device) -> Result<()> {
        let numbers = [F::one(), F::from_f64(f64::NAN)];
        let (x, gradient) = (vec![device.zeros(2)?], vec![device.array(&numbers)?]);
        let error = Adam::new(vec![Group::new(0.1)]).update(&x, &gradient);
        assert!(matches!(&error, Err(Error::NotFinite { what, .. }) if what.contains("array 0")), "{error:?}");
        assert!(x[0].to_vec()? == [F::zero(); 2]);
        Ok(())
    }
}

/// As it comes back from a file, where this build can write one.
#[cfg(feature = "serde")]
fn sent<T: serde::Serialize + serde::de::DeserializeOwned>(state: &T) -> T {
    serde_json::from_str(&serde_json::to_string(state).expect("numbers")).expect("what was written")
}

#[cfg(not(feature = "serde"))]
fn sent<T: Clone>(state: &T) -> T {
    state.clone()
}
