//! Surfaces of primitives.

use crate::{PRIMITIVES, largest};
use diffkern_sim::Result;
use diffkern_sim::mesh::{ClosedMesh, Moments};
use diffkern_sim::shape::{Cuboid, Primitive, Torus};

fn edges(mesh: &ClosedMesh) -> impl Iterator<Item = f64> {
    let side = |[a, b]: [u32; 2]| {
        let [a, b] = [a, b].map(|i| mesh.vertices()[i as usize]);
        (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
    };
    mesh.triangles().iter().flat_map(move |&[a, b, c]| [[a, b], [b, c], [c, a]].map(side))
}

#[test]
fn vertices_are_on_the_exact_surface_and_close_it() -> Result<()> {
    for primitive in PRIMITIVES {
        for edge in [0.5, 0.11] {
            let mesh = primitive.surface(edge)?;
            let off = largest(mesh.vertices().iter().map(|&v| primitive.level(v)));
            assert!(off < 1e-15, "{primitive:?}: a vertex is {off} off");
            let longest = largest(edges(&mesh));
            assert!(longest <= edge * (1.0 + 1e-12) && longest > 0.6 * edge, "{primitive:?}: {longest} at {edge}");
            let checked = ClosedMesh::new(mesh.vertices().to_vec(), mesh.triangles().to_vec())?;
            assert_eq!(checked, mesh, "{primitive:?}");
            assert_eq!(mesh.euler_characteristic(), if matches!(primitive, Primitive::Torus(_)) { 0 } else { 2 });
        }
    }
    Ok(())
}

/// Relative errors of volume and second moments.
fn errors(found: &Moments, exact: &Moments) -> [f64; 2] {
    let trace: f64 = (0..3).map(|a| exact.second[a][a]).sum();
    let entries = (0..9).map(|n| found.second[n / 3][n % 3] - exact.second[n / 3][n % 3]);
    [(found.volume / exact.volume - 1.0).abs(), largest(entries) / trace]
}

#[test]
fn moments_converge_with_the_square_of_the_edge() -> Result<()> {
    for primitive in PRIMITIVES {
        let exact = primitive.moments()?;
        let [coarse, fine] = [0.1, 0.05].map(|edge| primitive.surface(edge).map(|mesh| mesh.moments()));
        let (coarse, fine) = (coarse?, fine?);
        assert!(largest(fine.centroid.into_iter()) < 1e-15, "{primitive:?}: {:?}", fine.centroid);
        let (coarse, fine) = (errors(&coarse, &exact), errors(&fine, &exact));
        match primitive {
            Primitive::Cuboid(_) => assert!(fine.iter().all(|&e| e < 1e-12), "{fine:?}"),
            _ => {
                let orders = [0, 1].map(|k| (coarse[k] / fine[k]).log2());
                assert!(orders.iter().all(|o| (1.75..2.25).contains(o)), "{primitive:?}: {orders:?} {fine:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn what_is_inside_has_the_exact_volume() -> Result<()> {
    const POINTS: usize = 48;
    for primitive in PRIMITIVES {
        let [low, high] = primitive.bounds();
        let size = [0, 1, 2].map(|a| (high[a] - low[a]) / POINTS as f64);
        let at = |n: usize| {
            let cell = [n / (POINTS * POINTS), n / POINTS % POINTS, n % POINTS];
            [0, 1, 2].map(|a| low[a] + (cell[a] as f64 + 0.5) * size[a])
        };
        let inside = (0..POINTS.pow(3)).filter(|&n| primitive.contains(at(n))).count() as f64;
        let volume = inside * size.iter().product::<f64>();
        let exact = primitive.moments()?.volume;
        assert!((volume / exact - 1.0).abs() < 5e-3, "{primitive:?}: {volume} instead of {exact}");
    }
    Ok(())
}

#[test]
fn dimensions_out_of_range_are_refused() {
    let refused = |primitive: Primitive, edge: f64, message: &str| {
        assert_eq!(primitive.surface(edge).unwrap_err().to_string(), message);
    };
    let cuboid = |sides| Primitive::Cuboid(Cuboid { sides });
    refused(cuboid([1.0, -1.0, 1.0]), 0.1, "side of the box along y is -1, expected a positive number");
    refused(cuboid([1.0; 3]), 0.0, "longest edge of the surface is 0, expected a positive number");
    refused(
        cuboid([1.0; 3]),
        1e-9,
        "longest edge of the surface is 0.000000001, expected one that makes at most 2e7 triangles, here 2.40e19",
    );
    refused(
        Primitive::Torus(Torus { radius: 1.0, tube: 1.0 }),
        0.1,
        "radius of the torus' tube is 1, expected less than 1, the radius of the torus, as its surface crosses itself",
    );
    for primitive in PRIMITIVES {
        for edge in [1e-300, f64::NAN, f64::INFINITY] {
            assert!(primitive.surface(edge).is_err(), "{primitive:?} {edge}");
        }
    }
}
