//! Which field of a scene makes a job so long or so large, and what value of it would do.

use super::cost::{Drawing, Estimate, Task, count};
use crate::error::Error;
use crate::job::Values;
use crate::limits::{Limits, Seconds, size};
use crate::program::{norm, thinnest};
use crate::scene::{Quantity, Relaxation, Scene, Start, Target};
use crate::text::rounded;
use diffkern_sim::scene::BodyShape;
use std::path::Path;

/// Gives a job another value of a field.
type Change = Box<dyn Fn(&mut Scene, &mut Values, f64)>;

/// A field that cost follows from.
struct Lever {
    /// In the scene, or an option.
    field: String,
    option: bool,
    unit: String,
    /// As it is, and a value at which it costs little.
    actual: f64,
    tame: f64,
    /// Whether cost grows with the value.
    large: bool,
    set: Change,
}

/// Halvings of the way between the two values.
const HALVINGS: usize = 40;

/// The error for a job beyond its limits; `excess` is by how much another scene would be.
pub(super) fn refusal(
    scene: &Scene,
    file: &Path,
    task: Task<'_>,
    estimate: &Estimate,
    limits: &Limits,
    excess: &dyn Fn(&Scene, Task<'_>) -> f64,
) -> Error {
    let levers = levers(scene, task);
    let at = |lever: &Lever, value: f64| with(scene, task, lever, value, excess);
    let blamed = levers.iter().map(|lever| (at(lever, lever.tame), lever)).min_by(|a, b| a.0.total_cmp(&b.0));
    let beyond = beyond(estimate, limits);
    let Some((least, lever)) = blamed else {
        return Error::file(file, beyond);
    };
    let value = number(lever.actual);
    let advice = match least <= 1.0 {
        true => {
            let enough = number(enough(lever, |value| at(lever, value) <= 1.0));
            let side = if lever.tame < lever.actual { "at most" } else { "at least" };
            format!("{side} {enough} {} would do", lever.unit)
        }
        false => "this field most of all, but no value of it alone would do".into(),
    };
    let problem = format!("{value} {}: {beyond}; {advice}", lever.unit);
    match lever.option {
        true => Error::argument(lever.field.clone(), problem),
        false => Error::field(file, lever.field.clone(), problem),
    }
}

/// The excess of the same job with another value of a field.
fn with(scene: &Scene, task: Task<'_>, lever: &Lever, value: f64, excess: &dyn Fn(&Scene, Task<'_>) -> f64) -> f64 {
    let mut scene = scene.clone();
    match task {
        Task::Identify(options) => {
            let mut options = options.clone();
            (lever.set)(&mut scene, &mut options.fixed, value);
            excess(&scene, Task::Identify(&options))
        }
        Task::Plan(options) => {
            let mut options = options.clone();
            (lever.set)(&mut scene, &mut options.fixed, value);
            excess(&scene, Task::Plan(&options))
        }
        Task::Simulate(drawing) => {
            let mut values = drawing.values.clone();
            (lever.set)(&mut scene, &mut values, value);
            excess(&scene, Task::Simulate(Drawing { values: &values, ..drawing }))
        }
    }
}

/// What the job takes, and what it may.
fn beyond(estimate: &Estimate, limits: &Limits) -> String {
    let (time, memory) = (Seconds(limits.seconds()), size(limits.bytes()));
    let late = (estimate.seconds > limits.seconds()).then(|| format!("{time} (--max-time)"));
    let large = (estimate.cost.bytes > limits.bytes()).then(|| format!("{memory} (--max-memory)"));
    let limit: Vec<String> = late.into_iter().chain(large).collect();
    match limit.is_empty() {
        true => format!("{estimate}, on a grid of {} nodes, the limit is 2^31", count(estimate.cost.nodes)),
        false => format!("{estimate}; the limit is {}", limit.join(" and ")),
    }
}

/// The value nearest to the actual one that `fits`, rounded to two digits towards the tame one, which does.
fn enough(lever: &Lever, fits: impl Fn(f64) -> bool) -> f64 {
    let between = |t: f64| lever.tame * (lever.actual / lever.tame).powf(t);
    let (mut good, mut bad) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (good + bad);
        if fits(between(middle)) { good = middle } else { bad = middle }
    }
    let value = between(good);
    let least = if ["frames", "pixels"].iter().any(|whole| lever.unit.starts_with(whole)) { 1.0 } else { 0.0 };
    let digit = 10f64.powf(value.log10().floor() - 1.0).max(least);
    let steps = value / digit;
    let rounded = digit * if lever.tame < lever.actual { steps.floor() } else { steps.ceil() };
    if fits(rounded) { rounded } else { lever.tame }
}

