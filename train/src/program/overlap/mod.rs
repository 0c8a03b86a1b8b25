//! Bodies that begin inside each other are refused: finite elements fling them apart, particles make one body of them, rigid ones are pulled together.

mod triangles;
mod inside;
mod deepest;

use super::motion::about;
use super::setup::norm;
use crate::error::{Error, Result};
use crate::job::Values;
use crate::scene::{Quantity, Scene, Target};
use crate::text::quoted;
use deepest::deepest;
use diffkern_sim::mesh::Pose;
use diffkern_sim::scene::BodyShape;
use diffkern_sim::shape::{Primitive, Shape};
use inside::Inside;

/// Part of the thinnest side by which bodies may begin inside each other, and what rounding adds: those that lie on each other touch.
const TOUCHING: f64 = 1e-3 * (1.0 + 1e-6);

/// A body where it begins.
struct Placed<'a> {
    shape: &'a BodyShape,
    /// From where its shape is \[m\].
    moved: [f64; 3],
}

/// Refuses a take in which bodies begin inside each other, where `known` or else the scene has them, of unknown places the nearest in their ranges.
///
/// # Errors
/// Names both, how thick what they share is, and how far one of them would have to be.
pub(crate) fn refuse(scene: &Scene, take: usize, known: &Values) -> Result<()> {
    let bodies: Vec<Placed<'_>> = (0..scene.bodies.len()).map(|body| Placed::of(scene, take, known, body)).collect();
    for (body, placed) in bodies.iter().enumerate() {
        for (other, before) in bodies[..body].iter().enumerate() {
            if let Some(depth) = shared(before, placed)? {
                let [name, of] = [body, other].map(|body| quoted(&scene.bodies[body].name));
                let (axis, by) = way_out(before, placed);
                let [depth, by] = [depth, by].map(about);
                let problem = format!(
                    "the body {name} starts {depth} m inside the body {of}, expected outside of it; moved by {by} m along {axis} it is"
                );
                return Err(Error::scene(field(scene, take, body), problem));
            }
        }
    }
    Ok(())
}

/// What the file calls the place of a body.
fn field(scene: &Scene, take: usize, body: usize) -> String {
    let place = scene.path(body, "pose.position");
    match scene.fields.get(&scene.path(body, "shape")) {
        Some(told) => told.clone(),
        None if scene.takes.len() == 1 => place,
        None => format!("takes.{}.{place}", scene.takes[take]),
    }
}

impl<'a> Placed<'a> {
    fn of(scene: &'a Scene, take: usize, known: &Values, body: usize) -> Self {
        let start = &scene.bodies[body].starts[take];
        let from = start.position();
        let place = |a: usize| {
            let target = Target { take, ..Target::new(body, Quantity::StartPosition(a)) };
            let searched = || scene.range(target).map_or(from[a], |range| from[a].clamp(range.min, range.max));
            known.get(&scene.name_of(target)).copied().unwrap_or_else(searched)
        };
        // Of a body that is clamped there is no such number.
        let moved = match scene.clamp {
            Some(_) => [0.0; 3],
            None => [0, 1, 2].map(|a| place(a) - from[a]),
        };
        Self { shape: &start.shape, moved }
    }

    /// Corners of the box around it \[m\].
    fn bounds(&self) -> [[f64; 3]; 2] {
        self.shape.bounds().map(|corner| [0, 1, 2].map(|a| corner[a] + self.moved[a]))
    }

    /// Least and greatest `direction . x` of its points \[m\].
    fn span(&self, direction: [f64; 3]) -> [f64; 2] {
        let by: f64 = (0..3).map(|a| direction[a] * self.moved[a]).sum();
        self.shape.span(direction).map(|end| end + by)
    }

