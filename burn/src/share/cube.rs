//! Burn's backends on CubeCL: the same memory where the device is the same.

use super::{Share, host, of_type};
use burn::tensor::backend::DeviceOps;
use burn::tensor::{Element as BurnElement, Int, Shape, Tensor, TensorPrimitive};
use burn_cubecl::cubecl::server::ComputeServer;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{BoolElement, CubeBackend, CubeRuntime, FloatElement, IntElement};
use diffkern::{Array, Device, Element, Float, Result, shared};

impl<R, F, I, B> Share for CubeBackend<R, F, I, B>
where
    R: CubeRuntime,
    R::Server: ComputeServer,
    R::Device: DeviceOps,
    F: FloatElement + Float + Element,
    I: IntElement,
    B: BoolElement,
{
    type Real = F;

    fn array(tensor: Tensor<Self, 1>, device: &Device) -> Result<Array<F>> {
        match shared::is_on::<R>(device, &tensor.device()) {
            true => adopt(tensor.into_primitive().tensor(), device),
            false => host::array(tensor, device),
        }
    }

    fn tensor(array: &Array<F>, place: &R::Device) -> Result<Tensor<Self, 1>> {
        if !shared::is_on::<R>(array.device(), place) {
            return host::tensor(array, place);
        }
        let (client, shape) = (R::client(place), Shape::new([array.len()]));
        let dtype = <F as BurnElement>::dtype();
        let tensor = CubeTensor::new_contiguous(client, place.clone(), shape, shared::lend(array)?, dtype);
        Ok(Tensor::from_primitive(TensorPrimitive::Float(tensor)))
    }

    fn integers(tensor: Tensor<Self, 1, Int>, device: &Device) -> Result<Array<i32>> {
        match shared::is_on::<R>(device, &tensor.device()) {
            true => adopt(tensor.into_primitive(), device),
            false => host::integers(tensor, device),
        }
    }
}

fn adopt<R: CubeRuntime, T: Element + BurnElement>(tensor: CubeTensor<R>, device: &Device) -> Result<Array<T>> {
    of_type::<T>(tensor.dtype)?;
    // Before Burn makes it contiguous.
    shared::join(device)?;
    let tensor = into_contiguous(tensor);
    let len = tensor.meta.num_elements();
    shared::adopt::<R, T>(device, &tensor.device, tensor.handle, len)
}
