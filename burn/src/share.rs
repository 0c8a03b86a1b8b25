//! Tensors as arrays, and arrays as tensors.

use burn::backend::NdArray;
use burn::backend::ndarray::NdArrayDevice;
use burn::tensor::backend::{Backend, BackendTypes};
use burn::tensor::{Tensor, TensorData};
use diffkern::{Array, Device, Element, Error, Float, Result};

/// A backend of Burn whose tensors diffkern can read and make.
pub trait Share: Backend {
    /// What its real tensors are made of.
    type Real: Float + Element;

    /// The values of a tensor, as an array on `device`.
    ///
    /// # Errors
    /// When the tensor holds numbers of another type, or a device fails.
    fn array(tensor: Tensor<Self, 1>, device: &Device) -> Result<Array<Self::Real>>;

    /// The values of an array, as a tensor.
    ///
    /// # Errors
    /// When a device fails.
    fn tensor(array: &Array<Self::Real>, device: &<Self as BackendTypes>::Device) -> Result<Tensor<Self, 1>>;
}

fn failed(reason: impl std::fmt::Display) -> Error {
    Error::Device { device: "burn".to_owned(), reason: reason.to_string() }
}

/// Through the host: both are in its memory, but Burn may have strides, and diffkern's is aligned and padded.
macro_rules! through_the_host {
    ($backend:ty, $place:ty, $real:ty) => {
        impl Share for $backend {
            type Real = $real;

            fn array(tensor: Tensor<Self, 1>, device: &Device) -> Result<Array<$real>> {
                let data = tensor.into_data();
                device.array(data.as_slice::<$real>().map_err(|e| failed(format!("{e:?}")))?)
            }

            fn tensor(array: &Array<$real>, device: &$place) -> Result<Tensor<Self, 1>> {
                let values = array.to_vec()?;
                let len = values.len();
                Ok(Tensor::from_data(TensorData::new(values, [len]), device))
            }
        }
    };
}

through_the_host!(NdArray<f32>, NdArrayDevice, f32);
through_the_host!(NdArray<f64>, NdArrayDevice, f64);
