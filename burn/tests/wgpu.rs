//! Burn's tensors and diffkern's arrays in the same memory of a GPU.
#![cfg(feature = "wgpu")]

use burn::backend::{Autodiff, NdArray};
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Element as _, Int, IntDType, Tensor, TensorData};
use burn_wgpu::{Wgpu, WgpuDevice};
use diffkern::prelude::*;
use diffkern_burn::Share;
use pendulum::{STEPS, pendulum, start, torque};
use std::sync::{Mutex, MutexGuard, PoisonError};

mod pendulum;

type Gpu = Wgpu<f32, i32>;

/// The device, for one test at a time, since its counters are for all; `None` where there is none, which is an error if
/// `DIFFKERN_TEST_DEVICES` names it.
fn wgpu() -> Option<(Device, MutexGuard<'static, ()>)> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = std::env::var("DIFFKERN_TEST_DEVICES").unwrap_or_default();
    match Device::wgpu() {
        Err(error) if wanted.split(',').any(|w| w == "wgpu") => panic!("{error}"),
        opened => opened.ok().map(|device| (device, guard)),
    }
}

fn tensor<B: Backend>(values: &[f64], place: &B::Device) -> Tensor<B, 1> {
    Tensor::from_data(TensorData::from(values), (place, B::FloatElem::dtype()))
}

fn gpu(values: &[f32]) -> Tensor<Gpu, 1> {
    Tensor::from_data(values, &WgpuDevice::DefaultDevice)
}

fn numbers<B: Backend>(tensor: Tensor<B, 1>) -> Vec<f64> {
    tensor.into_data().convert::<f64>().to_vec().expect("reals")
}

/// A kernel for arrays of any length.
#[diff_kernel]
fn square<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
}

type Write = dyn Fn(&Array<f32>) -> Result<()>;

/// Overwrites what it reads.
#[diff_kernel]
fn double<F: Float>(x: &mut Array<F>) {
    x[ABSOLUTE_POS] = 2.0 * x[ABSOLUTE_POS];
}

/// Burn before the rollout, Burn after it, and a path around it.
fn loss<B: Share>(
    device: &Device,
    start: Tensor<Autodiff<B>, 1>,
    torque: Tensor<Autodiff<B>, 1>,
) -> Tensor<Autodiff<B>, 1> {
    let inputs = [start.clone() * 0.5, torque.clone().tanh()];
    let last = diffkern_burn::apply(device, inputs, |[start, torque]| pendulum(start, torque)).expect("it runs");
    last.clone().exp().sum() + (last * start).sum() + torque.powi_scalar(2).sum() * 0.01
}

fn gradients<B: Share>(device: &Device, place: &B::Device) -> [Tensor<B, 1>; 2] {
    let leaf = |values: Vec<f64>| tensor::<Autodiff<B>>(&values, place).require_grad();
    let (start, torque) = (leaf(start()), leaf(torque()));
    let grads = loss::<B>(device, start.clone(), torque.clone()).backward();
    [start, torque].map(|t| t.grad(&grads).expect("a gradient"))
}

/// The same by differences, of fourth order, in f64 on the CPU.
fn differences() -> [Vec<f64>; 2] {
    type Plain = NdArray<f64>;
    let slope = |which: usize, k: usize, h: f64| {
        let value = |by: f64| {
            let mut inputs = [start(), torque()];
            inputs[which][k] += by;
            let [start, torque] = inputs.map(|values| tensor::<Autodiff<Plain>>(&values, &Default::default()));
            numbers(loss::<Plain>(&Device::cpu(), start, torque).inner())[0]
        };
        (value(h) - value(-h)) / (2.0 * h)
    };
    let h = 1e-5;
    [0, 1].map(|which| {
        let len = [2, STEPS][which];
        (0..len).map(|k| (4.0 * slope(which, k, h / 2.0) - slope(which, k, h)) / 3.0).collect()
    })
}

fn close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(0.0, |most: f64, e| most.max(e.abs()));
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < 1e-5 * scale, "{what} {k}: {found} {expected}");
    }
}

#[test]
fn gradients_are_differences_and_nothing_goes_through_the_host() {
    let Some((device, _one)) = wgpu() else { return };
    let before = device.transferred();
    let found = gradients::<Gpu>(&device, &WgpuDevice::DefaultDevice);
    assert_eq!(device.transferred(), before, "bytes went through the host");
    let found = found.map(numbers);
    let on_host = gradients::<NdArray<f32>>(&Device::cpu(), &Default::default()).map(numbers);
    for (which, numeric) in differences().iter().enumerate() {
        close("against differences", &found[which], numeric);
        close("against NdArray", &found[which], &on_host[which]);
    }
}

