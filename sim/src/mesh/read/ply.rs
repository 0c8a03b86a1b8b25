//! PLY, by the crate `ply-rs-bw`.

use super::names::Names;
use super::{Soup, fan, shown};
use ply_rs_bw::parser::{ParseError, Parser, Reader};
use ply_rs_bw::ply::{ElementDef, Encoding, Property, PropertyAccess, PropertyAccessResult, PropertyType};
use std::io::ErrorKind;

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
    if !bytes.starts_with(b"ply") {
        let problem =
            "is no PLY, whose first line is ply; a Wavefront OBJ or STL is read by its extension, .obj or .stl";
        return Err(problem.to_owned());
    }
    let mut reader = Reader::new(bytes);
    let header = Parser::<Other>::new().read_header(&mut reader).map_err(|error| of_header(bytes, &error))?;
    for element in header.elements.values() {
        check(element, bytes.len())?;
    }
    let (mut vertices, mut triangles, mut faces) = (Vec::new(), Vec::new(), Vec::new());
    for element in header.elements.values() {
        let refused = |error: ParseError| of_element(bytes, header.encoding, element, &error);
        match element.name.as_str() {
            "vertex" => {
                let read = Parser::<Vertex>::new().read_payload_for_element(&mut reader, element, &header);
                vertices = read.map_err(refused)?.into_iter().map(|v| v.0).collect();
            }
            "face" => {
                let read = Parser::<Face>::new().read_payload_for_element(&mut reader, element, &header);
                (triangles, faces) = triangulated(read.map_err(refused)?)?;
            }
            _ => {
                let read = Parser::<Other>::new().read_payload_for_element(&mut reader, element, &header);
                read.map_err(refused)?;
            }
        }
    }
    Ok(Soup { vertices, triangles, names: Names::Faces(faces) })
}

/// What is wrong with a header; the parser says it in names of its types.
fn of_header(bytes: &[u8], error: &ParseError) -> String {
    match (error.kind(), error.line()) {
        (ErrorKind::UnexpectedEof, _) => "is cut off: its header does not end with end_header".to_owned(),
        (_, Some(line)) => format!(
            "line {line}: {}, expected ply, format, comment, obj_info, element, property or end_header, as headers have it",
            written(bytes, line)
        ),
        (_, None) => format!("has a wrong header: {error}"),
    }
}

/// What is wrong with an element.
fn of_element(bytes: &[u8], encoding: Encoding, element: &ElementDef, error: &ParseError) -> String {
    let ElementDef { name, count, properties } = element;
    let cut_off = || format!("the file is cut off: its header counts {count} of element {name}, and it has fewer");
    match (error.kind(), error.line()) {
        (ErrorKind::UnexpectedEof, _) => cut_off(),
        (ErrorKind::InvalidData, Some(_)) => format!(
            "element {name} has a property of another type than is read: x, y and z of vertices are numbers, vertex_indices of faces is a \
             list of whole numbers"
        ),
        (_, Some(line)) if encoding == Encoding::Ascii => {
            let mut rest = bytes.split(|&byte| byte == b'\n').skip(line.saturating_sub(1));
            let is_number = |word: &[u8]| std::str::from_utf8(word).is_ok_and(|word| word.parse::<f64>().is_ok());
            let numbers = rest.next().unwrap_or_default().trim_ascii().split(u8::is_ascii_whitespace).all(is_number);
            if numbers && rest.all(|line| line.trim_ascii().is_empty()) {
                return format!("line {line}: {} is the last, and {}", written(bytes, line), cut_off());
            }
            let of_line = properties.values().map(|property| match property.data_type {
                PropertyType::Scalar(_) => property.name.clone(),
                PropertyType::List(..) => format!("the length and the numbers of {}", property.name),
            });
            let expected = of_line.collect::<Vec<_>>().join(", ");
            format!("line {line}: {}, expected numbers: {expected}", written(bytes, line))
        }
        (_, Some(_)) => format!("element {name} has a list whose length is no whole number"),
        (_, None) => format!("element {name}: {error}"),
    }
}

/// A line, for a message.
fn written(bytes: &[u8], line: usize) -> String {
    let found = bytes.split(|&byte| byte == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    shown(&String::from_utf8_lossy(found))
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

/// Faces as triangles, and the face that each of these is of.
fn triangulated(faces: Vec<Face>) -> Result<(Vec<[u32; 3]>, Vec<u32>), String> {
    let (mut triangles, mut numbers) = (Vec::new(), Vec::new());
    for (k, Face(corners)) in faces.into_iter().enumerate() {
        let index = |&i: &i64| u32::try_from(i).map_err(|_| format!("face {k} has vertex {i}, expected at least 0"));
        let corners: Vec<u32> = corners.iter().map(index).collect::<Result<_, _>>()?;
        if corners.len() < 3 {
            return Err(format!("face {k} has {} vertices, expected at least 3", corners.len()));
        }
        triangles.extend(fan(&corners));
        numbers.resize(triangles.len(), k as u32);
    }
    Ok((triangles, numbers))
}
