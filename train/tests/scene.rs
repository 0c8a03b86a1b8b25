//! What is read from a good video.

mod common;

use common::{copy_sample, edit_scene, fresh, sample};
use serde_json::json;
use train::scene::{Contact, Name, Scene, Surface};
use train::video::{Bits, Video};

#[test]
fn the_sample_is_read_in_si_units() {
    let scene = Scene::read(&sample()).unwrap();
    assert_eq!(scene.name, "jelly_drop_a");
    assert!((scene.cameras[0].vertical_fov - 32f64.to_radians()).abs() < 1e-15);
    assert_eq!(scene.gravity, [0.0, 0.0, -9.81]);
    let material = &scene.bodies[0].material;
    assert_eq!((material.law.name(), material.viscosity), ("compressible neo-Hookean", 0.0));
    let floor = &scene.colliders[0];
    assert_eq!((floor.contact, floor.is_still()), (Contact::Friction(0.0), true));
    assert_eq!(floor.surface, Surface::HalfSpace { point: [0.0; 3], normal: [0.0, 0.0, 1.0] });
    assert_eq!(scene.unknowns.len(), 2);
    let mu = scene.unknowns.iter().find(|r| r.name == Name::MU).unwrap();
    assert_eq!((mu.min, mu.max), (1500.0, 25000.0));
    assert_eq!(scene.warnings, Vec::<String>::new());
    let length = scene.shading.lights[0].direction.iter().map(|v| v * v).sum::<f64>();
    assert!((length - 1.0).abs() < 1e-12);
}

#[test]
fn frames_are_read_and_written_to_the_same_bytes() {
    let folder = fresh("frames");
    let scene = Scene::read(&sample()).unwrap();
    let [video]: [Video; 1] = Video::read(&sample(), &scene).unwrap().try_into().unwrap();
    assert_eq!(video.frames.len(), 32);
    assert!(video.frames[0].silhouette.contains(&1.0));
    for (k, frame) in video.frames.iter().enumerate() {
        frame.write(&folder, ["silhouette", "shaded"], k, video.width, Bits::Eight).unwrap();
    }
    assert_eq!(Video::read(&folder, &scene).unwrap(), [video]);
}

#[test]
fn sixteen_bits_keep_a_thousandth_of_a_grey_level() {
    let (folder, scene) = (fresh("deep"), Scene::read(&sample()).unwrap());
    let [video]: [Video; 1] = Video::read(&sample(), &scene).unwrap().try_into().unwrap();
    let mut deep = video.clone();
    for (k, frame) in deep.frames.iter_mut().enumerate() {
        frame.silhouette.iter_mut().enumerate().for_each(|(i, v)| *v *= 1.0 - 1e-3 * (i % 7) as f32);
        frame.write(&folder, ["silhouette", "shaded"], k, video.width, Bits::Sixteen).unwrap();
    }
    let [read]: [Video; 1] = Video::read(&folder, &scene).unwrap().try_into().unwrap();
    let pairs = read.frames.iter().zip(&deep.frames).flat_map(|(a, b)| a.silhouette.iter().zip(&b.silhouette));
    assert!(pairs.clone().all(|(a, b)| (a - b).abs() <= 0.5 / 65535.0 + f32::EPSILON));
    assert!(read != video);
}

#[test]
fn viscosity_clamp_and_known_constants_are_read() {
    let video = copy_sample(&fresh("viscous"));
    edit_scene(&video, "/material/damping", json!({"model": "Newtonian", "eta": 18.0, "known": true}));
    edit_scene(&video, "/floor", json!(null));
    edit_scene(&video, "/conventions", json!(null));
    let file = video.join("scene.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let clamp = r#"{"clamp": {"axis": "x", "plane": -0.2, "description": "x <= -0.2 is held"}, "#;
    let text = text.replacen('{', clamp, 1).replace("\"energy_density\"", "\"lambda\": 4e4, \"energy_density\"");
    std::fs::write(&file, text).unwrap();
    let scene = Scene::read(&video).unwrap();
    let material = &scene.bodies[0].material;
    assert_eq!((material.viscosity, material.mu, material.lambda), (18.0, None, Some(4e4)));
    let clamp = scene.clamp.unwrap();
    assert_eq!((clamp.axis, clamp.plane, clamp.above), (0, -0.2, false));
    assert!(scene.colliders.is_empty());
}

#[test]
fn fields_that_are_not_understood_are_named() {
    let video = copy_sample(&fresh("strange"));
    let file = video.join("scene.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen('{', r#"{"wind": [1, 0, 0], "floor_note": "dry","#, 1)).unwrap();
    let warnings = Scene::read(&video).unwrap().warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("wind: not understood, ignored"), "{warnings:?}");
}
