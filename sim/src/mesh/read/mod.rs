//! Files of surfaces.

mod obj;
mod ply;
mod stl;

use super::closed::ClosedMesh;
use super::pose::Pose;
use super::vector::Point;
use super::weld::weld;
use crate::error::{Error, Result};
use crate::fault::MeshFault;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Largest file that [`read`] takes \[bytes\]; some million faces.
pub const MOST_BYTES: u64 = 64 << 20;

/// Vertices and triangles as they are in a file.
type Soup = (Vec<Point>, Vec<[u32; 3]>);

/// The surface of a body from a file: Wavefront OBJ (`.obj`), PLY in text or binary (`.ply`), STL in text or binary
/// (`.stl`).
///
/// Coordinates are taken times `scale` as metres; move the result by [`ClosedMesh::placed`]. Vertices at equal places become
/// one, since STL has no common vertices and others part them at seams of textures. Polygons become fans of triangles around
/// their first vertex, which is right for convex ones. Colours, normals, texture coordinates and materials are left out, and
/// so are vertices that no face uses; groups and objects of one file become one surface.
///
/// ```no_run
/// use diffkern_sim::mesh::{Pose, read};
///
/// // Written in millimetres.
/// let body = read("duck.stl".as_ref(), 1e-3)?.placed(1.0, &Pose::at([0.0, 0.0, 0.2]))?;
/// println!("{} m^3", body.moments().volume);
/// # Ok::<(), diffkern_sim::Error>(())
/// ```
///
/// # Errors
/// [`Error::File`], which names the file, what is wrong and where, when it is no regular file, too large, not of the
/// format, or [no surface of a body](MeshFault). Faces are those after polygons have become triangles.
pub fn read(file: &Path, scale: f64) -> Result<ClosedMesh> {
    let refused = |problem: String| Error::File { file: file.into(), problem };
    let bytes = bytes(file).map_err(refused)?;
    let extension = file.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let (vertices, triangles) = match extension.as_deref() {
        Some("obj") => obj::parse(&bytes),
        Some("ply") => ply::parse(&bytes),
        Some("stl") => stl::parse(bytes),
        other => Err(format!("has the extension {:?}, expected obj, ply or stl", other.unwrap_or(""))),
    }
    .map_err(refused)?;
    let index = |(face, t): (usize, &[u32; 3])| Some((face, *t.iter().find(|&&i| i as usize >= vertices.len())?));
    if let Some((face, index)) = triangles.iter().enumerate().find_map(index) {
        return Err(refused(MeshFault::OutOfRange { face, index, vertices: vertices.len() }.to_string()));
    }
    let (vertices, triangles) = weld(&vertices, &triangles)?;
    let named = |error: Error, vertices: &[Point], triangles: &[[u32; 3]]| match error {
        Error::Mesh(fault) => refused(located(&fault, vertices, triangles)),
        other => other,
    };
    let body = ClosedMesh::new(vertices.clone(), triangles.clone()).map_err(|e| named(e, &vertices, &triangles))?;
    body.placed(scale, &Pose::default())
}

/// The fault, with the coordinates of a vertex that takes part: merging has numbered the vertices anew.
fn located(fault: &MeshFault, vertices: &[Point], triangles: &[[u32; 3]]) -> String {
    let vertex = match *fault {
        MeshFault::Empty { .. } => None,
        MeshFault::NotFinite { vertex, .. } | MeshFault::Unused { vertex, .. } => Some(vertex),
        MeshFault::Hole { edge, .. } | MeshFault::NonManifold { edge, .. } | MeshFault::Inverted { edge, .. } => {
            Some(edge[0] as usize)
        }
        MeshFault::OutOfRange { face, .. }
        | MeshFault::Degenerate { face, .. }
        | MeshFault::Crossing { faces: [face, _] }
        | MeshFault::InsideOut { face, .. }
        | MeshFault::Nested { face } => triangles.get(face).map(|t| t[0] as usize),
    };
    match vertex.and_then(|v| Some((v, vertices.get(v)?))) {
        Some((v, at)) => format!("{fault} (vertex {v} is at {at:?} in the file)"),
        None => fault.to_string(),
    }
}

