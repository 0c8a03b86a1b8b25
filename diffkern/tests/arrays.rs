//! Arrays: contents, views, copy on write, types, threads, and the errors of launches.

use diffkern::prelude::*;

#[diff_kernel]
fn add_to<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] += x[ABSOLUTE_POS];
}

#[diff_kernel]
fn add_one<F: Float>(x: &mut Array<F>) {
    x[ABSOLUTE_POS] += F::new(1.0);
}

#[diff_kernel]
fn axpy<F: Float>(x: &Array<F>, y: &Array<F>, z: &mut Array<F>, a: F) {
    z[ABSOLUTE_POS] = x[ABSOLUTE_POS] * a + y[ABSOLUTE_POS];
}

#[diff_kernel]
fn gather<F: Float>(x: &Array<F>, index: &Array<u32>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[index[ABSOLUTE_POS] as usize];
}

#[test]
fn contents_go_to_the_device_and_back() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0f32, -2.5, 3.0])?;
    assert_eq!(x.to_vec()?, [1.0, -2.5, 3.0]);
    let v = dev.array(&[Vec3::new(1.0f64, 2.0, 3.0)])?;
    assert_eq!(v.to_vec()?[0].y, 2.0);
    assert_eq!(dev.zeros::<u32>(4)?.to_vec()?, [0; 4]);
    assert_eq!(dev.full(2, -7i32)?.to_vec()?, [-7, -7]);
    x.fill(4.0)?;
    x.slice(1..)?.fill(5.0)?;
    assert_eq!(x.to_vec()?, [4.0, 5.0, 5.0]);
    x.write(&[1.0, 2.0, 3.0])?;
    let y = dev.zeros::<f32>(2)?;
    y.copy_from(&x.slice(..2)?)?;
    assert_eq!(y.to_vec()?, [1.0, 2.0]);
    assert!(dev.zeros::<f32>(0)?.to_vec()?.is_empty());
    Ok(())
}

#[test]
fn wrong_sizes_and_ranges_are_named() -> Result<()> {
    let x = Device::cpu().zeros::<f32>(3)?;
    let message = x.write(&[1.0]).unwrap_err().to_string();
    assert!(message.contains('1') && message.contains('3'), "{message}");
    assert!(x.slice(2..5).is_err());
    assert!(x.copy_from(&Device::cpu().zeros(2)?).is_err());
    assert!(Device::by_name("tpu").unwrap_err().to_string().contains("cpu, wgpu, cuda"));
    Ok(())
}

/// Too many elements for an array, for the machine, and for a `usize` of bytes: an error each, before memory is touched.
#[test]
fn sizes_that_do_not_fit_are_refused() -> Result<()> {
    let device = Device::cpu();
    let zero = Vec3::new(0.0f64, 0.0, 0.0);
    let zeros = |n| device.zeros::<Vec3<f64>>(n).err();
    let full = |n| device.full(n, zero).err();
    let uninit = |n| device.uninit::<Vec3<f64>>(n).err();
    for n in [u32::MAX as usize / 3 + 1, usize::MAX / 24 + 1, usize::MAX] {
        for error in [zeros(n), full(n), uninit(n)] {
            let message = error.ok_or_else(|| Error::Invalid(format!("{n} elements were taken")))?.to_string();
            assert!(message.contains("the most in one array is 4294967295"), "{message}");
        }
    }
    assert_eq!(device.full(3, Vec2::new(1.0f32, 2.0))?.to_vec()?, [Vec2::new(1.0, 2.0); 3]);
    assert!(device.full(0, 1.0f32)?.to_vec()?.is_empty());
    Ok(())
}

#[test]
fn fresh_uninitialised_memory_is_poisoned_in_debug() -> Result<()> {
    if cfg!(debug_assertions) {
        assert!(Device::cpu().uninit::<f64>(5)?.to_vec()?.iter().all(|x| x.is_nan()));
    }
    Ok(())
}

#[test]
fn a_clone_is_the_same_array_and_a_detached_copy_is_not() -> Result<()> {
    let x = Device::cpu().array(&[1.0f32])?;
    let (same, other) = (x.clone(), x.detached()?);
    add_one(1, &x)?;
    assert_eq!((same.to_vec()?[0], other.to_vec()?[0]), (2.0, 1.0));
    assert_eq!(x.version(), 1);
    Ok(())
}

