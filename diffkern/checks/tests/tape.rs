//! The tape: gradients of small programs whose derivatives are known, the overwrite guard, misuse.

use diffkern::prelude::*;
use diffkern::{Overwrite, Recording, jvp, reduce, rollout};

#[diff_kernel]
fn square<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
}

#[diff_kernel]
fn multiply<F: Float>(x: &Array<F>, y: &Array<F>, z: &mut Array<F>) {
    z[ABSOLUTE_POS] = x[ABSOLUTE_POS] * y[ABSOLUTE_POS];
}

#[diff_kernel]
fn total<F: Float>(x: &Array<F>, loss: &mut Array<F>) {
    loss[0] += x[ABSOLUTE_POS];
}

#[diff_kernel]
fn add<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] += x[ABSOLUTE_POS];
}

fn cube_of(x: &Array<f64>) -> Result<Array<f64>> {
    let dev = x.device().clone();
    let (squares, cubes, loss) = (dev.zeros(x.len())?, dev.zeros(x.len())?, dev.zeros(1)?);
    square(x.len(), x, &squares)?;
    multiply(x.len(), x, &squares, &cubes)?;
    total(x.len(), &cubes, &loss)?;
    Ok(loss)
}

#[test]
fn a_chain_of_launches() -> Result<()> {
    let x = Device::cpu().array(&[1.0, 2.0, -3.0])?.requires_grad();
    let (tape, loss) = Tape::record_value(|| cube_of(&x))?;
    assert_eq!(loss.to_vec()?, [-18.0]);
    tape.backward(&loss)?;
    assert_eq!(x.grad()?.to_vec()?, [3.0, 12.0, 27.0]);
    tape.backward(&loss)?;
    assert_eq!(x.grad()?.to_vec()?, [6.0, 24.0, 54.0], "twice accumulates");
    x.zero_grad();
    assert!(x.grad().is_err());
    tape.backward(&loss)?;
    assert_eq!(x.grad()?.to_vec()?, [3.0, 12.0, 27.0]);
    let report = tape.report();
    assert_eq!((report.launches, report.adjoint_launches, report.nodes), (3, 9, 3));
    assert!(report.bytes_kept > 0 && report.peak_bytes >= report.bytes_kept);
    assert!(report.to_string().contains("multiply"), "{report}");
    assert_eq!(format!("{tape:?}"), format!("Tape(3 nodes, {} bytes)", report.bytes_kept));
    Ok(())
}

#[test]
fn an_array_passed_twice() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0, 2.0])?.requires_grad();
    let (tape, loss) = Tape::record_value(|| {
        let (y, loss) = (dev.zeros(2)?, dev.zeros(1)?);
        multiply(2, &x, &x, &y)?;
        total(2, &y, &loss)?;
        Ok::<_, Error>(loss)
    })?;
    tape.backward(&loss)?;
    assert_eq!(x.grad()?.to_vec()?, [2.0, 4.0]);
    Ok(())
}

#[test]
fn overwritten_values_are_kept() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[3.0, 4.0])?.requires_grad();
    let run = || {
        let (y, z, loss) = (dev.zeros(2)?, dev.zeros(2)?, dev.zeros(1)?);
        square(2, &x, &y)?;
        multiply(2, &x, &y, &z)?;
        total(2, &z, &loss)?;
        // Needed above, gone below.
        y.fill(0.0)?;
        square(2, &z, &y)?;
        total(2, &y, &loss)?;
        Ok::<_, Error>(loss)
    };
    let (tape, loss) = Tape::record_value(run)?;
    tape.backward(&loss)?;
    // d(x^3 + x^6)
    assert_eq!(x.grad()?.to_vec()?, [27.0 + 6.0 * 243.0, 48.0 + 6.0 * 1024.0]);
    let message = Recording::new().overwrite(Overwrite::Error).record_value(run).unwrap_err().to_string();
    assert!(message.contains("fill"), "{message}");
    Ok(())
}

#[diff_kernel]
fn double<F: Float>(y: &mut Array<F>) {
    y[ABSOLUTE_POS] *= 2.0;
}

/// The derivative of `2 y` does not ask for `y`, that of `x y` does.
#[test]
fn only_values_that_are_needed_are_guarded() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[3.0])?.requires_grad();
    let loss = dev.zeros(1)?;
    let run = |times_x: bool| {
        Recording::new().overwrite(Overwrite::Error).record_value(|| {
            let y = dev.uninit(1)?;
            square(1, &x, &y)?;
            if times_x {
                multiply(1, &x, &y, &dev.uninit(1)?)?;
            }
            double(1, &y)?;
            total(1, &y, &loss)
        })
    };
    let (tape, ()) = run(false)?;
    tape.backward(&loss)?;
    assert_eq!(x.grad()?.to_vec()?, [12.0]);
    assert!(matches!(run(true), Err(Error::Overwrite { .. })));
    Ok(())
}

