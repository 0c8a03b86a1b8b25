//! Memory shared with a client of CubeCL that diffkern does not know.
#![cfg(feature = "wgpu")]

use cubecl::client::ComputeClient;
use cubecl::prelude::Runtime;
use cubecl::wgpu::{WgpuDevice, WgpuRuntime};
use diffkern::prelude::*;
use diffkern::rollout;
use diffkern::shared::{self, Handle};
use std::sync::{Mutex, MutexGuard, PoisonError};

const PLACE: WgpuDevice = WgpuDevice::DefaultDevice;

/// The device, its other client, and the right to its counters; `None` where there is none, which is an error if
/// `DIFFKERN_TEST_DEVICES` names it.
fn both() -> Option<(Device, ComputeClient<WgpuRuntime>, MutexGuard<'static, ()>)> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = std::env::var("DIFFKERN_TEST_DEVICES").unwrap_or_default();
    match Device::wgpu() {
        Err(error) if wanted.split(',').any(|w| w == "wgpu") => panic!("{error}"),
        opened => opened.ok().map(|device| (device, WgpuRuntime::client(&PLACE), guard)),
    }
}

fn make(client: &ComputeClient<WgpuRuntime>, values: &[f32]) -> Handle {
    client.create_from_slice(&values.iter().flat_map(|v| v.to_ne_bytes()).collect::<Vec<u8>>())
}

fn read(client: &ComputeClient<WgpuRuntime>, handle: &Handle) -> Vec<f32> {
    let bytes = client.read_one(handle.clone()).expect("it reads");
    bytes.as_chunks().0.iter().map(|word| f32::from_ne_bytes(*word)).collect()
}

#[diff_kernel]
fn cube_of<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
}

#[test]
fn gradients_flow_through_memory_of_others() -> Result<()> {
    let Some((device, client, _one)) = both() else { return Ok(()) };
    let (point, seed) = (make(&client, &[1.0, -2.0, 3.0]), make(&client, &[1.0, 10.0, 100.0]));
    let before = device.transferred();
    let x: Array<f32> = shared::adopt::<WgpuRuntime, _>(&device, &PLACE, point.clone(), 3)?.requires_grad();
    let seed: Array<f32> = shared::adopt::<WgpuRuntime, _>(&device, &PLACE, seed, 3)?;
    let (tape, y) = Tape::record_value(|| {
        let y = device.zeros(3)?;
        cube_of(3, &x, &y)?;
        Ok::<_, Error>(y)
    })?;
    // The adjoint needs what was there.
    x.fill(0.5)?;
    tape.backward_from(&[(y.as_any(), seed.as_any())])?;
    let (y, slope) = (shared::lend(&y)?, shared::lend(&x.grad()?)?);
    assert_eq!(device.transferred(), before, "bytes went through the host");
    assert_eq!(read(&client, &y), [1.0, -8.0, 27.0]);
    assert_eq!(read(&client, &slope), [3.0, 120.0, 2700.0]);
    assert_eq!(read(&client, &point), [1.0, -2.0, 3.0], "memory of others was written");
    assert_eq!(x.to_vec()?, [0.5; 3]);
    assert_eq!(device.transferred(), (before.0, before.1 + 12));
    Ok(())
}

#[test]
fn a_part_of_an_array_is_lent_from_any_place() -> Result<()> {
    let Some((device, client, _one)) = both() else { return Ok(()) };
    let values: Vec<f32> = (0..1000).map(|k| k as f32).collect();
    let array = device.array(&values)?;
    let before = device.transferred();
    for part in [0..1000, 0..3, 64..200, 7..9, 1000..1000] {
        let handle = shared::lend(&array.slice(part.clone())?)?;
        assert_eq!(handle.size_in_used() as usize, 4 * part.len());
        assert_eq!(device.transferred(), before);
        if !part.is_empty() {
            assert_eq!(read(&client, &handle), values[part]);
        }
    }
    array.fill(1.0)?;
    // A handle may start inside its memory, and be longer than what is taken of it.
    let inside = make(&client, &values).offset_start(1024);
    let part: Array<f32> = shared::adopt::<WgpuRuntime, _>(&device, &PLACE, inside, 5)?;
    assert_eq!(part.to_vec()?, [256.0, 257.0, 258.0, 259.0, 260.0]);
    Ok(())
}

