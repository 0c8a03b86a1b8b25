//! Thousands of steps, differentiated within a budget of memory.
//!
//! `cargo run --release -p examples --example budget`

use diffkern::prelude::*;
use diffkern::rollout_with;

/// Points on a ring.
const N: usize = 10_000;
const STEPS: usize = 2_000;

/// One step of a wave on the ring: explicit in the velocity, then in the height.
#[diff_kernel]
fn wave<F: Float>(
    u: &Array<F>,
    v: &Array<F>,
    stiffness: &Array<F>,
    u_next: &mut Array<F>,
    v_next: &mut Array<F>,
    dt: F,
    n: usize,
) {
    let i = ABSOLUTE_POS;
    let bend = u[(i + 1) % n] + u[(i + n - 1) % n] - 2.0 * u[i];
    // Stiffer where it is bent further, so the adjoint needs every state.
    let speed = v[i] + dt * stiffness[0] * bend * (1.0 + u[i] * u[i]);
    v_next[i] = speed;
    u_next[i] = u[i] + dt * speed;
}

#[diff_kernel]
fn energy<F: Float>(u: &Array<F>, total: &mut Array<F>, scale: F) {
    total[0] += scale * u[ABSOLUTE_POS] * u[ABSOLUTE_POS];
}

fn main() -> Result<()> {
    let dev = Device::cpu();
    let bump = |i: usize| (-((i as f32 - 5000.0) / 50.0).powi(2)).exp();
    let heights = dev.array(&(0..N).map(bump).collect::<Vec<_>>())?.requires_grad();
    let stiffness = dev.array(&[1.0f32])?.requires_grad();

    // The program: any launches; those of a rollout are replayed as its schedule says.
    let run = |schedule: Schedule| {
        heights.zero_grad();
        stiffness.zero_grad();
        let (tape, loss) = Tape::record_value(|| {
            let start = (heights.clone(), dev.zeros::<f32>(N)?);
            // State in, state out. What a step writes it makes itself.
            let (u, _) = rollout_with(STEPS, schedule, start, (&dev, &stiffness), |(dev, stiffness), (u, v), _| {
                let (u_next, v_next) = (dev.uninit(N)?, dev.uninit(N)?);
                wave(N, u, v, stiffness, &u_next, &v_next, 0.5, N)?;
                Ok((u_next, v_next))
            })?;
            let loss = u.device().zeros::<f32>(1)?;
            energy(N, &u, &loss, 1.0 / N as f32)?;
            Ok::<_, Error>(loss)
        })?;
        tape.backward(&loss)?;
        Ok::<_, Error>((tape.report(), heights.grad()?.to_vec()?))
    };

    let budget = 2 << 20;
    let (within, gradient) = run(Schedule::Budget(budget))?;
    println!("a budget of 2 MiB:\n{within}");
    let (all, expected) = run(Schedule::StoreAll)?;
    println!("every step kept:\n{all}");

    // Less memory costs steps, as many as were announced, and not a bit of the gradient.
    assert!(within.peak_bytes <= budget && all.peak_bytes > 50 << 20);
    assert_eq!(within.rollouts[0].measured_factor, within.rollouts[0].predicted_factor);
    assert_eq!(gradient, expected);
    Ok(())
}
