use super::*;
use crate::diffsim::TetMesh;

const TET: &str = "# one tetrahedron\nv 0 0 0\nv 1 0 0\n\nv 0 1e0 0\nv 0 0 2.5\nt 0 1 2 3\n";

const TWO: &str = "$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
1
3 7 \"body\"
$EndPhysicalNames
$Nodes
5
10 9 9 9
1 0 0 0
2 1 0 0
30 0 1 0
4 0 0 2.5
$EndNodes
$Elements
3
1 15 2 0 1 10
2 2 2 7 1 1 2 30
3 4 2 7 1 1 2 30 4
$EndElements
";

const FOUR: &str = "$MeshFormat
4.1 0 8
$EndMeshFormat
$Entities
0 0 0 0
$EndEntities
$Nodes
2 5 1 30
0 1 0 1
10
9 9 9
3 1 0 4
1
2
30
4
0 0 0
1 0 0
0 1 0
0 0 2.5
$EndNodes
$Elements
2 2 1 2
2 1 2 1
1 1 2 30
3 1 4 1
2 1 2 30 4
$EndElements
";

fn written(name: &str, text: &str) -> crate::error::Result<TetMesh> {
    let dir = std::env::temp_dir().join(format!("diffsim-read-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join(name);
    std::fs::write(&file, text).unwrap();
    let mesh = TetMesh::read(&file);
    std::fs::remove_file(&file).unwrap();
    mesh
}

#[test]
fn all_formats_hold_the_same_mesh() {
    let expected =
        TetMesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.5]], vec![[0, 1, 2, 3]]).unwrap();
    for (name, text) in [("same.tet", TET), ("same_2.msh", TWO), ("same_4.MSH", FOUR)] {
        assert_eq!(written(name, text).unwrap(), expected, "{name}");
    }
}

#[test]
fn mistakes_are_named_with_their_line() {
    let change = |text: &str, from: &str, to: &str| text.replacen(from, to, 1);
    for (name, text, expected) in [
        ("a.tet", change(TET, "1 0 0", "1 zero 0"), "line 3: `zero`, expected a coordinate y"),
        ("b.tet", change(TET, "v 1 0 0", "v 1 0"), "line 3 ends, expected a coordinate z"),
        ("c.tet", change(TET, "v 1 0 0", "w 1 0 0"), "line 3: `w`, expected `v` or `t`"),
        ("d.tet", change(TET, "1 2 3", "1 2 -3"), "line 7: `-3`, expected the index of a vertex, from 0"),
        ("e.tet", change(TET, "1 2 3", "1 2 3 4"), "line 7: `4`, expected the end of the line"),
        ("f.tet", change(TET, "1 2 3", "1 2 4"), "vertex of tetrahedron 0 is 4, expected an index below 4"),
        ("g.tet", change(TET, "1 2 3", "2 1 3"), "volume of tetrahedron 0 is -0.41"),
        ("h.tet", String::new(), "number of tetrahedra is 0, expected at least 1"),
        ("i.obj", TET.to_owned(), "has the extension \"obj\", expected tet or msh"),
        ("a.msh", change(TWO, "2.2", "4.0"), "line 2: version `4.0`, expected 2.2 or 4.1"),
        ("b.msh", change(TWO, "2.2 0", "2.2 1"), "line 2: a file of kind 1, expected 0, text"),
        ("c.msh", change(TWO, "$MeshFormat", "$Format"), "line 1: `$Format`, expected `$MeshFormat`"),
        ("d.msh", change(TWO, "30 4\n", "30 5\n"), "line 20: node 5, expected one of `$Nodes`"),
        (
            "e.msh",
            change(TWO, "3 4 2", "3 5 2"),
            "line 20: element 3 is of type 5, expected 4, a tetrahedron of four nodes",
        ),
        ("f.msh", change(TWO, "$Nodes\n5", "$Nodes\n4"), "line 14: `4`, expected `$EndNodes`"),
        (
            "g.msh",
            change(TWO, "$Nodes\n5", "$Nodes\n99999999999"),
            "line 15: `$EndNodes`, expected the number of a node",
        ),
        ("h.msh", change(TWO, "30 0 1 0", "2 0 1 0"), "line 13: node 2 a second time"),
        ("i.msh", change(FOUR, "$EndElements\n", ""), "ends after line 27, expected `$EndElements`"),
        ("j.msh", change(FOUR, "2 1 2 30 4", "2 1 2 30"), "line 27 ends, expected the number of a node"),
        ("k.msh", change(FOUR, "$EndEntities\n", ""), "ends after line 27, expected `$EndEntities`"),
        ("l.msh", change(FOUR, "3 1 4 1\n2", "3 1 11 1\n2"), "line 27: element 2 is of type 11"),
    ] {
        let error = written(name, &text).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(expected), "{error}\nexpected {name}: {expected}");
    }
    assert!(TetMesh::read("no/such.tet".as_ref()).unwrap_err().to_string().contains("cannot be read"));
}

/// No prefix of a file, and no file with a word changed, does anything but parse or be refused.
#[test]
fn damaged_files_are_refused_or_read() {
    for (parse, text) in
        [(tet::parse as fn(&str) -> Result<Soup, String>, TET), (gmsh::parse, TWO), (gmsh::parse, FOUR)]
    {
        for end in 0..text.len() {
            let _ = parse(&text[..end]);
            let _ = parse(&format!("{}18446744073709551615 {}", &text[..end], &text[end..]));
        }
    }
}
