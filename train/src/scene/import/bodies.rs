//! Objects, their material and what is held.

use super::object::Object;
use super::{Notes, OBJECT, texts};
use crate::scene::document::{
    Axis, Body, BodyShape, BoxShape, Clamp, Colour, LawName, Material, MeshFile, Pose, Side, Sphere,
};
use crate::scene::measure::Measure;
use crate::scene::tree::{Fault, Node};
use crate::text::quoted;
use std::collections::BTreeMap;

/// `object`, or all of `objects`.
pub(super) fn bodies(root: &mut Object<'_>, notes: &mut Notes) -> Result<BTreeMap<String, Body>, Fault> {
    let Some(list) = root.node("objects") else {
        let object = root.required_child("object", "an object with a type, or objects")?;
        let body = body(root, object, OBJECT, notes)?;
        return Ok(BTreeMap::from([(OBJECT.into(), body)]));
    };
    if root.node("object").is_some() {
        return Err(root.fault("objects", "there is an object as well, expected one of both"));
    }
    let Node::List(items) = list else {
        return Err(root.fault("objects", format!("{}, expected a list of objects", list.shown())));
    };
    let mut bodies = BTreeMap::new();
    for (number, item) in items.iter().enumerate() {
        let mut object = Object::new(item, format!("objects[{number}]"))?;
        let name: String = object.required("name")?;
        let body = body(root, object, &name, notes)?;
        if bodies.insert(name.clone(), body).is_some() {
            let problem = format!("{} is the name of another object as well, expected another", quoted(&name));
            return Err(Fault::new(format!("objects[{number}].name"), problem));
        }
    }
    Ok(bodies)
}

fn body(root: &mut Object<'_>, mut object: Object<'_>, name: &str, notes: &mut Notes) -> Result<Body, Fault> {
    let here = format!("bodies.{name}");
    let fields = [("", ""), (".velocity", "initial_velocity"), (".angular_velocity", "initial_angular_velocity")];
    for (document, file) in fields {
        notes.fields.add(format!("{here}{document}"), object.path(file).trim_end_matches('.'));
    }
    let (shape, pose) = shape(&mut object, &here, notes)?;
    object.exact("initial_deformation", texts::DEFORMATION)?;
    let albedo = albedo(root, &mut object, &here, notes)?;
    let body = Body {
        shape,
        pose,
        velocity: object.required("initial_velocity")?,
        angular_velocity: object.optional("initial_angular_velocity")?.unwrap_or_default(),
        density: Some(object.required("density")?),
        mass: None,
        material: material(root, &here, notes)?,
        albedo,
        clamps: clamp(root, &here, notes)?.into_iter().collect(),
        load: None,
    };
    notes.ignored.extend(object.left());
    Ok(body)
}

fn shape(object: &mut Object<'_>, here: &str, notes: &mut Notes) -> Result<(BodyShape, Pose), Fault> {
    let kind: String = object.required("type")?;
    let named = if kind == "block" { "block_max" } else { "type" };
    notes.fields.add(format!("{here}.shape"), object.path(named));
    let mut field = |document: &str, file: String| notes.fields.add(format!("{here}.{document}"), file);
    let mesh = match object.node("mesh") {
        Some(Node::Text(file)) => Some(MeshFile { file: file.clone(), scale: 1.0 }),
        Some(other) => {
            return Err(object.fault("mesh", format!("{}, expected the name of an OBJ file", other.shown())));
        }
        None => None,
    };
    field("shape.mesh.file", object.path("mesh"));
    match (kind.as_str(), mesh) {
        ("block", mesh) => {
            // A mesh beside a block was never drawn.
            notes.ignored.extend(mesh.map(|_| object.path("mesh")));
            let mut field = |document: &str, file: String| notes.fields.add(format!("{here}.{document}"), file);
            field("shape.box.min", object.path("block_min"));
            field("shape.box.max", object.path("block_max"));
            object.exact("rendered_surface", texts::SURFACE)?;
            let (min, max) = (Some(object.required("block_min")?), Some(object.required("block_max")?));
            Ok((BodyShape::Box(BoxShape { size: None, min, max }), Pose::default()))
        }
        ("sphere", mesh) => {
            field("shape.sphere.radius", object.path("radius"));
            field("pose.position", object.path("centre"));
            let (position, radius) = (object.required("centre")?, object.required("radius")?);
            let Some(mesh) = mesh else {
                return Ok((BodyShape::Sphere(Sphere { radius }), Pose { position, ..Pose::default() }));
            };
            let text =
                "the triangles of the mesh are taken as the body, as they are what is drawn; centre and radius are not";
            notes.taken.push(format!("{}: {text}", object.path("mesh")));
            Ok((BodyShape::Mesh(mesh), Pose::default()))
        }
        ("mesh", Some(mesh)) => Ok((BodyShape::Mesh(mesh), Pose::default())),
        ("mesh", None) => Err(object.fault("mesh", "missing, expected the name of an OBJ file")),
        _ => {
            let problem = format!("{}, expected \"block\", \"sphere\" or \"mesh\"", quoted(&kind));
            Err(object.fault("type", problem))
        }
    }
}

