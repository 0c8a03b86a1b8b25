//! Documents that are read.

use crate::scenes::{ball, changed, folder, read, refusal};
use diffkern_sim::collision::Solid;
use serde_json::{Value, json};
use std::fs;
use train::scene::document::{Document, Transform};
use train::scene::{Access, Contact, Pair, Scene, Surface};

#[test]
fn a_document_survives_json_and_ron() {
    let first = folder("first", "scene.json", &ball().to_string());
    let (document, notes) = Document::read(&first, Access::Inside).unwrap();
    assert!(notes.is_empty());
    let json = document.to_json().unwrap();
    let tree: Value = serde_json::from_str(&json).unwrap();
    let written = [("scene.json", json), ("scene.ron", ron::to_string(&tree).unwrap())];
    let scene = Scene::read(&first).unwrap();
    for (file, text) in written {
        let copy = folder(&format!("copy_{file}"), file, &text);
        assert_eq!(Document::read(&copy, Access::Inside).unwrap().0, document, "{file}");
        assert_eq!(Scene::read(&copy).unwrap(), scene, "{file}");
    }
}

#[test]
fn every_shape_is_read() {
    let cases = [
        json!({"box": {"size": [0.1, 0.2, 0.1]}}),
        json!({"sphere": {"radius": 0.05}}),
        json!({"ellipsoid": {"radii": [0.05, 0.06, 0.07]}}),
        json!({"capsule": {"radius": 0.03, "length": 0.1}}),
        json!({"cylinder": {"radius": 0.03, "height": 0.1}}),
        json!({"torus": {"radius": 0.06, "tube": 0.02}}),
    ];
    for (number, shape) in cases.into_iter().enumerate() {
        let turned = changed(&ball(), "/bodies/jelly/pose/rotation", json!([0.3, 0.2, 0.1]));
        let scene = read(&format!("shape_{number}"), &changed(&turned, "/bodies/jelly/shape", shape.clone()));
        let volume = scene.unwrap().bodies[0].starts[0].shape.volume();
        assert!(volume > 1e-5 && volume < 1e-2, "{shape}: {volume}");
    }
}

#[test]
fn contacts_are_an_enumeration() {
    let cases = [
        (json!("frictionless"), Contact::Friction(0.0)),
        (json!("sticky"), Contact::Sticky),
        (json!("slip"), Contact::Slip),
        (json!({"friction": 0.4}), Contact::Friction(0.4)),
    ];
    for (contact, expected) in cases {
        let scene = read("contact", &changed(&ball(), "/colliders/ground/contact", contact)).unwrap();
        assert_eq!(scene.colliders[0].contact, expected);
    }
}

#[test]
fn colliders_have_shapes_and_motions() {
    let cases = [
        (json!({"half_space": {"normal": [0, 0, 2], "point": [0, 0, -1]}}), None),
        (json!({"box": {"size": [0.2, 0.4, 0.6]}}), Some(Solid::Cuboid { half_x: 0.1, half_y: 0.2, half_z: 0.3 })),
        (json!({"sphere": {"radius": 0.3}}), Some(Solid::Sphere { radius: 0.3 })),
        (json!({"capsule": {"radius": 0.1, "length": 0.5}}), Some(Solid::Capsule { radius: 0.1, half_length: 0.25 })),
    ];
    let motion = json!({"velocity": [1, 2, 3], "angular_velocity": [0, 0, 4]});
    for (shape, solid) in cases {
        let mut collider = json!({"shape": shape, "contact": {"friction": 0.2}, "motion": motion});
        if solid.is_some() {
            collider["pose"] = json!({"position": [0, 0, -2], "rotation": [0.1, 0, 0]});
        }
        let read = read("collider", &changed(&ball(), "/colliders/bat", collider)).unwrap().colliders[0].clone();
        let surface = match solid {
            Some(solid) => Surface::Solid { solid, position: [0.0, 0.0, -2.0], rotation: [0.1, 0.0, 0.0] },
            None => Surface::HalfSpace { point: [0.0, 0.0, -1.0], normal: [0.0, 0.0, 1.0] },
        };
        assert_eq!((read.name.as_str(), read.surface), ("bat", surface));
        assert_eq!((read.velocity, read.angular_velocity), ([1.0, 2.0, 3.0], [0.0, 0.0, 4.0]));
        assert_eq!(read.contact, Contact::Friction(0.2));
    }
    let corners = json!({"shape": {"box": {"min": [1, 0, 0], "max": [2, 4, 1]}}, "contact": "sticky"});
    let read = read("corners", &changed(&ball(), "/colliders/bat", corners)).unwrap().colliders[0].clone();
    let solid = Solid::Cuboid { half_x: 0.5, half_y: 2.0, half_z: 0.5 };
    assert_eq!(read.surface, Surface::Solid { solid, position: [1.5, 2.0, 0.5], rotation: [0.0; 3] });
}