#[test]
fn fills_of_any_element_stay_right() -> Result<()> {
    let Some((device, _, _one)) = both() else { return Ok(()) };
    let before = device.transferred().0;
    let (reals, pairs) = (device.zeros::<f32>(70)?, device.zeros::<Vec2<f32>>(70)?);
    reals.slice(3..69)?.fill(2.5)?;
    pairs.slice(1..70)?.fill(Vec2::new(1.0, -3.0))?;
    assert_eq!(device.transferred().0, before);
    let triples = device.zeros::<Vec3<f32>>(5)?;
    triples.slice(1..4)?.fill(Vec3::new(1.0, 2.0, 3.0))?;
    let expected = |k: usize| if (3..69).contains(&k) { 2.5 } else { 0.0 };
    assert_eq!(reals.to_vec()?, (0..70).map(expected).collect::<Vec<_>>());
    assert!(pairs.to_vec()?.iter().skip(1).all(|p| *p == Vec2::new(1.0, -3.0)));
    let (none, some) = (Vec3::new(0.0, 0.0, 0.0), Vec3::new(1.0, 2.0, 3.0));
    assert_eq!(triples.to_vec()?, [none, some, some, some, none]);
    Ok(())
}

#[test]
fn what_cannot_be_shared_is_refused() -> Result<()> {
    let Some((device, client, _one)) = both() else { return Ok(()) };
    let adopt = |device: &Device, place: &WgpuDevice, handle: Handle, len: usize| {
        let array = shared::adopt::<WgpuRuntime, f32>(device, place, handle, len);
        array.map(|_| ()).expect_err("it is refused").to_string()
    };
    let handle = make(&client, &[1.0; 100]);
    assert!(shared::is_on::<WgpuRuntime>(&device, &PLACE));
    assert!(!shared::is_on::<WgpuRuntime>(&device, &WgpuDevice::Cpu));
    assert!(!shared::is_on::<WgpuRuntime>(&Device::cpu(), &PLACE));
    assert!(adopt(&device, &WgpuDevice::DiscreteGpu(7), handle.clone(), 100).contains("wgpu"));
    assert!(adopt(&Device::cpu(), &PLACE, handle.clone(), 100).contains("cpu"));
    assert!(adopt(&device, &PLACE, handle.clone(), 101).contains("400 bytes"));
    assert!(adopt(&device, &PLACE, handle.clone().offset_start(4), 5).contains("copy it"));
    let doubles = shared::adopt::<WgpuRuntime, f64>(&device, &PLACE, handle.clone(), 50).map(|_| ());
    assert!(doubles.expect_err("it has none").to_string().contains("f64"));
    let on_host = shared::lend(&Device::cpu().zeros::<f32>(3)?).map(|_| ());
    assert!(on_host.expect_err("it is in other memory").to_string().contains("host"));
    assert!(shared::join(&Device::cpu()).is_err());
    // Replays could not find it again.
    let start = device.zeros::<f32>(3)?;
    let inner = handle.clone();
    let adopting = rollout(2, Schedule::StoreAll, start.clone(), move |x, _| {
        shared::adopt::<WgpuRuntime, f32>(x.device(), &PLACE, inner.clone(), 3)
    });
    assert!(adopting.map(|_| ()).expect_err("it is refused").to_string().contains("step of a rollout"));
    let lending = rollout(2, Schedule::StoreAll, start, |x, _| shared::lend(x).map(|_| x.clone()));
    assert!(lending.map(|_| ()).expect_err("it is refused").to_string().contains("step of a rollout"));
    Ok(())
}