    /// The axes of its own frame.
    fn axes(&self) -> [[f64; 3]; 3] {
        let rotation = match self.shape {
            BodyShape::Block { .. } => [0.0; 3],
            BodyShape::Solid(solid) => solid.pose().rotation,
        };
        let turn = Pose { rotation, ..Pose::default() };
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| turn.apply(axis))
    }

    /// How far it may reach beyond [`bounds`](Self::bounds) and [`span`](Self::span), which of curved shapes are those of a few points of the surface \[m\].
    fn slack(&self) -> f64 {
        match self.shape.placed().0 {
            Shape::Primitive(Primitive::Cuboid(_)) | Shape::Mesh(_) | Shape::File { .. } => 0.0,
            _ => 0.5 * self.thinnest(),
        }
    }

    fn thinnest(&self) -> f64 {
        self.shape.sides().into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// How thick what two bodies share is \[m\], if that is more than bodies that touch do by rounding: twice the radius of the largest ball in both, at most.
///
/// # Errors
/// When a file cannot be read, or memory is short.
fn shared(first: &Placed<'_>, second: &Placed<'_>) -> Result<Option<f64>> {
    let touching = TOUCHING * first.thinnest().min(second.thinnest());
    let slack = [first, second].map(Placed::slack);
    let [[low, high], [other_low, other_high]] = [(first, slack[0]), (second, slack[1])].map(|(body, slack)| {
        let [low, high] = body.bounds();
        [low.map(|x| x - slack), high.map(|x| x + slack)]
    });
    let common = [[0, 1, 2].map(|a| low[a].max(other_low[a])), [0, 1, 2].map(|a| high[a].min(other_high[a]))];
    let apart = |direction: [f64; 3]| {
        let [[low, high], [other_low, other_high]] = [first, second].map(|body| body.span(direction));
        (high - other_low).min(other_high - low) + slack[0] + slack[1] <= touching
    };
    // Nearly all bodies are told apart by their boxes, and convex ones by a plane between them.
    if (0..3).any(|a| common[1][a] - common[0][a] <= touching) || directions(first, second).into_iter().any(apart) {
        return Ok(None);
    }
    let (one, other) = (Inside::of(first.shape, first.moved)?, Inside::of(second.shape, second.moved)?);
    let radius = deepest(common, 0.5 * touching, |x| one.depth(x).min(other.depth(x)));
    Ok(radius.map(|radius| 2.0 * radius))
}

/// Unit vectors along which two convex bodies that do not meet are likely to be apart: of boxes these are all that there are.
fn directions(first: &Placed<'_>, second: &Placed<'_>) -> Vec<[f64; 3]> {
    let [own, others] = [first, second].map(Placed::axes);
    let cross =
        |u: [f64; 3], v: [f64; 3]| [0, 1, 2].map(|a| u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3]);
    let mut all = [own, others].concat();
    for u in own {
        all.extend(others.map(|v| cross(u, v)));
    }
    let [from, to] = [first, second].map(|body| {
        let centre = body.shape.centre();
        [0, 1, 2].map(|a| centre[a] + body.moved[a])
    });
    all.push([0, 1, 2].map(|a| to[a] - from[a]));
    all.retain(|direction| norm(*direction) > 0.0);
    all.into_iter().map(|direction| direction.map(|x| x / norm(direction))).collect()
}