#[test]
fn launches_check_their_arguments() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.zeros::<f32>(4)?;
    let message = axpy(4, &x, &dev.zeros(4)?, &x, 1.0).unwrap_err().to_string();
    assert!(message.contains("`z`") && message.contains("`x`"), "{message}");
    let (left, right) = (x.slice(..3)?, x.slice(2..)?);
    assert!(axpy(2, &left, &left, &right, 1.0).is_err(), "overlapping views");
    let (left, right) = (x.slice(..2)?, x.slice(2..)?);
    x.fill(3.0)?;
    axpy(2, &left, &left, &right, 1.0)?;
    assert_eq!(x.to_vec()?, [3.0, 3.0, 6.0, 6.0]);
    Ok(())
}

#[test]
fn an_index_out_of_range_names_the_place() -> Result<()> {
    let dev = Device::cpu();
    let (x, y) = (dev.zeros::<f64>(3)?, dev.zeros::<f64>(2)?);
    let message = gather(2, &x, &dev.array(&[0, 9])?, &y).unwrap_err().to_string();
    for part in ["gather", "`x`", "9", "3", "arrays.rs"] {
        assert!(message.contains(part), "{message}");
    }
    Ok(())
}

#[test]
fn two_threads_on_one_array_lose_nothing() -> Result<()> {
    let x = Device::cpu().zeros::<f32>(100)?;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).try_for_each(|_| add_one(100, &x)).unwrap());
        }
    });
    assert_eq!(x.to_vec()?, [400.0; 100]);
    Ok(())
}

#[test]
fn sums_are_right_and_do_not_depend_on_the_run() -> Result<()> {
    let dev = Device::cpu();
    for n in [0usize, 1, 63, 64, 65, 5000] {
        let x = dev.array(&(0..n).map(|k| k as f64).collect::<Vec<_>>())?;
        let expected = (n * n.saturating_sub(1) / 2) as f64;
        assert_eq!(diffkern::reduce::sum(&x)?.to_vec()?, [expected]);
    }
    let (x, y) = (dev.array(&[1.0f32, 2.0, 3.0])?, dev.array(&[4.0f32, 5.0, 6.0])?);
    assert_eq!(diffkern::reduce::dot(&x, &y)?.to_vec()?, [32.0]);
    assert_eq!(diffkern::reduce::mean(&x)?.to_vec()?, [2.0]);
    assert!(diffkern::reduce::dot(&x, &dev.zeros(2)?).is_err());
    assert!(diffkern::reduce::mean(&dev.zeros::<f32>(0)?).is_err());
    Ok(())
}

/// What a small array holds is shown, and nothing of a large one.
#[test]
fn debug_shows_the_values_of_small_arrays() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0f32, 0.1, -0.0])?;
    assert_eq!(format!("{x:?}"), format!("Array<f32>#{}[3] on cpu: [1.0, 0.1, -0.0]", x.id()));
    let v = dev.array(&[Vec2::new(1.0, f64::NAN), Vec2::zero()])?.named("push");
    assert_eq!(format!("{v:?}"), format!("Array<Vec2<f64>>#{} `push`[2] on cpu: [(1.0, NaN), (0.0, 0.0)]", v.id()));
    assert!(format!("{:?}", v.slice(1..2)?).ends_with("`push`[1] on cpu: [(0.0, 0.0)]"));
    assert!(format!("{:?}", dev.array(&[-7i32])?).ends_with("[1] on cpu: [-7]"));
    assert!(format!("{:?}", dev.array(&[7u32; 16])?).ends_with("7, 7]"));
    assert!(format!("{:?}", dev.zeros::<f32>(17)?).ends_with("[17] on cpu"));
    assert!(format!("{:?}", dev.zeros::<f32>(0)?).ends_with("[0] on cpu: []"));
    Ok(())
}

/// A step that prints its state does what it did before.
#[test]
fn debug_is_no_read_of_the_program() -> Result<()> {
    let x = Device::cpu().array(&[1.0])?.requires_grad();
    let printed = std::cell::Cell::new(0);
    let count = std::rc::Rc::new(printed);
    let seen = count.clone();
    let (tape, end) = Tape::record_value(|| {
        diffkern::rollout(4, Schedule::Checkpoints(1), x.clone(), move |x: &Array<f64>, _| {
            // Shown in the first run alone.
            if seen.replace(seen.get() + 1) < 4 {
                assert!(format!("{x:?}").contains("on cpu: ["));
            }
            let next = x.device().zeros(1)?;
            add_to(1, x, &next)?;
            Ok(next)
        })
    })?;
    tape.backward(&end)?;
    assert_eq!(x.grad()?.to_vec()?, [1.0]);
    Ok(())
}
