//! Particles that fill bodies.

use crate::common::Random;
use crate::{PRIMITIVES, largest, pose};
use diffkern_sim::Result;
use diffkern_sim::mesh::{BlockLattice, ClosedMesh, Moments, Pose};
use diffkern_sim::shape::{Body, Cuboid, LIGHTEST, Lattice, Particles, Primitive, Shape, Sphere, fill};

/// The moments of a body that was moved: second moments turn with it.
fn moved(m: &Moments, pose: &Pose) -> Moments {
    let turn = |x| Pose { translation: [0.0; 3], ..*pose }.apply(x);
    let rotation = [turn([1.0, 0.0, 0.0]), turn([0.0, 1.0, 0.0]), turn([0.0, 0.0, 1.0])];
    let entry = |i: usize, j: usize| {
        (0..9).map(|n| rotation[n / 3][i] * m.second[n / 3][n % 3] * rotation[n % 3][j]).sum::<f64>()
    };
    let second = [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)));
    Moments { volume: m.volume, centroid: pose.apply(m.centroid), second }
}

/// Checks volume, centre and lightest particle; the relative error of the second moments.
fn inertia_error(particles: &Particles, exact: &Moments) -> f64 {
    let found = Moments::of_points(&particles.positions, &particles.volumes);
    assert!((found.volume / exact.volume - 1.0).abs() < 1e-13, "{} instead of {}", found.volume, exact.volume);
    let off = largest((0..3).map(|a| found.centroid[a] - exact.centroid[a]));
    assert!(off < 1e-11, "the centre is {off} m off");
    let whole = particles.spacing.powi(3);
    let lightest = particles.volumes.iter().fold(f64::INFINITY, |m, &v| m.min(v)) / whole;
    let heaviest = largest(particles.volumes.iter().copied()) / whole;
    assert!(lightest >= LIGHTEST * (1.0 - 1e-9) && heaviest < 1.6, "{lightest} {heaviest}");
    let trace: f64 = (0..3).map(|a| exact.second[a][a]).sum();
    largest((0..9).map(|n| found.second[n / 3][n % 3] - exact.second[n / 3][n % 3])) / trace
}

/// The mean over positions in the lattice falls with the square of the spacing.
fn converges(what: &str, at: impl Fn(Pose, f64) -> Result<f64>) -> Result<()> {
    const SPACINGS: [f64; 2] = [0.125, 0.0625];
    const POSES: usize = 6;
    let mut sums = [0.0; 2];
    let mut r = Random(7);
    for _ in 0..POSES {
        let pose = pose(&mut r);
        for (sum, h) in sums.iter_mut().zip(SPACINGS) {
            *sum += at(pose, h)? / POSES as f64;
        }
    }
    let order = (sums[0] / sums[1]).log2();
    assert!(order > 1.7 && sums[1] < 0.01, "{what}: errors {sums:?}, order {order}");
    Ok(())
}

#[test]
fn mass_and_centre_are_exact_and_inertia_converges() -> Result<()> {
    for primitive in PRIMITIVES {
        let exact = primitive.moments()?;
        converges(&format!("{primitive:?}"), |pose, h| {
            let lattice = Lattice { spacing: h, corner: Some([0.013, -0.2, 0.4]) };
            let body = Body { pose, lattice, ..Body::new(primitive, h) }.build()?;
            Ok(inertia_error(&body.particles, &moved(&exact, &pose)))
        })?;
    }
    Ok(())
}

#[test]
fn so_they_do_for_meshes() -> Result<()> {
    for primitive in PRIMITIVES {
        let mesh = primitive.surface(0.3)?;
        let exact = mesh.moments();
        converges(&format!("mesh of {primitive:?}"), |pose, h| {
            let body = Body { pose, ..Body::new(Shape::Mesh(mesh.clone()), h) }.build()?;
            Ok(inertia_error(&body.particles, &moved(&exact, &pose)))
        })?;
    }
    Ok(())
}

#[test]
fn a_box_of_whole_cells_is_the_lattice_of_a_block() -> Result<()> {
    for (counts, h) in [([4, 3, 2], 0.1), ([7, 5, 6], 0.07), ([1, 1, 3], 0.013)] {
        let sides = counts.map(|n| n as f64 * h);
        let min = [0.31, -0.2, 1.7];
        let middle = [0, 1, 2].map(|a| min[a] + 0.5 * sides[a]);
        let cuboid = Primitive::Cuboid(Cuboid { sides });
        let body = Body { pose: Pose::at(middle), ..Body::new(cuboid, h) }.build()?;
        let block = BlockLattice { min, spacing: [h; 3], counts };
        let positions = block.positions().map_err(diffkern_sim::Error::from)?;
        assert_eq!(body.particles.positions.len(), positions.len());
        for ((x, expected), v) in body.particles.positions.iter().zip(&positions).zip(&body.particles.volumes) {
            let off = largest((0..3).map(|a| x[a] - expected[a]));
            assert!(off < 1e-12 * h.max(1.0) && (v / h.powi(3) - 1.0).abs() < 1e-10, "{x:?} {expected:?} {v}");
        }
    }
    Ok(())
}

