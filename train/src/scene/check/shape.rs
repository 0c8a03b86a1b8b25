//! Checks of where bodies are.

use super::numbers::{at_most, positive, rounded, within, wrong};
use crate::input;
use crate::scene::bounds;
use crate::scene::document::{Body, BodyShape, BoxShape, Pose, Vector};
use crate::scene::folder::Files;
use crate::scene::tree::Fault;
use crate::text::quoted;
use diffkern_sim::mesh;
use diffkern_sim::scene::{BodyShape as Placed, Solid};
use diffkern_sim::shape::{Capsule, Cuboid, Cylinder, Ellipsoid, Primitive, Shape, Sphere, Torus};

/// Lowest and highest corner of a body that is a box along the axes \[m\].
pub(super) fn corners(body: &Body) -> Option<[Vector; 2]> {
    match &body.shape {
        BodyShape::Box(BoxShape { min: Some(min), max: Some(max), .. }) => Some([*min, *max]),
        BodyShape::Box(BoxShape { size: Some(size), .. }) if body.pose.rotation == [0.0; 3] => {
            let at = body.pose.position;
            Some([[0, 1, 2].map(|a| at[a] - 0.5 * size[a]), [0, 1, 2].map(|a| at[a] + 0.5 * size[a])])
        }
        BodyShape::Box(_) | BodyShape::Sphere(_) | BodyShape::Ellipsoid(_) | BodyShape::Capsule(_) => None,
        BodyShape::Cylinder(_) | BodyShape::Torus(_) | BodyShape::Mesh(_) => None,
    }
}

/// The shape in its place, a mesh read from its file.
pub(super) fn placed(at: &str, body: &Body, files: &Files<'_>) -> Result<Placed, Fault> {
    if let Some([min, max]) = corners(body) {
        return Ok(Placed::Block { min, max });
    }
    let Pose { position, rotation } = body.pose;
    let pose = mesh::Pose { rotation, translation: position };
    let solid = |shape: Shape| Solid::new(shape, pose).map_err(|error| error.to_string());
    let primitive = |primitive: Primitive| solid(primitive.into());
    let found = match &body.shape {
        BodyShape::Box(shape) => primitive(Primitive::Cuboid(Cuboid { sides: shape.size.unwrap_or_default() })),
        BodyShape::Sphere(shape) => primitive(Primitive::Sphere(Sphere { radius: shape.radius })),
        BodyShape::Ellipsoid(shape) => primitive(Primitive::Ellipsoid(Ellipsoid { radii: shape.radii })),
        BodyShape::Capsule(s) => primitive(Primitive::Capsule(Capsule { radius: s.radius, length: s.length })),
        BodyShape::Cylinder(s) => primitive(Primitive::Cylinder(Cylinder { radius: s.radius, height: s.height })),
        BodyShape::Torus(shape) => primitive(Primitive::Torus(Torus { radius: shape.radius, tube: shape.tube })),
        BodyShape::Mesh(file) => {
            let at = format!("{at}.shape.mesh.file");
            let path = files.path(&file.file).map_err(|problem| Fault::new(&at, problem))?;
            // Others than regular files of some size are refused before they are opened.
            input::open(&path, input::MESH, "expected a mesh").map_err(|error| Fault::new(&at, error.to_string()))?;
            let name = quoted(&file.file);
            let solid = solid(Shape::File { path, scale: file.scale });
            return solid.map(Placed::Solid).map_err(|problem| Fault::new(at, format!("{name}: {problem}")));
        }
    };
    let shape = found.map_err(|problem| Fault::new(format!("{at}.shape"), problem))?;
    Ok(Placed::Solid(shape))
}

/// Checks the numbers of a shape.
pub(super) fn numbers(at: &str, body: &Body) -> Result<(), Fault> {
    let length = |path: &str, value: f64| within(&format!("{at}.shape.{path}"), value, &bounds::SIDE);
    match &body.shape {
        BodyShape::Box(shape) => cuboid(&format!("{at}.shape.box"), shape, &body.pose),
        BodyShape::Sphere(sphere) => length("sphere.radius", sphere.radius),
        BodyShape::Ellipsoid(shape) => shape.radii.iter().try_for_each(|r| length("ellipsoid.radii", *r)),
        BodyShape::Capsule(capsule) => {
            length("capsule.radius", capsule.radius).and_then(|()| length("capsule.length", capsule.length))
        }
        BodyShape::Cylinder(cylinder) => {
            length("cylinder.radius", cylinder.radius).and_then(|()| length("cylinder.height", cylinder.height))
        }
        BodyShape::Torus(torus) => {
            length("torus.radius", torus.radius).and_then(|()| length("torus.tube", torus.tube))?;
            match torus.tube < torus.radius {
                true => Ok(()),
                false => {
                    let problem = format!("{}, expected less than the radius, {}", torus.tube, torus.radius);
                    wrong(&format!("{at}.shape.torus.tube"), problem)
                }
            }
        }
        BodyShape::Mesh(mesh) => positive(&format!("{at}.shape.mesh.scale"), mesh.scale),
    }
}

pub(super) fn cuboid(at: &str, shape: &BoxShape, pose: &Pose) -> Result<(), Fault> {
    match (shape.size, shape.min, shape.max) {
        (Some(size), None, None) => {
            size.iter().try_for_each(|side| within(&format!("{at}.size"), *side, &bounds::SIDE))
        }
        (None, Some(min), Some(max)) if *pose == Pose::default() => ends(at, min, max),
        (None, Some(_), Some(_)) => {
            wrong(at, "min and max say where the box is, expected no pose beside them, or size in their place")
        }
        _ => wrong(at, "expected either size, or min and max"),
    }
}

fn ends(at: &str, min: Vector, max: Vector) -> Result<(), Fault> {
    let (low, high) = (format!("{at}.min"), format!("{at}.max"));
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        if max[axis] <= min[axis] {
            let (min, max) = (rounded(min[axis]), rounded(max[axis]));
            let problem =
                format!("the block is empty along {name} ({min} to {max} m), expected more than its other corner");
            return wrong(&high, problem);
        }
    }
    at_most(&low, min, &bounds::PLACE)?;
    at_most(&high, max, &bounds::PLACE)?;
    (0..3).try_for_each(|a| within(&high, max[a] - min[a], &bounds::SIDE))
}

/// What messages call a body of this shape.
pub(super) fn called(shape: &Placed) -> String {
    let what = match shape {
        Placed::Block { .. } => "the block",
        Placed::Solid(_) => "the body",
    };
    // Of what is so large or small the unit is wrong more often than not.
    let longest = shape.sides().into_iter().fold(0.0, f64::max);
    match (1e-3..=10.0).contains(&longest) {
        true => what.into(),
        false => format!("{what}, {} m long (see units.length, or scale of a mesh),", rounded(longest)),
    }
}
