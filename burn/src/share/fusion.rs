//! Burn's `Fusion`, which collects operations before a backend runs them: what has been collected for a tensor runs, and
//! then it is the tensor of that backend.

use super::{Share, failed};
use burn::tensor::{Int, Tensor, TensorMetadata, TensorPrimitive};
use burn_fusion::stream::OperationStreams;
use burn_fusion::{Fusion, FusionBackend, NoOp, get_client};
use burn_ir::{InitOperationIr, OperationIr};
use diffkern::{Array, Device, Result};

impl<B: FusionBackend + Share> Share for Fusion<B> {
    type Real = B::Real;

    fn array(tensor: Tensor<Self, 1>, device: &Device) -> Result<Array<B::Real>> {
        let tensor = tensor.into_primitive().tensor();
        let tensor = tensor.client.clone().resolve_tensor_float::<B>(tensor);
        B::array(Tensor::from_primitive(TensorPrimitive::Float(tensor)), device)
    }

    fn tensor(array: &Array<B::Real>, place: &B::Device) -> Result<Tensor<Self, 1>> {
        let tensor = B::tensor(array, place)?.into_primitive().tensor();
        let (client, shape, dtype) = (get_client::<B>(place), tensor.shape(), tensor.dtype());
        let handle = B::float_tensor_handle(tensor);
        let made = InitOperationIr::create(shape, dtype, || client.register_tensor_handle(handle));
        let made = client.register(OperationStreams::default(), OperationIr::Init(made), NoOp::<B>::new()).pop();
        let made = made.ok_or_else(|| failed("fusion made no tensor"))?;
        Ok(Tensor::from_primitive(TensorPrimitive::Float(made)))
    }

    fn integers(tensor: Tensor<Self, 1, Int>, device: &Device) -> Result<Array<i32>> {
        let tensor = tensor.into_primitive();
        B::integers(Tensor::from_primitive(tensor.client.clone().resolve_tensor_int::<B>(tensor)), device)
    }
}
