//! Noise of a camera.

use crate::video::Frame;

/// Adds normal noise of standard deviation `sigma`, a part of white, to every value of every pixel; values stay within
/// black and white, as a camera's do.
pub(super) fn add(frames: &mut [Frame], sigma: f64, seed: u64) {
    if sigma == 0.0 {
        return;
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let mut noisy = |v: &mut f32| *v = (f64::from(*v) + sigma * normal(&mut random)).clamp(0.0, 1.0) as f32;
    for frame in frames {
        frame.silhouette.iter_mut().for_each(&mut noisy);
        frame.shaded.iter_mut().flatten().for_each(&mut noisy);
    }
}

/// Standard normal (Box and Muller 1958).
fn normal(random: &mut fastrand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_mean_and_deviation_asked_for_and_repeats() {
        let grey = |n: usize| vec![Frame { silhouette: vec![0.5; n], shaded: vec![[0.5; 3]; n], depth: Vec::new() }];
        let (mut one, mut again) = (grey(20_000), grey(20_000));
        add(&mut one, 0.02, 3);
        add(&mut again, 0.02, 3);
        assert_eq!(one, again);
        let (n, values) = (20_000.0, one[0].silhouette.iter().map(|&v| f64::from(v)));
        let mean = values.clone().sum::<f64>() / n;
        let deviation = (values.map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!((mean - 0.5).abs() < 4.0 * 0.02 / n.sqrt(), "{mean}");
        assert!((deviation / 0.02 - 1.0).abs() < 4.0 / (2.0 * n).sqrt(), "{deviation}");
    }
}
