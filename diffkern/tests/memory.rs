//! Memory over many steps. One test, since what is counted is that of the whole process.

use diffkern::prelude::*;
use diffkern::{jvp, rollout};

#[diff_kernel]
fn stir<F: Float>(x: &Array<Vec3<F>>, strength: &Array<F>, y: &mut Array<Vec3<F>>, n: usize) {
    let next = (ABSOLUTE_POS + 1) % n;
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] + x[next].cross(x[ABSOLUTE_POS]) * strength[0];
}

/// Elements far apart, so that the copies of every chunk have many pages.
#[diff_kernel]
fn spread<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i * 997 % y.len()] += x[i];
}

/// Bytes of the process in memory, where the system says so.
fn resident() -> Option<usize> {
    std::fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok().map(|pages: usize| pages * 4096)
}

/// Copies of launches that add at indices of their choice are used again.
fn launches_leave_nothing(dev: &Device) -> Result<()> {
    let (x, y) = (dev.full(1 << 15, 1.0f32)?, dev.zeros::<f32>(1 << 17)?);
    spread(1 << 15, &x, &y)?;
    let before = resident();
    for _ in 0..300 {
        spread(1 << 15, &x, &y)?;
    }
    assert_eq!(diffkern::reduce::sum(&y)?.to_vec()?, [301.0 * 32768.0]);
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(after < before + (64 << 20), "{before} and then {after} bytes");
    }
    Ok(())
}

const N: usize = 1000;

fn run(x: &Array<Vec3<f32>>, strength: &Array<f32>, steps: usize, schedule: Schedule) -> Result<Array<Vec3<f32>>> {
    let strength = strength.clone();
    rollout(steps, schedule, x.clone(), move |x: &Array<Vec3<f32>>, _| {
        let (middle, y) = (x.device().uninit(N)?, x.device().uninit(N)?);
        stir(N, x, &strength, &middle, N)?;
        stir(N, &middle, &strength, &y, N)?;
        Ok(y)
    })
}

#[test]
fn memory_does_not_grow_with_the_steps() -> Result<()> {
    let dev = Device::cpu();
    let state = N * size_of::<Vec3<f32>>();
    let start: Vec<_> = (0..N).map(|k| Vec3::new((k as f32).sin(), (k as f32).cos(), 0.5)).collect();
    let x = dev.array(&start)?.requires_grad();
    let strength = dev.array(&[1e-4f32])?.requires_grad();
    let rest = dev.bytes_live();

    // Plain steps hold two states and what is between; blocks are recycled.
    drop(run(&x, &strength, 2000, Schedule::Auto)?);
    assert_eq!(dev.bytes_live(), rest);
    assert!(dev.bytes_peak() <= rest + 6 * state, "{} {}", dev.bytes_peak(), rest);

    // Tangents double that, for each direction.
    let one = dev.array(&[1.0f32])?;
    let (end, tangents) = jvp(&[&[(strength.as_any(), one.as_any())]], || run(&x, &strength, 2000, Schedule::Auto))?;
    assert!(tangents.get(0, &end)?.to_vec()?[0].norm() > 0.0);
    drop(end);
    assert!(dev.bytes_peak() <= rest + 14 * state, "{} {}", dev.bytes_peak(), rest);

    // Reversing stays within its budget, of which the report counts all.
    let budget = 40 * state;
    let (tape, end) = Tape::record_value(|| run(&x, &strength, 2000, Schedule::Budget(budget)))?;
    let seed = dev.full(N, Vec3::new(1.0f32, 1.0, 1.0))?;
    tape.backward_from(&[(end.as_any(), seed.as_any())])?;
    let report = tape.report();
    assert!(report.peak_bytes <= budget, "{report}");
    assert!(report.peak_bytes > budget / 2, "{report}");
    assert_eq!(report.rollouts[0].predicted_factor, report.rollouts[0].measured_factor);
    assert!(dev.bytes_peak() <= rest + budget + 14 * state, "{} {}", dev.bytes_peak(), rest);
    drop((tape, end, seed));
    x.zero_grad();
    strength.zero_grad();
    assert!(dev.bytes_live() <= rest + 128, "{} {}", dev.bytes_live(), rest);
    launches_leave_nothing(&dev)
}
