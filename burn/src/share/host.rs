//! Through the host: where memory differs, and for `NdArray`, which may have strides where diffkern's memory is aligned and
//! padded.

use super::{Share, failed, of_type};
use burn::backend::NdArray;
use burn::backend::ndarray::NdArrayDevice;
use burn::tensor::backend::{Backend, BackendTypes};
use burn::tensor::{Element as BurnElement, Int, Tensor, TensorData};
use diffkern::{Array, Device, Element, Result};

pub(super) fn array<B: Backend, T: Element + BurnElement>(tensor: Tensor<B, 1>, device: &Device) -> Result<Array<T>> {
    let data = tensor.try_into_data().map_err(failed)?;
    of_type::<T>(data.dtype)?;
    device.array(data.as_slice::<T>().map_err(|e| failed(format!("{e:?}")))?)
}

pub(super) fn tensor<B: Backend, T: Element + BurnElement>(
    array: &Array<T>,
    place: &<B as BackendTypes>::Device,
) -> Result<Tensor<B, 1>> {
    let values = array.to_vec()?;
    let len = values.len();
    Ok(Tensor::from_data(TensorData::new(values, [len]), (place, T::dtype())))
}

pub(super) fn integers<B: Backend>(tensor: Tensor<B, 1, Int>, device: &Device) -> Result<Array<i32>> {
    let data = tensor.try_into_data().map_err(failed)?;
    let fit = |value: i64| i32::try_from(value).map_err(|_| failed(format!("{value} does not fit into 32 bits")));
    device.array(&data.iter::<i64>().map(fit).collect::<Result<Vec<_>>>()?)
}

macro_rules! through_the_host {
    ($real:ty) => {
        impl Share for NdArray<$real> {
            type Real = $real;

            fn array(tensor: Tensor<Self, 1>, device: &Device) -> Result<Array<$real>> {
                array(tensor, device)
            }

            fn tensor(array: &Array<$real>, place: &NdArrayDevice) -> Result<Tensor<Self, 1>> {
                tensor(array, place)
            }

            fn integers(tensor: Tensor<Self, 1, Int>, device: &Device) -> Result<Array<i32>> {
                integers(tensor, device)
            }
        }
    };
}

through_the_host!(f32);
through_the_host!(f64);
