//! A process in which Burn has opened the GPU before diffkern does.
#![cfg(feature = "wgpu")]

use burn::tensor::Tensor;
use burn_wgpu::{Wgpu, WgpuDevice};
use diffkern::Device;
use diffkern_burn::Share;

type Gpu = Wgpu<f32, i32>;

#[test]
fn the_device_is_shared_whoever_opens_it() {
    let wanted = std::env::var("DIFFKERN_TEST_DEVICES").unwrap_or_default();
    let place = WgpuDevice::DefaultDevice;
    // Burn panics where there is no device.
    let Ok(tensor) = std::panic::catch_unwind(|| Tensor::<Gpu, 1>::from_data([1.0f32, 2.0], &place)) else {
        assert!(!wanted.split(',').any(|w| w == "wgpu"), "no wgpu");
        return;
    };
    let tensor = tensor + 1.0;
    let device = Device::wgpu().expect("Burn has opened it");
    let array = Gpu::array(tensor, &device).expect("it is shared");
    assert_eq!(device.transferred(), (0, 0));
    assert_eq!(array.to_vec().expect("it reads"), [2.0, 3.0]);
    let again = Gpu::tensor(&array, &place).expect("it is shared") * 2.0;
    assert_eq!(again.into_data().to_vec::<f32>().expect("reals"), [4.0, 6.0]);
    assert!(Device::available().iter().any(|(name, what)| name == "wgpu" && what.contains("f32")));
}
