//! Right scenes of the documented schema, for the video of the sample: two frames of 16x16 pixels.

use serde_json::{Value, json};

/// Name of the file and text of each.
pub fn documents() -> Vec<(String, Vec<u8>)> {
    let trees = [ball(), relaxing(), block(), bodies(), takes(), places()];
    // Every text of JSON is one of RON, too.
    let both = trees.iter().flat_map(|tree| ["scene.json", "scene.ron"].map(|file| (file, tree.to_string())));
    let plain = std::iter::once(("scene.ron", BALL.to_owned()));
    both.chain(plain).map(|(file, text)| (format!("video/{file}"), text.into_bytes())).collect()
}

fn around(bodies: Value, unknowns: Value) -> Value {
    json!({
        "version": 1, "name": "fuzzed", "frame_rate": 300.0, "frames": 2, "gravity": [0.0, 0.0, -9.81],
        "bodies": bodies,
        "colliders": colliders(),
        "cameras": {"main": {
            "position": [0.62, -0.98, 0.52], "look_at": [-0.01, -0.02, 0.095], "vertical_fov": 0.56, "width": 16, "height": 16,
            "noise": 0.01, "shutter": {"open": -0.25, "close": 0.25},
        }},
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "ambient": 0.15, "background": [0.08, 0.09, 0.11],
        "videos": {"film": {"camera": "main", "weights": {"silhouette": 1.0, "shaded": 0.2}}},
        "unknowns": unknowns,
    })
}

/// One of each shape and each contact; all but the floor are away from the bodies.
fn colliders() -> Value {
    json!({
        "floor": {"shape": {"half_space": {"normal": [0.0, 0.0, 1.0]}}, "contact": {"friction": 0.4}},
        "wall": {
            "shape": {"half_space": {"normal": [-1.0, 0.0, 0.0], "point": [3.0, 0.0, 0.0]}}, "contact": "slip",
            "motion": {"velocity": [-0.1, 0.0, 0.0], "angular_velocity": [0.01, 0.0, 0.0]},
        },
        "bat": {
            "shape": {"box": {"size": [0.04, 0.1, 0.1]}}, "contact": {"friction": 0.3},
            "pose": {"position": [0.3, 0.05, 0.2], "rotation": [0.0, 0.2, 0.0]}, "motion": {"velocity": [-2.0, 0.0, 0.5]},
        },
        "ball": {"shape": {"sphere": {"radius": 0.05}}, "pose": {"position": [0.3, 0.3, 0.1]}, "contact": "sticky"},
        "rod": {
            "shape": {"capsule": {"radius": 0.02, "length": 0.1}}, "pose": {"position": [0.3, -0.2, 0.1]},
            "motion": {"angular_velocity": [3.0, 0.0, 0.0]}, "contact": "frictionless",
        },
    })
}

fn body(shape: Value, height: f64) -> Value {
    json!({
        "shape": shape, "pose": {"position": [-0.2, 0.05, height], "rotation": [0.1, 0.0, 0.3]},
        "velocity": [0.1, 0.0, -3.0], "angular_velocity": [0.0, 1.0, 0.0], "density": 1000.0,
        "material": {"law": "neo_hookean", "viscosity": 0.5}, "albedo": [0.85, 0.55, 0.35],
    })
}

fn ball() -> Value {
    let unknowns = json!({
        "bodies.jelly.material.mu": {"range": [1500.0, 25000.0], "transform": "log"},
        "bodies.jelly.material.lambda": {"range": [1500.0, 60000.0]},
        "bodies.jelly.velocity": {"range": [[-1.0, 1.0], [-1.0, 1.0], [-4.0, 1.0]]},
        "colliders.floor.contact.friction": {"range": [0.0, 1.0]},
        "colliders.bat.contact.friction": {"range": [0.0, 1.0]},
        "gravity.z": {"range": [-11.0, -9.0]},
    });
    around(json!({"jelly": body(json!({"sphere": {"radius": 0.09}}), 0.1)}), unknowns)
}

