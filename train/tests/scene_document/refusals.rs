//! Documents that are refused, each with the path and the way out.

use crate::scenes::{assert_names, ball, changed, folder, refusal};
use serde_json::{Value, json};
use train::scene::Scene;

/// Where a value is changed, to what, and what the message names.
type Case = (&'static str, Value, &'static [&'static str]);

fn check(cases: &[Case]) {
    for (pointer, value, parts) in cases {
        let message = refusal("refusal", &changed(&ball(), pointer, value.clone()));
        assert_names(pointer, &message, parts);
        assert!(message.contains("scene.json:1:"), "{pointer}: no line in {message}");
    }
}

#[test]
fn unknown_fields_are_refused_with_the_nearest_name() {
    check(&[
        ("/gravty", json!(1), &["gravty: unknown field", "did you mean \"gravity\"?"]),
        ("/bodies/jelly/veloctiy", json!([0, 0, 0]), &["bodies.jelly.veloctiy", "did you mean \"velocity\"?"]),
        ("/bodies/jelly/material/lamda", json!(1), &["bodies.jelly.material.lamda", "did you mean \"lambda\"?"]),
        ("/bodies/jelly/shape/sphere/radios", json!(1), &["bodies.jelly.shape.sphere.radios", "\"radius\""]),
        ("/cameras/front/vertical_fof", json!(1), &["cameras.front.vertical_fof", "did you mean \"vertical_fov\"?"]),
        ("/units", json!({"lenght": "m"}), &["units.lenght", "did you mean \"length\"?"]),
        ("/colliders/ground/motion", json!({"speed": 1}), &["colliders.ground.motion.speed", "\"velocity\""]),
        ("/unknowns/gravity", json!({"rnage": 1}), &["unknowns.gravity.rnage", "did you mean \"range\"?"]),
        ("/duration", json!(1), &["duration: unknown field"]),
        ("/", json!(1), &["\"\": unknown field"]),
    ]);
}

#[test]
fn wrong_kinds_say_which_there_are() {
    check(&[
        ("/bodies/jelly/shape", json!({"spere": {"radius": 1}}), &["bodies.jelly.shape", "\"sphere\"?", "\"torus\""]),
        ("/bodies/jelly/shape", json!({"half_space": {}}), &["bodies.jelly.shape", "\"box\"", "\"mesh\""]),
        ("/bodies/jelly/shape", json!("sphere"), &["bodies.jelly.shape", "\"sphere\" alone", "{\"sphere\": ..}"]),
        ("/bodies/jelly/shape", json!({}), &["bodies.jelly.shape", "\"sphere\""]),
        ("/bodies/jelly/material/law", json!("neo-hookean"), &["material.law", "did you mean \"neo_hookean\"?"]),
        ("/bodies/jelly/material/law", json!("not neo_hookean at all"), &["material.law", "\"fixed_corotated\""]),
        ("/colliders/ground/contact", json!("sticky, not frictionless"), &["colliders.ground.contact", "\"slip\""]),
        ("/colliders/ground/contact", json!({"friction": "much"}), &["ground.contact.friction", "much", "a number"]),
        ("/units", json!({"pressure": "psi"}), &["units.pressure", "\"psi\"", "\"kPa\"", "\"MPa\""]),
        ("/units", json!({"length": "inch"}), &["units.length", "\"inch\"", "\"mm\""]),
        ("/axes", json!({"up": "x"}), &["axes.up", "\"x\"", "\"z\", \"y\""]),
        ("/axes", json!({"handedness": "left"}), &["axes.handedness", "\"left\"", "\"right\""]),
        ("/version", json!(2), &["version: 2, expected 1"]),
        ("/version", json!("1"), &["version: \"1\", expected 1"]),
    ]);
}

#[test]
fn wrong_values_are_refused() {
    check(&[
        ("/gravity", json!([0, 0]), &["gravity", "2 values", "three numbers"]),
        ("/gravity", json!([0, 0, 0, 0]), &["gravity", "4 values, expected 3"]),
        ("/gravity/1", json!("down"), &["gravity[1]", "\"down\"", "a number"]),
        ("/frames", json!(1.5), &["frames", "1.5", "whole number"]),
        ("/frames", json!(1), &["frames", "2 to 10000"]),
        ("/bodies", json!({}), &["bodies: there is none"]),
        ("/bodies", json!({"a b": ball()["bodies"]["jelly"]}), &["bodies: \"a b\" is no name"]),
        ("/bodies/jelly/density", json!(-3), &["bodies.jelly.density", "-3", "positive"]),
        ("/bodies/jelly/shape/sphere/radius", json!(0), &["shape.sphere.radius", "positive"]),
        (
            "/bodies/jelly/shape",
            json!({"torus": {"radius": 0.1, "tube": 0.2}}),
            &["torus.tube", "less than the radius"],
        ),
        (
            "/bodies/jelly/pose/position/2",
            json!(0.05),
            &["bodies.jelly.pose.position", "the body starts", "inside the collider \"ground\""],
        ),
        ("/cameras/front/far", json!(1.0), &["cameras.front.far", "but the body is at depths of", "expected more"]),
        ("/cameras/front/position", json!([0.1, 0.2, 0.2]), &["cameras.front.position", "inside the body"]),
        ("/bodies/jelly/shape", json!({"box": {"min": [0, 0, 0]}}), &["shape.box", "either size, or min and max"]),
        ("/bodies/jelly/shape", json!({"mesh": {"file": "no.obj"}}), &["shape.mesh.file", "no.obj", "cannot be read"]),
        ("/bodies/jelly/material/poisson", json!(0.3), &["material.poisson", "young is missing"]),
        (
            "/unknowns",
            json!({"bodies.jelly.material.poisson": {"range": [0.1, 0.6]}}),
            &["material.poisson.range", "0.6", "0.0 to 0.499"],
        ),
        ("/bodies/jelly/albedo/0", json!(1.5), &["bodies.jelly.albedo", "0..1"]),
        ("/cameras/front/vertical_fov", json!(4.0), &["cameras.front.vertical_fov", "170.0 degrees"]),
        ("/cameras/front/distortion", json!({"k1": -4}), &["cameras.front.distortion", "two places at one"]),
        ("/cameras/front/distortion", json!({"p2": 1e3}), &["cameras.front.distortion.p2", "no lens"]),
        ("/cameras/front/exposure", json!(0), &["cameras.front.exposure", "positive"]),
        ("/cameras/front/look_at", json!([0.6, -2.0, 0.5]), &["cameras.front.look_at", "behind the camera"]),
        (
            "/cameras/front/look_at",
            json!([0.5, -0.95, 0.42]),
            &["cameras.front.look_at", "[0.5, -0.95, 0.42] is the position of the camera as well"],
        ),
        (
            "/bodies/jelly/shape/sphere/radius",
            json!(90.0),
            &["the body, 180 m long (see units.length, or scale of a mesh)"],
        ),
        (
            "/unknowns/bodies.jelly.velocity",
            json!({"range": [0.3, 2]}),
            &["bodies.jelly.velocity.range", "it is a vector", "bodies.jelly.velocity.x"],
        ),
        (
            "/unknowns/bodies.jelly.density",
            json!({"range": [[1, 2], [1, 2], [1, 2]]}),
            &["density.range", "it is a number"],
        ),
        (
            "/unknowns/bodies.jelly.material.mu/range",
            json!([9, 4]),
            &["material.mu.range", "[9, 4]", "greater value last"],
        ),
        ("/unknowns/bodies.jelly.material.mu/range", json!([9]), &["material.mu.range", "[least, greatest]"]),
        (
            "/unknowns/bodies.jelly.material.nu",
            json!({"range": [1, 2]}),
            &["material.nu", "\"bodies.jelly.material.mu\"?"],
        ),
        ("/unknowns/bodies.jely.density", json!({"range": [1, 2]}), &["did you mean \"bodies.jelly.density\"?"]),
    ]);
}

#[test]
fn a_body_has_one_pair_of_elastic_parameters() {
    let scene = changed(&ball(), "/bodies/jelly/material/lambda", json!(9e3));
    let unknowns = json!({"bodies.jelly.material.young": {"range": [5e3, 5e4]}});
    let said = refusal("two_pairs", &changed(&scene, "/unknowns", unknowns));
    assert!(said.contains("bodies.jelly.material.lambda: is given, and young or poisson is an unknown"), "{said}");
    let both = json!({"bodies.jelly.material.young": {"range": [5e3, 5e4]}, "bodies.jelly.material.mu": {"range": [1e3, 2e3]}});
    let said = refusal("both_pairs", &changed(&ball(), "/unknowns", both));
    assert_names(
        "both_pairs",
        &said,
        &["unknowns.bodies.jelly.material.mu: young of this body is unknown as well", "one pair"],
    );
    let unknown =
        refusal("one_pair", &changed(&ball(), "/unknowns/bodies.jelly.material.poisson", json!({"range": [0.1, 0.4]})));
    assert_names("one_pair", &unknown, &["unknowns.bodies.jelly.material.mu: poisson of this body"]);
}

#[test]
fn a_mass_that_no_material_has_is_refused() {
    let mut scene = changed(&ball(), "/bodies/jelly/material", json!({"law": "rigid"}));
    scene["bodies"]["jelly"].as_object_mut().unwrap().remove("density");
    scene["unknowns"] = json!({});
    for (mass, density) in [(1e-9, "1e-9 kg in 3.054e-3 m^3 is 3.275e-7 kg/m^3"), (1e12, "3.275e14 kg/m^3")] {
        let said = refusal("mass", &changed(&scene, "/bodies/jelly/mass", json!(mass)));
        assert_names(density, &said, &["bodies.jelly.mass", density, "expected 0.001 to 1000000.0 kg/m^3", "gases"]);
    }
    let said = refusal("masses", &changed(&scene, "/unknowns/bodies.jelly.mass", json!({"range": [1.0, 1e9]})));
    assert_names("masses", &said, &["unknowns.bodies.jelly.mass.range", "kg/m^3"]);
}

#[test]
fn what_is_not_simulated_yet_is_refused() {
    let sun = || ball()["lights"]["sun"].clone();
    check(&[
        (
            "/lights",
            json!({"a": sun(), "b": sun(), "c": sun(), "d": sun(), "e": sun()}),
            &["lights.e", "there are 5", "at most 4"],
        ),
        ("/lights", json!({}), &["lights", "at least one"]),
        ("/cameras/front/shutter", json!({"open": 0, "close": 0.5}), &["cameras.front.shutter", "as long before"]),
        (
            "/unknowns/bodies.jelly.pose.position",
            json!({"range": [[0, 1], [0, 1], [0, 1]]}),
            &["pose.position.range", "may start", "inside the collider \"ground\""],
        ),
        (
            "/unknowns/colliders.ground.pose.position",
            json!({"range": [[0, 1], [0, 1], [0, 1]]}),
            &["colliders.ground.pose.position", "cannot be found by this version"],
        ),
        ("/unknowns/gravity.z", json!({"range": [-10, -9], "transform": "log"}), &["gravity.z.transform", "positive"]),
        (
            "/unknowns/colliders.ground.contact.friction",
            json!({"range": [0, 1]}),
            &[
                "unknowns.colliders.ground.contact.friction",
                "says that there is no friction, expected {\"friction\": 0.4} there",
            ],
        ),
        ("/bodies/other", ball()["bodies"]["jelly"].clone(), &["contact_between_bodies", "missing"]),
        ("/contact_between_bodies", json!("slip"), &["contact_between_bodies", "no two bodies"]),
    ]);
}

#[test]
fn wrong_colliders_are_refused() {
    let slip = |shape: Value| json!({"shape": shape, "contact": "slip"});
    let placed = |shape: Value| json!({"shape": shape, "contact": "slip", "pose": {"position": [0.2, 0.2, 0.19]}});
    let mut walls = json!({});
    for number in 0..32 {
        walls[format!("wall_{number:02}")] = ball()["colliders"]["ground"].clone();
    }
    check(&[
        (
            "/colliders/ring",
            slip(json!({"torus": {"radius": 1, "tube": 0.1}})),
            &["colliders.ring.shape", "\"half_space\"", "\"box\"", "\"sphere\"", "\"capsule\""],
        ),
        (
            "/colliders/ball",
            slip(json!({"sphere": {"radius": 0}})),
            &["colliders.ball.shape.sphere.radius", "positive"],
        ),
        (
            "/colliders/rod",
            slip(json!({"capsule": {"radius": 0.1, "length": -1}})),
            &["colliders.rod.shape.capsule.length", "positive"],
        ),
        ("/colliders/box", slip(json!({"box": {"min": [0, 0, 0]}})), &["colliders.box.shape.box", "min and max"]),
        (
            "/colliders/box",
            placed(json!({"box": {"min": [0, 0, 0], "max": [1, 1, 1]}})),
            &["colliders.box.shape.box", "expected no pose"],
        ),
        (
            "/colliders/ball",
            placed(json!({"sphere": {"radius": 0.05}})),
            &["bodies.jelly.pose.position", "the body starts 0.0", "inside the collider \"ball\"", "outside of it"],
        ),
        ("/colliders/ground/pose", json!({"position": [0, 0, 1]}), &["colliders.ground.pose", "half-space has none"]),
        ("/colliders/ground/motion", json!({"velocity": [1e9, 0, 0]}), &["colliders.ground.motion.velocity", "light"]),
        ("/colliders/ground/motion", json!({"angular_velocity": [1e13, 0, 0]}), &["motion.angular_velocity", "light"]),
        ("/colliders", walls, &["colliders.wall_31", "at most 31"]),
        ("/colliders/ground/shape/half_space/point", json!([0, 0, -2e6]), &["half_space.point", "1000000.0 m"]),
        ("/cameras/front/position", json!([0.5, -0.9, -0.4]), &["front.position", "inside the half-space \"ground\""]),
    ]);
}

#[test]
fn wrong_videos_and_takes_are_refused() {
    let second = ball()["cameras"]["front"].clone();
    check(&[
        ("/cameras/side", second, &["videos", "the scene has 2 cameras"]),
        ("/cameras", json!({}), &["cameras: there is none"]),
        ("/takes", json!({"a": {}, "b": {}}), &["videos", "the scene has 2 takes"]),
        ("/takes", json!({"a": {"bodies": {"jely": {}}}}), &["takes.a.bodies.jely", "expected \"jelly\""]),
        (
            "/takes",
            json!({"a": {"bodies": {"jelly": {"density": 1}}}}),
            &["takes.a.bodies.jelly.density", "unknown field"],
        ),
        (
            "/takes",
            json!({"a": {"bodies": {"jelly": {"pose": {"position": [0, 0, 0.01]}}}}}),
            &["takes.a.bodies.jelly.pose.position", "inside the collider"],
        ),
        (
            "/takes",
            json!({"a": {"bodies": {"jelly": {"velocity": [1e9, 0, 0]}}}}),
            &["takes.a.bodies.jelly.velocity", "light"],
        ),
        ("/videos", json!({"film": {"camera": "frnt"}}), &["videos.film.camera", "\"front\""]),
        ("/videos", json!({"film": {"take": "first"}}), &["videos.film.take", "no take of the scene"]),
        ("/videos", json!({"film": {}, "other": {}}), &["videos.other.silhouette", "a folder of film as well"]),
        ("/videos", json!({"film": {"shaded": "silhouette"}}), &["videos.film.shaded", "that of the silhouettes"]),
        ("/videos", json!({"film": {"masks": "../masks"}}), &["videos.film.masks", "outside"]),
        ("/videos", json!({"film": {"weights": {"silhouette": -1}}}), &["weights.silhouette", "-1"]),
        ("/videos", json!({"film": {"weights": {"shaded": -0.5}}}), &["weights.shaded", "-0.5"]),
        ("/videos", json!({"film": {"weights": {"silhouette": 0}}}), &["videos", "no video counts"]),
    ]);
}

#[test]
fn wrong_observations_are_refused() {
    let dots = |field: &str, value: Value| {
        let mut markers = json!({"file": "dots.csv", "deviation": 1, "points": [[0, 0, 0]]});
        markers[field] = value;
        json!({"dots": {"markers": markers}})
    };
    let at = "/observations";
    check(&[
        (at, json!({"dots": {"marker": {}}}), &["observations.dots", "did you mean \"markers\"?"]),
        (at, json!({"dots": {"markers": {"file": "a.csv"}}}), &["observations.dots.markers", "deviation"]),
        (at, dots("deviaton", json!(1)), &["observations.dots.markers.deviaton", "\"deviation\""]),
        (at, dots("deviation", json!(0)), &["observations.dots.markers.deviation", "positive"]),
        (at, dots("body", json!("jely")), &["observations.dots.markers.body", "no body", "\"jelly\""]),
        (at, dots("take", json!("first")), &["observations.dots.markers.take", "no take of the scene"]),
        (at, dots("file", json!("../dots.csv")), &["observations.dots.markers.file", "outside"]),
        (at, dots("points", json!([])), &["observations.dots.markers.points", "there is none"]),
        (at, dots("points", json!([[0, 1e300, 0]])), &["observations.dots.markers.points[0]", "positions"]),
        (
            at,
            json!({"a": {"centre_of_mass": {"file": "a.csv", "deviation": 1}}, "b": {"markers": {"file": "a.csv", "deviation": 1}}}),
            &["observations.b.markers.file", "is the file of a as well"],
        ),
    ]);
}

#[test]
fn wrong_priors_and_fields_are_refused() {
    let normal = json!({"normal": {"mean": 9000, "deviation": 100}});
    let log_normal = json!({"log_normal": {"median": 1, "deviation": 0.1}});
    let wide = [[-1, 1], [-1, 1], [-1, 1]];
    check(&[
        ("/unknowns/bodies.jelly.material.mu/prior", normal.clone(), &["material.mu.prior", "expected log_normal"]),
        (
            "/unknowns/bodies.jelly.material.mu/prior",
            json!({"log_normal": {"median": 9000, "deviation": 0}}),
            &["material.mu.prior.deviation", "positive"],
        ),
        (
            "/unknowns/gravity.z",
            json!({"range": [-10, -9], "prior": log_normal}),
            &["gravity.z.prior", "expected normal"],
        ),
        (
            "/unknowns/bodies.jelly.material.mu/prior",
            json!({"log_normal": {"median": 1e6, "deviation": 0.1}}),
            &[
                "material.mu.prior.log_normal.median",
                "36.9 deviations outside of the range, 1500 to 25000",
                "at most 4",
            ],
        ),
        (
            "/unknowns/gravity.z",
            json!({"range": [-10, -9], "prior": {"normal": {"mean": 0, "deviation": 1}}}),
            &["gravity.z.prior.normal.mean", "9.0 deviations outside"],
        ),
        ("/unknowns/gravity", json!({"range": wide, "prior": normal}), &["gravity.prior", "for each component"]),
        ("/unknowns/gravity.z", json!({"range": [-10, -9], "field": [2, 1, 1]}), &["gravity.z.field", "of a material"]),
        ("/unknowns/bodies.jelly.material.mu/field", json!([1, 1, 1]), &["material.mu.field", "2 to 1000"]),
        ("/unknowns/bodies.jelly.material.mu/field", json!([99, 99, 99]), &["material.mu.field", "2 to 1000"]),
        ("/unknowns/bodies.jelly.material.mu/field", json!([2, 2]), &["material.mu.field", "2 values"]),
    ]);
}

#[test]
fn fields_that_are_missing_are_named() {
    for field in ["version", "name", "frame_rate", "frames", "gravity", "bodies", "cameras", "lights"] {
        let mut scene = ball();
        scene.as_object_mut().unwrap().remove(field);
        let message = refusal("missing", &scene);
        assert!(message.contains(field) && message.contains("missing"), "{message}");
    }
}

#[test]
fn fields_that_are_there_twice_are_refused_at_every_level() {
    let json = ball().to_string();
    let doubled = [
        ("\"name\":", "\"name\":\"other\",\"name\":", ""),
        ("\"density\":", "\"density\":1,\"density\":", "bodies.jelly"),
        ("\"radius\":", "\"radius\":1,\"radius\":", "bodies.jelly.shape.sphere"),
        ("\"law\":", "\"law\":\"x\",\"law\":", "bodies.jelly.material"),
        ("\"normal\":", "\"normal\":1,\"normal\":", "colliders.ground.shape.half_space"),
        ("\"front\":", "\"front\":{},\"front\":", "cameras"),
        ("\"bodies.jelly.material.mu\":", "\"bodies.jelly.material.mu\":1,\"bodies.jelly.material.mu\":", "unknowns"),
    ];
    for (from, to, path) in doubled {
        assert!(json.contains(from));
        let text = json.replacen(from, to, 1);
        for (file, text) in [("scene.json", &text), ("scene.ron", &text)] {
            let message = Scene::read(&folder("twice", file, text)).unwrap_err().to_string();
            let name = from.trim_end_matches(':');
            assert_names(file, &message, &[path, &format!("{name} is there twice"), &format!("{file}:1:")]);
        }
    }
}

#[test]
fn ron_has_lines_and_finite_numbers() {
    let ron = ron::to_string(&ball()).unwrap();
    let cases = [
        (ron.replace("1020.0", "inf"), &["scene.ron:1:", "bodies.jelly.density", "finite"][..]),
        (ron.replace("1020.0", "NaN"), &["scene.ron:1:", "bodies.jelly.density", "finite"]),
        (ron.replace("1020.0", "-1020.0"), &["scene.ron:1:", "bodies.jelly.density", "-1020"]),
        (ron.replace("\"frictionless\"", "frictionless"), &["scene.ron:1:", "contact", "word without quotes"]),
        (format!("// a remark\n({}", &ron[1..ron.len() - 1]), &["scene.ron:2:", "malformed RON"]),
    ];
    for (text, parts) in cases {
        let message = Scene::read(&folder("ron", "scene.ron", &text)).unwrap_err().to_string();
        assert_names(&text, &message, parts);
    }
}

#[test]
fn a_folder_with_two_scenes_is_refused() {
    let folder = folder("two", "scene.json", &ball().to_string());
    std::fs::write(folder.join("scene.ron"), ron::to_string(&ball()).unwrap()).unwrap();
    let message = Scene::read(&folder).unwrap_err().to_string();
    assert_names("two", &message, &["scene.ron", "scene.json as well"]);
}
