//! Several lights: each adds to what the others give.
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

mod common;

use common::*;
use diffkern::Device;
use diffkern_render::{Light, Lighting, Renderer};

#[test]
fn lights_add_up() {
    let device = Device::cpu();
    let (mesh, vertices) = drop_block(2);
    let renderer = Renderer::<f64>::new(&device, &mesh).unwrap();
    let (x, camera) = (upload(&device, &vertices), drop_camera().with_size(40, 40).params(&device).unwrap());
    let dim = |light: Light| Light { albedo: [0.9, 0.6, 0.3], intensity: 0.3, ambient: 0.1, ..light };
    let sun = dim(drop_light());
    let lamp = Light { direction: [0.8, -0.5, 0.1], intensity: 0.25, ..sun.clone() };
    let image = |lights: &[Light]| {
        let lighting = Lighting::of(lights, &device).unwrap();
        renderer.shaded(&x, &camera, &lighting).unwrap().color.to_vec().unwrap()
    };
    let dark = Light { intensity: 0.0, ..sun.clone() };
    let (both, sun_alone) = (image(&[sun.clone(), lamp.clone()]), image(std::slice::from_ref(&sun)));
    let (lamp_alone, none) = (image(&[lamp]), image(&[dark]));
    let mut lit = 0;
    for k in 0..both.len() {
        let expected = sun_alone[k] + lamp_alone[k] - none[k];
        assert!((both[k] - expected).norm() < 1e-12, "pixel {k}: {:?} and {expected:?}", both[k]);
        lit += usize::from((both[k] - sun_alone[k]).norm() > 0.01);
    }
    assert!(lit > 20, "{lit}");
    // As many intensities as directions.
    let lighting: Lighting<f64> = sun.lighting(&device).unwrap();
    let wrong = Lighting { intensity: device.zeros(2).unwrap(), ..lighting };
    let refused = renderer.shaded(&x, &camera, &wrong).unwrap_err().to_string();
    assert!(refused.contains("intensity"), "{refused}");
    let none: &[Light] = &[];
    assert!(Lighting::<f64>::of(none, &device).unwrap_err().to_string().contains("number of lights"));
}
