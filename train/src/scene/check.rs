//! Checks of the values in `scene.json`, and their translation to a [`Scene`].

mod body;
mod bounds;
mod view;

use super::raw::Header;
use super::read::from_value;
use super::{Body, Scene};
use crate::error::{Error, Result};
use crate::mesh;
use crate::text::{path, quoted, shown};
use bounds::Bounds;
use diffkern_sim::scene::BodyShape;
use serde_json::{Map, Value};
use std::path::Path;

/// Fields of a soft body's scene that say nothing a solver needs.
const COMMENTS: [&str; 9] = [
    "conventions",
    "energy_density",
    "kirchhoff_stress",
    "cauchy_stress",
    "normals",
    "rendered_surface",
    "unit",
    "meaning",
    "description",
];

/// Names in paths of what this format has no name for.
const BODY: &str = "body";
const FLOOR: &str = "floor";
const CAMERA: &str = "main";

/// What this format calls fields that a job may be refused for.
const FIELDS: [(&str, &str); 6] = [
    ("bodies.body.shape", "object.block_max"),
    ("bodies.body.density", "object.density"),
    ("bodies.body.velocity", "object.initial_velocity"),
    ("bodies.body.angular_velocity", "object.initial_angular_velocity"),
    ("bodies.body.material.viscosity", "material.damping.eta"),
    ("cameras.main", "camera"),
];

/// An axis-aligned block.
struct Block {
    min: [f64; 3],
    max: [f64; 3],
    density: f64,
    velocity: [f64; 3],
    angular_velocity: [f64; 3],
}

/// The checker of one file: every error names it and the field.
struct Checker<'a> {
    file: &'a Path,
    warnings: Vec<String>,
}

pub(super) fn scene(folder: &Path, file: &Path, header: Header) -> Result<Scene> {
    let mut c = Checker { file, warnings: Vec::new() };
    if !matches!(header.kind.as_str(), "soft_body" | "rigid_body" | "cloth") {
        return c.wrong("kind", format!("unknown kind {}, expected \"soft_body\"", quoted(&header.kind)));
    }
    c.mesh(folder, &header.object)?;
    if header.kind != "soft_body" {
        let problem = format!("{:?} cannot be identified by this version, expected \"soft_body\"", header.kind);
        return c.wrong("kind", problem);
    }
    c.within("frame_rate", header.frame_rate, &bounds::FRAME_RATE)?;
    c.positive("duration", header.duration)?;
    c.at_most("gravity", header.gravity, &bounds::GRAVITY)?;
    if !(2..=10_000).contains(&header.num_frames) {
        return c.wrong("num_frames", format!("{}, expected 2 to 10000", header.num_frames));
    }
    let last = (header.num_frames - 1) as f64 / header.frame_rate;
    if last > header.duration * (1.0 + 1e-9) {
        let problem = format!(
            "{} frames at {}/s reach {last} s, expected at most the duration of {} s",
            header.num_frames, header.frame_rate, header.duration
        );
        return c.wrong("num_frames", problem);
    }
    let floor = header.floor.map(|f| c.floor(f)).transpose()?;
    let block = c.block(from_value(file, "object", header.object)?)?;
    let Some(material) = header.material else {
        return c.wrong("material", "missing, expected an object with a model".into());
    };
    let material = c.material(from_value(file, "material", material)?)?;
    let clamp = header.clamp.map(|clamp| c.clamp(clamp, &block)).transpose()?;
    if let Some(floor) = &floor {
        c.above(floor, &block)?;
    }
    let camera = c.camera(header.camera)?;
    c.sees(&camera, floor.as_ref(), &block)?;
    let shading = c.shading(header.shading)?;
    c.rest("", &header.rest);
    let body = Body {
        name: BODY.into(),
        shape: BodyShape::Block { min: block.min, max: block.max },
        material,
        albedo: shading.albedo,
        density: block.density,
        velocity: block.velocity,
        angular_velocity: block.angular_velocity,
    };
    let own = [("material.mu", "material.mu"), ("material.lambda", "material.lambda")];
    let fields = FIELDS.iter().map(|(path, field)| ((*path).to_owned(), (*field).to_owned()));
    let mut scene = Scene {
        name: c.name(header.name)?,
        frame_rate: header.frame_rate,
        num_frames: header.num_frames as usize,
        gravity: header.gravity,
        camera,
        shading,
        bodies: vec![body],
        floor,
        clamp,
        unknowns: Vec::new(),
        fields: fields.chain(own.map(|(path, field)| (format!("bodies.{BODY}.{path}"), field.to_owned()))).collect(),
        warnings: Vec::new(),
    };
    for (name, unknown) in &header.unknowns {
        let range = c.unknown(&scene, name, unknown)?;
        scene.unknowns.push(range);
    }
    scene.warnings = c.warnings;
    Ok(scene)
}