/// Of the object itself, or of the shading.
pub(super) fn albedo(
    root: &mut Object<'_>,
    object: &mut Object<'_>,
    here: &str,
    notes: &mut Notes,
) -> Result<Colour, Fault> {
    if let Some(own) = object.optional("albedo_rgb")? {
        notes.fields.add(format!("{here}.albedo"), object.path("albedo_rgb"));
        return Ok(own);
    }
    notes.fields.add(format!("{here}.albedo"), "shading.albedo_rgb");
    root.required_child("shading", "light and colours")?.required("albedo_rgb")
}

fn material(root: &mut Object<'_>, here: &str, notes: &mut Notes) -> Result<Material, Fault> {
    let mut object = root.required_child("material", "an object with a model")?;
    let here = format!("{here}.material");
    let pairs = [("", "material"), (".law", "material.model"), (".viscosity", "material.damping.eta")];
    pairs.iter().for_each(|(document, file)| notes.fields.add(format!("{here}{document}"), *file));
    let model: String = object.required("model")?;
    let Some((_, law)) = texts::LAWS.iter().find(|(name, _)| *name == model) else {
        let known: Vec<_> = texts::LAWS.iter().map(|(name, _)| *name).collect();
        return Err(object.fault("model", texts::refused(&model, &known)));
    };
    if *law == LawName::NeoHookean {
        object.exact("energy_density", texts::ENERGY)?;
        object.exact("kirchhoff_stress", texts::KIRCHHOFF)?;
    }
    let pascals = object.unit(Measure::Pressure)?;
    let viscosity = viscosity(&mut object, notes)?;
    let mut constant = |key| Ok::<_, Fault>(object.optional::<f64>(key)?.map(|value| value * pascals));
    let (mu, lambda) = (constant("mu")?, constant("lambda")?);
    note_once(&mut notes.ignored, object.left());
    Ok(Material { law: *law, mu, lambda, young: None, poisson: None, viscosity, damping: 0.0, relaxation: None })
}

fn viscosity(material: &mut Object<'_>, notes: &mut Notes) -> Result<f64, Fault> {
    let Some(Node::Object(_)) = material.node("damping") else {
        return material.exact("damping", &["none"]).map(|_| 0.0);
    };
    let mut damping = material.required_child("damping", "\"none\" or an object with eta")?;
    damping.exact("model", texts::DAMPING)?;
    damping.exact("cauchy_stress", texts::CAUCHY)?;
    let unit = damping.unit(Measure::Viscosity)?;
    if damping.optional::<bool>("known")? == Some(false) {
        return Err(damping.fault("known", "false, expected true: the viscosity cannot be searched for"));
    }
    let eta = damping.required::<f64>("eta")? * unit;
    note_once(&mut notes.ignored, damping.left());
    Ok(eta)
}

/// The side that the description names.
fn clamp(root: &mut Object<'_>, here: &str, notes: &mut Notes) -> Result<Option<Clamp>, Fault> {
    let Some(mut clamp) = root.child("clamp")? else {
        return Ok(None);
    };
    notes.fields.add(format!("{here}.clamps[0]"), "clamp");
    if here != format!("bodies.{OBJECT}") {
        return Err(Fault::new("clamp", "does not say which of the objects it holds, expected a single object"));
    }
    let name: String = clamp.required("axis")?;
    let axis = match name.as_str() {
        "x" => Axis::X,
        "y" => Axis::Y,
        "z" => Axis::Z,
        _ => return Err(clamp.fault("axis", format!("{}, expected x, y or z", quoted(&name)))),
    };
    let plane: f64 = clamp.required("plane")?;
    let known = texts::clamps(&name, plane);
    let text: String = clamp.required("description")?;
    let Some((_, side)) = known.iter().find(|(known, _)| *known == text) else {
        let known: Vec<_> = known.iter().map(|(known, _)| known).collect();
        return Err(clamp.fault("description", texts::refused(&text, &known)));
    };
    let held = match side {
        Side::Below => "below",
        Side::Above => "above",
    };
    notes.taken.push(format!("clamp.description: {} is taken to hold what is {held} the plane", quoted(&text)));
    notes.ignored.extend(clamp.left());
    Ok(Some(Clamp { axis, plane, side: *side }))
}

/// All bodies have one material, which is read for each.
fn note_once(notes: &mut Vec<String>, left: Vec<String>) {
    let new: Vec<_> = left.into_iter().filter(|path| !notes.contains(path)).collect();
    notes.extend(new);
}
