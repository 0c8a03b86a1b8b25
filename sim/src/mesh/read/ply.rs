//! PLY, by the crate `ply-rs-bw`.

use super::{Soup, fan};
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{ElementDef, Property, PropertyAccess, PropertyAccessResult};

/// A position; what the file does not give is not a number.
struct Vertex([f64; 3]);

impl PropertyAccess for Vertex {
    fn new() -> Vertex {
        Vertex([f64::NAN; 3])
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        let Some(axis) = ["x", "y", "z"].iter().position(|&axis| axis == name) else {
            return PropertyAccessResult::Ignored;
        };
        self.0[axis] = match property {
            Property::Char(x) => x.into(),
            Property::UChar(x) => x.into(),
            Property::Short(x) => x.into(),
            Property::UShort(x) => x.into(),
            Property::Int(x) => x.into(),
            Property::UInt(x) => x.into(),
            Property::Float(x) => x.into(),
            Property::Double(x) => x,
            Property::ListChar(_)
            | Property::ListUChar(_)
            | Property::ListShort(_)
            | Property::ListUShort(_)
            | Property::ListInt(_)
            | Property::ListUInt(_)
            | Property::ListFloat(_)
            | Property::ListDouble(_) => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

/// The vertices of a polygon.
struct Face(Vec<i64>);

impl PropertyAccess for Face {
    fn new() -> Face {
        Face(Vec::new())
    }

    fn set_property(&mut self, name: &str, property: Property) -> PropertyAccessResult {
        if !is_corners(name) {
            return PropertyAccessResult::Ignored;
        }
        fn wide<T: Into<i64>>(list: Vec<T>) -> Vec<i64> {
            list.into_iter().map(T::into).collect()
        }
        self.0 = match property {
            Property::ListChar(list) => wide(list),
            Property::ListUChar(list) => wide(list),
            Property::ListShort(list) => wide(list),
            Property::ListUShort(list) => wide(list),
            Property::ListInt(list) => wide(list),
            Property::ListUInt(list) => wide(list),
            Property::Char(_)
            | Property::UChar(_)
            | Property::Short(_)
            | Property::UShort(_)
            | Property::Int(_)
            | Property::UInt(_)
            | Property::Float(_)
            | Property::Double(_)
            | Property::ListFloat(_)
            | Property::ListDouble(_) => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

/// An element that is none of the two.
struct Other;

impl PropertyAccess for Other {
    fn new() -> Other {
        Other
    }
}

/// Both names are in use.
fn is_corners(name: &str) -> bool {
    matches!(name, "vertex_indices" | "vertex_index")
}

pub(super) fn parse(bytes: &[u8]) -> Result<Soup, String> {
    let mut reader = Reader::new(bytes);
    let message = |error: ply_rs_bw::parser::ParseError| error.to_string().replace(['\n', '\t'], " ");
    let header = Parser::<Other>::new().read_header(&mut reader).map_err(message)?;
    for element in header.elements.values() {
        check(element, bytes.len())?;
    }
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for element in header.elements.values() {
        match element.name.as_str() {
            "vertex" => {
                let read = Parser::<Vertex>::new().read_payload_for_element(&mut reader, element, &header);
                vertices = read.map_err(message)?.into_iter().map(|v| v.0).collect();
            }
            "face" => {
                let read = Parser::<Face>::new().read_payload_for_element(&mut reader, element, &header);
                triangles = triangulated(read.map_err(message)?)?;
            }
            _ => {
                let read = Parser::<Other>::new().read_payload_for_element(&mut reader, element, &header);
                read.map_err(message)?;
            }
        }
    }
    Ok((vertices, triangles))
}

/// An element takes at least a byte for each property, so that a count beyond the file is known before memory is taken.
fn check(element: &ElementDef, bytes: usize) -> Result<(), String> {
    let ElementDef { name, count, properties } = element;
    let expected: &[&[&str]] = match name.as_str() {
        "vertex" => &[&["x"], &["y"], &["z"]],
        "face" => &[&["vertex_indices", "vertex_index"]],
        _ => &[],
    };
    if properties.is_empty() {
        return Err(format!("element {name} has no properties"));
    }
    if count.saturating_mul(properties.len()) > bytes {
        return Err(format!("element {name} counts {count}, more than the file has bytes; it may be cut off"));
    }
    match expected.iter().find(|names| !names.iter().any(|&n| properties.contains_key(n))) {
        Some(names) => Err(format!("element {name} has no property {}", names.join(" or "))),
        None => Ok(()),
    }
}

fn triangulated(faces: Vec<Face>) -> Result<Vec<[u32; 3]>, String> {
    let mut triangles = Vec::new();
    for (k, Face(corners)) in faces.into_iter().enumerate() {
        let index = |&i: &i64| u32::try_from(i).map_err(|_| format!("face {k} has vertex {i}, expected at least 0"));
        let corners: Vec<u32> = corners.iter().map(index).collect::<Result<_, _>>()?;
        if corners.len() < 3 {
            return Err(format!("face {k} has {} vertices, expected at least 3", corners.len()));
        }
        triangles.extend(fan(&corners));
    }
    Ok(triangles)
}