#[test]
fn friction_of_several_colliders_is_found_by_name() {
    let rough = |scene: &Value, name: &str| {
        let collider = json!({"shape": {"half_space": {"normal": [0, 0, 1]}}, "contact": {"friction": 0.2}});
        changed(scene, &format!("/colliders/{name}"), collider)
    };
    let scene = rough(&rough(&ball(), "ground"), "table");
    let scene = changed(&scene, "/unknowns/colliders.table.contact.friction", json!({"range": [0, 1]}));
    let scene = read("friction", &scene).unwrap();
    let target = scene.unknowns[2].target;
    assert_eq!((scene.unknowns[2].name.key(), target.of), ("colliders.table.contact.friction", 1));
    assert_eq!(scene.target(&"table.friction".parse().unwrap()), Ok(target));
    let problem = scene.target(&"friction".parse().unwrap()).unwrap_err();
    assert_eq!(problem, "friction is of several, expected ground.friction or table.friction");
}

#[test]
fn young_and_poisson_are_two_other_constants() {
    let scene = changed(&ball(), "/bodies/jelly/material/young", json!(2e4));
    let scene = read("young", &changed(&scene, "/bodies/jelly/material/poisson", json!(0.25))).unwrap();
    let material = &scene.bodies[0].material;
    assert_eq!((material.mu, material.lambda), (Some(8e3), Some(8e3)));
}

#[test]
fn a_body_whose_young_is_unknown_has_no_lame_parameters() {
    let scene = changed(&ball(), "/bodies/jelly/material/poisson", json!(0.3));
    let unknowns = json!({"bodies.jelly.material.young": {"range": [5e3, 5e4], "transform": "linear"}});
    let scene = read("pair", &changed(&scene, "/unknowns", unknowns)).unwrap();
    let material = &scene.bodies[0].material;
    assert_eq!((material.pair, material.young, material.poisson), (Pair::Engineering, None, Some(0.3)));
    assert_eq!((material.mu, material.lambda), (None, None));
    let targets = ["young", "poisson", "mu", "lambda"].map(|name| scene.target(&name.parse().unwrap()).is_ok());
    assert_eq!(targets, [true, true, false, false]);
    assert_eq!(scene.unknowns[0].transform, Transform::Linear);
}

#[test]
fn vectors_are_unknown_by_component() {
    let range = json!({"range": [[-1, 1], [-2, 2], [-3, 3]]});
    let scene = read("vector", &changed(&ball(), "/unknowns/bodies.jelly.velocity", range)).unwrap();
    let found: Vec<_> = scene.unknowns.iter().map(|range| (range.name.to_string(), range.max)).collect();
    let expected =
        [("bodies.jelly.velocity.x", 1.0), ("bodies.jelly.velocity.y", 2.0), ("bodies.jelly.velocity.z", 3.0)];
    assert!(expected.iter().all(|(name, max)| found.contains(&((*name).into(), *max))), "{found:?}");
    let twice = changed(&ball(), "/unknowns/bodies.jelly.velocity.x", json!({"range": [-1, 1]}));
    let twice = changed(&twice, "/unknowns/bodies.jelly.velocity", json!({"range": [[-1, 1], [-2, 2], [-3, 3]]}));
    let said = refusal("vector_twice", &twice);
    assert!(
        said.contains("velocity.x is unknown here and in unknowns.bodies.jelly.velocity, expected it once"),
        "{said}"
    );
}

/// It is what a search does not begin with.
#[test]
fn the_value_of_an_unknown_may_lie_outside_of_its_range() {
    let scene = changed(&ball(), "/unknowns/bodies.jelly.velocity.x", json!({"range": [0.5, 1.0]}));
    assert_eq!(read("value", &scene).unwrap().bodies[0].starts[0].velocity[0], 0.4);
}

#[test]
fn files_lie_in_the_folder_unless_the_user_says_so() {
    let tetrahedron = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    let mesh = |file: &str| changed(&ball(), "/bodies/jelly/shape", json!({"mesh": {"file": file}})).to_string();
    let inside = folder("inside", "scene.json", &mesh("part/body.obj"));
    fs::create_dir(inside.join("part")).unwrap();
    fs::write(inside.join("part/body.obj"), tetrahedron).unwrap();
    assert!((Scene::read(&inside).unwrap().bodies[0].starts[0].shape.volume() - 1e-3 / 6.0).abs() < 1e-12);

    let elsewhere = inside.join("part/body.obj");
    let outside = folder("outside", "scene.json", &mesh(elsewhere.to_str().unwrap()));
    let beside = folder("beside", "scene.json", &mesh("../document_inside/part/body.obj"));
    for folder in [&outside, &beside] {
        let refused = Scene::read(folder).unwrap_err().to_string();
        assert!(refused.contains("bodies.jelly.shape.mesh.file") && refused.contains("is outside"), "{refused}");
        assert!(Scene::read_with(folder, Access::Anywhere).is_ok());
    }
    #[cfg(unix)]
    {
        let linked = folder("linked", "scene.json", &mesh("body.obj"));
        std::os::unix::fs::symlink(&elsewhere, linked.join("body.obj")).unwrap();
        let refused = Scene::read(&linked).unwrap_err().to_string();
        assert!(refused.contains("a link to the outside"), "{refused}");
        assert!(Scene::read_with(&linked, Access::Anywhere).is_ok());
    }
}
