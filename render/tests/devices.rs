//! A whole picture and its gradient on every device, in f32 and where it has it in f64, against f64 on the CPU.
#![cfg(any(feature = "wgpu", feature = "wgpu-spirv", feature = "cuda"))]
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

mod common;

use common::*;
use diffkern::{Array, Device, Float, Tape, Vec3};
use diffkern_render::{CameraParams, Lighting, Mesh, Renderer, loss, pyramid};

const SIZE: usize = 48;

type Outcome = Vec<(&'static str, Vec<f64>)>;

fn scalars<F: Float>(array: &Array<F>) -> Vec<f64> {
    array.to_vec().unwrap().into_iter().map(F::to_f64).collect()
}

fn components<F: Float>(array: &Array<Vec3<F>>) -> Vec<f64> {
    array.to_vec().unwrap().iter().flat_map(|v| v.to_array().map(F::to_f64)).collect()
}

/// The block of `jelly_drop_a`, its vertices moved about: no edge is parallel to an image axis.
fn block() -> (Mesh, Vec<V>) {
    let (mesh, vertices) = drop_block(3);
    let mut random = Random(3);
    (mesh, vertices.into_iter().map(|v| v + random.vec(2e-3)).collect())
}

struct Scene<F: Float> {
    renderer: Renderer<F>,
    vertices: Array<Vec3<F>>,
    camera: CameraParams<F>,
    light: Lighting<F>,
    target: Array<F>,
    colors: Array<Vec3<F>>,
}

fn scene<F: Float>(device: &Device) -> Scene<F> {
    let (mesh, vertices) = block();
    let vector = |v: V| Vec3::from_array(v.to_array().map(F::from_f64));
    let mut random = Random(11);
    let target: Vec<F> = (0..SIZE * SIZE).map(|_| F::from_f64(0.5 + 0.5 * random.next())).collect();
    let colors: Vec<_> = (0..SIZE * SIZE).map(|_| vector(random.vec(0.5) + Vec3::new(0.5, 0.5, 0.5))).collect();
    let grads = |array: &Array<Vec3<F>>| array.clone().requires_grad();
    let camera: CameraParams<F> = drop_camera().with_size(SIZE, SIZE).params(device).unwrap();
    let light: Lighting<F> = drop_light().lighting(device).unwrap();
    Scene {
        renderer: Renderer::new(device, &mesh).unwrap(),
        vertices: device.array(&vertices.into_iter().map(vector).collect::<Vec<_>>()).unwrap().requires_grad(),
        camera: CameraParams { position: grads(&camera.position), look_at: grads(&camera.look_at), ..camera },
        light: Lighting { albedo: grads(&light.albedo), direction: grads(&light.direction), ..light },
        target: device.array(&target).unwrap(),
        colors: device.array(&colors).unwrap(),
    }
}

fn outline<F: Float>(device: &Device) -> Outcome {
    let s = scene::<F>(device);
    let (tape, (coverage, total)) = Tape::record_value(|| {
        let coverage = s.renderer.silhouette(&s.vertices, &s.camera)?.coverage;
        let total = loss::l2(&coverage, &s.target)?;
        loss::jaccard_into(&coverage, &s.target, 0.3, &total)?;
        pyramid::l2_into(&coverage, &s.target, (SIZE, SIZE), 0.5, &total)?;
        diffkern_render::Result::Ok((coverage, total))
    })
    .unwrap();
    tape.backward(&total).unwrap();
    vec![
        ("coverage", scalars(&coverage)),
        ("loss", scalars(&total)),
        ("gradient of the vertices", components(&s.vertices.grad().unwrap())),
        ("gradient of the camera", components(&s.camera.position.grad().unwrap())),
        ("gradient of the line of sight", components(&s.camera.look_at.grad().unwrap())),
    ]
}

fn picture<F: Float>(device: &Device) -> Outcome {
    let s = scene::<F>(device);
    let (tape, (color, total)) = Tape::record_value(|| {
        let color = s.renderer.shaded(&s.vertices, &s.camera, &s.light)?.color;
        let total = loss::l2_color(&color, &s.colors)?;
        diffkern_render::Result::Ok((color, total))
    })
    .unwrap();
    tape.backward(&total).unwrap();
    vec![
        ("colour", components(&color)),
        ("loss", scalars(&total)),
        ("gradient of the vertices", components(&s.vertices.grad().unwrap())),
        ("gradient of the albedo", components(&s.light.albedo.grad().unwrap())),
        ("gradient of the light", components(&s.light.direction.grad().unwrap())),
    ]
}

/// `|a - b| / |b|` over all entries.
fn relative(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let difference: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
    (difference / b.iter().map(|b| b * b).sum::<f64>()).sqrt()
}

/// The rounding of an f64 as a part of that of an f32.
const DOUBLE: f64 = f64::EPSILON / f32::EPSILON as f64;

/// Coordinates of 40 px have a unit in the last place of 4e-6 px in f32, and areas are differences of their products:
/// what separates the CPU's f32 from f64. Another device rounds elsewhere, by as much: it may be off by ten times that.
/// Above 2e-3 nothing is rounding any more, whatever the CPU does. In f64 all of this is as much smaller as the rounding
/// is.
fn agrees(single: impl Fn(&Device) -> Outcome, double: impl Fn(&Device) -> Outcome) {
    let (exact, rounded) = (double(&Device::cpu()), single(&Device::cpu()));
    let check = |found: Outcome, unit: f64, place: String| {
        for (((name, found), (_, rounded)), (_, exact)) in found.iter().zip(&rounded).zip(&exact) {
            let (error, usual) = (relative(found, exact), unit * relative(rounded, exact));
            println!("{name}: {error:.1e} on {place}, {usual:.1e} to be expected");
            assert!(exact.iter().any(|x| *x != 0.0), "{name} is zero");
            assert!(
                error <= (10.0 * usual).clamp(1e-5 * unit, 2e-3 * unit),
                "{name}: {error:e} off on {place}, {usual:e} to be expected"
            );
        }
    };
    for device in diffkern::gradcheck::devices().unwrap() {
        check(single(&device), 1.0, format!("{}, f32", device.name()));
        if device.supports_f64() {
            check(double(&device), DOUBLE, format!("{}, f64", device.name()));
        }
    }
}

#[test]
fn outlines_and_their_gradients() {
    agrees(outline::<f32>, outline::<f64>);
}

#[test]
fn pictures_and_their_gradients() {
    agrees(picture::<f32>, picture::<f64>);
}