/// By finite elements, which do not take every contact.
fn relaxing() -> Value {
    let mut scene = ball();
    scene["bodies"]["jelly"]["material"]["relaxation"] = json!({"modulus": 300.0});
    scene["unknowns"]["bodies.jelly.material.relaxation.time"] = json!({"range": [0.01, 0.5]});
    ["wall", "ball"].iter().for_each(|name| drop(scene["colliders"].as_object_mut().map(|all| all.remove(*name))));
    scene
}

/// In other units and axes.
fn block() -> Value {
    let mut block = body(json!({"box": {"min": [-300, 0, -150], "max": [-100, 200, 50]}}), 0.0);
    block["pose"] = json!({});
    block["density"] = json!(1.0);
    block["material"] = json!({"law": "fixed_corotated", "young": 20, "poisson": 0.3});
    block["clamps"] = json!([{"axis": "x", "plane": -200, "side": "below"}]);
    let mut scene = around(json!({"jelly": block}), json!({"bodies.jelly.density": {"range": [0.5, 2.0]}}));
    scene["units"] = json!({"length": "mm", "time": "ms", "angle": "deg", "density": "g/cm^3", "pressure": "kPa"});
    scene["axes"] = json!({"up": "y", "handedness": "right"});
    scene["gravity"] = json!([0.0, -0.00981, 0.0]);
    scene["colliders"]["floor"]["shape"]["half_space"]["normal"] = json!([0.0, 1.0, 0.0]);
    scene["colliders"]["wall"]["shape"]["half_space"]["point"] = json!([3000, 0, 0]);
    let camera = &mut scene["cameras"]["main"];
    (camera["position"], camera["look_at"]) = (json!([620, 520, 980]), json!([-10, 95, 20]));
    camera["vertical_fov"] = json!(32);
    scene
}

/// Two, one of them from a file.
fn bodies() -> Value {
    let torus = body(json!({"torus": {"radius": 0.06, "tube": 0.02}}), 0.3);
    let mesh = body(json!({"mesh": {"file": "closed.obj", "scale": 1.0}}), 0.1);
    let unknowns = json!({
        "bodies.ring.material.mu": {"range": [1500.0, 25000.0], "transform": "logit"},
        "bodies.part.material.young": {"range": [15000.0, 25000.0]},
        "bodies.part.material.poisson": {"range": [0.1, 0.4]},
    });
    let mut scene = around(json!({"ring": torus, "part": mesh}), unknowns);
    scene["observations"] = json!({
        "dots": {"markers": {"body": "ring", "file": "tracks/dots.csv", "points": [[-0.14, 0.05, 0.3]], "deviation": 0.1}},
        "middle": {"centre_of_mass": {"body": "part", "file": "tracks/middle.csv", "deviation": 0.01}},
    });
    scene["contact_between_bodies"] = json!("frictionless");
    scene
}

/// Two takes by two cameras, of which the frames lie in folders of the only film of the others; a field, priors and masks.
fn takes() -> Value {
    let unknowns = json!({
        "bodies.jelly.material.mu": {
            "range": [1500.0, 25000.0], "field": [2, 1, 2], "prior": {"log_normal": {"median": 8000.0, "deviation": 0.5}},
        },
        "takes.high.bodies.jelly.velocity.x": {
            "range": [-1.0, 1.0], "prior": {"normal": {"mean": 0.1, "deviation": 0.2}},
        },
        "cameras.side.look_at": {"range": [[-0.1, 0.1], [-0.1, 0.1], [0.0, 0.2]]},
        "cameras.main.vertical_fov": {"range": [0.5, 0.6]},
    });
    let mut jelly = body(json!({"ellipsoid": {"radii": [0.06, 0.05, 0.05]}}), 0.1);
    jelly["material"]["lambda"] = json!(9000.0);
    let mut scene = around(json!({"jelly": jelly}), unknowns);
    let mut side = scene["cameras"]["main"].clone();
    side["position"] = json!([0.9, 0.2, 0.5]);
    scene["cameras"]["side"] = side;
    let start =
        json!({"pose": {"position": [-0.1, 0.0, 0.2], "rotation": [0.1, 0.0, 0.3]}, "velocity": [0.2, 0.0, -1.0]});
    scene["takes"] = json!({"low": {}, "high": {"bodies": {"jelly": start}}});
    scene["videos"] = json!({
        "film": {"camera": "main", "take": "low", "weights": {"silhouette": 0.5}, "masks": "masks"},
        "other": {"camera": "side", "take": "high", "silhouette": "videos/b/silhouette", "shaded": "videos/b/shaded"},
    });
    scene
}

