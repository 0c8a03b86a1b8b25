//! What is no surface of a body is refused, with the indices of what to change.

use crate::common::Random;
use diffkern_sim::mesh::{ClosedMesh, MeshFault};
use diffkern_sim::shape::{Cuboid, Primitive, Sphere};
use diffkern_sim::{Error, Result};

type Soup = (Vec<[f64; 3]>, Vec<[u32; 3]>);

fn ball() -> Soup {
    let mesh = Primitive::Sphere(Sphere { radius: 1.0 }).surface(0.5).expect("a ball");
    (mesh.vertices().to_vec(), mesh.triangles().to_vec())
}

/// A cube of 2 m around `centre` \[m\], a vertex at each corner, scaled.
fn cube(scale: f64, centre: [f64; 3]) -> Soup {
    let mesh = Primitive::Cuboid(Cuboid { sides: [2.0; 3] }).surface(3.0).expect("a cube");
    let vertices = mesh.vertices().iter().map(|v| [0, 1, 2].map(|a| v[a] * scale + centre[a])).collect();
    (vertices, mesh.triangles().to_vec())
}

fn united(mut a: Soup, b: Soup) -> Soup {
    let first = a.0.len() as u32;
    a.0.extend(b.0);
    a.1.extend(b.1.iter().map(|t| t.map(|i| first + i)));
    a
}

fn inverted((vertices, triangles): Soup) -> Soup {
    (vertices, triangles.into_iter().map(|[a, b, c]| [a, c, b]).collect())
}

#[track_caller]
fn fault((vertices, triangles): Soup) -> MeshFault {
    match ClosedMesh::new(vertices, triangles).expect_err("no body") {
        Error::Mesh(fault) => fault,
        other => panic!("{other}"),
    }
}

#[test]
fn damage_is_found_wherever_it_is() {
    for seed in 0..20 {
        let mut r = Random(seed);
        let (vertices, triangles) = ball();
        let face = r.between(0.0, triangles.len() as f64) as usize;
        let vertex = r.between(0.0, vertices.len() as f64) as usize;
        let corners = triangles[face];

        let mut open = triangles.clone();
        open.remove(face);
        match fault((vertices.clone(), open)) {
            MeshFault::Hole { edge, .. } => assert!(edge.iter().all(|i| corners.contains(i)), "{edge:?} {corners:?}"),
            other => panic!("{other}"),
        }

        let mut flipped = triangles.clone();
        flipped[face].swap(0, 1);
        match fault((vertices.clone(), flipped)) {
            MeshFault::Inverted { faces, edge } => {
                assert!(faces.contains(&face) && edge.iter().all(|i| corners.contains(i)), "{faces:?} {edge:?}");
            }
            other => panic!("{other}"),
        }

        let mut twice = triangles.clone();
        twice.push(corners);
        match fault((vertices.clone(), twice)) {
            MeshFault::NonManifold { edge, faces, count: 3 } => {
                assert!(faces.contains(&face) && edge.iter().all(|i| corners.contains(i)), "{faces:?} {edge:?}");
            }
            other => panic!("{other}"),
        }

        let mut range = triangles.clone();
        range[face][1] = vertices.len() as u32;
        let expected = MeshFault::OutOfRange { face, index: vertices.len() as u32, vertices: vertices.len() };
        assert_eq!(fault((vertices.clone(), range)), expected);

        let mut repeated = triangles.clone();
        repeated[face][1] = corners[2];
        let corners = [corners[0], corners[2], corners[2]];
        assert_eq!(fault((vertices.clone(), repeated)), MeshFault::Degenerate { face, corners });

        let mut moved = vertices.clone();
        moved[vertex][1] = f64::INFINITY;
        assert_eq!(fault((moved.clone(), triangles.clone())), MeshFault::NotFinite { vertex, at: moved[vertex] });

        // Through the opposite side.
        moved[vertex] = vertices[vertex].map(|x| -1.2 * x);
        match fault((moved, triangles.clone())) {
            MeshFault::Crossing { faces } => {
                let near = faces.iter().any(|&f| triangles[f].contains(&(vertex as u32)));
                assert!(near && faces[0] < faces[1], "{faces:?}");
            }
            other => panic!("{other}"),
        }

        let mut more = vertices.clone();
        more.push([0.5; 3]);
        assert_eq!(fault((more, triangles)), MeshFault::Unused { vertex: vertices.len(), at: [0.5; 3] });
    }
    assert_eq!(fault((Vec::new(), Vec::new())), MeshFault::Empty { vertices: 0 });
}

