//! Files of surfaces.

mod names;
mod obj;
mod ply;
mod stl;

use super::closed::ClosedMesh;
use super::pose::Pose;
use super::vector::Point;
use super::weld::weld;
use crate::error::{Error, Result};
use crate::fault::MeshFault;
use names::Names;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Largest file that [`read`] takes \[bytes\]; some million faces.
pub const MOST_BYTES: u64 = 64 << 20;

/// Characters of a line that a message shows.
const SHOWN: usize = 60;

/// Vertices and triangles as they are in a file, and what it calls them.
struct Soup {
    vertices: Vec<Point>,
    triangles: Vec<[u32; 3]>,
    names: Names,
}

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
/// format, or [no surface of a body](MeshFault). Vertices and faces have the numbers of the file there: from 1 in an OBJ, which
/// is told by line as well, from 0 in a PLY; in an STL faces are counted from 0.
pub fn read(file: &Path, scale: f64) -> Result<ClosedMesh> {
    let refused = |problem: String| Error::File { file: file.into(), problem };
    let bytes = bytes(file).map_err(refused)?;
    let extension = file.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let soup = match extension.as_deref() {
        Some("obj") => obj::parse(&bytes),
        Some("ply") => ply::parse(&bytes),
        Some("stl") => stl::parse(bytes),
        other => Err(format!("has the extension {:?}, expected obj, ply or stl", other.unwrap_or(""))),
    }
    .map_err(refused)?;
    let count = soup.vertices.len();
    if soup.triangles.is_empty() {
        return Err(refused(MeshFault::Empty { vertices: count }.to_string()));
    }
    let index = |(face, t): (usize, &[u32; 3])| Some((face, *t.iter().find(|&&i| i as usize >= count)?));
    if let Some((triangle, index)) = soup.triangles.iter().enumerate().find_map(index) {
        let fault = MeshFault::OutOfRange { face: soup.face_number(triangle), index, vertices: count };
        return Err(refused(fault.to_string()));
    }
    // Merging numbers the vertices anew.
    let (vertices, triangles) = weld(&soup.vertices, &soup.triangles)?;
    let named = |error: Error| match error {
        Error::Mesh(fault) => refused(soup.told(&fault, &vertices, &triangles)),
        other => other,
    };
    let body = ClosedMesh::new(vertices.clone(), triangles.clone()).map_err(named)?;
    body.placed(scale, &Pose::default()).map_err(named)
}

