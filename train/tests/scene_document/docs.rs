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