/// Of a plate, whose outermost layers are parts of cells, half a layer; of a ball the distance from its surface.
#[test]
fn what_is_next_to_a_surface_reaches_as_far() -> Result<()> {
    let h = 0.1;
    let plate = Body::new(Primitive::Cuboid(Cuboid { sides: [1.0, 1.0, 3.7 * h] }), h).build()?;
    for (x, radius) in plate.particles.positions.iter().zip(plate.radii()?) {
        let inner = x[0].abs().max(x[1].abs()) < 0.35;
        // Of four layers the outer ones are 0.85 cells thick.
        let expected = if x[2].abs() > h { 0.425 * h } else { 0.5 * h };
        assert!(!inner || (radius - expected).abs() < 1e-9, "{x:?} {radius}");
    }
    let radius = 0.5;
    let ball = Body::new(Primitive::Sphere(Sphere { radius }), h).build()?;
    let mut next = 0;
    for (x, reach) in ball.particles.positions.iter().zip(ball.radii()?) {
        let depth = radius - x.iter().map(|x| x * x).sum::<f64>().sqrt();
        // Middles of triangles with edges as long as a cell are `h^2 / 6 R` below the sphere, a thirtieth of a cell.
        let error = (reach - if depth < 0.7 * h { depth } else { 0.5 * h }).abs();
        assert!(error < 0.035 * h || (depth - 0.7 * h).abs() < 0.035 * h, "{x:?} {depth} {reach}");
        next += usize::from(depth < 0.45 * h);
    }
    assert!(next > 100, "{next}");
    Ok(())
}

#[test]
fn parts_and_cavities_are_filled_as_they_are() -> Result<()> {
    let cube = |side: f64, at: [f64; 3], inward: bool| {
        let mesh = Primitive::Cuboid(Cuboid { sides: [side; 3] }).surface(3.0).unwrap();
        let vertices: Vec<_> = mesh.vertices().iter().map(|v| Pose::at(at).apply(*v)).collect();
        let flip = |&[a, b, c]: &[u32; 3]| if inward { [a, c, b] } else { [a, b, c] };
        (vertices, mesh.triangles().iter().map(flip).collect::<Vec<_>>())
    };
    let (mut vertices, mut triangles) = cube(1.0, [0.0; 3], false);
    for part in [cube(0.5, [0.0; 3], true), cube(0.5, [1.0, 0.0, 0.0], false)] {
        let first = vertices.len() as u32;
        vertices.extend(part.0);
        triangles.extend(part.1.iter().map(|t| t.map(|i| first + i)));
    }
    let body = ClosedMesh::new(vertices, triangles)?;
    let particles = fill(&body, &Lattice { spacing: 0.125, corner: Some([0.5; 3]) })?;
    assert_eq!(particles.positions.len(), 512 - 64 + 64);
    let hollow = particles.positions.iter().all(|x| largest(x.iter().copied()) > 0.25);
    assert!(hollow && particles.volumes.iter().all(|v| (v * 512.0 - 1.0).abs() < 1e-12));
    Ok(())
}

#[test]
fn spacings_out_of_range_are_refused() -> Result<()> {
    let ball = PRIMITIVES[1].surface(0.2)?;
    let refused = |spacing: f64, corner, message: &str| {
        let error = fill(&ball, &Lattice { spacing, corner }).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    };
    refused(-1.0, None, "spacing of the particles is -1, expected a positive number");
    refused(1e-9, None, "spacing of the particles is 0.000000001, expected one with at most 2^31 cells");
    refused(0.1, Some([f64::NAN; 3]), "corner of the lattice is [NaN, NaN, NaN], expected finite numbers");
    refused(10.0, None, "a part of the body alone in its cells is 5.");
    Ok(())
}

/// Far from the origin coordinates are coarse; the parts must still close.
#[test]
fn far_away_the_body_is_the_same() -> Result<()> {
    // In no symmetric position, where rounding decides which of two equal neighbours a fragment joins.
    let (rotation, lattice) = ([0.3, 0.5, -0.2], Lattice { spacing: 0.125, corner: Some([0.011, 0.023, 0.037]) });
    let at =
        |translation| Body { pose: Pose { rotation, translation }, lattice, ..Body::new(PRIMITIVES[2], 0.125) }.build();
    let (near, far) = (at([0.0; 3])?, at([4096.0, -8192.0, 1024.0])?);
    assert_eq!(far.particles.positions.len(), near.particles.positions.len());
    let off = largest(far.particles.volumes.iter().zip(&near.particles.volumes).map(|(f, n)| f / n - 1.0));
    assert!(off < 1e-8, "{off}");
    Ok(())
}