fn number(value: f64) -> String {
    let value = rounded(value);
    if (1e-3..1e6).contains(&value) { format!("{value}") } else { format!("{value:e}") }
}

/// Every field with a value that costs more than a tame one.
fn levers(scene: &Scene, task: Task<'_>) -> Vec<Lever> {
    let mut levers: Vec<Lever> = (0..scene.bodies.len()).flat_map(|body| of_body(scene, body)).collect();
    let mut add = |path: &str, unit, [actual, tame]: [f64; 2], set: Change| {
        levers.push(Lever {
            field: scene.field(path).into(),
            option: false,
            unit: str::to_owned(unit),
            actual,
            tame,
            large: true,
            set,
        });
    };
    let pull = norm(scene.gravity);
    let lighten = move |s: &mut Scene, _: &mut Values, v: f64| s.gravity = s.gravity.map(|x| x * v / pull);
    add("gravity", "m/s^2", [pull, 10.0], Box::new(lighten));
    add("num_frames", "frames", [scene.num_frames as f64, 2.0], Box::new(|s, _, v| s.num_frames = v as usize));
    for (k, camera) in scene.cameras.iter().enumerate() {
        let widest = camera.width.max(camera.height) as f64;
        let shrink = move |s: &mut Scene, _: &mut Values, v: f64| {
            let scaled = |side: usize| ((side as f64 * v / widest) as usize).max(1);
            let camera = &mut s.cameras[k];
            (camera.width, camera.height) = (scaled(camera.width), scaled(camera.height));
        };
        add(&format!("cameras.{}", camera.name), "pixels (width or height)", [widest, 128.0], Box::new(shrink));
    }
    for (k, collider) in scene.colliders.iter().enumerate() {
        let motion = format!("colliders.{}.motion", collider.name);
        let (speed, spin) = (norm(collider.velocity), norm(collider.angular_velocity));
        let slow = move |s: &mut Scene, _: &mut Values, v: f64| {
            s.colliders[k].velocity = s.colliders[k].velocity.map(|x| x * v / speed);
        };
        add(&format!("{motion}.velocity"), "m/s", [speed, 1.0], Box::new(slow));
        let calm = move |s: &mut Scene, _: &mut Values, v: f64| {
            s.colliders[k].angular_velocity = s.colliders[k].angular_velocity.map(|x| x * v / spin);
        };
        add(&format!("{motion}.angular_velocity"), "rad/s", [spin, 1.0], Box::new(calm));
    }
    let (actual, set) = (scene.frame_rate, Box::new(|s: &mut Scene, _: &mut Values, v: f64| s.frame_rate = v));
    let field = scene.field("frame_rate").into();
    levers.push(Lever { field, option: false, unit: "1/s".into(), actual, tame: 30.0, large: false, set });
    let branches = scene.targets().filter(|target| target.quantity == Quantity::RelaxationModulus);
    let sought = branches.filter(|target| scene.range(*target).is_some());
    levers.extend(scene.elastic().chain(sought).map(|target| elastic(scene, task, target)));
    levers.retain(|lever| if lever.large { lever.actual > lever.tame } else { lever.actual < lever.tame });
    levers
}

