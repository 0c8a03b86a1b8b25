//! Rigid objects, and what pushes them.

use super::bodies::albedo;
use super::object::Object;
use super::{Notes, OBJECT, texts};
use crate::scene::document::{
    At, Body, BodyShape, BoxShape, Impulse, LawName, Material, MeshFile, Pose, Push, Sphere, Vector,
};
use crate::scene::tree::{Fault, Node};
use crate::text::quoted;
use std::collections::BTreeMap;

/// Name of what such a file has no name for.
const PUSH: &str = "impulse";

/// The only object.
pub(super) fn bodies(root: &mut Object<'_>, notes: &mut Notes) -> Result<BTreeMap<String, Body>, Fault> {
    let here = format!("bodies.{OBJECT}");
    let mut object = root.required_child("object", "an object with a type")?;
    let fields = [
        ("", "object"),
        (".velocity", "object.initial_velocity"),
        (".angular_velocity", "object.initial_angular_velocity_world"),
        (".pose.position", "object.initial_position"),
        (".pose.rotation", "object.initial_orientation_quat_wxyz"),
        (".shape.box.size", "object.half_extents"),
        (".shape.sphere.radius", "object.radius"),
        (".shape.mesh.file", "object.mesh"),
    ];
    fields.iter().for_each(|(document, file)| notes.fields.add(format!("{here}{document}"), *file));
    let shape = shape(&mut object, notes)?;
    object.exact("mass_distribution", texts::DISTRIBUTION)?;
    let (mut mass, mut density) = (object.optional("mass")?, object.optional("density")?);
    // One follows from the other: what is to be found counts, then the mass.
    let unknowns = root.node("unknowns");
    let unknown = |name: &str| unknowns.is_some_and(|unknowns| unknowns.get(name).is_some());
    match (unknown("density"), unknown("mass") || mass.is_some()) {
        (true, false) => mass = None,
        (false, true) => density = None,
        (true, true) | (false, false) => {}
    }
    let body = Body {
        shape,
        pose: Pose {
            position: object.required("initial_position")?,
            rotation: rotation(&mut object, "initial_orientation_quat_wxyz")?,
        },
        velocity: object.optional("initial_velocity")?.unwrap_or_default(),
        angular_velocity: object.optional("initial_angular_velocity_world")?.unwrap_or_default(),
        density,
        mass,
        material: Material {
            law: LawName::Rigid,
            mu: None,
            lambda: None,
            young: None,
            poisson: None,
            viscosity: 0.0,
            damping: 0.0,
            relaxation: None,
        },
        albedo: albedo(root, &mut object, &here, notes)?,
        clamps: Vec::new(),
        load: None,
    };
    notes.ignored.extend(object.left());
    Ok(BTreeMap::from([(OBJECT.into(), body)]))
}

/// A mesh is that of the frame of the body; beside a box and a sphere it says nothing more.
fn shape(object: &mut Object<'_>, notes: &mut Notes) -> Result<BodyShape, Fault> {
    let kind: String = object.required("type")?;
    let mesh = match object.node("mesh") {
        Some(Node::Text(text)) => Some(mesh(object, text)?),
        Some(other) => {
            return Err(object.fault("mesh", format!("{}, expected the name of an OBJ file", other.shown())));
        }
        None => None,
    };
    match (kind.as_str(), mesh) {
        ("box", _) => {
            let size = object.required::<Vector>("half_extents")?.map(|half| 2.0 * half);
            Ok(BodyShape::Box(BoxShape { size: Some(size), min: None, max: None }))
        }
        ("sphere", _) => Ok(BodyShape::Sphere(Sphere { radius: object.required("radius")? })),
        (_, Some(mesh)) => {
            if kind != "mesh" {
                let text = "the triangles of the mesh are taken as the body, as they are what is drawn";
                notes.taken.push(format!("{}: {text}", object.path("mesh")));
            }
            Ok(BodyShape::Mesh(mesh))
        }
        ("mesh", None) => Err(object.fault("mesh", "missing, expected the name of an OBJ file")),
        (_, None) => {
            let problem = format!("{} without a mesh, expected \"box\", \"sphere\" or a mesh", quoted(&kind));
            Err(object.fault("type", problem))
        }
    }
}

/// The name of a mesh, which a remark on its frame may follow.
fn mesh(object: &Object<'_>, text: &str) -> Result<MeshFile, Fault> {
    let (file, remark) = text.split_once(' ').map_or((text, ""), |(file, remark)| (file, remark.trim()));
    if !remark.is_empty() && !texts::FRAME.contains(&remark) {
        return Err(object.fault("mesh", texts::refused(remark, texts::FRAME)));
    }
    Ok(MeshFile { file: file.into(), scale: 1.0 })
}

/// The rotation vector of a quaternion, its real part first.
fn rotation<'a>(object: &mut Object<'a>, key: &'a str) -> Result<Vector, Fault> {
    let Some([w, x, y, z]) = object.optional::<[f64; 4]>(key)? else {
        return Ok([0.0; 3]);
    };
    let norm = (w * w + x * x + y * y + z * z).sqrt();
    if !(norm - 1.0).abs().le(&1e-6) {
        return Err(object.fault(key, format!("has the length {norm}, expected a quaternion of length 1")));
    }
    let sine = x.hypot(y).hypot(z);
    if sine == 0.0 {
        return Ok([0.0; 3]);
    }
    // The shorter of both ways around.
    let (w, sign) = if w < 0.0 { (-w, -1.0) } else { (w, 1.0) };
    let angle = 2.0 * sine.atan2(w);
    Ok([x, y, z].map(|x| sign * x / sine * angle))
}

/// The impulse, if there is one.
pub(super) fn pushes(root: &mut Object<'_>, notes: &mut Notes) -> Result<BTreeMap<String, Push>, Fault> {
    let Some(mut object) = root.child("impulse")? else {
        return Ok(BTreeMap::new());
    };
    for (document, file) in [("", ""), (".vector", ".impulse_world"), (".time", ".time")] {
        notes.fields.add(format!("pushes.{PUSH}.impulse{document}"), format!("impulse{file}"));
    }
    let arm = "point_relative_to_centre_of_mass_world_axes";
    notes.fields.add(format!("pushes.{PUSH}.impulse.at"), format!("impulse.{arm}"));
    let impulse = Impulse {
        body: None,
        vector: object.required("impulse_world")?,
        at: At::Centre(object.required(arm)?),
        time: object.required("time")?,
    };
    // Where the centre of mass is then follows from the motion.
    object.node("point_world");
    notes.ignored.extend(object.left());
    Ok(BTreeMap::from([(PUSH.into(), Push::Impulse(impulse))]))
}
