//! No two threads store to one element: proved from the source, found out before the launch, or while it runs; in builds of
//! every profile. What devices other than the CPU cannot find out they refuse.

use diffkern::gradcheck::devices;
use diffkern::prelude::*;

#[diff_kernel]
fn scatter<F: Float>(x: &Array<F>, at: &Array<u32>, y: &mut Array<F>) {
    y[at[ABSOLUTE_POS]] = x[ABSOLUTE_POS];
}

#[diff_kernel]
fn scale_at<F: Float>(x: &Array<F>, at: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[at[i]] *= x[i];
}

#[diff_kernel]
fn scatter_some<F: Float>(x: &Array<F>, at: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if x[i] > 0.0 {
        y[at[i]] = x[i];
    }
}

#[diff_struct]
struct Pair<F> {
    a: F,
    b: Vec2<F>,
}

#[diff_kernel]
fn pairs_at<F: Float>(x: &Array<F>, at: &Array<u32>, y: &mut Array<Pair<F>>) {
    let i = ABSOLUTE_POS;
    y[at[i]].a = x[i];
    y[at[i]].b = Vec2::new(x[i], 1.0);
}

#[diff_kernel]
fn plane<F: Float>(x: &Array<F>, y: &mut Array<F>, width: usize) {
    let at = ABSOLUTE_POS_Y * width + ABSOLUTE_POS_X;
    y[at] = x[at] * 2.0;
}

#[diff_kernel]
fn rows<F: Float>(x: &Array<F>, y: &mut Array<F>, width: u32) {
    for k in 0..width {
        y[ABSOLUTE_POS as u32 * width + k] = x[ABSOLUTE_POS];
    }
}

/// The element is `x_i` rounded down.
#[diff_kernel]
fn by_value<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[usize::cast_from(x[i])] = x[i];
}

#[diff_kernel(injective)]
fn by_value_promised<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[usize::cast_from(x[i])] = x[i];
}

#[diff_kernel]
fn first<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[0] = x[ABSOLUTE_POS];
}

#[diff_kernel]
fn halve_first<F: Float>(y: &mut Array<F>) {
    if ABSOLUTE_POS == 0 {
        y[0] *= 0.5;
    }
}

fn refused(launch: Result<()>, parts: &[&str]) {
    let message = launch.expect_err("two threads have one element").to_string();
    let missing: Vec<&&str> = parts.iter().filter(|part| !message.contains(**part)).collect();
    assert!(missing.is_empty(), "{missing:?} in: {message}");
}

#[test]
fn a_list_that_names_an_element_twice_is_refused_on_every_device() -> Result<()> {
    for dev in [vec![Device::cpu()], devices()?].concat() {
        let (x, y) = (dev.array(&[1.0f32, 2.0, 3.0])?, dev.full(4, 5.0f32)?);
        let at = dev.array(&[2u32, 0, 3])?;
        scatter(3, &x, &at, &y)?;
        scale_at(3, &x, &at, &y)?;
        assert_eq!(y.to_vec()?, [4.0, 5.0, 1.0, 9.0]);
        // What was found out is forgotten when the list changes, however it does.
        at.slice(2..)?.fill(2)?;
        refused(scatter(3, &x, &at, &y), &["`scatter`", "`y`", "`+=`"]);
        refused(scale_at(3, &x, &at, &y), &["`scale_at`", "`y`", "second array"]);
        scatter(2, &x, &at, &y)?;
        at.write(&[1, 2, 3])?;
        scatter(3, &x, &at, &y)?;
        let other = dev.array(&[1u32, 1])?;
        at.slice(1..)?.copy_from(&other)?;
        refused(scatter(3, &x, &at, &y), &["`scatter`"]);
        // Parts of one list.
        let list = dev.array(&[0u32, 1, 0, 1, 2])?;
        scatter(2, &x, &list.slice(..2)?, &y)?;
        scatter(3, &x, &list.slice(2..)?, &y)?;
        refused(scatter(3, &x, &list.slice(1..4)?, &y), &["`scatter`"]);
    }
    Ok(())
}

#[test]
fn the_message_names_both_threads_and_what_to_do() -> Result<()> {
    let dev = Device::cpu();
    let (x, y, at) = (dev.array(&[1.0, 2.0, 3.0])?, dev.full(3, 1.0)?, dev.array(&[2u32, 0, 2])?);
    refused(scatter(3, &x, &at, &y), &["element 2", "index 0", "index 2", "write_once.rs", "accumulate with `+=`"]);
    let message = scale_at(3, &x, &at, &y).expect_err("two threads have one element").to_string();
    assert!(!message.contains("+=") && message.contains("second array"), "{message}");
    Ok(())
}

