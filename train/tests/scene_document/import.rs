//! Folders from before there were versions.

use crate::scenes::{assert_names, changed, folder, former, read, refusal};
use serde_json::{Value, json};
use std::fs;
use train::scene::document::{BodyShape, Document};
use train::scene::{Access, Contact, Name, Scene};

/// Where a value is changed, to what, and what the message names.
type Case = (&'static str, Value, &'static [&'static str]);

#[test]
fn words_are_never_searched() {
    let cases: &[Case] = &[
        ("/floor/contact", json!("sticky, not frictionless"), &["floor.contact", "sticky, not", "\"frictionless\""]),
        ("/floor/contact", json!("Frictionless"), &["floor.contact", "\"frictionless\"", "{\"friction\": 0.4}"]),
        ("/floor/friction", json!(0.3), &["floor.friction", "0.3", "no such field"]),
        ("/material/model", json!("not neo-Hookean at all"), &["material.model", "\"compressible neo-Hookean\""]),
        ("/material/energy_density", json!("mu/2*tr(E^2)"), &["material.energy_density", "tr(E^2)"]),
        ("/material/damping", json!("none to speak of"), &["material.damping", "\"none\""]),
        ("/material/damping", json!({"eta": 1, "unit": "poise"}), &["material.damping.unit", "\"poise\"", "\"Pa s\""]),
        ("/object/initial_deformation", json!("none, or so"), &["object.initial_deformation", "none (stress free)"]),
        ("/unknowns/mu/unit", json!("psi"), &["unknowns.mu.unit", "\"psi\"", "\"kPa\""]),
        ("/unknowns/mu/meaning", json!("Young's modulus"), &["unknowns.mu.meaning", "Young", "shear modulus"]),
        ("/unknowns/mu/rnage", json!([1, 2]), &["unknowns.mu.rnage", "unknown field"]),
        ("/conventions/units", json!("CGS"), &["conventions.units", "CGS", "SI"]),
        ("/conventions/axes", json!("right-handed, y up"), &["conventions.axes", "y up", "z up"]),
        ("/conventions/frame_times", json!("as they come"), &["conventions.frame_times", "frame k"]),
        ("/shading/normals", json!("bumpy"), &["shading.normals", "bumpy"]),
        ("/object/type", json!("ball"), &["object.type", "\"ball\"", "\"sphere\" or \"mesh\""]),
        ("/clamp", json!({"axis": "x", "plane": -0.2, "description": "x < -0.2"}), &["clamp.description", "x <= -0.2"]),
        (
            "/clamp",
            json!({"axis": "x", "plane": -0.2, "description": "y <= -0.2 is held"}),
            &["clamp.description", "x <= -0.2 is held"],
        ),
    ];
    for (pointer, value, parts) in cases {
        assert_names(pointer, &refusal("words", &changed(&former(), pointer, value.clone())), parts);
    }
}

#[test]
fn units_are_converted() {
    let scene = changed(&former(), "/unknowns/mu", json!({"unit": "kPa", "range": [1.5, 25]}));
    let scene = changed(&scene, "/material/damping", json!({"eta": 0.018, "unit": "kPa s"}));
    let scene = read("kilopascal", &scene).unwrap();
    let mu = scene.unknowns.iter().find(|range| range.name == Name::MU).unwrap();
    assert_eq!((mu.min, mu.max, scene.bodies[0].material.viscosity), (1500.0, 25000.0, 18.0));
}

#[test]
fn contacts_of_the_floor_are_read() {
    let cases = [
        (json!("frictionless"), Contact::Friction(0.0)),
        (json!("rigid, frictionless, separating (no adhesion)"), Contact::Friction(0.0)),
        (json!("sticky"), Contact::Sticky),
        (json!({"friction": 0.4}), Contact::Friction(0.4)),
    ];
    for (contact, expected) in cases {
        let scene = read("touch", &changed(&former(), "/floor/contact", contact)).unwrap();
        assert_eq!(scene.colliders[0].contact, expected);
    }
}

#[test]
fn both_sides_of_a_clamp_are_read() {
    let text = |sign: &str| {
        format!(
            "all material with rest position x {sign} -0.2 is held fixed (zero displacement) for all t; it is drawn too"
        )
    };
    for (sign, above) in [("<=", false), (">=", true)] {
        let clamp = json!({"axis": "x", "plane": -0.2, "description": text(sign)});
        let scene = read("clamp", &changed(&former(), "/clamp", clamp)).unwrap();
        assert_eq!(scene.clamp.unwrap().above, above);
    }
}

#[test]
fn it_says_what_it_took() {
    let (document, notes) =
        Document::read(&folder("took", "scene.json", &former().to_string()), Access::Inside).unwrap();
    let taken = "floor.contact: \"rigid, frictionless, separating (no adhesion)\" is taken as frictionless";
    assert!(notes.iter().any(|note| note.contains("scene.json: ") && note.ends_with(taken)), "{notes:?}");
    assert_eq!(document.version, 1);
}

#[test]
fn the_document_is_the_same_scene() {
    let first = folder("former", "scene.json", &former().to_string());
    let document = Document::read(&first, Access::Inside).unwrap().0.to_json().unwrap();
    let second = folder("renewed", "scene.json", &document);
    let (before, after) = (Scene::read(&first).unwrap(), Scene::read(&second).unwrap());
    assert_eq!((&before.bodies, &before.colliders, &before.cameras), (&after.bodies, &after.colliders, &after.cameras));
    assert_eq!((&before.shading, before.num_frames, before.gravity), (&after.shading, after.num_frames, after.gravity));
    let targets = |scene: &Scene| {
        let mut ranges: Vec<_> = scene.unknowns.iter().map(|range| (range.target, range.min, range.max)).collect();
        ranges.sort_by_key(|range| range.0);
        ranges
    };
    assert_eq!(targets(&before), targets(&after));
}

#[test]
fn several_objects_have_names_and_unknowns() {
    let object = |name: &str, x: f64| {
        let mut object = former()["object"].clone();
        object["name"] = json!(name);
        object["albedo_rgb"] = json!([0.1, 0.2, 0.3]);
        for corner in ["block_min", "block_max"] {
            object[corner][0] = json!(object[corner][0].as_f64().unwrap() + x);
        }
        object
    };
    let mut scene = former();
    let fields = scene.as_object_mut().unwrap();
    fields.remove("object");
    fields.insert("objects".into(), json!([object("right", 0.3), object("left", 0.0)]));
    fields.insert("contact_between_objects".into(), json!("frictionless"));
    fields.insert(
        "unknowns".into(),
        json!({"left.mu": {"range": [1500, 40000]}, "right.lambda": {"range": [1500, 40000]}}),
    );
    let read_scene = read("objects", &scene).unwrap();
    let bodies: Vec<_> = read_scene.bodies.iter().map(|body| (body.name.as_str(), body.albedo)).collect();
    assert_eq!(bodies, [("left", [0.1, 0.2, 0.3]), ("right", [0.1, 0.2, 0.3])]);
    let unknowns: Vec<_> = read_scene.unknowns.iter().map(|range| range.name.to_string()).collect();
    assert_eq!(unknowns, ["left.mu", "right.lambda"]);
    assert_eq!(read_scene.between, Some(Contact::Friction(0.0)));

    let dense = changed(&scene, "/objects/1/density", json!(-1));
    assert_names("density", &refusal("objects_density", &dense), &["objects[1].density", "-1", "positive"]);
    let stuck = changed(&scene, "/contact_between_objects", json!("sticky, frictionless"));
    assert_names("contact", &refusal("objects_contact", &stuck), &["contact_between_objects", "\"frictionless\""]);
    let third = changed(&scene, "/unknowns", json!({"middle.mu": {"range": [1, 2]}}));
    assert_names("unknown", &refusal("objects_unknown", &third), &["unknowns.middle.mu"]);
    let same = changed(&scene, "/objects/1/name", json!("right"));
    assert_names("name", &refusal("objects_name", &same), &["objects[1].name", "right"]);
}

#[test]
fn spheres_and_meshes_are_read() {
    let ball = json!({
        "type": "sphere", "centre": [-0.16, 0.04, 0.19], "radius": 0.09, "density": 1020.0,
        "initial_velocity": [0.42, -0.1, 0.0], "initial_deformation": "none (stress free)",
    });
    let scene = changed(
        &changed(&former(), "/object", ball),
        "/shading/normals",
        json!("smooth: area-weighted vertex normals of the whole closed surface"),
    );
    let whole = read("sphere", &scene).unwrap();
    assert!((whole.bodies[0].starts[0].shape.centre()[2] - 0.19).abs() < 1e-6);
    let folder = folder("mesh", "scene.json", &changed(&scene, "/object/mesh", json!("body.obj")).to_string());
    fs::write(
        folder.join("body.obj"),
        "v 0 0 1\nv 0.1 0 1\nv 0 0.1 1\nv 0 0 1.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
    )
    .unwrap();
    let (document, notes) = Document::read(&folder, Access::Inside).unwrap();
    assert!(matches!(document.bodies["body"].shape, BodyShape::Mesh(_)));
    assert!(notes.iter().any(|note| note.contains("object.mesh: the triangles")), "{notes:?}");
    assert!((Scene::read(&folder).unwrap().bodies[0].starts[0].shape.volume() - 1e-3 / 6.0).abs() < 1e-9);
}

#[test]
fn shutter_and_noise_are_read_and_named() {
    let scene = changed(
        &former(),
        "/shutter",
        json!({"open": -0.25, "close": 0.25, "unit": "frame intervals about k / frame_rate"}),
    );
    let scene = changed(
        &scene,
        "/sensor_noise",
        json!({"sigma": 0.02, "of": "white, independent per value, clipped to 0..255"}),
    );
    let warnings = read("exposed", &scene).unwrap().warnings;
    assert!(warnings.iter().any(|w| w.contains("shutter: frames are simulated at the middle")), "{warnings:?}");
    assert!(warnings.iter().any(|w| w.contains("sensor_noise.sigma: frames are simulated without")), "{warnings:?}");
    let late = changed(&scene, "/shutter/open", json!(0.0));
    assert_names("late", &refusal("late", &late), &["shutter", "as long before as after"]);
}

#[test]
fn the_duration_is_not_needed() {
    let mut scene = former();
    scene.as_object_mut().unwrap().remove("duration");
    assert!(read("duration", &scene).is_ok());
}
