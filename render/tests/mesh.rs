//! Topology and bins.
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

use diffkern_render::Mesh;
use diffkern_render::bin::bin;

#[test]
fn impossible_meshes_are_refused_with_the_place() {
    let message = |r: diffkern_render::Result<Mesh>| r.unwrap_err().to_string();
    assert!(message(Mesh::flat(vec![], 3)).contains("expected at least one"));
    assert!(message(Mesh::flat(vec![[0, 1, 3]], 3)).contains("triangle 0 names vertex 3, but there are 3"));
    assert!(message(Mesh::flat(vec![[0, 1, 1]], 3)).contains("corners 0, 1, 1"));
    assert!(message(Mesh::new(vec![[0, 1, 2]], vec![], 3)).contains("1 triangles but normal groups for 0"));
    let two = vec![[0, 1, 2], [2, 1, 3]];
    assert!(message(Mesh::new(two.clone(), vec![[0, 1, 2], [1, 0, 3]], 4)).contains("lies at vertices"));
    assert!(message(Mesh::new(two.clone(), vec![[0, 1, 2], [2, 1, 4]], 4)).contains("group 3 has no corner"));
    assert!(message(Mesh::new(two, vec![[0, 1, 2], [2, 1, 999]], 4)).contains("normal group 999"));
}

#[test]
fn sides_share_normals_inside_only() {
    let mesh = Mesh::with_sides(vec![[0, 1, 2], [2, 1, 3], [0, 2, 4]], &[5, 5, 9], 5).unwrap();
    assert_eq!(mesh.groups(), [[0, 1, 2], [2, 1, 3], [4, 5, 6]]);
    assert_eq!(mesh.group_vertex(), [0, 1, 2, 3, 0, 2, 4]);
}

#[test]
fn bins_hold_every_triangle_that_reaches_a_tile_front_to_back() {
    let mesh = Mesh::flat(vec![[0, 2, 1], [3, 5, 4], [3, 4, 5]], 6).unwrap();
    let far = [[1.0, 1.0, 5.0], [12.0, 1.0, 5.0], [1.0, 12.0, 5.0]];
    let near = [[2.0, 2.0, 3.0], [6.0, 2.0, 3.0], [2.0, 4.0, 3.0]];
    let projected: Vec<[f64; 3]> = far.into_iter().chain(near).collect();
    let bins = bin(&projected, &mesh, (32, 16), 1.0, 0.1).unwrap();
    assert_eq!(bins.tiles_x, 4);
    let tile = |i: usize| &bins.list[bins.start[i] as usize..bins.start[i + 1] as usize];
    assert_eq!(tile(0), [1, 0]);
    assert_eq!((tile(1), tile(4), tile(2)), (&[0][..], &[0][..], &[][..]));
    let behind = vec![[1.0, 1.0, -1.0]; 6];
    let nothing = bin(&behind, &mesh, (32, 16), 1.0, 0.1);
    assert!(nothing.unwrap_err().to_string().contains("beyond the near plane at 0.1 m"));
}