/// A film with depths, two lights, and a place and a motion as unknowns.
fn places() -> Value {
    let unknowns = json!({
        "bodies.jelly.pose.position": {"range": [[-0.3, -0.1], [0.0, 0.1], [0.1, 0.2]]},
        "colliders.bat.motion.velocity": {"range": [[-3.0, -1.0], [-0.5, 0.5], [0.0, 1.0]]},
        "colliders.rod.motion.angular_velocity.y": {"range": [-1.0, 1.0]},
    });
    let mut jelly = body(json!({"cylinder": {"radius": 0.06, "height": 0.1}}), 0.1);
    (jelly["material"]["mu"], jelly["material"]["lambda"]) = (json!(5000.0), json!(9000.0));
    let mut scene = around(json!({"jelly": jelly}), unknowns);
    scene["videos"]["film"]["depth"] = json!({"folder": "depth", "scale": 0.001, "deviation": 0.01});
    scene["videos"]["film"]["weights"] = json!({"depth": 0.5});
    scene["lights"]["lamp"] = json!({"direction": [-1.0, -0.5, 0.2], "intensity": 0.1});
    scene
}

/// A frame of depths, 16 by 16 of 16 bits, each 1300.
pub const DEPTHS: &[u8] = b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x10\x00\x00\x00\x10\x10\x00\x00\x00\x00\
    \x6a\x08\x7c\xfe\x00\x00\x00\x12\x49\x44\x41\x54\x78\xda\x63\x60\x15\xc1\x0f\x19\x46\x15\x8c\x24\x05\x00\xc4\x07\x19\
    \x01\x0c\xe0\xb6\xfa\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";

/// The tables of the observations.
pub const TABLES: [(&str, &str); 2] = [
    ("tracks/dots.csv", "frame,marker,x,y,z\n0,0,-0.14,0.05,0.3\n1,0,-0.199,0.05,0.29\n"),
    ("tracks/middle.csv", "frame,x,y,z\n1,-0.18,0.07,0.11\n"),
];

/// A surface that encloses a body.
pub const CLOSED: &str = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

const BALL: &str = r#"// a ball
Scene(
    version: 1, name: "fuzzed", frame_rate: 300.0, frames: 2, gravity: [0.0, 0.0, -9.81],
    bodies: (jelly: (
        shape: (capsule: (radius: 0.05, length: 0.1)), pose: (position: (-0.2, 0.05, 0.2)), density: 1_000.0,
        material: (law: "neo_hookean", mu: 5e3, lambda: 9e3), albedo: [0.85, 0.55, 0.35], /* a colour */
    )),
    colliders: {"floor": (shape: (half_space: (normal: [0, 0, 1])), contact: "sticky")},
    cameras: (main: (position: [0.62, -0.98, 0.52], look_at: [0, 0, 0.1], vertical_fov: 0.56, width: 16, height: 16)),
    lights: (sun: (direction: [0.35, -0.6, 0.75], intensity: 0.85)),
    unknowns: {r"bodies.jelly.density": (range: [500, 2000])},
)
"#;