#[test]
fn a_face_on_a_line_has_no_area() {
    let (mut vertices, triangles) = cube(1.0, [0.0; 3]);
    let [a, b, c] = triangles[5].map(|i| i as usize);
    vertices[c] = [0, 1, 2].map(|k| 0.5 * (vertices[a][k] + vertices[b][k]));
    let message = fault((vertices, triangles)).to_string();
    assert!(message.contains("has no area: its vertices repeat or lie on a line"), "{message}");
}

#[test]
fn what_is_inside_out_is_refused_and_what_is_a_cavity_is_not() -> Result<()> {
    let body = |(vertices, triangles)| ClosedMesh::new(vertices, triangles);
    let (large, small) = (cube(1.0, [0.0; 3]), cube(0.5, [0.1, 0.0, 0.0]));
    let faces = large.1.len();
    match fault(inverted(large.clone())) {
        MeshFault::InsideOut { face: 0, volume } => assert!((volume + 8.0).abs() < 1e-12),
        other => panic!("{other}"),
    }
    let hollow = body(united(large.clone(), inverted(small.clone())))?;
    assert!((hollow.moments().volume - 7.0).abs() < 1e-12);
    assert_eq!(hollow.euler_characteristic(), 4);
    assert_eq!(fault(united(large.clone(), small.clone())), MeshFault::Nested { face: faces });
    // A body in the cavity of another, and a cavity in a cavity.
    let inner = cube(0.25, [0.1, 0.0, 0.0]);
    let three = united(united(large.clone(), inverted(small.clone())), inner.clone());
    assert!((body(three)?.moments().volume - 7.125).abs() < 1e-12);
    let twice = fault(united(united(large.clone(), inverted(small.clone())), inverted(inner)));
    assert!(matches!(twice, MeshFault::InsideOut { face, .. } if face == 2 * faces), "{twice}");

    let beside = cube(0.5, [3.0, 0.0, 0.0]);
    assert!((body(united(large.clone(), beside.clone()))?.moments().volume - 9.0).abs() < 1e-12);
    let turned = fault(united(large, inverted(beside)));
    assert!(matches!(turned, MeshFault::InsideOut { face, .. } if face == faces), "{turned}");
    Ok(())
}

#[test]
fn bodies_that_touch_or_cross_are_refused() {
    let faces = cube(1.0, [0.0; 3]).1.len();
    // Through each other; side on side, in one plane; a corner on a side; one within a side's plane.
    for centre in [[0.7, 0.8, 0.9], [1.5, 0.3, 0.2], [1.5, 0.0, 0.0], [1.5, 1.5, 1.5]] {
        match fault(united(cube(1.0, [0.0; 3]), cube(0.5, centre))) {
            MeshFault::Crossing { faces: [a, b] } => assert!(a < faces && b >= faces, "{a} {b}"),
            other => panic!("{other}"),
        }
    }
    // A hair's breadth apart.
    let (vertices, triangles) = united(cube(1.0, [0.0; 3]), cube(0.5, [1.5 + 1e-15, 0.3, 0.2]));
    assert!(ClosedMesh::new(vertices, triangles).is_ok());
}

#[test]
fn faces_folded_onto_each_other_are_refused() {
    // Two triangles of one side of a tetrahedron, the common corner of which is moved over their common edge.
    let mut vertices = vec![[0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0], [0.5, 0.5, 0.0]];
    let triangles = vec![[0, 4, 1], [1, 4, 2], [2, 4, 0], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    assert!(ClosedMesh::new(vertices.clone(), triangles.clone()).is_ok());
    vertices[4] = [1.5, 1.5, 0.0];
    assert!(matches!(fault((vertices, triangles)), MeshFault::Crossing { .. }));
}

#[test]
fn a_hundred_thousand_faces_take_seconds() -> Result<()> {
    let mesh = Primitive::Sphere(Sphere { radius: 1.0 }).surface(0.0187)?;
    assert!(mesh.triangles().len() > 100_000);
    let start = std::time::Instant::now();
    ClosedMesh::new(mesh.vertices().to_vec(), mesh.triangles().to_vec())?;
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    Ok(())
}
