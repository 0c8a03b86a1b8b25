//! Gauss-Newton products against a Jacobian made column by column, and the small dense matrix.

use diffkern::prelude::*;
use diffkern::{AnyArray, Metric, jvp, rollout};

use crate::common::{Random, inner, point};

#[diff_kernel]
fn residuals<F: Float>(x: &Array<F>, r: &mut Array<Vec2<F>>) {
    let i = ABSOLUTE_POS;
    let (a, b) = (x[i], x[(i + 1) % x.len()]);
    r[i] = Vec2::new((a * b).sin(), a.exp() - b * b);
}

#[diff_kernel]
fn squeeze<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].tanh() + x[0] * 0.1;
}

const N: usize = 5;

/// What a metric makes of the tangent of both outputs.
type Weighted = Box<dyn Fn(&[f64]) -> Vec<f64>>;

fn program(x: &Array<f64>, schedule: Schedule) -> Result<(Array<f64>, Array<Vec2<f64>>)> {
    let end = rollout(6, schedule, x.clone(), |x: &Array<f64>, _| {
        let y = x.device().uninit(N)?;
        squeeze(N, x, &y)?;
        Ok(y)
    })?;
    let r = x.device().zeros(N)?;
    residuals(N, &end, &r)?;
    Ok((end, r))
}

/// Rows by direction: the derivatives of both outputs, by forward mode.
fn jacobian() -> Result<Vec<Vec<f64>>> {
    let dev = Device::cpu();
    let x = dev.array(&point(N))?;
    let units = (0..N).map(|k| dev.array(&(0..N).map(|j| f64::from(u8::from(j == k))).collect::<Vec<_>>()));
    let units = units.collect::<Result<Vec<_>>>()?;
    let pairs: Vec<_> = units.iter().map(|unit| [(x.as_any(), unit.as_any())]).collect();
    let directions: Vec<&[_]> = pairs.iter().map(|pair| &pair[..]).collect();
    let ((end, r), tangents) = jvp(&directions, || program(&x, Schedule::StoreAll))?;
    let row = |k: usize| {
        let mut row = tangents.get(k, &end)?.to_vec()?;
        row.extend(tangents.get(k, &r)?.to_vec()?.iter().flat_map(|v| v.to_array()));
        Ok(row)
    };
    (0..N).map(row).collect()
}

#[test]
fn products_are_those_of_the_jacobian() -> Result<()> {
    let (dev, jacobian) = (Device::cpu(), jacobian()?);
    let mut random = Random(3);
    let weights: Vec<f64> = (0..3 * N).map(|_| 1.5 + random.component()).collect();
    let by_pair: Vec<Vec2<f64>> = weights[N..].chunks(2).map(|w| Vec2::new(w[0], w[1])).collect();
    let (of_end, of_r) = (dev.array(&weights[..N])?, dev.array(&by_pair)?);
    let diagonal = [of_end.as_any(), of_r.as_any()];
    // The outputs change places with a scale: as a matrix, not diagonal, and symmetric.
    let swap = |t: &[AnyArray]| -> Result<Vec<AnyArray>> {
        let (a, b) = (Array::<f64>::try_from(t[0].clone())?, Array::<Vec2<f64>>::try_from(t[1].clone())?);
        let (a, b) = (a.to_vec()?, b.to_vec()?);
        let first: Vec<f64> = b.iter().map(|b| b.x).collect();
        let second: Vec<_> = a.iter().map(|a| Vec2::new(*a, 0.0)).collect();
        Ok(vec![dev.array(&first)?.as_any().clone(), dev.array(&second)?.as_any().clone()])
    };
    let identity: Vec<f64> = vec![1.0; 3 * N];
    let cases: [(Metric<'_>, Weighted); 3] = [
        (Metric::Identity, Box::new(move |t| t.iter().zip(&identity).map(|(t, w)| t * w).collect())),
        (Metric::Diagonal(&diagonal), Box::new(move |t| t.iter().zip(&weights).map(|(t, w)| t * w).collect())),
        (
            Metric::Map(&swap),
            Box::new(|t| {
                let mut out: Vec<f64> = (0..N).map(|k| t[N + 2 * k]).collect();
                out.extend((0..N).flat_map(|k| [t[k], 0.0]));
                out
            }),
        ),
    ];
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(2), Schedule::Auto] {
        let x = dev.array(&point(N))?.requires_grad();
        let (tape, (end, r)) = Tape::record_value(|| program(&x, schedule))?;
        let vectors = [random.vector(N), random.vector(N)];
        let moves = [dev.array(&vectors[0])?, dev.array(&vectors[1])?];
        let pairs = [[(x.as_any(), moves[0].as_any())], [(x.as_any(), moves[1].as_any())]];
        let directions = [&pairs[0][..], &pairs[1][..]];
        for (metric, exact) in &cases {
            let found = tape.gauss_newton(&[end.as_any(), r.as_any()], *metric, &directions)?;
            let matrix = tape.gauss_newton_matrix(&[end.as_any(), r.as_any()], *metric, &directions)?;
            for (k, v) in vectors.iter().enumerate() {
                let push: Vec<f64> = (0..3 * N).map(|o| (0..N).map(|j| jacobian[j][o] * v[j]).sum()).collect();
                let weighted = exact(&push);
                let expected: Vec<f64> = jacobian.iter().map(|row| inner(row, &weighted)).collect();
                let product = found.get(k, &x)?.to_vec()?;
                for (found, expected) in product.iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{metric:?} {schedule:?}");
                }
                for (j, u) in vectors.iter().enumerate() {
                    let entry = matrix[2 * j + k];
                    assert!((entry - inner(u, &expected)).abs() < 1e-12, "{metric:?} {schedule:?}");
                }
            }
        }
    }
    Ok(())
}

#[diff_kernel]
fn flatten<F: Float>(y: &mut Array<F>) {
    y[ABSOLUTE_POS] = y[ABSOLUTE_POS].tanh();
}

/// The tape keeps each version of `y`; of its tangent there is one.
#[test]
fn tangents_on_the_way_are_not_kept() -> Result<()> {
    const MANY: usize = 1000;
    let dev = Device::cpu();
    let (x, v) = (dev.full(MANY, 0.5)?.requires_grad(), dev.full(MANY, 1.0)?);
    let y = dev.uninit(MANY)?;
    let tape = Tape::record(|| {
        y.copy_from(&x)?;
        (0..10).try_for_each(|_| flatten(MANY, &y))
    })?;
    let before = tape.report().bytes_kept;
    tape.gauss_newton(&[y.as_any()], Metric::Identity, &[&[(x.as_any(), v.as_any())]])?;
    assert!(tape.report().peak_bytes <= before + 4 * MANY * 8, "{}", tape.report());
    Ok(())
}

#[test]
fn a_metric_says_which_it_is() {
    let same = |t: &[AnyArray]| Ok(t.to_vec());
    let shown = format!("{:?} {:?} {:?}", Metric::Identity, Metric::Diagonal(&[]), Metric::Map(&same));
    assert_eq!(shown, "Identity Diagonal(..) Map(..)");
}