/// Those of a body, but for its elastic parameters.
fn of_body(scene: &Scene, k: usize) -> Vec<Lever> {
    let mut levers = Vec::new();
    let mut add = |quantity: &str, unit, [actual, tame]: [f64; 2], large, set: Change| {
        let path = scene.path(k, quantity);
        levers.push(Lever {
            field: scene.field(&path).into(),
            option: false,
            unit: str::to_owned(unit),
            actual,
            tame,
            large,
            set,
        });
    };
    let body = &scene.bodies[k];
    let shape = &body.starts[0].shape;
    if let BodyShape::Block { .. } = shape {
        let sides = shape.sides();
        let longest = sides.iter().fold(0.0f64, |m, &s| m.max(s));
        let thinnest = thinnest(&[shape]);
        let shorten = move |scene: &mut Scene, _: &mut Values, longest: f64| {
            for start in &mut scene.bodies[k].starts {
                if let BodyShape::Block { min, max } = &mut start.shape {
                    (0..3).for_each(|a| max[a] = max[a].min(min[a] + longest));
                }
            }
        };
        add("shape", "m (the longest side)", [longest, 3.0 * thinnest], true, Box::new(shorten));
    }
    if body.rigid.is_none() {
        add("density", "kg/m^3", [body.density, 1e3], false, Box::new(move |s, _, v| s.bodies[k].density = v));
    }
    let fastest = |of: fn(&Start) -> [f64; 3]| body.starts.iter().map(|start| norm(of(start))).fold(0.0, f64::max);
    let speed = fastest(|start| start.velocity);
    let slow = move |s: &mut Scene, _: &mut Values, v: f64| {
        s.bodies[k].starts.iter_mut().for_each(|start| start.velocity = start.velocity.map(|x| x * v / speed));
    };
    add("velocity", "m/s", [speed, 1.0], true, Box::new(slow));
    let spin = fastest(|start| start.angular_velocity);
    let calm = move |s: &mut Scene, _: &mut Values, v: f64| {
        let slower = |start: &mut Start| start.angular_velocity = start.angular_velocity.map(|x| x * v / spin);
        s.bodies[k].starts.iter_mut().for_each(slower);
    };
    add("angular_velocity", "rad/s", [spin, 1.0], true, Box::new(calm));
    let viscosity = body.material.viscosity;
    let thin = move |s: &mut Scene, _: &mut Values, v: f64| s.bodies[k].material.viscosity = v;
    add("material.viscosity", "Pa s", [viscosity, 1e-2], true, Box::new(thin));
    if let Some(Relaxation { modulus: Some(modulus), .. }) = body.material.relaxation {
        let soften = move |s: &mut Scene, _: &mut Values, v: f64| {
            let branch = &mut s.bodies[k].material.relaxation;
            *branch = branch.map(|branch| Relaxation { modulus: Some(v), ..branch });
        };
        add("material.relaxation.modulus", "Pa", [modulus, 1e3], true, Box::new(soften));
    }
    levers
}

