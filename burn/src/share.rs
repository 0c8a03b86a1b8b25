//! Tensors as arrays, and arrays as tensors.

#[cfg(feature = "cubecl")]
mod cube;
#[cfg(feature = "fusion")]
mod fusion;
mod host;

use burn::tensor::backend::{Backend, BackendTypes};
use burn::tensor::{DType, Element as BurnElement, Int, Tensor};
use diffkern::{Array, Device, Element, Error, Float, Result};

/// A backend of Burn whose tensors diffkern can read and make.
///
/// - `NdArray<f32>` and `NdArray<f64>`, with any device of diffkern: values are copied through the host.
/// - `CubeBackend` (`Wgpu<f32, i32>`, `Cuda<f32>`, `Cuda<f64>`), with the features `wgpu` and `cuda`; with `fusion` also within
///   Burn's `Fusion`: where the tensor is on the device of diffkern, as [`diffkern::shared::is_on`] tells, both use the same memory.
///   Only a tensor with strides is made contiguous, on the device. With another device, values are copied through the host.
pub trait Share: Backend {
    /// What its real tensors are made of.
    type Real: Float + Element;

    /// The values of a tensor, as an array on `device`.
    ///
    /// # Errors
    /// When the tensor holds numbers of another type, `device` does not have the type, or a device fails.
    fn array(tensor: Tensor<Self, 1>, device: &Device) -> Result<Array<Self::Real>>;

    /// The values of an array, as a tensor. No gradient flows through it.
    ///
    /// # Errors
    /// When a device fails.
    fn tensor(array: &Array<Self::Real>, place: &<Self as BackendTypes>::Device) -> Result<Tensor<Self, 1>>;

    /// The values of a tensor of integers, such as indices for a program to capture, as an array on `device`.
    ///
    /// # Errors
    /// When a value does not fit into 32 bits, the tensor is shared and not of `i32`, or a device fails.
    fn integers(tensor: Tensor<Self, 1, Int>, device: &Device) -> Result<Array<i32>>;
}

/// Burn's tensors may have another type than their backend's: what a device makes by default is chosen at run time.
fn of_type<T: BurnElement>(found: DType) -> Result<()> {
    let wanted = T::dtype();
    match found == wanted {
        true => Ok(()),
        false => Err(failed(format!("a tensor of {found:?} where {wanted:?} is needed; cast it before"))),
    }
}

fn failed(reason: impl std::fmt::Display) -> Error {
    Error::Device { device: "burn".to_owned(), reason: reason.to_string() }
}