#[test]
fn elements_that_nobody_stores_to_may_be_named_twice() -> Result<()> {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[1.0, -2.0, 3.0, -4.0])?, dev.zeros::<f64>(3)?);
    scatter_some(4, &x, &dev.array(&[2u32, 1, 0, 1])?, &y)?;
    scatter_some(4, &x, &dev.array(&[2u32, u32::MAX, 1, u32::MAX])?, &y)?;
    assert_eq!(y.to_vec()?, [3.0, 3.0, 1.0]);
    refused(scatter_some(4, &x, &dev.array(&[2u32, 0, 2, 1])?, &y), &["element 2"]);
    let pairs = dev.array(&[Pair { a: 0.0, b: Vec2::new(0.0, 0.0) }; 3])?;
    pairs_at(3, &x, &dev.array(&[2u32, 0, 1])?, &pairs)?;
    assert_eq!(pairs.to_vec()?[0], Pair { a: -2.0, b: Vec2::new(-2.0, 1.0) });
    refused(pairs_at(3, &x, &dev.array(&[2u32, 0, 2])?, &pairs), &["`pairs_at`"]);
    Ok(())
}

#[test]
fn planes_and_rows_are_as_wide_as_the_launcher_says() -> Result<()> {
    for dev in [vec![Device::cpu()], devices()?].concat() {
        let (x, y) = (dev.full(12, 1.0f32)?, dev.zeros::<f32>(13)?);
        plane((4, 3), &x, &y, 4)?;
        plane((3, 3), &x, &y, 4)?;
        refused(plane((4, 3), &x, &y, 3), &["`plane`", "`y`"]);
        rows(3, &x, &y, 4)?;
        assert_eq!(y.to_vec()?, [[1.0; 12].as_slice(), &[0.0]].concat());
    }
    Ok(())
}

#[test]
fn indices_from_data_are_looked_at_by_the_cpu_and_promised_elsewhere() -> Result<()> {
    let cpu = Device::cpu();
    for dev in [vec![cpu.clone()], devices()?].concat() {
        let (x, y) = (dev.array(&[2.5f32, 0.5, 1.5])?, dev.zeros::<f32>(3)?);
        let looked_at = by_value(3, &x, &y);
        if dev == cpu {
            looked_at?;
        } else {
            refused(looked_at, &["`by_value`", "`y`", "#[diff_kernel(injective)]"]);
        }
        by_value(1, &x, &y)?;
        by_value_promised(3, &x, &y)?;
        assert_eq!(y.to_vec()?, [0.5, 1.5, 2.5]);
        first(1, &x, &y)?;
        refused(first(2, &x, &y), &["`first`", "`y`"]);
        y.slice(..1)?.fill(3.0)?;
        halve_first(3, &y)?;
        assert_eq!(y.to_vec()?, [1.5, 1.5, 2.5]);
    }
    let same = cpu.array(&[2.5, 0.5, 2.25])?;
    refused(by_value(3, &same, &cpu.zeros(3)?), &["element 2", "index 0", "index 2"]);
    // A promise is looked at where debugging is asked for.
    assert_eq!(by_value_promised(3, &same, &cpu.zeros(3)?).is_err(), cfg!(debug_assertions));
    Ok(())
}

/// So many that several threads and packs of lanes take part.
#[test]
fn two_of_many_are_found() -> Result<()> {
    let (dev, n) = (Device::cpu(), 100_000usize);
    let mut order: Vec<u32> = (0..n as u32).map(|i| (i * 7919) % n as u32).collect();
    let x = dev.array(&(0..n).map(|i| i as f32 * 0.5 + 1.0).collect::<Vec<_>>())?;
    let y = dev.zeros::<f32>(n)?;
    scatter(n, &x, &dev.array(&order)?, &y)?;
    assert!(order.iter().zip(y.to_vec()?).all(|(&at, _)| (at as usize) < n));
    let expected: f32 = x.to_vec()?[3];
    assert_eq!(y.to_vec()?[order[3] as usize], expected);
    order[70_123] = order[11];
    refused(scatter(n, &x, &dev.array(&order)?, &y), &["index 11 ", "index 70123"].map(|part| part.trim_end()));
    refused(by_value(n, &dev.full(n, 3.0f32)?, &y), &["element 3"]);
    Ok(())
}