/// A line of a file, in quotes, cut where it is long.
fn shown(line: &str) -> String {
    format!("{:?}", line.trim().chars().take(SHOWN).collect::<String>())
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
        refused("a.obj", "v 0 0 0\nv 1 0 zero\nf 1 2 3", "line 2: \"v 1 0 zero\", expected three numbers, v x y z");
        refused("b.obj", "v 0 0 0\n\nf 1 2 7\n", "line 3: \"f 1 2 7\", expected numbers of vertices from 1 to 1");
        refused(
            "b.obj",
            "v 0 0 0\nf -1 -2 -3\nv 1 0 0\nv 0 1 0\n",
            "line 2: \"f -1 -2 -3\", expected numbers of vertices",
        );
        refused(
            "b.obj",
            "v 0 0 0 # first\nv 1 0 0\nv 0 1 0\nf 1 2 3 # last\n",
            "hole: the edge from vertex 1 to 2 is of face 1",
        );
        refused("b.obj", "v 0 0 0\nf 1 2.5 3\n", "line 2: \"f 1 2.5 3\", expected the numbers of its vertices");
        refused(
            "c.obj",
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
            "hole: the edge from vertex 1 to 2 is of face 1 alone",
        );
        refused("e.obj", "v 0 0 0\nv 1 0 0\n", "has 2 vertices and no faces");
        refused("f.obj", "hello, this is not a mesh\n", "is no Wavefront OBJ: it has no vertex");
        refused("f.obj", "solid x\nfacet normal 0 0 0\n", "as an STL does, expected the extension .stl");
        refused("f.obj", "", "is empty: it has no vertex");
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
        refused("f.ply", "v 0 0 0\n", "is no PLY, whose first line is ply");
        refused(
            "g.ply",
            &text.replace("\n0 0 0 7", "\nnan 0 0 7"),
            "line 13: \"nan 0 0 7\", expected numbers: x, y, z, red",
        );
        let (head, _) = text.split_once(" 0 3\n5").unwrap();
        refused(
            "h.ply",
            head,
            "line 20: \"3 2\" is the last, and the file is cut off: its header counts 4 of element face",
        );
        refused("a.stl", "solid x\nfacet", "line 2: \"facet\", expected facet normal x y z");
        refused("b.stl", "v 0 0 0\nv 1 0 0\n", "is no STL: it is a text that does not begin with solid");
        let solid = String::from_utf8(stl_text()).unwrap();
        refused("c.stl", solid.split_once("endsolid").unwrap().0, "is cut off");
        let mut binary = stl_binary();
        binary[..5].fill(b' ');
        let cut = message("d.stl", &binary[..200]).unwrap();
        assert_eq!(cut, "is cut off, or no STL: it counts 4 triangles, which take 284 bytes, and has 200");
        let binary = message("e.obj", &[b'v', 0xff]).unwrap();
        assert!(binary.contains("is no Wavefront OBJ, which is a text: byte 1 is not UTF-8"), "{binary}");
        let folder = read(std::env::temp_dir().as_path(), 1.0).unwrap_err().to_string();
        assert!(folder.contains("no regular file"), "{folder}");
    }

    /// Merging leaves out the first vertex, and polygons become triangles.
    #[test]
    fn faults_are_told_in_the_numbers_of_the_file() {
        let told = |name: &str, text: &str| through_a_file(name, text.as_bytes(), 1.0).unwrap_err().to_string();
        let square = "# a square\nv 9 9 9\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
        for (faces, expected) in [
            (
                "f 2 3 4 5\n",
                "from vertex 2 to 3 is of face 1 alone; close the surface, or merge vertices at one place (counted from 1; face 1 \
                 is on line 7; vertex 2 is at [0.0, 0.0, 0.0], on line 3)",
            ),
            (
                "f 2 3 4 5\nf 3 3 4\n",
                "face 2 [3, 3, 4] has no area: its vertices repeat or lie on a line; leave it out or move a vertex (counted from 1; \
                 face 2 is on line 8; vertex 3 is at [1.0, 0.0, 0.0], on line 4)",
            ),
        ] {
            let found = told("square.obj", &format!("{square}{faces}"));
            assert!(found.ends_with(expected), "{found}\n{expected}");
        }
        let found = told("nan.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 2 3 1\n");
        assert!(found.contains("vertex 1 is [NaN, 0.0, 0.0], expected finite"), "{found}");
        let text = String::from_utf8(ply_text()).unwrap();
        let found = told("square.ply", &text.replace("3 1 2 3", "4 1 2 3 0").replace("3 0 1 3", "3 3 3 1"));
        let expected = "face 1 [3, 3, 1] has no area: its vertices repeat or lie on a line; leave it out or move a vertex (counted from 0; \
                        vertex 3 is at [0.0, 0.0, 2.0])";
        assert!(found.ends_with(expected), "{found}\n{expected}");
    }

    #[test]
    fn a_text_of_a_solid_without_a_name_is_read() {
        let text = String::from_utf8(stl_text()).unwrap().replacen("solid body", "solid", 1);
        assert_eq!(through_a_file("nameless.stl", text.as_bytes(), 1.0).unwrap().triangles().len(), 4);
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
                if let Ok(soup) = soup {
                    let (vertices, triangles) = weld(&soup.vertices, &soup.triangles).unwrap();
                    if let Err(Error::Mesh(fault)) = ClosedMesh::new(vertices.clone(), triangles.clone()) {
                        let _ = soup.told(&fault, &vertices, &triangles);
                    }
                }
            }
        }
    }
}