impl Checker<'_> {
    fn wrong<T>(&self, field: &str, problem: String) -> Result<T> {
        Err(Error::field(self.file, field, problem))
    }

    /// Refuses a value outside its bounds, and says why they are.
    fn within(&self, field: &str, value: f64, bounds: &Bounds) -> Result<()> {
        self.positive(field, value)?;
        match (bounds.least..=bounds.most).contains(&value) {
            true => Ok(()),
            false => self.wrong(field, format!("{value:?}, {}", bounds.expected())),
        }
    }

    /// Refuses a vector with a component beyond a bound.
    fn at_most(&self, field: &str, v: [f64; 3], bounds: &Bounds) -> Result<()> {
        match v.iter().all(|x| x.abs() <= bounds.most) {
            true => Ok(()),
            false => self.wrong(field, format!("{v:?}, {}", bounds.expected())),
        }
    }

    fn positive(&self, field: &str, value: f64) -> Result<()> {
        if value.is_finite() && value > 0.0 {
            return Ok(());
        }
        self.wrong(field, format!("{value}, expected a positive number"))
    }

    fn not_negative(&self, field: &str, value: f64) -> Result<()> {
        if value.is_finite() && value >= 0.0 {
            return Ok(());
        }
        self.wrong(field, format!("{value}, expected zero or a positive number"))
    }

    fn colour(&self, field: &str, rgb: [f64; 3]) -> Result<()> {
        if rgb.iter().all(|v| (0.0..=1.0).contains(v)) {
            return Ok(());
        }
        self.wrong(field, format!("{rgb:?}, expected red, green and blue in 0..1"))
    }

    fn unit(&self, field: &str, v: [f64; 3]) -> Result<[f64; 3]> {
        // Squares of what is very long or short are not finite, or zero.
        let largest = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let scaled = v.map(|x| x / largest);
        let length = dot(scaled, scaled).sqrt();
        if length.is_finite() && largest > 1e-9 {
            return Ok(scaled.map(|x| x / length));
        }
        self.wrong(field, format!("{v:?}, expected a direction other than zero"))
    }

    /// The name goes into the path of the output folder.
    fn name(&self, name: String) -> Result<String> {
        let plain = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
        // Most file systems end at 255 bytes, and `_simulated` is added.
        if !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.chars().all(plain) {
            return Ok(name);
        }
        let problem = "expected at most 200 bytes of letters, digits, '-', '_' and '.'";
        self.wrong("name", format!("{}, {problem}", quoted(&name)))
    }

    fn rest(&mut self, prefix: &str, rest: &Map<String, Value>) {
        let comment = |k: &str| COMMENTS.contains(&k) || k.ends_with("note") || k.starts_with("mesh");
        for key in rest.keys().filter(|k| !comment(k)) {
            let (file, key) = (path(self.file), shown(key));
            self.warnings.push(format!("{file}: {prefix}{key}: not understood, ignored"));
        }
    }

    /// A mesh is checked whatever the kind of the scene, so that a broken one is named.
    fn mesh(&self, folder: &Path, object: &Value) -> Result<()> {
        let Some(mesh) = object.get("mesh") else {
            return Ok(());
        };
        // The name may be followed by a remark in brackets.
        match mesh.as_str().and_then(|text| text.split_whitespace().next()) {
            Some(name) => mesh::check_obj(&folder.join(name)),
            None => {
                self.wrong("object.mesh", format!("{}, expected the name of an OBJ file", shown(&mesh.to_string())))
            }
        }
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