#[test]
fn a_recording_that_panics_has_ended() -> Result<()> {
    let dead = std::panic::catch_unwind(|| Tape::record(|| panic!("on purpose")).map(|_| ()));
    assert!(dead.is_err());
    let x = Device::cpu().array(&[2.0])?.requires_grad();
    let (tape, loss) = Tape::record_value(|| cube_of(&x))?;
    tape.backward(&loss)?;
    assert_eq!(x.grad()?.to_vec()?, [12.0]);
    Ok(())
}

#[test]
fn launches_that_the_loss_does_not_need_are_not_reversed() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[2.0])?.requires_grad();
    let (tape, loss) = Tape::record_value(|| {
        square(1, &x, &dev.uninit(1)?)?;
        cube_of(&x)
    })?;
    tape.backward(&loss)?;
    let report = tape.report();
    assert_eq!((report.launches, report.adjoint_launches), (4, 3));
    Ok(())
}

/// Of a chain of copies two adjoints are alive at a time.
#[test]
fn the_adjoint_of_a_copy_ends_with_it() -> Result<()> {
    const N: usize = 1000;
    let dev = Device::cpu();
    let x = dev.zeros::<f64>(N)?.requires_grad();
    let mut copies = vec![x.clone()];
    let tape = Tape::record(|| {
        for k in 0..5 {
            copies.push(dev.uninit(N)?);
            copies[k + 1].copy_from(&copies[k])?;
        }
        Ok(())
    })?;
    tape.backward_from(&[(copies[5].as_any(), dev.full(N, 3.0)?.as_any())])?;
    assert_eq!(x.grad()?.to_vec()?, [3.0; N]);
    assert_eq!(tape.report().peak_bytes, 2 * N * 8);
    Ok(())
}

#[test]
fn a_parameter_changed_after_recording_does_not_matter() -> Result<()> {
    let x = Device::cpu().array(&[2.0])?.requires_grad();
    let (tape, loss) = Tape::record_value(|| cube_of(&x))?;
    x.write(&[100.0])?;
    tape.backward(&loss)?;
    assert_eq!(x.grad()?.to_vec()?, [12.0]);
    Ok(())
}

#[test]
fn writes_cut_the_gradient_of_what_they_overwrite() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0, 2.0, 3.0])?.requires_grad();
    let (tape, loss) = Tape::record_value(|| {
        let (y, z, loss) = (dev.zeros(3)?, dev.zeros(3)?, dev.zeros(1)?);
        square(3, &x, &y)?;
        y.slice(0..1)?.write(&[7.0])?;
        z.copy_from(&y)?;
        y.fill(0.0)?;
        total(3, &z, &loss)?;
        Ok::<_, Error>(loss)
    })?;
    assert_eq!(loss.to_vec()?, [20.0]);
    tape.backward(&loss)?;
    assert_eq!(x.grad()?.to_vec()?, [0.0, 4.0, 6.0]);
    Ok(())
}

#[test]
fn views_share_the_gradient_of_their_array() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0, 2.0, 3.0, 4.0])?.requires_grad();
    let (tape, loss) = Tape::record_value(|| {
        let loss = dev.zeros(1)?;
        let both = dev.zeros(2)?;
        multiply(2, &x.slice(0..2)?, &x.slice(1..3)?, &both)?;
        total(2, &both, &loss)?;
        // Read one part of an array, write another.
        let y = dev.zeros(4)?;
        square(2, &x.slice(2..)?, &y.slice(..2)?)?;
        square(2, &y.slice(..2)?, &y.slice(2..)?)?;
        total(2, &y.slice(2..)?, &loss)?;
        Ok::<_, Error>(loss)
    })?;
    tape.backward(&loss)?;
    // x0 x1 + x1 x2 + x2^4 + x3^4
    assert_eq!(x.grad()?.to_vec()?, [2.0, 4.0, 2.0 + 108.0, 256.0]);
    assert_eq!(x.slice(1..3)?.grad()?.to_vec()?, [4.0, 110.0]);
    Ok(())
}

#[test]
fn seeds_for_several_outputs() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0f32, 2.0])?.requires_grad();
    let y = dev.zeros(2)?;
    let tape = Tape::record(|| square(2, &x, &y))?;
    let seed = dev.array(&[10.0f32, 1.0])?;
    tape.backward_from(&[(y.as_any(), seed.as_any())])?;
    assert_eq!(x.grad()?.to_vec()?, [20.0, 4.0]);
    assert!(tape.backward_from(&[(y.as_any(), dev.zeros::<f32>(3)?.as_any())]).is_err());
    Ok(())
}