/// The bytes of a regular file. Others are refused before they are opened: to open a pipe would wait for its writer, and to
/// read a device has no end.
pub(crate) fn bytes(file: &Path) -> std::result::Result<Vec<u8>, String> {
    let unreadable = |e: std::io::Error| format!("cannot be read: {e}");
    let large = || format!("is larger than {MOST_BYTES} bytes, the limit; simplify the mesh");
    let found = std::fs::metadata(file).map_err(unreadable)?;
    if !found.is_file() {
        return Err("is no regular file".to_owned());
    }
    if found.len() > MOST_BYTES {
        return Err(large());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(found.len() as usize + 1).map_err(|_| "does not fit into memory".to_owned())?;
    // It may grow while it is read.
    File::open(file).map_err(unreadable)?.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES { Err(large()) } else { Ok(bytes) }
}

/// A polygon as a fan around its first corner.
fn fan(corners: &[u32]) -> impl Iterator<Item = [u32; 3]> {
    let first = corners.first().copied().unwrap_or(0);
    corners.windows(2).skip(1).map(move |pair| [first, pair[0], pair[1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    const VERTICES: [Point; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]];
    const FACES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

    fn obj() -> Vec<u8> {
        let mut text = "mtllib none.mtl\no body\n".to_owned();
        VERTICES.iter().for_each(|[x, y, z]| writeln!(text, "v {x} {y} {z} 1 0 0\nvt 0 0").unwrap());
        FACES.iter().for_each(|f| writeln!(text, "g face\nf {}/1 {}/2 -{}", f[0] + 1, f[1] + 1, 4 - f[2]).unwrap());
        text.into_bytes()
    }

    fn ply_header(format: &str, real: &str) -> String {
        let axes = ["x", "y", "z"].map(|a| format!("property {real} {a}\n")).concat();
        format!(
            "ply\nformat {format} 1.0\nelement vertex 4\n{axes}property uchar red\nelement face 4\nproperty list uchar int vertex_indices\nelement edge 1\nproperty int a\nend_header\n"
        )
    }

    fn ply_text() -> Vec<u8> {
        let mut text = ply_header("ascii", "double");
        VERTICES.iter().for_each(|[x, y, z]| writeln!(text, "{x} {y} {z} 7").unwrap());
        FACES.iter().for_each(|[a, b, c]| writeln!(text, "3 {a} {b} {c}").unwrap());
        (text + "5\n").into_bytes()
    }

    fn ply_binary() -> Vec<u8> {
        let mut bytes = ply_header("binary_little_endian", "float").into_bytes();
        for v in VERTICES {
            v.iter().for_each(|&x| bytes.extend((x as f32).to_le_bytes()));
            bytes.push(7);
        }
        for f in FACES {
            bytes.push(3);
            f.iter().for_each(|i| bytes.extend(i.to_le_bytes()));
        }
        bytes.extend([5, 0, 0, 0]);
        bytes
    }

    /// With a header that begins as that of a text.
    fn stl_binary() -> Vec<u8> {
        let mut bytes = format!("{:80}", "solid of many bytes").into_bytes();
        bytes.extend(4u32.to_le_bytes());
        for f in FACES {
            let corners = f.iter().flat_map(|&i| VERTICES[i as usize]);
            [0.0; 3].into_iter().chain(corners).for_each(|x| bytes.extend((x as f32).to_le_bytes()));
            bytes.extend([0, 0]);
        }
        bytes
    }

    fn stl_text() -> Vec<u8> {
        let mut text = "solid body\n".to_owned();
        for f in FACES {
            let corners = f.map(|i| VERTICES[i as usize]).map(|[x, y, z]| format!("vertex {x} {y} {z}\n")).concat();
            write!(text, "facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n").unwrap();
        }
        // Zero of both signs is one place.
        (text.replacen("vertex 0", "vertex -0", 1) + "endsolid\n").into_bytes()
    }

    fn samples() -> [(&'static str, Vec<u8>); 5] {
        [("obj", obj()), ("ply", ply_text()), ("ply", ply_binary()), ("stl", stl_text()), ("stl", stl_binary())]
    }

    fn through_a_file(name: &str, bytes: &[u8], scale: f64) -> Result<ClosedMesh> {
        let file = std::env::temp_dir().join(format!("diffkern-{}-{name}", std::process::id()));
        std::fs::write(&file, bytes).unwrap();
        let body = read(&file, scale);
        std::fs::remove_file(&file).unwrap();
        body
    }

    #[test]
    fn every_format_gives_the_body() {
        for (k, (extension, bytes)) in samples().into_iter().enumerate() {
            let body = through_a_file(&format!("{k}.{extension}"), &bytes, 0.5).unwrap();
            assert_eq!((body.vertices().len(), body.triangles().len()), (4, 4), "{extension}");
            assert!((body.moments().volume - 1.0 / 24.0).abs() < 1e-15, "{extension}");
        }
    }

    #[test]
    fn bad_files_are_refused_with_the_place() {
        let message = |name: &str, text: &[u8]| {
            let text = through_a_file(name, text, 1.0).unwrap_err().to_string();
            text.split_once(": ").map(|(file, rest)| {
                assert!(file.ends_with(name), "{text}");
                rest.to_owned()
            })
        };
        let refused = |name: &str, text: &str, expected: &str| {
            let found = message(name, text.as_bytes()).unwrap();
            assert!(found.contains(expected), "{found}\ninstead of\n{expected}");
        };
        refused("a.obj", "v 0 0 0\nv 1 0 zero\nf 1 2 3", "line 2: position parse error");
        refused("b.obj", "v 0 0 0\n\nf 1 2 7\n", "line 3: face vertex index out of bounds");
        refused(
            "c.obj",
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
            "hole: the edge from vertex 0 to 1 is of face 0 alone",
        );
        refused("c.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "(vertex 0 is at [0.0, 0.0, 0.0] in the file)");
        refused("d.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "vertex 0 is [NaN, 0.0, 0.0]");
        refused("e.obj", "v 0 0 0\n", "has 0 vertices and no faces");
        refused("a.step", "", "has the extension \"step\", expected obj, ply or stl");
        let header = |rest: &str| format!("ply\nformat binary_little_endian 1.0\n{rest}end_header\n");
        refused("a.ply", &header("element vertex 4000000000\n"), "element vertex has no properties");
        refused(
            "b.ply",
            &header("element vertex 400000\nproperty float x\nproperty float y\nproperty float z\n"),
            "element vertex counts 400000, more than the file has bytes",
        );
        let text = String::from_utf8(ply_text()).unwrap();
        refused("c.ply", &text.replace("3 0 2 1", "3 0 2 -1"), "face 0 has vertex -1");
        refused("d.ply", &text.replace("3 0 2 1", "3 0 2 9"), "face 0 has vertex 9, expected less than 4");
        refused("e.ply", &text.replace("double z", "double w"), "no property z");
        refused("a.stl", "solid x\nfacet", "invalid facet header");
        let folder = read(std::env::temp_dir().as_path(), 1.0).unwrap_err().to_string();
        assert!(folder.contains("no regular file"), "{folder}");
    }

    /// Any bytes give a body or an error.
    #[test]
    fn damaged_files_never_panic() {
        let mut seed = 1u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % n
        };
        for (extension, bytes) in samples() {
            for _ in 0..2000 {
                let mut damaged = bytes.clone();
                for _ in 0..1 + random(3) {
                    let at = random(damaged.len());
                    match random(4) {
                        0 => damaged[at] = random(256) as u8,
                        1 => damaged[at] = b"-9 \n/e."[random(7)],
                        2 => damaged.truncate(at + 1),
                        _ => damaged.insert(at, b'9'),
                    }
                }
                let soup = match extension {
                    "obj" => obj::parse(&damaged),
                    "ply" => ply::parse(&damaged),
                    _ => stl::parse(damaged),
                };
                if let Ok((vertices, triangles)) = soup {
                    let (vertices, triangles) = weld(&vertices, &triangles).unwrap();
                    let _ = ClosedMesh::new(vertices, triangles);
                }
            }
        }
    }
}