/// An elastic parameter: the end of its range where it is searched for, else its value.
fn elastic(scene: &Scene, task: Task<'_>, target: Target) -> Lever {
    let name = scene.name_of(target);
    let (given, option) = match task {
        Task::Identify(options) | Task::Plan(options) => (options.fixed.get(&name), "fixed"),
        Task::Simulate(Drawing { values, .. }) => (values.get(&name), "set"),
    };
    // Below the end of its range a value costs what the range does.
    let given = given.filter(|value| scene.range(target).is_none_or(|range| **value > range.max));
    let in_scene = given.is_some() && scene.known(target) == given.copied();
    let path = scene.path(target.of, &format!("material.{}", target.quantity.key()));
    match given {
        Some(&value) => Lever {
            field: if in_scene { scene.field(&path).into() } else { option.into() },
            option: !in_scene,
            unit: if in_scene { target.quantity.unit().into() } else { format!("{} for {name}", name.unit()) },
            actual: value,
            tame: if target.quantity == Quantity::Poisson { 0.3 } else { 1e3 },
            large: true,
            set: Box::new(move |_, values, v| {
                values.insert(name.clone(), v);
            }),
        },
        None => {
            let range = scene.range(target);
            Lever {
                field: format!("unknowns.{name}.range"),
                option: false,
                unit: format!("{} (the greatest value)", target.quantity.unit()),
                actual: range.map_or(0.0, |range| range.max),
                // Lengths of steps follow from moduli, and from ratios that are not small.
                tame: range.map_or(1.0, |range| match target.quantity {
                    Quantity::Poisson => 0.3,
                    Quantity::RelaxationModulus => range.min.max(1.0),
                    _ => range.min,
                }),
                large: true,
                set: Box::new(move |scene, _, v| {
                    scene.unknowns.iter_mut().filter(|range| range.target == target).for_each(|range| range.max = v);
                }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identify::Cost;
    use crate::identify::cost::judged;
    use crate::job::Simulator;
    use crate::limits::{Bytes, DEFAULT_TIME};
    use crate::scene::Name;
    use diffkern::Device;

    fn sample() -> (Scene, Values) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a");
        (Scene::read(&folder).unwrap(), Values::from([(Name::MU, 8e3), (Name::LAMBDA, 1.5e4)]))
    }

    fn longer(scene: &mut Scene) {
        if let BodyShape::Block { min, max } = &mut scene.bodies[0].starts[0].shape {
            max[0] = min[0] + 3000.0;
        }
    }

    /// The refusal of a simulation after a change to the sample.
    fn refused(change: impl FnOnce(&mut Scene, &mut Values)) -> String {
        let (mut scene, mut values) = sample();
        change(&mut scene, &mut values);
        let limits = Limits { max_time: Some(DEFAULT_TIME), max_memory: Some(Bytes(2 << 30)) };
        judge(&scene, &values, &limits).unwrap_err().to_string()
    }

    /// Of a simulation where a step of a particle takes as long as on a fast machine.
    fn judge(scene: &Scene, values: &Values, limits: &Limits) -> crate::error::Result<Estimate> {
        let task = Task::Simulate(Drawing { values, simulator: Simulator::Mpm, cells: None });
        judged(scene, Path::new("scene.json"), task, false, &Device::cpu(), limits, 2e-7)
    }

    #[test]
    fn the_field_at_fault_is_named_with_a_value_that_would_do() {
        let cases: [(&str, String); 8] = [
            ("set: 2e13 Pa for mu", refused(|_, v| *v.get_mut(&Name::MU).unwrap() = 2e13)),
            ("scene.json: object.block_max: 3000 m", refused(|s, _| longer(s))),
            ("scene.json: gravity: 1e6 m/s^2", refused(|s, _| s.gravity = [0.0, 0.0, 1e6])),
            (
                "scene.json: object.initial_velocity: 1e6",
                refused(|s, _| s.bodies[0].starts[0].velocity = [1e6, 0.0, 0.0]),
            ),
            (
                "scene.json: object.initial_angular_velocity: 1e9",
                refused(|s, _| s.bodies[0].starts[0].angular_velocity = [1e9, 0.0, 0.0]),
            ),
            ("scene.json: object.density: 1e-6", refused(|s, _| s.bodies[0].density = 1e-6)),
            ("scene.json: frame_rate: 1e-5", refused(|s, _| s.frame_rate = 1e-5)),
            (
                "scene.json: camera: 8192 pixels",
                refused(|s, _| (s.cameras[0].width, s.cameras[0].height) = (8192, 8192)),
            ),
        ];
        for (begin, message) in cases {
            assert!(message.starts_with(begin), "{begin}: {message}");
            assert!(message.contains("would do"), "{message}");
            assert!(message.contains("--max-") || message.contains("2^31"), "{message}");
        }
    }

    #[test]
    fn the_value_that_would_do_does() {
        let message = refused(|scene, _| scene.bodies[0].density = 1e-6);
        let value = message.rsplit("at least ").next().unwrap().split(' ').next().unwrap();
        let (mut scene, values) = sample();
        scene.bodies[0].density = value.parse().unwrap();
        judge(&scene, &values, &Limits { max_time: Some(DEFAULT_TIME), max_memory: Some(Bytes(2 << 30)) }).unwrap();
    }

    #[test]
    fn a_simulation_takes_the_steps_of_the_search() {
        let (scene, values) = sample();
        let steps = |scene, values| {
            let task = Task::Simulate(Drawing { values, simulator: Simulator::Mpm, cells: None });
            Cost::of(scene, task, false, &Device::cpu()).unwrap().steps
        };
        let mut narrow = scene.clone();
        narrow.unknowns.iter_mut().for_each(|range| (range.min, range.max) = (7e3, 1.6e4));
        let stiff = Values::from([(Name::MU, 9e3), (Name::LAMBDA, 1.5e4)]);
        assert_eq!(steps(&narrow, &values), steps(&narrow, &stiff));
        assert!(steps(&scene, &values) > 1.2 * steps(&narrow, &values));
        // The value that would do is one of the range.
        let message = refused(|scene, _| {
            let mu = scene.unknowns.iter_mut().find(|range| range.target.quantity == Quantity::Mu);
            mu.unwrap().max = 2e13;
        });
        assert!(message.contains("unknowns.mu.range: 2e13 Pa (the greatest value)"), "{message}");
    }
}