#[test]
fn misuse_is_refused_with_a_way_out() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0])?.requires_grad();
    let nested = Tape::record(|| Tape::record(|| Ok(())).map(|_| ()));
    assert!(nested.unwrap_err().to_string().contains("records already"));
    assert!(Tape::record(|| Ok(())).is_ok(), "the failed recording has ended");
    let (tape, loss) = Tape::record_value(|| cube_of(&x))?;
    assert!(tape.backward(&dev.zeros::<f64>(2)?).unwrap_err().to_string().contains("one real scalar"));
    assert!(tape.backward(&dev.zeros::<f64>(1)?).unwrap_err().to_string().contains("does not depend"));
    let (factor, product) = (dev.array(&[5.0])?, dev.uninit(1)?);
    let constant = Tape::record(|| multiply(1, &x, &factor, &product))?;
    assert!(constant.backward(&factor).unwrap_err().to_string().contains("does not depend"));
    assert!(x.grad().unwrap_err().to_string().contains("backward"));
    assert!(loss.grad().unwrap_err().to_string().contains("requires_grad"));
    let stored = Tape::record(|| square(1, &dev.array(&[2.0])?, &x));
    assert!(stored.unwrap_err().to_string().contains("requires a gradient"));
    let inside = Tape::record(|| tape.backward(&loss));
    assert!(inside.unwrap_err().to_string().contains("inside a recording"));
    let stepping = rollout(1, Schedule::StoreAll, dev.array(&[1.0])?, move |x: &Array<f64>, _| {
        tape.backward(&loss)?;
        Ok(x.clone())
    });
    assert!(stepping.unwrap_err().to_string().contains("inside a recording"));
    Ok(())
}

#[test]
fn an_intermediate_result_used_twice_and_accumulated() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[3.0])?.requires_grad();
    let (tape, loss) = Tape::record_value(|| {
        let (y, loss) = (dev.zeros(1)?, dev.zeros(1)?);
        square(1, &x, &y)?;
        add(1, &y, &loss)?;
        add(1, &y, &loss)?;
        add(1, &x, &loss)?;
        Ok::<_, Error>(loss)
    })?;
    tape.backward(&loss)?;
    assert_eq!(x.grad()?.to_vec()?, [13.0]);
    Ok(())
}

#[test]
fn reductions_are_differentiable() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&(0..300).map(f64::from).collect::<Vec<_>>())?.requires_grad();
    let (tape, loss) = Tape::record_value(|| {
        let total = reduce::dot(&x, &x)?;
        reduce::sum_into(&x, 3.0, &total)?;
        Ok::<_, Error>(total)
    })?;
    tape.backward(&loss)?;
    assert!(x.grad()?.to_vec()?.iter().enumerate().all(|(k, g)| *g == 2.0 * k as f64 + 3.0));
    Ok(())
}

#[test]
fn tangents_in_several_directions() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0, 2.0])?;
    let (first, second) = (dev.array(&[1.0, 0.0])?, dev.array(&[0.0, 1.0])?);
    let (loss, tangents) =
        jvp(&[&[(x.as_any(), first.as_any())], &[(x.as_any(), second.as_any())], &[]], || cube_of(&x))?;
    assert_eq!(tangents.get(0, &loss)?.to_vec()?, [3.0]);
    assert_eq!(tangents.get(1, &loss)?.to_vec()?, [12.0]);
    assert_eq!(tangents.get(2, &loss)?.to_vec()?, [0.0]);
    assert!(tangents.get(3, &loss).is_err());
    let inside = jvp(&[], || Tape::record(|| Ok(())).map(|_| ()));
    assert!(inside.unwrap_err().to_string().contains("jvp"));
    assert!(jvp(&[&[(x.as_any(), loss.as_any())]], || Ok::<_, Error>(())).is_err());
    Ok(())
}

#[test]
fn writes_and_copies_carry_tangents() -> Result<()> {
    let dev = Device::cpu();
    let (x, one) = (dev.array(&[1.0, 2.0])?, dev.full(2, 1.0)?);
    let (y, tangents) = jvp(&[&[(x.as_any(), one.as_any())]], || {
        let (y, z) = (dev.zeros(2)?, dev.zeros(2)?);
        square(2, &x, &y)?;
        z.copy_from(&y)?;
        z.slice(..1)?.fill(5.0)?;
        y.fill(0.0)?;
        Ok::<_, Error>((y, z))
    })?;
    assert_eq!(tangents.get(0, &y.0)?.to_vec()?, [0.0, 0.0]);
    assert_eq!(tangents.get(0, &y.1)?.to_vec()?, [0.0, 4.0]);
    Ok(())
}
