//! The kernels: derivatives, packs, every device; and the bits of Adam's formula.

use diffkern::gradcheck::devices;
use diffkern::{Array, Device};

use super::adam::{AdamStep, adam, adam_update};
use super::sgd::{SgdStep, sgd_update};
use crate::error::Result;

macro_rules! check {
    ($kernel:ident, $($arg:expr),*) => {
        $kernel::gradcheck($($arg),*)?;
        $kernel::lanecheck($($arg),*)?;
        for device in devices()? {
            $kernel::devicecheck(&device, $($arg),*)?;
        }
    };
}

/// More than a pack, and not a multiple of one.
const N: usize = 21;

fn numbers(seed: usize, middle: f64) -> Result<Array<f64>> {
    let all: Vec<f64> = (0..N).map(|k| middle + 0.4 * ((5 * seed + 3 * k) as f64).sin()).collect();
    Ok(Device::cpu().array(&all)?)
}

#[test]
fn gradient_descent() -> Result<()> {
    let (gradient, velocity, x) = (numbers(1, 0.5)?, numbers(2, -0.3)?, numbers(3, 1.0)?);
    for nesterov in [false, true] {
        let by = SgdStep { rate: 0.3, scale: 1.7, decay: 0.2, momentum: 0.8, nesterov };
        check!(sgd_update, N, &gradient, &velocity, &x, by);
    }
    Ok(())
}

#[test]
fn adam_with_both_decays() -> Result<()> {
    let (gradient, first, second, x) = (numbers(1, 0.7)?, numbers(2, -0.3)?, numbers(3, 1.0)?, numbers(4, 1.0)?);
    let by = AdamStep::new(0.3, 1.7, [0.9, 0.99], 1e-8, 3);
    check!(adam_update, N, &gradient, &first, &second, &x, by, 0.2, 0.1);
    Ok(())
}

/// Runs that were stopped go on to the same bits as before the formula was one of kernels, too.
#[test]
fn the_formula_has_the_bits_of_its_text() {
    let (rate, scale, [fade, fade_square], epsilon) = (0.037, 1.3, [0.9, 0.999], 1e-12);
    let (mut m, mut v, mut found) = (0.0, 0.0, (0.0, 0.0, 0.0));
    for step in 1..50 {
        let g = (0.7 * f64::from(step)).sin() * scale;
        m = fade * m + (1.0 - fade) * g;
        v = fade_square * v + (1.0 - fade_square) * g * g;
        let size = (v / (1.0 - fade_square.powi(step))).sqrt();
        let change = -rate * scale * (m / (1.0 - fade.powi(step))) / (size + epsilon);
        found = adam::<f64>(g, found.0, found.1, AdamStep::new(rate, scale, [fade, fade_square], epsilon, step));
        assert_eq!(found, (m, v, change), "step {step}");
    }
}
