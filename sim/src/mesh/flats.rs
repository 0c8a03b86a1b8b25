//! Flat faces of a surface: along which a body has edges, as those of a machined one.

use super::closed::ClosedMesh;
use super::vector::{Point, add, cross, dot, norm, per_axis, scale, sub};

/// Least part of the area of a surface that faces of one direction have together for it to count.
const LEAST: f64 = 0.1;
/// The same of a face at an end of a body.
const LEAST_END: f64 = 0.02;
/// Sine and cosine of how far normals of one direction may be apart, a degree.
const APART: [f64; 2] = [0.01745, 0.99985];
/// Directions that are told apart; a round surface has as many as triangles.
const MOST: usize = 256;
/// Part of an extent that vertices of a flat end may be off its plane, as they are rounded in files.
const ROUNDED: f64 = 1e-6;
/// Rotations below it are none \[rad\].
const UNTURNED: f64 = 1e-6;

/// The rotation, as a vector, from axes along the flat faces to those of the surface; nothing where it has no flat faces, or they lie along its axes. Of all choices
/// of axes the one that turns little.
pub(crate) fn flat_axes(mesh: &ClosedMesh) -> Option<Point> {
    let flats = directions(mesh);
    let first = flats.first()?.0;
    let across = flats.iter().map(|(n, _)| *n).find(|n| dot(*n, first).abs() < APART[0]).unwrap_or_else(|| {
        let least = (0..3).min_by(|&a, &b| first[a].abs().total_cmp(&first[b].abs())).unwrap_or(0);
        per_axis(|a| if a == least { 1.0 } else { 0.0 })
    });
    let second = unit(sub(across, scale(first, dot(across, first))));
    let largest = |n: Point, but: usize| {
        (0..3).filter(|a| *a != but).max_by(|&a, &b| n[a].abs().total_cmp(&n[b].abs())).unwrap_or(0)
    };
    let one = largest(first, 3);
    let two = largest(second, one);
    let mut axes = [[0.0; 3]; 3];
    axes[one] = scale(first, first[one].signum());
    axes[two] = scale(second, second[two].signum());
    let three = 3 - one - two;
    axes[three] = cross(axes[(three + 1) % 3], axes[(three + 2) % 3]);
    let turned = scale([axes[1][2] - axes[2][1], axes[2][0] - axes[0][2], axes[0][1] - axes[1][0]], 0.5);
    let (sine, cosine) = (norm(turned), 0.5 * (axes[0][0] + axes[1][1] + axes[2][2] - 1.0));
    let angle = sine.atan2(cosine);
    // Half a turn has no axis in these terms; no choice of axes that turns little is one.
    (angle > UNTURNED && sine > UNTURNED).then(|| scale(turned, angle / sine))
}

/// Whether the surface ends in flat faces across each axis, at both ends.
pub(crate) fn flat_ends(mesh: &ClosedMesh) -> [bool; 3] {
    let ([low, high], least) = (mesh.bounds(), LEAST_END * mesh.area());
    per_axis(|a| {
        let near = ROUNDED * (high[a] - low[a]);
        [low[a], high[a]].iter().all(|end| {
            let at_end = |t: &[Point; 3]| t.iter().all(|v| (v[a] - end).abs() <= near);
            triangles(mesh).filter(at_end).map(|t| 0.5 * norm(normal(&t))).sum::<f64>() >= least
        })
    })
}

/// Directions of flat faces, up to sign, with their areas, the largest first.
fn directions(mesh: &ClosedMesh) -> Vec<(Point, f64)> {
    // The normals of one direction, added up by area.
    let mut all: Vec<(Point, Point, f64)> = Vec::new();
    for t in triangles(mesh) {
        let n = normal(&t);
        let twice = norm(n);
        if twice == 0.0 {
            continue;
        }
        let own = scale(n, 1.0 / twice);
        match all.iter().position(|(first, ..)| dot(*first, own).abs() > APART[1]) {
            Some(k) => {
                let (first, sum, area) = &mut all[k];
                *sum = add(*sum, scale(n, dot(*first, own).signum()));
                *area += 0.5 * twice;
            }
            None if all.len() < MOST => all.push((own, n, 0.5 * twice)),
            None => {}
        }
    }
    let least = LEAST * mesh.area();
    let mut flats: Vec<_> = all.into_iter().filter(|f| f.2 >= least).map(|(_, sum, area)| (unit(sum), area)).collect();
    flats.sort_by(|a, b| b.1.total_cmp(&a.1));
    flats
}

fn triangles(mesh: &ClosedMesh) -> impl Iterator<Item = [Point; 3]> {
    mesh.triangles().iter().map(|t| t.map(|i| mesh.vertices()[i as usize]))
}

/// As long as twice the area.
fn normal([a, b, c]: &[Point; 3]) -> Point {
    cross(sub(*b, *a), sub(*c, *a))
}

fn unit(v: Point) -> Point {
    scale(v, 1.0 / norm(v))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Pose;
    use crate::shape::{Cuboid, Cylinder, Primitive, Sphere};

    fn turned(shape: Primitive, rotation: Point) -> ClosedMesh {
        shape.surface(0.02).unwrap().placed(1.0, &Pose { rotation, translation: [0.3, -0.2, 0.1] }).unwrap()
    }

    #[test]
    fn axes_lie_along_flat_faces() {
        let cuboid = Primitive::Cuboid(Cuboid { sides: [0.1, 0.06, 0.08] });
        for rotation in [[0.3, -0.2, 0.5], [0.0, 0.7, 0.1], [-0.4, 0.4, 0.3], [1.2, 0.9, -2.0]] {
            let mesh = turned(cuboid, rotation);
            let back = flat_axes(&mesh).unwrap();
            assert!(norm(back) < 1.2, "{back:?}");
            let laid = mesh.moved(1.0, &Pose { rotation: scale(back, -1.0), translation: [0.0; 3] });
            let [low, high] = laid.bounds();
            let mut sides = sub(high, low);
            sides.sort_by(f64::total_cmp);
            assert!(norm(sub(sides, [0.06, 0.08, 0.1])) < 1e-12, "{sides:?}");
            assert_eq!(flat_ends(&laid), [true; 3]);
        }
        assert_eq!(flat_axes(&turned(cuboid, [0.0; 3])), None);
    }

    #[test]
    fn a_cylinder_has_one_direction_and_a_ball_none() {
        let cylinder = turned(Primitive::Cylinder(Cylinder { radius: 0.04, height: 0.1 }), [0.5, 0.3, 0.0]);
        let back = flat_axes(&cylinder).unwrap();
        let laid = cylinder.moved(1.0, &Pose { rotation: scale(back, -1.0), translation: [0.0; 3] });
        assert_eq!(flat_ends(&laid), [false, false, true]);
        let ball = turned(Primitive::Sphere(Sphere { radius: 0.05 }), [0.5, 0.3, 0.0]);
        assert_eq!((flat_axes(&ball), flat_ends(&ball)), (None, [false; 3]));
    }
}
