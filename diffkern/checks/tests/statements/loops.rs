//! `while` with a bound, `break`, `continue`, `return`: values against the same lines in Rust.

use diffkern::prelude::*;

use crate::{near, numbers, reals};

/// The square root by Newton's method.
#[diff_kernel]
fn newton<F: Float>(x: &Array<F>, y: &mut Array<F>, turns: &mut Array<u32>, most: usize) {
    let i = ABSOLUTE_POS;
    let mut s = x[i];
    let mut n = 0u32;
    #[bound(most)]
    while (s * s - x[i]).abs() > 1e-13 * x[i] {
        s = 0.5 * (s + x[i] / s);
        n += 1;
    }
    y[i] = s;
    turns[i] = n;
}

#[test]
fn newtons_iteration_has_the_derivative_of_the_root() {
    let dev = Device::cpu();
    let x0 = numbers(1, 50, 0.2, 90.0);
    let x = dev.array(&x0).unwrap().requires_grad();
    let (y, turns) = (dev.zeros::<f64>(50).unwrap(), dev.zeros(50).unwrap());
    let tape = Tape::record(|| newton(50, &x, &y, &turns, 40)).unwrap();
    tape.backward_from(&[(y.as_any(), dev.array(&[1.0; 50]).unwrap().as_any())]).unwrap();
    near(&y.to_vec().unwrap(), &x0.iter().map(|x| x.sqrt()).collect::<Vec<_>>());
    // The iteration converges quadratically, and so does its derivative.
    let slopes: Vec<f64> = x0.iter().map(|x| 0.5 / x.sqrt()).collect();
    for (a, b) in x.grad().unwrap().to_vec().unwrap().iter().zip(&slopes) {
        assert!((a - b).abs() < 1e-9 * b, "{a} where {b} is right");
    }
    let turns = turns.to_vec().unwrap();
    assert!(turns.iter().min() < turns.iter().max() && turns.iter().all(|&n| n < 40), "{turns:?}");
    newton::gradcheck(8, &reals(&dev, 3, 8, 2.0, 3.0), &dev.zeros(8).unwrap(), &dev.zeros(8).unwrap(), 40).unwrap();
}

/// A bound that nobody comes near costs neither memory nor time.
#[test]
fn a_bound_may_be_generous() {
    let dev = Device::cpu();
    let (x, n) = (reals(&dev, 3, 500, 2.0, 3.0), 500);
    let start = std::time::Instant::now();
    newton::gradcheck(n, &x, &dev.zeros(n).unwrap(), &dev.zeros(n).unwrap(), 50_000_000).unwrap();
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn an_exceeded_bound_is_an_error_that_names_it() {
    let dev = Device::cpu();
    let (x, y, turns) = (dev.array(&[4.0f64]).unwrap(), dev.zeros(1).unwrap(), dev.zeros(1).unwrap());
    newton(1, &x, &y, &turns, 40).unwrap();
    let needed = turns.to_vec().unwrap()[0] as usize;
    newton(1, &x, &y, &turns, needed).unwrap();
    let error = newton(1, &x, &y, &turns, needed - 1).unwrap_err();
    let Error::Bound { kernel: "newton", line, bound, .. } = error else { panic!("{error}") };
    assert_eq!((line as usize, bound as usize), (line!() as usize - 46, needed - 1));
    let message = error.to_string();
    assert!(message.contains("loops.rs") && message.contains("#[bound("), "{message}");
}

/// Ends when far away, skips some turns, gives up on the whole thread.
#[diff_kernel]
pub fn walk<F: Float>(x: &Array<F>, w: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut s = x[i];
    for k in 0..w.len() {
        if w[k] > 0.9 {
            continue;
        }
        let mut t = s;
        for j in k..w.len() {
            t = t * w[j] + 0.3;
            if t < 0.4 {
                break;
            }
            if t > 1.25 {
                y[i] = t * t;
                return;
            }
        }
        s = s * t.cos() + w[k];
        if s > 1.6 {
            break;
        }
    }
    y[i] = s.sin();
}

fn walked(x: f64, w: &[f64]) -> (f64, u32) {
    let mut s = x;
    for k in 0..w.len() {
        if w[k] > 0.9 {
            continue;
        }
        let mut t = s;
        for w in &w[k..] {
            t = t * w + 0.3;
            if t < 0.4 {
                break;
            }
            if t > 1.25 {
                return (t * t, 0);
            }
        }
        s = s * t.cos() + w[k];
        if s > 1.6 {
            return (s.sin(), 1);
        }
    }
    (s.sin(), 2)
}

#[test]
fn leaving_gives_the_values_and_gradients_of_rust() {
    let dev = Device::cpu();
    let mut ways = [0; 3];
    for seed in 1..7 {
        let (x, w) = (numbers(seed, 40, 0.1, 1.5), numbers(seed + 10, 6, 0.05, 1.1));
        let (a, b, y) = (dev.array(&x).unwrap(), dev.array(&w).unwrap(), dev.zeros::<f64>(40).unwrap());
        walk(40, &a, &b, &y).unwrap();
        near(&y.to_vec().unwrap(), &x.iter().map(|&x| walked(x, &w).0).collect::<Vec<_>>());
        x.iter().for_each(|&x| ways[walked(x, &w).1 as usize] += 1);
        walk::gradcheck(40, &a, &b, &y).unwrap();
    }
    assert!(ways.iter().all(|&n| n > 3), "each way out is taken: {ways:?}");
}

/// A device function leaves loops too.
#[diff_fn]
fn first_above<F: Float>(w: &Array<F>, x: F) -> F {
    let mut s = x;
    for k in 0..w.len() {
        s = s * (1.0 + w[k]);
        if s > 2.0 {
            break;
        }
    }
    s
}

#[diff_kernel]
pub fn grown<F: Float>(w: &Array<F>, x: &Array<F>, y: &mut Array<F>) {
    let s: F = first_above(w, x[ABSOLUTE_POS]);
    y[ABSOLUTE_POS] = s;
}

#[test]
fn a_device_function_leaves_its_loops() {
    let dev = Device::cpu();
    let (w, x, y) = (reals(&dev, 1, 9, 0.1, 0.3), reals(&dev, 2, 12, 0.2, 1.9), dev.zeros::<f64>(12).unwrap());
    grown::gradcheck(12, &w, &x, &y).unwrap();
    grown(12, &w, &x, &y).unwrap();
    let expected: Vec<f64> = x
        .to_vec()
        .unwrap()
        .iter()
        .map(|&x| {
            let mut s = x;
            for w in w.to_vec().unwrap() {
                s *= 1.0 + w;
                if s > 2.0 {
                    break;
                }
            }
            s
        })
        .collect();
    near(&y.to_vec().unwrap(), &expected);
}
