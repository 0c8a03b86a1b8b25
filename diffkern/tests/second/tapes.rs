//! Several launches, arrays written again, copies, views, several arrays.

use diffkern::prelude::*;
use diffkern::reduce;

use crate::common::{Random, holds, inner, point};

#[diff_kernel]
fn square<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
}

#[diff_kernel]
fn multiply<F: Float>(x: &Array<F>, y: &Array<F>, z: &mut Array<F>) {
    z[ABSOLUTE_POS] = x[ABSOLUTE_POS] * y[ABSOLUTE_POS];
}

#[diff_kernel]
fn add_sine<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] += x[ABSOLUTE_POS].sin();
}

const N: usize = 6;

fn overwritten(x: &Array<f64>) -> Result<Array<f64>> {
    let dev = x.device();
    let (y, z, total) = (dev.zeros(N)?, dev.zeros(N)?, dev.zeros(1)?);
    square(N, x, &y)?;
    multiply(N, x, &y, &z)?;
    reduce::sum_into(&z, 0.7, &total)?;
    // Needed above with the value it had there.
    y.fill(0.0)?;
    add_sine(N, &z, &y)?;
    add_sine(N, x, &y)?;
    z.copy_from(&y)?;
    multiply(N, &y, &z, &y.device().zeros(N)?)?;
    multiply(N, &z, x, &y)?;
    reduce::sum_into(&reduce::dot(&y, &z)?, 1.0, &total)?;
    Ok(total)
}

fn viewed(x: &Array<f64>) -> Result<Array<f64>> {
    let dev = x.device();
    let y = dev.zeros::<f64>(2 * N)?;
    let (low, high) = (y.slice(0..N)?, y.slice(N..2 * N)?);
    square(N, x, &low)?;
    // Two arguments with common elements, and a view beside one that is written.
    multiply(N, &low, &low, &high)?;
    multiply(N - 1, &low.slice(0..N - 1)?, &low.slice(1..N)?, &high.slice(1..N)?)?;
    multiply(2, &x.slice(1..3)?, &x.slice(2..4)?, &low.slice(0..2)?)?;
    high.slice(0..2)?.copy_from(&x.slice(4..6)?)?;
    reduce::dot(&low, &high)
}

#[test]
fn launches_that_overwrite() -> Result<()> {
    holds("overwritten arrays", &overwritten, &point(N))
}

#[test]
fn views_of_arrays() -> Result<()> {
    holds("views", &viewed, &point(N))
}

/// Directions through one array, through the other, and through both.
#[test]
fn several_arrays_and_directions() -> Result<()> {
    let dev = Device::cpu();
    let mut random = Random(5);
    let (a, b) = (dev.array(&point(N))?.requires_grad(), dev.array(&random.vector(N))?.requires_grad());
    let (tape, loss) = Tape::record_value(|| {
        let (y, z) = (dev.zeros(N)?, dev.zeros(N)?);
        multiply(N, &a, &b, &y)?;
        add_sine(N, &y, &z)?;
        multiply(N, &z, &a, &y)?;
        reduce::dot(&y, &b)
    })?;
    let (u, v) = (random.vector(N), random.vector(N));
    let (du, dv) = (dev.array(&u)?, dev.array(&v)?);
    let found = tape.hvp(
        &loss,
        &[
            &[(a.as_any(), du.as_any())],
            &[(b.as_any(), dv.as_any())],
            &[],
            &[(a.as_any(), du.as_any()), (b.as_any(), dv.as_any())],
        ],
    )?;
    let part = |k: usize, x: &Array<f64>| found.get(k, x)?.to_vec();
    // loss = sum sin(a b) a b: the mixed block is its own transpose.
    let (one, other) = (inner(&part(0, &b)?, &v), inner(&part(1, &a)?, &u));
    assert!((one - other).abs() < 1e-12 * one.abs(), "{one} {other}");
    assert_eq!(part(2, &a)?, [0.0; N]);
    for x in [&a, &b] {
        for (both, (one, other)) in part(3, x)?.into_iter().zip(part(0, x)?.into_iter().zip(part(1, x)?)) {
            assert!((both - one - other).abs() < 1e-12, "{both} {one} {other}");
        }
    }
    let second = |s: f64| 2.0 * s.cos() - s * s.sin();
    for (k, (x, y)) in a.to_vec()?.into_iter().zip(b.to_vec()?).enumerate() {
        let exact = second(x * y) * y * y * u[k];
        assert!((part(0, &a)?[k] - exact).abs() < 1e-12, "{} {exact}", part(0, &a)?[k]);
    }
    Ok(())
}

#[test]
fn single_precision_too() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0f32, -2.0, 0.5])?.requires_grad();
    let (tape, loss) = Tape::record_value(|| {
        let (y, z) = (dev.zeros(3)?, dev.zeros(3)?);
        square(3, &x, &y)?;
        multiply(3, &x, &y, &z)?;
        reduce::sum(&z)
    })?;
    let v = dev.array(&[1.0f32, 1.0, 2.0])?;
    assert_eq!(tape.hvp(&loss, &[&[(x.as_any(), v.as_any())]])?.get(0, &x)?.to_vec()?, [6.0, -12.0, 6.0]);
    Ok(())
}

/// `sum x^2 y` and, as another output, `z^2`, which the direction leaves where it is; a product that neither needs.
#[test]
fn only_what_moves_has_second_adjoints() -> Result<()> {
    let dev = Device::cpu();
    let all = [[0.5, -1.0], [2.0, 3.0], [1.5, -0.5]].map(|v| dev.array(&v).map(Array::requires_grad));
    let [x, y, z] = all;
    let (x, y, z) = (x?, y?, z?);
    let (tape, (loss, squares)) = Tape::record_value(|| {
        let (a, b, squares) = (dev.uninit(2)?, dev.uninit(2)?, dev.uninit(2)?);
        multiply(2, &x, &z, &dev.uninit(2)?)?;
        square(2, &x, &a)?;
        multiply(2, &a, &y, &b)?;
        square(2, &z, &squares)?;
        let loss = dev.zeros(1)?;
        reduce::sum_into(&b, 1.0, &loss)?;
        Ok::<_, Error>((loss, squares))
    })?;
    let v = dev.array(&[1.0, 10.0])?;
    let seeds = (dev.array(&[1.0])?, dev.array(&[1.0, 1.0])?);
    let seeds = [(loss.as_any(), seeds.0.as_any()), (squares.as_any(), seeds.1.as_any())];
    let products = tape.hvp_from(&seeds, &[&[(x.as_any(), v.as_any())]])?;
    assert_eq!(products.get(0, &x)?.to_vec()?, [4.0, 60.0]);
    assert_eq!(products.get(0, &y)?.to_vec()?, [1.0, -20.0]);
    assert_eq!(products.get(0, &z)?.to_vec()?, [0.0, 0.0]);
    let gradients = [&x, &y, &z].map(|array| products.gradient(array).and_then(|gradient| gradient.to_vec()));
    let [of_x, of_y, of_z] = gradients;
    assert_eq!((of_x?, of_y?, of_z?), (vec![2.0, -6.0], vec![0.25, 1.0], vec![3.0, -1.0]));
    // All launches but the one that nothing needs.
    let report = tape.report();
    assert_eq!(report.adjoint_launches, report.launches - 1);
    Ok(())
}
