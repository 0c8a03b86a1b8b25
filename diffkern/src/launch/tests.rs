//! Which buffers a launch leaves in place, and which arguments it refuses.

use diffkern_macros::diff_kernel;

use super::*;
use crate::array::Array;
use crate::device::Device;
use crate::error::Error;

#[diff_kernel]
fn double<F: Float>(y: &mut Array<F>) {
    y[ABSOLUTE_POS] *= 2.0;
}

#[diff_kernel]
fn copy_over<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

fn place(array: &Array<f64>) -> *const Buffer {
    Arc::as_ptr(&array.as_any().buffer())
}

/// Not even where one part of an array is read and another written.
#[test]
fn without_a_tape_nothing_is_copied() -> Result<()> {
    let all = Device::cpu().array(&[1.0, 2.0, 3.0, 4.0])?;
    let before = place(&all);
    double(4, &all)?;
    assert_eq!(place(&all), before);
    copy_over(2, &all.slice(0..2)?, &all.slice(2..4)?)?;
    assert_eq!(place(&all), before);
    assert_eq!(all.to_vec()?, [2.0, 4.0, 2.0, 4.0]);
    Ok(())
}

#[test]
fn arrays_of_two_devices_are_refused() -> Result<()> {
    let (x, y) = (Device::cpu().array(&[1.0])?, Device::another_cpu().array(&[2.0])?);
    assert!(matches!(copy_over(1, &x, &y), Err(Error::DeviceMismatch { what: "copy_over", .. })));
    assert_eq!(y.to_vec()?, [2.0]);
    Ok(())
}
