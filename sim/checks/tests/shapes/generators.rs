//! Surfaces of frustums, prisms and bowls, and the fourteen shapes of which rigid bodies are made.

use crate::largest;
use diffkern_sim::Result;
use diffkern_sim::mesh::ClosedMesh;
use diffkern_sim::shape::{Bowl, Capsule, Cuboid, Cylinder, Ellipsoid, Frustum, Primitive, Prism, Sphere, Torus};
use std::f64::consts::PI;

/// A name, the surface by the longest edge, the exact volume, whether triangles enclose it exactly, and the Euler characteristic.
type Row = (&'static str, Box<dyn Fn(f64) -> Result<ClosedMesh>>, f64, bool, i64);

fn primitive(name: &'static str, of: Primitive, volume: f64, exact: bool) -> Row {
    (name, Box::new(move |edge| of.surface(edge)), volume, exact, if name == "torus" { 0 } else { 2 })
}

fn prism(name: &'static str, of: Prism, volume: f64) -> Row {
    (name, Box::new(move |edge| of.surface(edge)), volume, true, 2)
}

/// Volumes by formulas of this file, not of the library.
fn shapes() -> Vec<Row> {
    let cuboid = |sides| Primitive::Cuboid(Cuboid { sides });
    let (cone, frustum) = (Frustum::cone(0.4, 0.9), Frustum { bottom: 0.2, top: 0.5, height: 0.6 });
    let bowl = Bowl { radius: 0.5, wall: 0.1 };
    vec![
        primitive("box", cuboid([0.6, 0.5, 0.4]), 0.12, true),
        primitive("plate", cuboid([1.0, 0.8, 0.05]), 0.04, true),
        primitive("rod", cuboid([0.1, 0.08, 1.2]), 0.0096, true),
        primitive("cylinder", Primitive::Cylinder(Cylinder { radius: 0.3, height: 0.8 }), 0.072 * PI, false),
        ("cone", Box::new(move |edge| cone.surface(edge)), PI * 0.4 * 0.4 * 0.9 / 3.0, false, 2),
        ("frustum", Box::new(move |edge| frustum.surface(edge)), PI * 0.6 / 3.0 * (0.04 + 0.1 + 0.25), false, 2),
        primitive("sphere", Primitive::Sphere(Sphere { radius: 0.5 }), PI / 6.0, false),
        primitive("ellipsoid", Primitive::Ellipsoid(Ellipsoid { radii: [0.6, 0.4, 0.5] }), 0.16 * PI, false),
        primitive("capsule", Primitive::Capsule(Capsule { radius: 0.3, length: 0.5 }), PI * (0.045 + 0.036), false),
        primitive("torus", Primitive::Torus(Torus { radius: 0.5, tube: 0.2 }), 2.0 * PI * PI * 0.02, false),
        prism("bracket", Prism::bracket([0.8, 0.6], 0.2, 0.3), 0.3 * (0.8 * 0.6 - 0.6 * 0.4)),
        prism("tee", Prism::tee(0.9, 0.5, 0.2, 0.3), 0.3 * (0.9 * 0.2 + 0.5 * 0.2)),
        // Ten triangles between the radii, a tenth of a turn wide.
        prism("star", Prism::star(5, 0.25, 0.6, 0.2), 0.2 * 10.0 * 0.5 * 0.25 * 0.6 * (PI / 5.0).sin()),
        ("bowl", Box::new(move |edge| bowl.surface(edge)), 2.0 / 3.0 * PI * (0.125 - 0.064), false, 2),
    ]
}

#[test]
fn surfaces_are_closed_and_enclose_their_volume() -> Result<()> {
    for (name, surface, volume, exact, euler) in shapes() {
        let missing = |edge: f64| -> Result<f64> {
            let mesh = surface(edge)?;
            let checked = ClosedMesh::new(mesh.vertices().to_vec(), mesh.triangles().to_vec())?;
            assert_eq!((&checked, mesh.euler_characteristic()), (&mesh, euler), "{name}");
            let side = |t: &[u32; 3], k: usize| {
                let [a, b] = [t[k], t[(k + 1) % 3]].map(|i| mesh.vertices()[i as usize]);
                [0, 1, 2].map(|axis| (a[axis] - b[axis]).powi(2)).iter().sum::<f64>().sqrt()
            };
            let longest = largest(mesh.triangles().iter().flat_map(|t| [0, 1, 2].map(|k| side(t, k))));
            assert!(longest <= edge * (1.0 + 1e-12), "{name}: {longest} at {edge}");
            Ok(1.0 - mesh.moments().volume / volume)
        };
        let [coarse, fine] = [missing(0.2)?, missing(0.1)?];
        match exact {
            // Thousands of equal terms round in one direction.
            true => assert!(coarse.abs().max(fine.abs()) < 1e-12, "{name}: {coarse}, {fine}"),
            // The square of the edge, but for the whole numbers of pieces.
            false => {
                assert!((2.5..6.5).contains(&(coarse / fine)) && fine > 0.0 && fine < 0.04, "{name}: {coarse}, {fine}")
            }
        }
    }
    Ok(())
}

/// What stands where formulas are at hand agrees with the triangles.
#[test]
fn volumes_of_frustums_prisms_and_bowls() {
    let volumes = [
        (Frustum::cone(0.4, 0.9).volume(), 0.048 * PI),
        (Frustum { bottom: 0.2, top: 0.5, height: 0.6 }.volume(), 0.078 * PI),
        (Prism::bracket([0.8, 0.6], 0.2, 0.3).volume(), 0.072),
        (Prism::tee(0.9, 0.5, 0.2, 0.3).volume(), 0.084),
        (Bowl { radius: 0.5, wall: 0.1 }.volume(), 2.0 / 3.0 * PI * 0.061),
    ];
    for (k, (found, exact)) in volumes.into_iter().enumerate() {
        assert!((found / exact - 1.0).abs() < 1e-13, "{k}: {found}, {exact}");
    }
}

/// With long edges there is nothing but corners: what contacts of vertices see.
#[test]
fn corners_alone() -> Result<()> {
    assert_eq!(Primitive::Cuboid(Cuboid { sides: [1.0, 2.0, 3.0] }).surface(10.0)?.vertices().len(), 8);
    assert_eq!(Prism::bracket([0.8, 0.6], 0.2, 0.3).surface(10.0)?.vertices().len(), 12);
    assert_eq!(Prism::star(5, 0.25, 0.6, 0.2).surface(10.0)?.vertices().len(), 20);
    Ok(())
}

#[test]
fn dimensions_out_of_range_are_refused() {
    let refused = |mesh: Result<ClosedMesh>, message: &str| {
        let found = mesh.expect_err(message).to_string();
        assert!(found.starts_with(message), "{found}");
    };
    refused(Frustum::cone(0.0, 1.0).surface(0.1), "larger radius of the frustum is 0, expected a positive");
    refused(Frustum { top: -0.1, ..Frustum::cone(1.0, 1.0) }.surface(0.1), "upper radius of the frustum is -0.1");
    refused(Frustum::cone(1.0, f64::NAN).surface(0.1), "height of the frustum is NaN");
    refused(Bowl { radius: 0.1, wall: 0.1 }.surface(0.1), "wall of the bowl is 0.1, expected less than 0.1");
    refused(Bowl { radius: 0.1, wall: 0.05 }.surface(1e-9), "longest edge of the surface is");
    refused(Prism { outline: vec![[0.0; 2], [1.0, 0.0]], height: 1.0 }.surface(1.0), "outline of the prism is");
    let mut clockwise = Prism::bracket([0.8, 0.6], 0.2, 0.3);
    clockwise.outline.reverse();
    refused(clockwise.surface(1.0), "outline of the prism is");
    // A bow tie.
    let tie = Prism { outline: vec![[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.5]], height: 1.0 };
    assert!(tie.surface(1.0).is_err());
    refused(Prism::bracket([0.8, 0.6], 0.2, 0.3).surface(1e-9), "longest edge of the surface is");
}