#[test]
fn tensors_with_strides_and_offsets_are_read_right() {
    let Some((device, _one)) = wgpu() else { return };
    let place = WgpuDevice::DefaultDevice;
    let values: Vec<f32> = (0..4096).map(|k| k as f32).collect();
    let whole = gpu(&values);
    let square_of = |k: std::ops::Range<usize>| values[k].to_vec();
    let turned = whole.clone().reshape([64, 64]).swap_dims(0, 1).reshape([4096]);
    let cases = [
        ("whole", whole.clone(), values.clone()),
        ("aligned part", whole.clone().slice(1024..2048), square_of(1024..2048)),
        ("odd part", whole.clone().slice(3..8), square_of(3..8)),
        (
            "column",
            whole.clone().reshape([64, 64]).slice([0..64, 5..6]).reshape([64]),
            (0..64).map(|k| (64 * k + 5) as f32).collect(),
        ),
        ("turned", turned, (0..4096).map(|k| (64 * (k % 64) + k / 64) as f32).collect()),
        ("spread", gpu(&[7.0]).expand([100]), vec![7.0; 100]),
        ("one", gpu(&[5.0]), vec![5.0]),
    ];
    for (what, tensor, expected) in cases {
        let before = device.transferred();
        let array = Gpu::array(tensor, &device).expect("it is shared");
        assert_eq!(device.transferred(), before, "{what}");
        assert_eq!(array.to_vec().expect("it reads"), expected, "{what}");
        let result = device.zeros(array.len()).expect("memory");
        square(array.len(), &array, &result).expect("it runs");
        let squares: Vec<f64> = expected.iter().map(|v| f64::from(v * v)).collect();
        assert_eq!(numbers(Gpu::tensor(&result, &place).expect("it is shared")), squares, "{what}");
        if array.len() > 70 {
            for part in [1..4, 64..70] {
                let part_of = result.slice(part.clone()).expect("inside");
                assert_eq!(numbers(Gpu::tensor(&part_of, &place).expect("it is shared")), squares[part], "{what}");
            }
        }
    }
    let empty = Gpu::array(Tensor::from_data([0.0f32; 0], &place), &device).expect("it is shared");
    assert!(empty.is_empty() && numbers(Gpu::tensor(&empty, &place).expect("it is shared")).is_empty());
}

#[test]
fn what_is_shared_is_copied_before_it_is_written() {
    let Some((device, _one)) = wgpu() else { return };
    let place = WgpuDevice::DefaultDevice;
    // From Burn.
    let tensor = gpu(&[1.0, 2.0, 3.0]);
    let before = device.transferred();
    let writes: [&Write; 4] = [
        &|array| double(3, array),
        &|array| array.fill(9.0),
        &|array| square(3, &array.device().zeros(3)?, array),
        &|array| array.slice(1..2)?.fill(4.0),
    ];
    let arrays = writes.map(|write| {
        let array = Gpu::array(tensor.clone(), &device).expect("it is shared");
        write(&array).expect("it writes");
        array
    });
    assert_eq!(device.transferred(), before);
    let read = arrays.map(|array| array.to_vec().expect("it reads"));
    assert_eq!(read, [[2.0, 4.0, 6.0], [9.0; 3], [0.0; 3], [1.0, 4.0, 3.0]]);
    assert_eq!(numbers(tensor), [1.0, 2.0, 3.0]);
    // From diffkern.
    let array = device.array(&[1.0f32, 2.0, 3.0]).expect("memory");
    let before = device.transferred();
    let first = Gpu::tensor(&array, &place).expect("it is shared");
    double(3, &array).expect("it runs");
    let second = Gpu::tensor(&array, &place).expect("it is shared");
    array.fill(0.0).expect("it writes");
    assert_eq!(device.transferred(), before);
    assert_eq!(numbers(first), [1.0, 2.0, 3.0]);
    assert_eq!(numbers(second), [2.0, 4.0, 6.0]);
}

#[test]
fn burn_does_not_write_to_what_diffkern_has() {
    let Some((device, _one)) = wgpu() else { return };
    let tensor = gpu(&[1.0, 2.0, 3.0]) * 1.0;
    let array = Gpu::array(tensor.clone(), &device).expect("it is shared");
    // The last tensor of that memory: Burn would write in place if it had the only handle.
    let sum = tensor.add_scalar(10.0);
    assert_eq!(array.to_vec().expect("it reads"), [1.0, 2.0, 3.0]);
    let lent = Gpu::tensor(&array, &WgpuDevice::DefaultDevice).expect("it is shared");
    let product = lent.mul_scalar(5.0);
    assert_eq!(array.to_vec().expect("it reads"), [1.0, 2.0, 3.0]);
    drop(array);
    assert_eq!((numbers(sum), numbers(product)), (vec![11.0, 12.0, 13.0], vec![5.0, 10.0, 15.0]));
}

