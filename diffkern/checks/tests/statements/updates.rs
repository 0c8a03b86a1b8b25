//! `y[i] *= e` and its like: the gradient uses what was there before the launch.

use diffkern::prelude::*;
use diffkern::{Overwrite, Recording, rollout};

use crate::{near, numbers, reals};

#[diff_kernel]
pub fn scale<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] *= x[i];
}

#[diff_kernel]
pub fn divide<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] /= x[ABSOLUTE_POS];
}

#[diff_kernel]
fn affine<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * 2.0 + 0.1;
}

/// Reads under conditions, a component written back.
#[diff_kernel]
pub fn kick<F: Float>(x: &Array<F>, v: &mut Array<Vec3<F>>, hits: &mut Array<u32>) {
    let i = ABSOLUTE_POS;
    let mut w = v[i];
    if w.x * x[i] > 0.5 {
        w.y = w.y * w.y + v[i].z;
        hits[i] = hits[i] + 1;
    }
    w.z += x[i].sin() * v[i].norm();
    v[i] = w;
}

#[diff_kernel]
pub fn scattered<F: Float>(idx: &Array<u32>, x: &Array<F>, y: &mut Array<F>) {
    let j = idx[ABSOLUTE_POS] as usize;
    let old = y[j];
    y[j] = if old > 0.5 { old * old * x[ABSOLUTE_POS] } else { old };
}

/// An explicit step of `y' = x y (1 - y)`.
#[diff_kernel]
pub fn grow<F: Float>(x: &Array<F>, y: &mut Array<F>, dt: F) {
    let i = ABSOLUTE_POS;
    y[i] += x[i] * y[i] * (1.0 - y[i]) * dt;
}

#[test]
fn one_launch_is_exact() {
    let dev = Device::cpu();
    for n in [1, 5, 700] {
        let x = reals(&dev, 1, n, 0.4, 1.3);
        scale::gradcheck(n, &x, &reals(&dev, 2, n, 0.4, 1.3)).unwrap();
        divide::gradcheck(n, &x, &reals(&dev, 3, n, 0.4, 1.3)).unwrap();
        let v: Vec<Vec3<f64>> = numbers(4, 3 * n, 0.3, 1.2).chunks(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect();
        kick::gradcheck(n, &x, &dev.array(&v).unwrap(), &dev.zeros(n).unwrap()).unwrap();
        grow::gradcheck(n, &x, &reals(&dev, 6, n, 0.1, 0.8), 0.3).unwrap();
        let idx: Vec<u32> = (0..n as u32).rev().collect();
        scattered::gradcheck(n, &dev.array(&idx).unwrap(), &x, &reals(&dev, 5, n, 0.3, 0.9)).unwrap();
    }
}

/// More elements than threads of the launch, and fewer: then the array is not covered, or an error.
#[test]
fn lengths_may_differ_from_the_domain() {
    let dev = Device::cpu();
    scale::gradcheck(3, &reals(&dev, 1, 5, 0.4, 1.3), &reals(&dev, 2, 7, 0.4, 1.3)).unwrap();
    let (x, y) = (reals(&dev, 1, 5, 0.4, 1.3), reals(&dev, 2, 2, 0.4, 1.3));
    let before = y.to_vec().unwrap();
    let error = scale(5, &x, &y).unwrap_err();
    assert!(matches!(error, Error::Index { param: "y", index: 2, len: 2, .. }), "{error}");
    let first: Vec<f64> = before.iter().zip(x.to_vec().unwrap()).map(|(y, x)| y * x).collect();
    assert_eq!(y.to_vec().unwrap(), first);
}

/// `y = (2 x + 0.1) x^n`: each launch overwrites what the adjoint of the one before reads.
#[test]
fn several_launches_keep_every_version() {
    let dev = Device::cpu();
    let x0 = numbers(7, 4, 0.6, 1.4);
    let x = dev.array(&x0).unwrap().requires_grad();
    let y = dev.zeros::<f64>(4).unwrap();
    let tape = Tape::record(|| -> Result<()> {
        affine(4, &x, &y)?;
        for _ in 0..3 {
            scale(4, &x, &y)?;
        }
        Ok(())
    })
    .unwrap();
    tape.backward_from(&[(y.as_any(), dev.array(&[1.0; 4]).unwrap().as_any())]).unwrap();
    let value: Vec<f64> = x0.iter().map(|x| (2.0 * x + 0.1) * x.powi(3)).collect();
    let slope: Vec<f64> = x0.iter().map(|x| 2.0 * x.powi(3) + (2.0 * x + 0.1) * 3.0 * x * x).collect();
    near(&y.to_vec().unwrap(), &value);
    near(&x.grad().unwrap().to_vec().unwrap(), &slope);
}

#[test]
fn an_element_that_two_threads_update_is_an_error() {
    let dev = Device::cpu();
    let idx = dev.array(&[0u32, 2, 0]).unwrap();
    let result = scattered(3, &idx, &reals(&dev, 1, 3, 0.6, 1.3), &reals(&dev, 2, 3, 0.6, 1.3));
    let message = result.unwrap_err().to_string();
    assert!(message.contains("`y`") && message.contains("element 0"), "{message}");
}

#[test]
fn what_may_not_be_kept_is_refused() {
    let dev = Device::cpu();
    let x = reals(&dev, 1, 3, 0.6, 1.3).requires_grad();
    let y = reals(&dev, 2, 3, 0.6, 1.3);
    let result = Recording::new().overwrite(Overwrite::Error).record_value(|| scale(3, &x, &y));
    assert!(matches!(result.map(|_| ()).unwrap_err(), Error::Overwrite { .. }));
    let error = Tape::record(|| scale(3, &y, &x)).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("requires a gradient"), "{error}");
}

/// `y_9 = y_0 x^9`, with every state kept and with two.
#[test]
fn a_rollout_updates_its_state_in_place() {
    let dev = Device::cpu();
    let (x0, y0) = (numbers(7, 4, 0.8, 1.2), numbers(8, 4, 0.5, 1.5));
    let expected: Vec<f64> = x0.iter().zip(&y0).map(|(x, y)| 9.0 * y * x.powi(8)).collect();
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(2)] {
        let x = dev.array(&x0).unwrap().requires_grad();
        let y = dev.array(&y0).unwrap();
        let factor = x.clone();
        let (tape, end) = Tape::record_value(|| {
            rollout(9, schedule, y.clone(), move |y: &Array<f64>, _| {
                scale(4, &factor, y)?;
                Ok(y.clone())
            })
        })
        .unwrap();
        tape.backward_from(&[(end.as_any(), dev.array(&[1.0; 4]).unwrap().as_any())]).unwrap();
        near(&x.grad().unwrap().to_vec().unwrap(), &expected);
    }
}