/// The axis along which the second of two bodies has to be moved least to be outside of the first, and how far \[m\].
fn way_out(first: &Placed<'_>, second: &Placed<'_>) -> (char, f64) {
    let [[low, high], [other_low, other_high]] = [first, second].map(Placed::bounds);
    let ways = ['x', 'y', 'z'].into_iter().enumerate();
    let ways = ways.flat_map(|(a, axis)| [(axis, high[a] - other_low[a]), (axis, low[a] - other_high[a])]);
    ways.min_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap_or(('x', 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use diffkern_sim::scene::Solid;
    use diffkern_sim::shape::{Capsule, Cuboid, Ellipsoid, Sphere, Torus};
    use std::path::Path;

    fn solid(primitive: Primitive, translation: [f64; 3], rotation: [f64; 3]) -> BodyShape {
        BodyShape::Solid(Solid::new(primitive, Pose { rotation, translation }).unwrap())
    }

    /// The same as triangles that are read from elsewhere.
    fn mesh(primitive: Primitive, translation: [f64; 3], rotation: [f64; 3]) -> BodyShape {
        let mesh = primitive.surface(0.02).unwrap();
        BodyShape::Solid(Solid::new(mesh, Pose { rotation, translation }).unwrap())
    }

    fn block(sides: [f64; 3], at: [f64; 3]) -> BodyShape {
        BodyShape::Block {
            min: [0, 1, 2].map(|a| at[a] - 0.5 * sides[a]),
            max: [0, 1, 2].map(|a| at[a] + 0.5 * sides[a]),
        }
    }

    fn depth(first: &BodyShape, second: &BodyShape, moved: [f64; 3]) -> Option<f64> {
        let [first, second] = [(first, [0.0; 3]), (second, moved)].map(|(shape, moved)| Placed { shape, moved });
        let depth = shared(&first, &second).unwrap();
        let back = shared(&second, &first).unwrap();
        assert!(depth.is_some() == back.is_some(), "{depth:?} {back:?}");
        depth
    }

    #[test]
    fn bodies_share_what_is_inside_of_both() {
        let cube = block([0.1; 3], [0.0, 0.0, 0.2]);
        let turn = [0.3, -0.4, 0.6];
        let turned = |sides: [f64; 3], at: [f64; 3]| solid(Primitive::Cuboid(Cuboid { sides }), at, turn);
        let ball = |radius: f64, at: [f64; 3]| solid(Primitive::Sphere(Sphere { radius }), at, [0.0; 3]);
        let ring = Primitive::Torus(Torus { radius: 0.1, tube: 0.03 });
        let rod = |at: [f64; 3]| solid(Primitive::Capsule(Capsule { radius: 0.01, length: 1.0 }), at, [0.0; 3]);
        let cases = [
            ("half inside", cube.clone(), block([0.1; 3], [0.05, 0.0, 0.2]), 0.05),
            ("the same", cube.clone(), cube.clone(), 0.1),
            ("nested", cube.clone(), block([0.02; 3], [0.0, 0.0, 0.2]), 0.02),
            ("no vertex inside", block([0.3, 0.05, 0.05], [0.0; 3]), block([0.05, 0.3, 0.05], [0.0, 0.0, 0.01]), 0.04),
            ("as high", block([0.3, 0.05, 0.05], [0.0; 3]), block([0.05, 0.3, 0.05], [0.0; 3]), 0.05),
            (
                "a needle through a plate",
                block([0.5, 0.5, 2e-3], [0.0; 3]),
                block([2e-3, 2e-3, 0.5], [0.11, 0.07, 0.03]),
                2e-3,
            ),
            ("turned rods that cross", turned([0.5, 0.01, 0.01], [0.0; 3]), turned([0.01, 0.5, 0.01], [0.0; 3]), 0.01),
            ("balls", ball(0.05, [0.0; 3]), ball(0.05, [0.05, 0.05, 0.05]), 0.1 - 0.05 * 3.0f64.sqrt()),
            ("meshes", mesh(ring, [0.0; 3], turn), mesh(ring, [0.0; 3], [0.3, -0.4, 0.65]), 0.06),
            (
                "slender rods beside each other",
                rod([0.0; 3]),
                rod([0.0106, 0.0106, 0.0]),
                0.02 - 0.0106 * 2.0f64.sqrt(),
            ),
            ("a ball in the tube of a ring", mesh(ring, [0.0; 3], [0.0; 3]), ball(0.01, [0.1, 0.0, 0.0]), 0.02),
        ];
        for (case, first, second, expected) in cases {
            let found = depth(&first, &second, [0.0; 3]).unwrap_or_else(|| panic!("{case}: nothing is shared"));
            assert!((found / expected - 1.0).abs() < 0.15, "{case}: {found} m, not {expected} m");
        }
    }

    #[test]
    fn bodies_that_touch_share_nothing() {
        let (cube, turn) =
            (Primitive::Cuboid(Cuboid { sides: [0.1; 3] }), Pose { rotation: [0.3, -0.4, 0.6], ..Pose::default() });
        let above = turn.apply([0.01, -0.02, 0.1]);
        let ball = Primitive::Sphere(Sphere { radius: 0.05 });
        let egg = Primitive::Ellipsoid(Ellipsoid { radii: [0.05, 0.03, 0.02] });
        let ring = Primitive::Torus(Torus { radius: 0.1, tube: 0.03 });
        let way = turn.apply([0.0, 0.0, 0.1]);
        let cases = [
            ("stacked", block([0.1; 3], [0.0; 3]), block([0.1; 3], [0.02, 0.01, 0.1])),
            ("side by side, by rounding", block([0.1; 3], [0.0, 0.0, 0.2]), block([0.1; 3], [0.0999, 0.0, 0.2])),
            ("stacked and turned", solid(cube, [0.0; 3], turn.rotation), solid(cube, above, turn.rotation)),
            ("meshes", mesh(cube, [0.0; 3], turn.rotation), mesh(cube, above, turn.rotation)),
            ("balls", solid(ball, [0.0; 3], [0.0; 3]), solid(ball, way, [0.0; 3])),
            ("eggs", solid(egg, [0.0; 3], [0.0; 3]), solid(egg, [0.06, 0.0384, 0.0192], [0.0; 3])),
            ("linked rings", solid(ring, [0.0; 3], [0.0; 3]), solid(ring, [0.1, 0.0, 0.0], [1.6, 0.0, 0.0])),
            ("a ball in the hole of a ring", mesh(ring, [0.0; 3], turn.rotation), solid(ball, [0.0; 3], [0.0; 3])),
        ];
        for (case, first, second) in cases {
            assert_eq!(depth(&first, &second, [0.0; 3]), None, "{case}");
        }
        let (lower, upper) = (block([0.1; 3], [0.0; 3]), block([0.1; 3], [0.02, 0.01, 0.1]));
        assert!(depth(&lower, &upper, [0.0, 0.0, -1e-3]).is_some_and(|depth| (depth - 1e-3).abs() < 1e-6));
    }

    #[test]
    fn takes_and_values_of_a_job_count() {
        let mut scene = Scene::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a")).unwrap();
        let mut second = scene.bodies[0].clone();
        second.name = "second".into();
        let at = |x: f64| block([0.1, 0.1, 0.1], [x, 0.0, 0.2]);
        scene.bodies[0].starts[0].shape = at(0.0);
        second.starts[0].shape = at(0.3);
        scene.bodies.push(second);
        let none = Values::new();
        refuse(&scene, 0, &none).unwrap();
        let set = Values::from([(scene.name_of(Target::new(1, Quantity::StartPosition(0))), 0.06)]);
        let told = refuse(&scene, 0, &set).unwrap_err().to_string();
        assert!(
            told.starts_with("bodies.second.pose.position: the body \"second\" starts 0.04 m inside the body "),
            "{told}"
        );
        assert!(told.ends_with("expected outside of it; moved by 0.04 m along x it is"), "{told}");
        scene.takes = vec!["far".into(), "near".into()];
        for body in &mut scene.bodies {
            let again = body.starts[0].clone();
            body.starts.push(again);
        }
        scene.bodies[1].starts[1].shape = at(-0.08);
        refuse(&scene, 0, &none).unwrap();
        let told = refuse(&scene, 1, &none).unwrap_err().to_string();
        assert!(
            told.starts_with("takes.near.bodies.second.pose.position: ") && told.contains("by -0.02 m along x"),
            "{told}"
        );
    }
}