/// Memory is given back, taken again and written all the time, by both, while neither has been waited for.
#[test]
fn both_keep_one_order() {
    let Some((device, _one)) = wgpu() else { return };
    let place = WgpuDevice::DefaultDevice;
    const N: usize = 3000;
    let value = |k: usize| ((k * k) % 97) as f32 / 97.0;
    let mut tensor = gpu(&(0..N).map(value).collect::<Vec<_>>());
    let mut expected: Vec<f32> = (0..N).map(value).collect();
    for turn in 0..150 {
        let array = Gpu::array(tensor, &device).expect("it is shared");
        let next = device.uninit(N).expect("memory");
        square(N, &array, &next).expect("it runs");
        drop(array);
        let lent = Gpu::tensor(&next, &place).expect("it is shared");
        drop(next);
        // Burn has this to do yet, and no handle of what it reads,
        tensor = (lent.mul_scalar(0.5) + 0.25).sqrt();
        // when the memory goes to arrays that are written and sent off.
        let others = [0; 4].map(|_| device.uninit(N).expect("memory"));
        for other in &others {
            other.fill(turn as f32).expect("it writes");
        }
        Gpu::tensor(&others[0], &place).expect("it is shared");
        expected.iter_mut().for_each(|x| *x = (*x * *x * 0.5 + 0.25).sqrt());
    }
    for (found, expected) in numbers(tensor).iter().zip(expected) {
        assert!((found - f64::from(expected)).abs() < 1e-5, "{found} {expected}");
    }
}

#[test]
fn a_walk_back_on_another_thread_finds_the_same() {
    let Some((device, _one)) = wgpu() else { return };
    let place = WgpuDevice::DefaultDevice;
    let here = gradients::<Gpu>(&device, &place).map(numbers);
    let leaf = |values: Vec<f64>| tensor::<Autodiff<Gpu>>(&values, &place).require_grad();
    let (start, torque) = (leaf(start()), leaf(torque()));
    let loss = loss::<Gpu>(&device, start.clone(), torque.clone());
    let there = std::thread::spawn(move || {
        diffkern::shared::join(&device).expect("it joins");
        let grads = loss.backward();
        [start, torque].map(|t| numbers(t.grad(&grads).expect("a gradient")))
    });
    for (there, here) in there.join().expect("the thread ends").iter().zip(&here) {
        close("there", there, here);
    }
}

#[test]
fn integers_are_captured() {
    let Some((device, _one)) = wgpu() else { return };
    let place = WgpuDevice::DefaultDevice;
    let before = device.transferred();
    let order = Tensor::<Gpu, 1, Int>::from_data([2, 0, 1], &place);
    let order = Gpu::integers(order, &device).expect("it is shared");
    assert_eq!(device.transferred(), before);
    assert_eq!(order.to_vec().expect("it reads"), [2, 0, 1]);
    let short = Tensor::<Gpu, 1, Int>::from_data([2, 0], &place).cast(IntDType::U32);
    let error = Gpu::integers(short, &device).expect_err("it is not of i32").to_string();
    assert!(error.contains("U32") && error.contains("I32"), "{error}");
    let plain = Tensor::<NdArray, 1, Int>::from_data([1i64 << 40], &Default::default());
    assert!(NdArray::<f32>::integers(plain, &device).expect_err("it is too large").to_string().contains("32 bits"));
}

#[test]
fn what_cannot_be_shared_is_copied_or_refused() {
    let Some((device, _one)) = wgpu() else { return };
    let place = WgpuDevice::DefaultDevice;
    // Another device: through the host.
    let array = Gpu::array(gpu(&[3.0, 4.0]), &Device::cpu()).expect("it is copied");
    assert_eq!(array.to_vec().expect("it reads"), [3.0, 4.0]);
    assert_eq!(numbers(Gpu::tensor(&array, &place).expect("it is copied")), [3.0, 4.0]);
    let cpu = gradients::<Gpu>(&Device::cpu(), &place).map(numbers);
    let gpu = gradients::<Gpu>(&device, &place).map(numbers);
    close("start", &gpu[0], &cpu[0]);
    close("torque", &gpu[1], &cpu[1]);
    // A type that the device does not have.
    let double = Tensor::<Wgpu<f64, i32>, 1>::from_data([1.0f64], (&place, DType::F64));
    let error = Wgpu::<f64, i32>::array(double, &device).expect_err("it has no f64").to_string();
    assert!(error.contains("f64"), "{error}");
    // A tensor of another type than its backend's.
    let half = Tensor::<Gpu, 1>::from_data(TensorData::from([1.0f64]), (&place, DType::F64));
    let error = Gpu::array(half, &device).expect_err("it is not f32").to_string();
    assert!(error.contains("F64") && error.contains("F32"), "{error}");
}
