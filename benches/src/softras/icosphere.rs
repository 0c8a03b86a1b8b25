//! A unit sphere of triangles: an icosahedron whose faces are split in four, over and over.

use std::collections::HashMap;

type Point = [f64; 3];

/// At least so many faces, as few as splitting gives; corners, then faces. A split keeps the corners' numbers, and
/// numbers the middles of edges by the faces that come to them first.
pub(super) fn with_faces(least: usize) -> (Vec<Point>, Vec<[u32; 3]>) {
    let (mut points, mut faces) = icosahedron();
    while faces.len() < least {
        let mut middles = HashMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                let (a, b) = (points[a as usize], points[b as usize]);
                points.push(normalized(std::array::from_fn(|d| a[d] + b[d])));
                points.len() as u32 - 1
            })
        };
        faces = faces
            .into_iter()
            .flat_map(|[a, b, c]| {
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
            })
            .collect();
    }
    (points, faces)
}

/// Corners of three golden rectangles, one in each plane of two axes.
fn icosahedron() -> (Vec<Point>, Vec<[u32; 3]>) {
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let rectangle = [[-1.0, golden], [1.0, golden], [-1.0, -golden], [1.0, -golden]];
    let corner = |plane: usize, [u, v]: [f64; 2]| match plane {
        0 => [u, v, 0.0],
        1 => [0.0, u, v],
        _ => [v, 0.0, u],
    };
    let points = (0..3).flat_map(|plane| rectangle.map(|at| normalized(corner(plane, at)))).collect();
    let faces = [
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    (points, faces.to_vec())
}

fn normalized(p: Point) -> Point {
    let norm = p.iter().map(|x| x * x).sum::<f64>().sqrt();
    p.map(|x| x / norm)
}
