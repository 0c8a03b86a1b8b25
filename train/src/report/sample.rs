//! A search as it may have been, for tests.

use crate::job::{Parameter, Record};
use crate::scene::Name;

const KEYS: [&str; 4] = ["material.mu", "density", "viscosity", "velocity.x"];
const SIZES: [f64; 4] = [8e3, 1200.0, 0.4, -0.02];
const LEVELS: [&str; 5] = ["coarse 1/2", "coarse 2/2", "fine 1/3", "fine 2/3", "fine 3/3"];

/// A search for `count` parameters that took `iterations`.
pub(super) fn sample(count: usize, iterations: usize) -> (Vec<Record>, Vec<Parameter>) {
    let parameters: Vec<Parameter> = (0..count).map(parameter).collect();
    let record = |iteration: usize| {
        let left = 0.5f64.powf(30.0 * iteration as f64 / iterations as f64);
        let value = |p: &Parameter| (p.name.clone(), p.found + (p.initial - p.found) * left);
        let stage = LEVELS[iteration * LEVELS.len() / (iterations + 1)].to_owned();
        let values = parameters.iter().map(value).collect();
        Record { iteration, stage, loss: 2e-2 * left + 3e-6, values }
    };
    ((0..=iterations).map(record).collect(), parameters)
}

fn parameter(k: usize) -> Parameter {
    // As long as a name may be.
    let body = if k == 3 { "b".repeat(60) } else { "left".into() };
    let name: Name = format!("bodies.{body}_{k}.{}", KEYS[k % KEYS.len()]).parse().unwrap();
    let found = SIZES[k % SIZES.len()] * (1.0 + 0.1 * k as f64);
    let interval = (k != 2).then_some((found - 0.04 * found.abs(), found + 0.04 * found.abs()));
    Parameter {
        unit: name.unit().into(),
        name,
        initial: 0.5 * found,
        found,
        interval,
        by_noise: interval,
        determined: k % 5 != 4,
    }
}
