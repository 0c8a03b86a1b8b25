//! What the documentation shows is what is read.

use crate::scenes::{docs, folder};
use std::fs;
use train::scene::Scene;
use train::scene::document::Document;

/// The blocks of code in one language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_examples_are_read_to_the_same_scene() {
    let text = fs::read_to_string(docs("scene.md")).unwrap();
    let (json, ron) = (blocks(&text, "json"), blocks(&text, "ron"));
    let scenes = [("scene.json", &json[0]), ("scene.ron", &ron[0])]
        .map(|(file, text)| Scene::read(&folder(file, file, text)).unwrap());
    assert_eq!(scenes[0], scenes[1]);
    assert_eq!(scenes[0].bodies[0].name, "jelly");
}

#[test]
fn the_example_of_takes_is_read() {
    let text = fs::read_to_string(docs("scene.md")).unwrap();
    let json = blocks(&text, "json");
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let (mut scene, takes) = (parse(&json[0]), parse(&format!("{{{}}}", json[4])));
    scene["units"] = serde_json::json!({"angle": "deg"});
    scene["bodies"]["jelly"]["material"]["lambda"] = serde_json::json!(13_300);
    let camera = scene["cameras"]["main"].clone();
    scene["cameras"] = serde_json::json!({"front": camera, "side": camera});
    takes.as_object().unwrap().iter().for_each(|(field, value)| scene[field] = value.clone());
    let scene = Scene::read(&folder("takes", "scene.json", &scene.to_string())).unwrap();
    assert_eq!((scene.takes.len(), scene.films.len(), scene.unknowns.len()), (2, 2, 2));
    let [drop, throw] = [0, 1].map(|take| scene.bodies[0].starts[take].velocity[0]);
    assert_eq!([drop, throw], [0.42, 0.8]);
}

#[test]
fn the_example_of_observations_is_read() {
    let text = fs::read_to_string(docs("scene.md")).unwrap();
    let json = blocks(&text, "json");
    let mut scene: serde_json::Value = serde_json::from_str(&json[0]).unwrap();
    let more: serde_json::Value = serde_json::from_str(&format!("{{{}}}", json[3])).unwrap();
    scene["observations"] = more["observations"].clone();
    let scene = Scene::read(&folder("observations", "scene.json", &scene.to_string())).unwrap();
    let tracks: Vec<_> = scene.tracks.iter().map(|track| (track.name.as_str(), track.points())).collect();
    assert_eq!(tracks, [("dots", 2), ("middle", 1)]);
}

#[test]
fn the_example_of_depths_is_read() {
    let text = fs::read_to_string(docs("scene.md")).unwrap();
    let json = blocks(&text, "json");
    let mut scene: serde_json::Value = serde_json::from_str(&json[0]).unwrap();
    let more: serde_json::Value = serde_json::from_str(&format!("{{{}}}", json[2])).unwrap();
    scene["videos"] = more["videos"].clone();
    let scene = Scene::read(&folder("depths", "scene.json", &scene.to_string())).unwrap();
    let depth = scene.films[0].depth.as_ref().unwrap();
    assert_eq!((depth.folder.as_str(), depth.scale, depth.deviation), ("depth", 1e-3, 4e-3));
    assert_eq!(scene.films[0].weights, [1.0, 0.0, 1.0]);
}

#[test]
fn the_example_of_pushes_is_read() {
    let text = fs::read_to_string(docs("scene.md")).unwrap();
    let json = blocks(&text, "json");
    let mut scene: serde_json::Value = serde_json::from_str(&json[0]).unwrap();
    let pushes: serde_json::Value = serde_json::from_str(&format!("{{{}}}", json[1])).unwrap();
    scene["pushes"] = pushes["pushes"].clone();
    scene["bodies"]["jelly"]["material"] = serde_json::json!({"law": "rigid"});
    scene["unknowns"] = serde_json::json!({"bodies.jelly.density": {"range": [100, 3000]}});
    let scene = Scene::read(&folder("pushes", "scene.json", &scene.to_string())).unwrap();
    let intervals: Vec<_> = scene.pushes.iter().map(|push| (push.name.as_str(), push.interval)).collect();
    assert_eq!(intervals, [("kick", [0.1, 0.1]), ("shove", [0.2, 0.3])]);
}

#[test]
fn the_schema_is_current() {
    let (file, schema) = (docs("scene.schema.json"), Document::schema().unwrap());
    if std::env::var_os("DIFFKERN_BLESS").is_some() {
        fs::write(&file, &schema).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept == schema, "docs/scene.schema.json is of another version: run this test with DIFFKERN_BLESS=1");
}

#[test]
fn every_field_is_documented() {
    let schema: serde_json::Value = serde_json::from_str(&Document::schema().unwrap()).unwrap();
    let text = fs::read_to_string(docs("scene.md")).unwrap();
    let definitions = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    let fields = definitions.filter_map(|d| d["properties"].as_object()).flat_map(|p| p.keys().cloned());
    let missing: Vec<_> = fields.filter(|field| !text.contains(&format!("`{field}`"))).collect();
    assert!(missing.is_empty(), "docs/scene.md does not say what {missing:?} are");
}
