//! What a backward asks of a GPU: adjoints, and little else; and never a wait.

use diffkern::prelude::*;
use diffkern::{reduce, rollout};

#[diff_kernel]
fn swing<F: Float>(x: &Array<F>, v: &Array<F>, k: &Array<F>, x_next: &mut Array<F>, v_next: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let speed = v[i] - k[0] * x[i].sin() * F::new(0.01);
    v_next[i] = speed;
    x_next[i] = x[i] + speed * F::new(0.01);
}

const N: usize = 500;
const STEPS: usize = 50;

#[test]
fn a_backward_waits_for_nothing_and_clears_many_adjoints_at_a_time() -> Result<()> {
    let wanted = std::env::var("DIFFKERN_TEST_DEVICES").unwrap_or_default();
    for name in ["wgpu", "cuda"] {
        let dev = match Device::by_name(name) {
            Err(error) if wanted.split(',').any(|w| w == name) => panic!("{error}"),
            Err(_) => continue,
            Ok(dev) => dev,
        };
        let x = dev.array(&[0.5f32; N])?.requires_grad();
        let k = dev.array(&[2.0f32])?.requires_grad();
        let run = || {
            let by = k.clone();
            let start = (x.clone(), dev.zeros::<f32>(N)?);
            let step = move |(x, v): &(Array<f32>, Array<f32>), _: usize| {
                let (x_next, v_next) = (x.device().uninit(N)?, x.device().uninit(N)?);
                swing(N, x, v, &by, &x_next, &v_next)?;
                Ok((x_next, v_next))
            };
            reduce::sum(&rollout(STEPS, Schedule::StoreAll, start, step)?.0)
        };
        let mut seen = Vec::new();
        for _ in 0..3 {
            let (tape, loss) = Tape::record_value(run)?;
            let before = dev.queued();
            let begun = std::time::Instant::now();
            tape.backward(&loss)?;
            let handed_over = begun.elapsed();
            let after = dev.queued();
            assert_eq!(after.1, before.1, "backward waited for {name}");
            k.grad()?.to_vec()?;
            seen.push((after.0 - before.0, tape.report().adjoint_launches as u64, handed_over, begun.elapsed()));
        }
        println!("{name}: launches, adjoints among them, handed over in, done in: {seen:?}");
        // Two adjoints of the state per step, from blocks of sixteen; the sum and its gradients besides.
        let few = |(all, adjoints, ..): &(u64, u64, _, _)| *all <= adjoints + 2 * STEPS as u64 / 16 + 12;
        assert!(seen.iter().all(few), "{name}: {seen:?}");
    }
    Ok(())
}
