//! An element that one thread stores to more than once: the last store counts, also where the array ends at the launch and
//! its adjoint is not needed afterwards.

use diffkern::prelude::*;
use diffkern::private::{Arg, launch};

const N: usize = 37;

/// 2 x: the store under the condition does not count.
#[diff_kernel]
fn twice<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if x[i] > 0.5 {
        y[i] = x[i] * 3.0;
    }
    y[i] = x[i] * 2.0;
}

/// 2 x^2, by the last turn.
#[diff_kernel]
fn in_turns<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    for k in 0..3 {
        y[i] = x[i] * x[i] * F::cast_from(k);
    }
}

/// 2 x, at an index that is not the thread's own: elsewhere packs and the scalar body take another way.
#[diff_kernel]
fn turned<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let j = x.len() - 1 - i;
    if x[i] > 0.5 {
        y[j] = x[i] * 3.0;
    }
    y[j] = x[i] * 2.0;
}

#[test]
fn the_gradient_is_that_of_the_last_store() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&(0..N).map(|i| i as f32 / 20.0).collect::<Vec<_>>())?.requires_grad();
    let (constant, linear) = (|_: f32| 2.0, |x: f32| 4.0 * x);
    for (def, natives, slope) in [
        (twice::def(), natives!(twice), constant as fn(f32) -> f32),
        (in_turns::def(), natives!(in_turns), linear),
        (turned::def(), natives!(turned), constant),
    ] {
        for native in natives {
            // After two launches the array has a gradient before the second, whose adjoint has to leave zeros.
            for launches in [1, 2] {
                x.zero_grad();
                let (tape, loss) = Tape::record_value(|| {
                    let y = dev.full(N, 1.0f32)?;
                    for _ in 0..launches {
                        launch(def, native, N.into(), &[Arg::Array(x.as_any()), Arg::Array(y.as_any())])?;
                    }
                    diffkern::reduce::sum(&y)
                })?;
                tape.backward(&loss)?;
                let expected: Vec<f32> = x.to_vec()?.into_iter().map(slope).collect();
                assert_eq!(x.grad()?.to_vec()?, expected, "{}, launches: {launches}", def.name);
            }
        }
    }
    Ok(())
}
